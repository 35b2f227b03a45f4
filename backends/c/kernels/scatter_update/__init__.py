"""Kernels of ScatterND and ScatterElements of ONNX: a copy, and writes where indices say."""

import math

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Rows,
    bytes_per_element,
    element_kind,
    refuse,
    tensor_or_table,
)
from memopt.backends.c.emit.indices import indices_of
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import tensor_or_bytes
from memopt.dialects.arithmetic.stored import is_stored, need_same_numbers
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.scatter_update import (
    REDUCTIONS,
    ScatteringOp,
    ScatterUpdateOp,
    UpdateVariableOp,
)

DIMENSIONS = 8  # of the kernels' parameters


@kernel((ScatterUpdateOp, UpdateVariableOp), ANY, where=lambda op: not op.how)
def scatter_update(op: ScatteringOp, constants: Constants) -> KernelCall:
    """Return the call that copies and writes elements of any type as bytes."""
    need_same_numbers(op, op.input, op.updates, op.result)
    return _call(op, constants, "scatter_update", bytes_per_element(op, op.result))


@kernel((ScatterUpdateOp, UpdateVariableOp), "f32, i32, i64", where=lambda op: bool(op.how))
def scatter_reduced(op: ScatteringOp, constants: Constants) -> KernelCall:
    if any(is_stored(v) for v in (op.input, op.updates, op.result)):
        raise refuse(op, "quantized integers")
    return _call(op, constants, f"scatter_update_{element_kind(op.result)}", 0)


def _call(op: ScatteringOp, constants: Constants, name: str, width: int) -> KernelCall:
    shape, depth, count = shape_of(op.input), op.depth, elements_of(op.indices) // op.depth
    if depth > DIMENSIONS or not elements_of(op.result) or not count:
        raise refuse(op, f"indices of {depth} dimensions, or a tensor without elements")
    indices, form = indices_of(op, op.indices, constants)
    piece = math.prod(shape[depth:])
    steps = [math.prod(shape[i + 1 : depth]) for i in range(depth)]
    fields = (
        *(("size", elements_of(op.result) * (width or 1)), ("count", count), ("depth", depth)),
        *(("piece", piece * (width or 1)), ("form", form)),
        ("limit", "{" + ", ".join(map(str, shape[:depth])) + "}"),
        ("step", "{" + ", ".join(map(str, steps)) + "}"),
        *((("reduction", REDUCTIONS.index(op.how)),) if not width else ()),
    )
    values = [op.input, op.updates]
    given = [
        tensor_or_bytes(v, constants) if width else tensor_or_table(op, v, constants)
        for v in values
    ]
    return KernelCall(name, fields, (given[0], indices, given[1]), Rows(1, 0, 0))
