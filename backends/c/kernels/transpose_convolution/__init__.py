"""TRANSPOSE_CONV."""

from memopt.backends.c.emit.call import Constants, KernelCall, Table, need_layout, refuse
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.int8 import (
    Fields,
    int8_range,
    int8_weights,
    int32_bias,
    need_int32,
    offset_filters,
    requantization,
    zero_points,
)
from memopt.backends.c.emit.int16 import wide_sums
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.hybrid import HybridTransposeConv2DOp
from memopt.dialects.operators.products import convolution_reals
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp


def transposed_fields(op: TransposeConv2DOp | HybridTransposeConv2DOp) -> Fields:
    """The shapes, in the order of both structs. Refuses channels in groups."""
    need_layout(op, op.weights, "ohwi")
    shape, out = shape_of(op.input), shape_of(op.result)
    if 0 in (*shape, *out):
        raise refuse(op, "a tensor without elements")
    if op.groups.value.data != 1:
        raise refuse(op, f"channels in {op.groups.value.data} groups")
    kernel, stride, dilation, pad = op.window.sizes
    return (
        *(("in_h", shape[1]), ("in_w", shape[2]), ("in_c", shape[3])),
        *(("out_w", out[2]), ("out_c", out[3]), ("k_h", kernel[0]), ("k_w", kernel[1])),
        *(("stride_h", stride[0]), ("stride_w", stride[1])),
        *(("dilation_h", dilation[0]), ("dilation_w", dilation[1])),
        *(("pad_top", pad[0]), ("pad_left", pad[1])),
    )


@kernel(TransposeConv2DOp, "f32", "nhwc")
def transpose_conv_2d_f32(op: TransposeConv2DOp, constants: Constants) -> KernelCall:
    channels = shape_of(op.result)[3]
    return image_call(
        op,
        "transpose_conv_2d_f32",
        (
            *transposed_fields(op),
            *float_result_range(op),
            ("weights", Table("float", float_weights(op, op.weights, constants))),
            ("bias", float_bias(op, op.bias, channels, constants)),
        ),
    )


@kernel(TransposeConv2DOp, "s16", "nhwc", rounding="tflm_double")
def transpose_conv_2d_s16(op: TransposeConv2DOp, constants: Constants) -> KernelCall:
    """With int8 weights."""
    channels, scales = shape_of(op.result)[3], encoding_of(op.weights).scales
    per_channel = scales if len(scales) == channels else scales[:1] * channels
    reals = convolution_reals(op, op.input, per_channel)
    sums = wide_sums(op, (op.input, op.weights, op.bias), (1, 2, 3), reals, constants)
    return image_call(op, "transpose_conv_2d_s16", (*transposed_fields(op), *sums))


@kernel(TransposeConv2DOp, "u8", "nhwc", rounding="tflm_double")
def transpose_conv_2d_u8(op: TransposeConv2DOp, constants: Constants) -> KernelCall:
    """With one multiplier, which the kernel has per channel."""
    channels = shape_of(op.result)[3]
    reals = convolution_reals(op, op.input, encoding_of(op.weights).scales[:1] * channels)
    return image_call(
        op,
        "transpose_conv_2d_u8",
        (
            *transposed_fields(op),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            *offset_filters(op, op.weights, op.bias, channels, (1, 2, 3), reals, constants),
        ),
    )


@kernel(TransposeConv2DOp, "s8", "nhwc", rounding=("tflm_double", "onnx_even"))
def transpose_conv_2d_s8(op: TransposeConv2DOp, constants: Constants) -> KernelCall:
    """With a multiplier per channel. Not every tap reaches every pixel, so that the zero point of
    the input is not folded into the bias."""
    import numpy as np

    channels = shape_of(op.result)[3]
    weights, scales = int8_weights(op, op.weights, channels, constants)
    reals = convolution_reals(
        op, op.input, scales if len(scales) == channels else scales * channels
    )
    bias = int32_bias(op, op.bias, channels, constants)
    largest = np.abs(bias) + 255 * np.abs(weights.astype(np.int64)).sum(axis=(1, 2, 3))
    need_int32(op, largest)
    return image_call(
        op,
        "transpose_conv_2d_s8",
        (
            *transposed_fields(op),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            ("weights", Table("int8_t", weights)),
            ("bias", Table("int32_t", bias.astype(np.int32))),
            *requantization(op, largest, reals),
        ),
    )
