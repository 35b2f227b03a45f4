"""CONV_2D, DEPTHWISE_CONV_2D and TRANSPOSE_CONV."""

from dataclasses import replace

from xdsl.ir import Operation

from memopt.backends.c.emit.call import (
    Array,
    Constants,
    KernelCall,
    Table,
    need_layout,
    per_tensor,
    refuse,
)
from memopt.backends.c.emit.float32 import float_bias, float_result_range, float_weights
from memopt.backends.c.emit.int8 import (
    Fields,
    accumulation,
    folded_bias,
    int8_range,
    int8_weights,
    int32_bias,
    need_int32,
    offset_filters,
    requantization,
    zero_points,
)
from memopt.backends.c.emit.int16 import wide_sums
from memopt.backends.c.emit.registry import ROUNDINGS, kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.inline.sums import part_of, real_part
from memopt.backends.c.rows.row_calls import (
    is_one_pixel,
    reached_rows,
    rows_by_twos,
    rows_in_turn,
    window_rows,
)
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.hybrid import (
    HybridConv2DOp,
    HybridDepthwiseConv2DOp,
    HybridTransposeConv2DOp,
)
from memopt.dialects.operators.products import convolution_reals
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp

Filtered = Conv2DOp | DepthwiseConv2DOp | TransposeConv2DOp
Filtering = Filtered | HybridConv2DOp | HybridDepthwiseConv2DOp | HybridTransposeConv2DOp


