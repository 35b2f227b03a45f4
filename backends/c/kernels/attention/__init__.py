"""ATTENTION: a row is a query, and the scores of one head of it lie in scratch."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    per_tensor,
    refuse,
    scratch_rounded,
    tensor_or_table,
)
from memopt.backends.c.emit.int8 import Fields, codes
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.rows.row_calls import own_rows
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import limits_of
from memopt.dialects.memgraph.tensors import bytes_of, rows_of, shape_of
from memopt.dialects.operators.attention import AttentionOp


def scores_of(op: AttentionOp) -> int:
    """Bytes of the scores of one head of one query, float32."""
    return scratch_rounded(shape_of(op.k)[1] * 4)


@kernel(AttentionOp, "f32", workspace=scores_of, rows=own_rows, by_row=True)
def attention_f32(op: AttentionOp, constants: Constants) -> KernelCall:
    steps = heads = 0
    if op.mask is not None:
        steps = shape_of(op.mask)[2] if (rows_of(op.mask) or 0) > 1 else 0
        heads = op.sizes[1] if op.has_mask_by_head else 0
    fields = (
        ("scale", float(op.scale.value.data)),
        *(("masked", int(op.mask is not None)), ("mask_step", steps), ("mask_head", heads)),
    )
    return _call(op, constants, "f32", fields)


def _call(op: AttentionOp, constants: Constants, kind: str, more: Fields) -> KernelCall:
    if any(element_kind(value) != kind for value in (*op.operands, op.result)):
        raise refuse(op, f"operands and a result that are not all {kind}")
    queries, keys, depth, width = op.sizes
    if 0 in (*shape_of(op.q), *shape_of(op.result)):
        raise refuse(op, "a tensor without elements")
    fields = (
        *(("keys", keys), ("groups", op.groups), ("shared", op.heads.value.data // op.groups)),
        *(("depth", depth), ("width", width), *more),
        ("causal", 0 if op.causal is None else op.causal.value.data + 1),
    )
    operands = tuple(tensor_or_table(op, value, constants) for value in op.operands)
    read, written = ((bytes_of(value.type) or 0) // queries for value in (op.q, op.result))
    return KernelCall(f"attention_{kind}", fields, operands, Rows(queries, read, written))


def wide_scores_of(op: AttentionOp) -> int:
    """Bytes of the same in 16 bits, behind a head of the query in 16 bits."""
    _, keys, depth, _ = op.sizes
    return scratch_rounded(depth * 2) + scratch_rounded(keys * 2)


@kernel(
    *(AttentionOp, "s8"), rounding="onnx_even", workspace=wide_scores_of, rows=own_rows, by_row=True
)
def attention_s8(op: AttentionOp, constants: Constants) -> KernelCall:
    scores, scaled, parts = op.stages()
    low, part_zero = limits_of(op, scores)[0], per_tensor(op, parts)[1]
    least = limits_of(op, scaled)[0]
    table = op.scaled_scores() - least
    changes = (table != np.arange(256)).any()
    scaled = Table("uint8_t", table.astype(np.uint8), is_looked_up=True)
    exponential = Table("float", op.exponentials(), is_looked_up=True)
    names = zip("qkv", (op.q, op.k, op.v), strict=True)
    numbers = zip(("score", "output"), op.reals(), (op.sizes[2], op.sizes[1]), strict=True)
    by = {name: codes(op, np.array([n * 255 * 255]), (real,)) for name, real, n in numbers}
    fields: Fields = (
        *((f"{name}_zero_point", per_tensor(op, value)[1]) for name, value in names),
        ("score_zero_point", per_tensor(op, scores)[1] - low),
        ("output_zero_point", per_tensor(op, op.result)[1]),
        *((f"{name}_multiplier", int(numbers[0][0])) for name, numbers in by.items()),
        *(("scaled", scaled if changes else 0), ("exponential", exponential)),
        ("part_scale", per_tensor(op, parts)[0]),
        ("part_most", limits_of(op, parts)[1] - part_zero),
    )
    return _call(op, constants, "s8", fields)
