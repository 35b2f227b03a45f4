"""CONV_2D and DEPTHWISE_CONV_2D."""

from memopt.backends.c.emit.call import (
    Constants,
    KernelCall,
    Table,
    need_layout,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.int8 import (
    accumulation,
    int8_range,
    int8_weights,
    need_int32,
    offset_filters,
    zero_points,
)
from memopt.backends.c.emit.int16 import wide_sums
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.inline.sums import part_of, real_part
from memopt.backends.c.rows.row_calls import rows_in_turn, window_rows
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.hybrid import HybridConv2DOp, HybridDepthwiseConv2DOp
from memopt.dialects.operators.products import convolution_reals

Fields = tuple[tuple[str, int], ...]
Filtering = Conv2DOp | DepthwiseConv2DOp | HybridConv2DOp | HybridDepthwiseConv2DOp


def window_fields(op: Filtering) -> Fields:
    """The shape fields of a convolution's parameters, in the order of its struct."""
    shape, out, weights = shape_of(op.input), shape_of(op.result), shape_of(op.weights)
    if len(shape) != 4:
        raise refuse(op, f"a convolution over {len(shape) - 2} spatial dimensions")
    if 0 in shape or 0 in out:
        raise refuse(op, "a tensor without elements")
    kernel, stride, dilation, pad = op.window.sizes
    groups = op.groups.value.data
    if isinstance(op, DepthwiseConv2DOp | HybridDepthwiseConv2DOp):
        if groups != shape[3] or out[3] % shape[3] or weights[0] != 1 or weights[3] != out[3]:
            raise refuse(op, f"weights {weights} of a depthwise convolution {shape} -> {out}")
        last = ("depth_multiplier", out[3] // shape[3])
        if isinstance(op, DepthwiseConv2DOp) and op.in_place is not None:
            last = ("span", op.span)
        channels: Fields = (("out_w", out[2]), last)
        kernel_fields: Fields = (("k_h", kernel[0]), ("k_w", kernel[1]))
    else:
        if weights[3] * groups != shape[3] or out[3] % groups or weights[0] != out[3]:
            raise refuse(op, f"weights {weights} in {groups} groups for {shape} -> {out}")
        channels = (("out_w", out[2]), ("out_c", out[3]))
        kernel_fields = (("k_h", kernel[0]), ("k_w", kernel[1]), ("k_c", weights[3]))
    return (
        ("in_h", shape[1]),
        ("in_w", shape[2]),
        ("in_c", shape[3]),
        *channels,
        *kernel_fields,
        ("stride_h", stride[0]),
        ("stride_w", stride[1]),
        ("dilation_h", dilation[0]),
        ("dilation_w", dilation[1]),
        ("pad_top", pad[0]),
        ("pad_left", pad[1]),
    )


def _kept(op: DepthwiseConv2DOp) -> int:
    return op.kept_in_place


def _kernel(op: Conv2DOp | DepthwiseConv2DOp, types: str) -> str:
    if isinstance(op, Conv2DOp):
        return f"conv_2d_{types}"
    return f"depthwise_{'conv_2d' if op.in_place is None else 'in_place'}_{types}"


@kernel(
    Conv2DOp,
    "s8",
    "nhwc",
    rounding=("tflm_double", "onnx_even"),
    isa=("mve", "c"),
    rows=rows_in_turn,
)
@kernel(
    DepthwiseConv2DOp,
    "s8",
    "nhwc",
    rounding=("tflm_double", "onnx_even"),
    isa=("mve", "c"),
    workspace=_kept,
    rows=rows_in_turn,
)
def conv_2d_s8(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Either convolution, with a multiplier per channel."""
    depthwise = isinstance(op, DepthwiseConv2DOp)
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    channels = shape_of(op.result)[3]
    weights, scales = int8_weights(op, op.weights, channels, constants)
    axes = (0, 1, 2) if depthwise else (1, 2, 3)
    per_channel = scales if len(scales) == channels else scales * channels
    reals = convolution_reals(op, op.input, per_channel)
    return image_call(
        op,
        _kernel(op, "s8"),
        (
            *window_fields(op),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            ("weights", Table("int8_t", weights)),
            *accumulation(op, op.input, op.bias, weights, axes, reals, constants),
        ),
    )


@kernel(Conv2DOp, "u8", "nhwc", rounding="tflm_double", rows=window_rows)
@kernel(
    DepthwiseConv2DOp,
    "u8",
    "nhwc",
    rounding="tflm_double",
    workspace=_kept,
    rows=window_rows,
)
def conv_2d_u8(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Either convolution, with one multiplier, which kernels have per channel."""
    depthwise = isinstance(op, DepthwiseConv2DOp)
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    channels, axes = shape_of(op.result)[3], (0, 1, 2) if depthwise else (1, 2, 3)
    reals = convolution_reals(op, op.input, encoding_of(op.weights).scales[:1] * channels)
    return image_call(
        op,
        _kernel(op, "u8"),
        (
            *window_fields(op),
            *zero_points(op, op.input, op.result),
            *int8_range(op, op.result),
            *offset_filters(op, op.weights, op.bias, channels, axes, reals, constants),
        ),
    )


@kernel(Conv2DOp, "s16", "nhwc", rounding="tflm_double", rows=window_rows)
@kernel(
    DepthwiseConv2DOp,
    "s16",
    "nhwc",
    rounding="tflm_double",
    workspace=_kept,
    rows=window_rows,
)
def conv_2d_s16(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Either convolution, with int8 weights."""
    depthwise = isinstance(op, DepthwiseConv2DOp)
    if isinstance(op, DepthwiseConv2DOp) and op.in_place is not None:
        raise refuse(op, "int16 in place")
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    channels, axes = shape_of(op.result)[3], (0, 1, 2) if depthwise else (1, 2, 3)
    scales = encoding_of(op.weights).scales
    per_channel = scales if len(scales) == channels else scales[:1] * channels
    reals = convolution_reals(op, op.input, per_channel)
    operands = (op.input, op.weights, op.bias)
    sums = wide_sums(op, operands, axes, reals, constants, narrow=not depthwise)
    return image_call(op, _kernel(op, "s16"), (*window_fields(op), *sums))


@kernel(Conv2DOp, "f32", "nhwc", rows=window_rows)
@kernel(DepthwiseConv2DOp, "f32", "nhwc", workspace=_kept, rows=window_rows)
def conv_2d_f32(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Either convolution, images one after the other."""
    depthwise = isinstance(op, DepthwiseConv2DOp)
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    channels = shape_of(op.result)[3]
    return image_call(
        op,
        _kernel(op, "f32"),
        (
            *window_fields(op),
            *float_result_range(op),
            ("weights", Table("float", float_weights(op, op.weights, constants))),
            ("bias", float_bias(op, op.bias, channels, constants)),
        ),
    )


def _partial_fields(op: Conv2DOp) -> Fields:
    """Refuses what is more than sums of products, and channels in groups."""
    need_layout(op, op.weights, "ohwi")
    if op.bias is not None or op.groups.value.data != 1:
        raise refuse(op, "a partial sum with a bias, or of channels in groups")
    return window_fields(op)


@kernel(
    Conv2DOp,
    "s8 to i32",
    "nhwc",
    rounding=("tflm_double", "onnx_even"),
    rows=window_rows,
    sums=True,
)
def conv_2d_sum_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Sums of products, which others add to."""
    import numpy as np

    fields, zero = _partial_fields(op), per_tensor(op, op.input)[1]
    weights, _ = int8_weights(op, op.weights, shape_of(op.result)[3], constants)
    wide = weights.astype(np.int64)
    bias = -zero * wide.sum(axis=(1, 2, 3))
    need_int32(op, np.abs(bias) + 128 * np.abs(wide).sum(axis=(1, 2, 3)))
    return image_call(
        op,
        "conv_2d_sum_s8",
        (
            *fields,
            ("input_zero_point", zero),
            ("adds", int(part_of(op).adds)),
            ("weights", Table("int8_t", weights)),
            ("bias", Table("int32_t", bias.astype(np.int32))),
        ),
    )


@kernel(Conv2DOp, "f32", "nhwc", rows=window_rows, sums=True)
def conv_2d_sum_f32(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Return the call that adds up products of reals."""
    fields = _partial_fields(op)
    return image_call(
        op,
        "conv_2d_sum_f32",
        (
            *fields,
            *real_part(op, shape_of(op.result)[3], constants),
            ("weights", Table("float", float_weights(op, op.weights, constants))),
        ),
    )
