"""Kernels with packed weights that read bytes: in half the scratch of `packed`, or none; slower."""

from math import prod

from memopt.backends.c.call import Constants, KernelCall
from memopt.backends.c.kernels.packed import ROUNDINGS, packed_rows, packed_windows, pays
from memopt.backends.c.packing import BLOCK
from memopt.backends.c.registry import kernel
from memopt.backends.c.row_calls import window_rows
from memopt.dialects.operators.convolution import Conv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.plan import NARROW
from memopt.dialects.tensors import shape_of

WORD = 4  # bytes


def _windows(op: Conv2DOp) -> int:
    """Two windows as bytes; 0 for what no such kernel computes."""
    taps = prod(shape_of(op.weights)[1:])
    fits = (
        op.groups.value.data == 1
        and shape_of(op.input)[-1] % WORD == 0
        and shape_of(op.weights)[0] % BLOCK == 0
        and pays(op, taps)
    )
    return 2 * taps if fits else 0


@kernel(
    Conv2DOp,
    "s8",
    "nhwc",
    rounding=ROUNDINGS,
    isa="dsp",
    workspace=_windows,
    rows=window_rows,
    fast=NARROW,
)
def conv_2d_narrow_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Windows of channels that are words."""
    return packed_windows(op, constants, "conv_2d_narrow_s8")


def _in_words(op: FullyConnectedOp) -> bool:
    out_n, in_n = shape_of(op.weights)
    return in_n % WORD == 0 and out_n % BLOCK == 0 and out_n * in_n > 0 and pays(op, in_n)


@kernel(
    FullyConnectedOp,
    "s8",
    rounding=ROUNDINGS,
    isa="dsp",
    fast=NARROW,
    where=_in_words,
)
def fully_connected_narrow_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Rows that are words, read where they lie."""
    return packed_rows(op, constants, "fully_connected_narrow_s8")
