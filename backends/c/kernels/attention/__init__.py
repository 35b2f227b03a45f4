"""ATTENTION: a row is a query, and the scores of one head of it lie in scratch."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    refuse,
    scratch_rounded,
    tensor_or_table,
)
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.memgraph.tensors import bytes_of, rows_of, shape_of
from memopt.dialects.operators.attention import AttentionOp


def scores_of(op: AttentionOp) -> int:
    """Bytes of the scores of one head of one query."""
    return scratch_rounded(shape_of(op.k)[1] * 4)


@kernel(AttentionOp, "f32", workspace=scores_of, rows=own_rows, by_row=True)
def attention_f32(op: AttentionOp, constants: Constants) -> KernelCall:
    if any(element_kind(value) != "f32" for value in op.operands):
        raise refuse(op, "operands that are not all f32")
    queries, keys, depth, width = op.sizes
    if 0 in (*shape_of(op.q), *shape_of(op.result)):
        raise refuse(op, "a tensor without elements")
    steps = keys if op.mask is not None and (rows_of(op.mask) or 0) > 1 else 0
    fields = (
        *(("keys", keys), ("groups", op.groups), ("shared", op.heads.value.data // op.groups)),
        *(("depth", depth), ("width", width), ("scale", float(op.scale.value.data))),
        *(("masked", int(op.mask is not None)), ("mask_step", steps)),
    )
    operands = tuple(tensor_or_table(op, value, constants) for value in op.operands)
    read, written = ((bytes_of(value.type) or 0) // queries for value in (op.q, op.result))
    return KernelCall("attention_f32", fields, operands, Rows(queries, read, written))