def window_fields(op: Filtering) -> Fields:
    """The shape fields of a convolution's parameters."""
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
        own = {"depth_multiplier": out[3] // shape[3]}
        if isinstance(op, DepthwiseConv2DOp) and op.in_place is not None:
            own = {"span": op.span}
    elif isinstance(op, TransposeConv2DOp | HybridTransposeConv2DOp):
        own = {"out_c": out[3], "k_c": weights[3], "group_out": out[3] // groups}
    else:
        if weights[3] * groups != shape[3] or out[3] % groups or weights[0] != out[3]:
            raise refuse(op, f"weights {weights} in {groups} groups for {shape} -> {out}")
        own = {"out_c": out[3], "k_c": weights[3]}
    return (
        *(("in_h", shape[1]), ("in_w", shape[2]), ("in_c", shape[3]), ("out_w", out[2])),
        *(("k_h", kernel[0]), ("k_w", kernel[1]), ("stride_h", stride[0]), ("stride_w", stride[1])),
        *(("dilation_h", dilation[0]), ("dilation_w", dilation[1])),
        *(("pad_top", pad[0]), ("pad_left", pad[1]), *own.items()),
    )


def weight_axes(op: Filtering) -> tuple[int, int, int]:
    """Return the dimensions of the weights that a filter sums over. Refuses other layouts than the
    kernels read."""
    if isinstance(op, DepthwiseConv2DOp | HybridDepthwiseConv2DOp):
        need_layout(op, op.weights, "ihwo", "1hwo")
        return 0, 1, 2
    need_layout(op, op.weights, "ohwi")
    return 1, 2, 3


def _kept(op: Conv2DOp | DepthwiseConv2DOp) -> int:
    return op.kept_in_place if isinstance(op, DepthwiseConv2DOp) else 0


def _call(op: Filtered, types: str, fields: Fields) -> KernelCall:
    """Return the call of the kernel of the operation's own name, or of the one in place."""
    in_place = isinstance(op, DepthwiseConv2DOp) and op.in_place is not None
    name = "depthwise_in_place" if in_place else op.name.removeprefix("memgraph.")
    return image_call(op, f"{name}_{types}", (*window_fields(op), *fields))


def _reals(op: Filtered) -> list[float]:
    """Return a multiplier per channel."""
    channels, scales = shape_of(op.result)[3], encoding_of(op.weights).scales
    per_channel = scales if len(scales) == channels else scales[:1] * channels
    return convolution_reals(op, op.input, per_channel)


def _stored(op: Filtered, types: str, sums: Fields) -> KernelCall:
    numbers = (*zero_points(op, op.input, op.result), *int8_range(op, op.result))
    return _call(op, types, (*numbers, *sums))


def with_columns(op: Operation, fields: Fields) -> Fields:
    """Return the fields, whose tables need the code for two rows at once where rows are one
    pixel."""
    if not is_one_pixel(op):
        return fields
    return tuple(
        (f, replace(v, needs=(*v.needs, "COLUMNS")) if isinstance(v, Table) else v)
        for f, v in fields
    )


BOTH = (Conv2DOp, DepthwiseConv2DOp)


def conv_2d_s8(
    op: Conv2DOp | DepthwiseConv2DOp, constants: Constants, lines: bool = True
) -> KernelCall:
    """Either convolution, with a multiplier per channel."""
    axes, channels = weight_axes(op), shape_of(op.result)[3]
    weights, _ = int8_weights(op, op.weights, channels, constants)
    sums = accumulation(op, op.input, op.bias, weights, axes, _reals(op), constants, lines)
    return _stored(op, "s8", with_columns(op, (("weights", Table("int8_t", weights)), *sums)))


def conv_2d_floats_s8(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """Either convolution where an FPU rounds, or Helium."""
    return conv_2d_s8(op, constants, lines=False)


for _isa in ("c", "dsp", "mve"):
    _lower = conv_2d_s8 if _isa == "c" else conv_2d_floats_s8
    kernel(Conv2DOp, "s8", "nhwc", ROUNDINGS, _isa, rows=rows_in_turn)(_lower)
    kernel(DepthwiseConv2DOp, "s8", "nhwc", ROUNDINGS, _isa, _kept, rows_by_twos)(_lower)


def transpose_conv_2d_s8(
    op: TransposeConv2DOp, constants: Constants, lines: bool = True
) -> KernelCall:
    """With a multiplier per channel. Not every tap reaches every pixel, so that the zero point of
    the input is not folded into the bias."""
    axes, channels = weight_axes(op), shape_of(op.result)[3]
    weights, _ = int8_weights(op, op.weights, channels, constants)
    bias = int32_bias(op, op.bias, channels, constants)
    largest = np.abs(bias) + 255 * np.abs(weights.astype(np.int64)).sum(axis=axes)
    need_int32(op, largest)
    sums = (
        ("weights", Table("int8_t", weights)),
        ("bias", Table("int32_t", bias.astype(np.int32))),
    )
    return _stored(op, "s8", (*sums, *requantization(op, largest, _reals(op), lines)))


def transpose_conv_2d_floats_s8(op: TransposeConv2DOp, constants: Constants) -> KernelCall:
    """A transposed convolution where an FPU rounds."""
    return transpose_conv_2d_s8(op, constants, lines=False)


for _isa in ("c", "dsp", "mve"):
    _lower = transpose_conv_2d_s8 if _isa == "c" else transpose_conv_2d_floats_s8
    kernel(TransposeConv2DOp, "s8", "nhwc", ROUNDINGS, _isa, rows=reached_rows)(_lower)


@kernel(BOTH, "u8", "nhwc", rounding="tflm_double", workspace=_kept, rows=window_rows)
@kernel(TransposeConv2DOp, "u8", "nhwc", rounding="tflm_double", rows=reached_rows)
def conv_2d_u8(op: Filtered, constants: Constants) -> KernelCall:
    """With one multiplier, which kernels have per channel."""
    axes, channels = weight_axes(op), shape_of(op.result)[3]
    sums = offset_filters(op, op.weights, op.bias, channels, axes, _reals(op), constants)
    return _stored(op, "u8", sums)


@kernel(BOTH, "s16", "nhwc", rounding="tflm_double", workspace=_kept, rows=window_rows)
@kernel(TransposeConv2DOp, "s16", "nhwc", rounding="tflm_double", rows=reached_rows)
def conv_2d_s16(op: Filtered, constants: Constants) -> KernelCall:
    """With int8 weights."""
    if isinstance(op, DepthwiseConv2DOp) and op.in_place is not None:
        raise refuse(op, "int16 in place")
    axes, operands = weight_axes(op), (op.input, op.weights, op.bias)
    narrow = isinstance(op, Conv2DOp)
    return _call(op, "s16", wide_sums(op, operands, axes, _reals(op), constants, narrow=narrow))


@kernel(BOTH, "f32", "nhwc", workspace=_kept, rows=window_rows)
@kernel(TransposeConv2DOp, "f32", "nhwc", rows=reached_rows)
def conv_2d_f32(op: Filtered, constants: Constants) -> KernelCall:
    """Return the call that takes images one after the other."""
    weight_axes(op)
    weights = Table("float", float_weights(op, op.weights, constants))
    bias = float_bias(op, op.bias, shape_of(op.result)[3], constants)
    return _call(op, "f32", (*float_result_range(op), ("weights", weights), ("bias", bias)))


def filter_matrix(
    op: Conv2DOp | DepthwiseConv2DOp, constants: Constants
) -> tuple[Array, Array, list[float]]:
    """Return int8 weights as filter, tap, the bias that the input's zero point is folded into, and
    the multipliers, one or per channel."""
    axes, channels = weight_axes(op), shape_of(op.result)[3]
    weights, scales = int8_weights(op, op.weights, channels, constants)
    matrix = weights.reshape(-1, channels).T if axes[0] == 0 else weights.reshape(channels, -1)
    bias = folded_bias(op, op.input, op.bias, matrix, (1,), constants)
    return matrix, bias, convolution_reals(op, op.input, scales)


def _partial_fields(op: Conv2DOp) -> Fields:
    """Refuses what is more than sums of products, and channels in groups."""
    weight_axes(op)
    if op.bias is not None or op.groups.value.data != 1:
        raise refuse(op, "a partial sum with a bias, or of channels in groups")
    return window_fields(op)


@kernel(Conv2DOp, "s8 to i32", "nhwc", rounding=ROUNDINGS, rows=window_rows, sums=True)
def conv_2d_sum_s8(op: Conv2DOp, constants: Constants) -> KernelCall:
    """Sums of products, which others add to."""
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
