"""RESHAPE and COPY where they move bytes, and TRANSPOSE."""

import math

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    four,
    refuse,
)
from memopt.backends.c.registry import ANY, kernel
from memopt.backends.c.row_calls import Lowered, RowCall, own_rows
from memopt.backends.c.rowwise import copy_call
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.tensors import bytes_of, rows_of, shape_of


@kernel(ReshapeOp, ANY, rows=own_rows)
@kernel(CopyOp, ANY, rows=own_rows)
def reshape(op: ReshapeOp | CopyOp, constants: Constants) -> KernelCall:
    """Row by row where rows stay rows, so that what is read can be made row by row."""
    rows = rows_of(op.result) if rows_of(op.input) == rows_of(op.result) else None
    size = (bytes_of(op.result.type) or 0) // (rows or 1)
    return copy_call(op.input, rows or 1, size, (size, size))


def _transpose_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """The kernel finds an element by the number of its row, so images must stay in place."""
    if int(op.properties["permutation"].get_values()[0]) != 0:  # type: ignore[attr-defined]
        raise refuse(op, "rows of a transpose that moves the first dimension")
    return own_rows(op, constants, lowered)


@kernel(TransposeOp, "s8", rows=_transpose_rows)
@kernel(TransposeOp, "u8", rows=_transpose_rows)
@kernel(TransposeOp, "f32", rows=_transpose_rows)
def transpose(op: TransposeOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) > 4:
        raise refuse(op, f"a transpose of {len(shape)} dimensions")
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    permutation = tuple(int(v) for v in op.permutation.get_values())
    strides = four(tuple(steps[v] for v in permutation), 0)
    sizes, in_n = four(out), 0
    if permutation[: len(shape) - 2] == tuple(range(len(shape) - 2)):  # rows of the same number
        in_n, strides = sizes[2] * sizes[3], (0, 0, *strides[2:])
    bits = element_kind(op.input)[1:]
    return KernelCall(
        f"transpose_{'s8' if bits == '8' else 'f32'}",
        (
            ("size", "{" + ", ".join(map(str, sizes[1:])) + "}"),
            ("stride", "{" + ", ".join(map(str, strides)) + "}"),
        ),
        (op.input,),
        Rows.of(op, sizes[0] * sizes[1], in_n, sizes[2] * sizes[3]),
    )
