"""int8 operators to kernel calls: shapes and all fixed-point numbers become constants in flash."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.call import (
    Array,
    Constants,
    KernelCall,
    Rows,
    Table,
    activation_of,
    need_layout,
    need_tflm_rounding,
    per_tensor,
    refuse,
    size_of,
)
from memopt.backends.c.shapes import binary_steps, mean_shape, pool_fields, window_fields
from memopt.dialects.arithmetic import (
    float32,
    quantize_multiplier,
    quantized_range,
    softmax_exponentials,
)
from memopt.dialects.operators.binary import AddOp, MulOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.tensors import encoding_of, shape_of

Fields = tuple[tuple[str, "int | float | str | Table"], ...]


def _result_range(op: Operation, result: SSAValue) -> tuple[tuple[str, int], ...]:
    scale, zero_point = per_tensor(op, result)
    low, high = quantized_range(activation_of(op), scale, zero_point)
    return (("act_min", low), ("act_max", high))


def _weights(
    op: Operation, weights: SSAValue, channels: int, constants: Constants
) -> tuple[Array, tuple[float, ...]]:
    """(int8 array, one scale per channel or one in all). Refuses run-time or asymmetric weights."""
    array = constants(weights)
    if array is None:
        raise refuse(op, "weights that are only known at run time")
    if str(array.dtype) != "int8":
        raise refuse(op, f"int8 kernels need int8 weights, not {array.dtype}")
    encoding = encoding_of(weights)
    if len(encoding.scales) not in (1, channels):
        raise refuse(op, f"{len(encoding.scales)} weight scales for {channels} channels")
    if any(encoding.zero_points):
        raise refuse(op, "weights with a zero point other than 0")
    return array, encoding.scales


WIDE = 64  # MEMOPT_WIDE in kernels/memopt_common.h


def _accumulation(
    op: Conv2DOp | DepthwiseConv2DOp | FullyConnectedOp,
    weights: Array,
    axes: tuple[int, ...],
    reals: Sequence[float],
    constants: Constants,
) -> Fields:
    """The fields bias, multiplier and shift of the real multipliers `reals`, one or per channel.

    The bias is folded: bias - zero_point * sum(weights over axes). Every partial sum is below
    |bias| + 128 * sum(|weights|); where that may reach 2**30 the channel's shift is marked as wide
    (real models have such channels: dead ones, with a saturated bias). Refused is what could
    overflow the int32 accumulator.
    """
    import numpy as np

    wide = weights.astype(np.int64)
    total = -per_tensor(op, op.input)[1] * wide.sum(axis=axes)
    if op.bias is not None:
        array = constants(op.bias)
        if array is None:
            raise refuse(op, "a bias that is only known at run time")
        if str(array.dtype) != "int32" or array.size != total.size:
            raise refuse(op, f"int8 kernels need one int32 bias per channel, not {array.dtype}")
        total = total + array.reshape(-1).astype(np.int64)
    largest = np.abs(total) + 128 * np.abs(wide).sum(axis=axes)
    pairs = [quantize_multiplier(real) for real in reals]
    shift = np.array([s for _, s in pairs], dtype=np.int64)
    largest <<= np.maximum(shift, 0)
    if (largest >= 1 << 31).any():
        raise refuse(op, "the int32 accumulator could overflow")
    if shift.size == 1:
        largest = largest.max(keepdims=True)
    code = np.where((shift >= 0) | (largest >= 1 << 30), shift + WIDE, shift)
    return (
        ("bias", Table("int32_t", total.astype(np.int32))),
        ("multiplier", Table("int32_t", np.array([m for m, _ in pairs], dtype=np.int32))),
        ("shift", Table("int8_t", code.astype(np.int8))),
    )


def _zero_points(op: Operation, source: SSAValue, result: SSAValue) -> tuple[tuple[str, int], ...]:
    return (
        ("input_zero_point", per_tensor(op, source)[1]),
        ("output_zero_point", per_tensor(op, result)[1]),
    )


def conv_2d(op: Conv2DOp | DepthwiseConv2DOp, constants: Constants) -> KernelCall:
    """CONV_2D and DEPTHWISE_CONV_2D."""

    need_tflm_rounding(op)
    need_layout(op, op.input, "nhwc")
    depthwise = isinstance(op, DepthwiseConv2DOp)
    need_layout(op, op.weights, *(("ihwo", "1hwo") if depthwise else ("ohwi",)))
    shape, out = shape_of(op.input), shape_of(op.result)
    channels = out[3]
    weights, scales = _weights(op, op.weights, channels, constants)
    axes = (0, 1, 2) if depthwise else (1, 2, 3)
    in_scale, out_scale = per_tensor(op, op.input)[0], per_tensor(op, op.result)[0]
    per_channel = scales if len(scales) == channels else scales * channels
    reals = [in_scale * s / out_scale for s in per_channel]
    return KernelCall(
        kernel="depthwise_conv_2d_s8" if depthwise else "conv_2d_s8",
        c_type="int8_t",
        fields=(
            *window_fields(op),
            *_zero_points(op, op.input, op.result),
            *_result_range(op, op.result),
            ("weights", Table("int8_t", weights)),
            *_accumulation(op, weights, axes, reals, constants),
        ),
        operands=(op.input,),
        rows=Rows(out[1], shape[2] * shape[3], out[2] * out[3]),
        batches=out[0],
        in_batch=size_of(op.input) // shape[0],
        out_batch=size_of(op.result) // out[0],
    )


def fully_connected(op: FullyConnectedOp, constants: Constants) -> KernelCall:

    need_tflm_rounding(op)
    out_n, in_n = shape_of(op.weights)
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    weights, scales = _weights(op, op.weights, out_n, constants)
    in_scale = per_tensor(op, op.input)[0]
    out_scale, out_zero = per_tensor(op, op.result)
    per_axis = len(scales) > 1
    # TFLM multiplies the two scales of a per-tensor operator as floats, of a per-axis one as
    # doubles (GetQuantizedConvolutionMultipler, PopulateConvolutionQuantizationParams).
    reals = (
        [in_scale * s / out_scale for s in scales]
        if per_axis
        else [float32(in_scale * s) / out_scale for s in scales]
    )
    return KernelCall(
        kernel="fully_connected_s8",
        c_type="int8_t",
        fields=(
            ("in_n", in_n),
            ("out_n", out_n),
            ("output_zero_point", out_zero),
            *_result_range(op, op.result),
            ("per_axis", int(per_axis)),
            ("weights", Table("int8_t", weights)),
            *_accumulation(op, weights, (1,), reals, constants),
        ),
        operands=(op.input,),
        rows=Rows(size_of(op.input) // in_n, in_n, out_n),
    )


def add(op: AddOp, constants: Constants) -> KernelCall:
    need_tflm_rounding(op)
    left_shift = 20
    (a_scale, a_zero), (b_scale, b_zero) = per_tensor(op, op.lhs), per_tensor(op, op.rhs)
    out_scale, out_zero = per_tensor(op, op.result)
    twice = 2 * max(a_scale, b_scale)
    reals = (a_scale / twice, b_scale / twice, twice / ((1 << left_shift) * out_scale))
    if not all(0 < r < 1 for r in reals):
        raise refuse(op, "the scales need an output multiplier of 1 or more")
    numbers = tuple(quantize_multiplier(r) for r in reals)
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="add_s8",
        c_type="int8_t",
        fields=(
            ("row_n", row_n),
            ("left_shift", left_shift),
            ("a_zero_point", a_zero),
            ("b_zero_point", b_zero),
            ("output_zero_point", out_zero),
            ("a_multiplier", numbers[0][0]),
            ("b_multiplier", numbers[1][0]),
            ("output_multiplier", numbers[2][0]),
            ("a_shift", numbers[0][1]),
            ("b_shift", numbers[1][1]),
            ("output_shift", numbers[2][1]),
            *_result_range(op, op.result),
            *steps,
        ),
        operands=operands,
        rows=rows,
    )


def mul(op: MulOp, constants: Constants) -> KernelCall:
    need_tflm_rounding(op)
    (a_scale, a_zero), (b_scale, b_zero) = per_tensor(op, op.lhs), per_tensor(op, op.rhs)
    out_scale, out_zero = per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(a_scale * b_scale / out_scale)
    if shift > 14:
        raise refuse(op, "an output scale so small that the product could overflow")
    row_n, rows, operands, steps = binary_steps(op, constants)
    return KernelCall(
        kernel="mul_s8",
        c_type="int8_t",
        fields=(
            ("row_n", row_n),
            ("a_zero_point", a_zero),
            ("b_zero_point", b_zero),
            ("output_zero_point", out_zero),
            ("multiplier", multiplier),
            ("shift", shift + WIDE if shift >= 0 else shift),
            *_result_range(op, op.result),
            *steps,
        ),
        operands=operands,
        rows=rows,
    )


def mean(op: MeanOp, constants: Constants) -> KernelCall:
    """MEAN, with 1 / count folded into the multiplier (QuantizedMeanOrSum)."""
    need_tflm_rounding(op)
    outer, count, inner = mean_shape(op)
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    multiplier, shift = (multiplier << extra) // count, shift - extra
    if 255 * count << max(shift, 0) >= 1 << 30:
        raise refuse(op, f"a mean of {count} elements, the sum could overflow")
    return KernelCall(
        kernel="mean_s8",
        c_type="int8_t",
        fields=(
            ("count", count),
            ("inner", inner),
            ("offset", count * in_zero),
            ("multiplier", multiplier),
            ("shift", shift + WIDE if shift >= 0 else shift),
            ("output_zero_point", out_zero),
        ),
        operands=(op.input,),
        rows=Rows(outer, count * inner, inner),
    )


def pool_2d(op: AveragePool2DOp | MaxPool2DOp, constants: Constants) -> KernelCall:
    """AVERAGE_POOL_2D and MAX_POOL_2D, between tensors of one quantization."""
    need_layout(op, op.input, "nhwc")
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    if abs(in_scale - out_scale) > 1.0e-6 or in_zero != out_zero:
        raise refuse(op, "an int8 pool needs the same quantization before and after")
    shape, out = shape_of(op.input), shape_of(op.result)
    return KernelCall(
        kernel="average_pool_2d_s8" if isinstance(op, AveragePool2DOp) else "max_pool_2d_s8",
        c_type="int8_t",
        fields=(("window", pool_fields(op)), *_result_range(op, op.result)),
        operands=(op.input,),
        rows=Rows(out[1], shape[2] * shape[3], out[2] * out[3]),
        batches=out[0],
        in_batch=size_of(op.input) // shape[0],
        out_batch=size_of(op.result) // out[0],
    )


def softmax(op: SoftmaxOp, constants: Constants) -> KernelCall:
    import numpy as np

    shape = shape_of(op.input)
    if op.axis.value.data != len(shape) - 1:
        raise refuse(op, f"softmax over axis {op.axis.value.data}, only over the last one")
    if 0 in shape:
        raise refuse(op, "a tensor without elements")
    scale, _ = per_tensor(op, op.input)
    if per_tensor(op, op.result) != (1.0 / 256.0, -128):
        raise refuse(op, "an int8 softmax needs scale 1/256 and zero point -128 after it")
    table = softmax_exponentials(float(op.beta.value.data), scale)
    return KernelCall(
        kernel="softmax_s8",
        c_type="int8_t",
        fields=(
            ("depth", shape[-1]),
            ("entries", len(table)),
            ("exponential", Table("int32_t", np.array(table, dtype=np.int32))),
        ),
        operands=(op.input,),
        rows=Rows(size_of(op.input) // shape[-1], shape[-1], shape[-1]),
    )
