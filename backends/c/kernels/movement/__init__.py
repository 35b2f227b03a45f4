"""RESHAPE and COPY where they move bytes, and TRANSPOSE."""

import math

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    Rows,
    element_kind,
    refuse,
)
from memopt.backends.c.registry import ANY, kernel
from memopt.backends.c.rowwise import copy_call
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.tensors import bytes_of, shape_of


@kernel(ReshapeOp, ANY)
@kernel(CopyOp, ANY)
def reshape(op: ReshapeOp | CopyOp, constants: Constants) -> KernelCall:
    size = bytes_of(op.result.type) or 0
    return copy_call(op.input, 1, size, (size, size))


def _four(shape: tuple[int, ...], fill: int = 1) -> tuple[int, ...]:
    return (fill,) * (4 - len(shape)) + shape


@kernel(TransposeOp, "s8")
@kernel(TransposeOp, "f32")
def transpose(op: TransposeOp, constants: Constants) -> KernelCall:
    shape, out = shape_of(op.input), shape_of(op.result)
    if len(shape) > 4:
        raise refuse(op, f"a transpose of {len(shape)} dimensions")
    steps = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = _four(tuple(steps[int(v)] for v in op.permutation.get_values()), 0)
    sizes = _four(out)
    kind = element_kind(op.input)
    return KernelCall(
        f"transpose_{kind}",
        "int8_t" if kind == "s8" else "float",
        (
            ("size", "{" + ", ".join(map(str, sizes[1:])) + "}"),
            ("stride", "{" + ", ".join(map(str, strides)) + "}"),
        ),
        (op.input,),
        Rows(sizes[0] * sizes[1], 0, sizes[2] * sizes[3]),
    )
