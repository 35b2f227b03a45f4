"""Kernels of RFFT2D, and of the parts of complex numbers, which are two floats each."""

import math

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.spectrum import (
    ComplexAbsOp,
    ComplexPartOp,
    ImaginaryPartOp,
    RealFft2DOp,
    RealPartOp,
)


def _all_numbers(op: RealFft2DOp) -> int:
    return 8 * math.prod(op.lengths)


@kernel(RealFft2DOp, "f32 to complex<f32>", workspace=_all_numbers)
def real_fft_2d(op: RealFft2DOp, constants: Constants) -> KernelCall:
    """Return the call that computes one transform after the other, in scratch."""
    if not elements_of(op.input):
        raise refuse(op, "a tensor without elements")
    height, width = op.lengths
    shape, longest = shape_of(op.input), max(height, width)
    turns = 2 * np.pi * np.arange(max(longest // 2, 1)) / longest
    table = np.stack([np.cos(turns), -np.sin(turns)], -1).astype(np.float32)
    fields = (
        *(("count", math.prod(shape[:-2])), ("in_h", shape[-2]), ("in_w", shape[-1])),
        *(("height", height), ("width", width), ("longest", longest)),
        ("turns", Table("float", table)),
    )
    return KernelCall("real_fft_2d_f32", fields, (op.input,), Rows(1, 0, 0))


@kernel((ComplexAbsOp, RealPartOp, ImaginaryPartOp), "complex<f32> to f32")
def complex_part(op: ComplexPartOp, constants: Constants) -> KernelCall:
    part = (RealPartOp, ImaginaryPartOp, ComplexAbsOp).index(type(op))
    fields = (("count", elements_of(op.input)), ("part", part))
    return KernelCall("complex_part_f32", fields, (op.input,), Rows(1, 0, 0))
