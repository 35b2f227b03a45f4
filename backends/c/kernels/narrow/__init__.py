"""Kernels with packed weights that read bytes: in half the scratch of `packed`, or none; slower."""

from math import prod

from memopt.backends.c.call import (
    Constants,
    KernelCall,
    Rows,
    need_layout,
    per_tensor,
    size_of,
)
from memopt.backends.c.int8 import folded_bias, int8_weights
from memopt.backends.c.kernels.convolution import window_fields
from memopt.backends.c.packing import BLOCK, pack
from memopt.backends.c.registry import kernel
from memopt.backends.c.row_calls import window_rows
from memopt.backends.c.rowwise import image_call
from memopt.dialects.operators.convolution import Conv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.products import convolution_reals, matrix_reals
from memopt.dialects.plan import NARROW
from memopt.dialects.tensors import shape_of

WORD = 4  # bytes
ROUNDINGS = ("tflm_double", "onnx_even")


def _windows(op: Conv2DOp) -> int:
    """Two windows as bytes; 0 for what no such kernel computes."""
    fits = (
        op.groups.value.data == 1
        and shape_of(op.input)[-1] % WORD == 0
        and shape_of(op.weights)[0] % BLOCK == 0
    )
    return 2 * prod(shape_of(op.weights)[1:]) if fits else 0


@kernel(
    Conv2DOp,
    "s8",
    "nhwc",
    rounding=ROUNDINGS,
    isa="dsp",
    workspace=_windows,
    rows=window_rows,
    fast=True,
    form=NARROW,
)
def conv_2d_narrow_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Windows of channels that are words."""
    need_layout(op, op.weights, "ohwi")
    channels = shape_of(op.result)[3]
    weights, scales = int8_weights(op, op.weights, channels, constants)
    matrix = weights.reshape(channels, -1)
    bias = folded_bias(op, op.input, op.bias, matrix, (1,), constants)
    return image_call(
        op,
        "conv_2d_narrow_s8",
        (
            *window_fields(op),
            ("input_zero_point", per_tensor(op, op.input)[1]),
            *pack(op, matrix, bias, convolution_reals(op, op.input, scales)),
        ),
    )


def _in_words(op: FullyConnectedOp) -> bool:
    out_n, in_n = shape_of(op.weights)
    return in_n % WORD == 0 and out_n % BLOCK == 0 and out_n * in_n > 0


@kernel(
    FullyConnectedOp,
    "s8",
    rounding=ROUNDINGS,
    isa="dsp",
    fast=True,
    form=NARROW,
    where=_in_words,
)
def fully_connected_narrow_s8(op: FullyConnectedOp, constants: Constants) -> KernelCall:
    """Rows that are words, read where they lie."""
    out_n, in_n = shape_of(op.weights)
    weights, scales = int8_weights(op, op.weights, out_n, constants)
    bias = folded_bias(op, op.input, op.bias, weights, (1,), constants)
    fields = pack(op, weights, bias, matrix_reals(op, op.input, scales))
    return KernelCall(
        kernel="fully_connected_narrow_s8",
        fields=(("in_n", in_n), ("out_n", out_n), *fields),
        operands=(op.input,),
        rows=Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )
