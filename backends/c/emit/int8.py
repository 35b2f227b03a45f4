"""Constants in flash that int8 kernels share: ranges, weights, bias and multipliers."""

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import (
    C_TYPES,
    Array,
    Constants,
    Table,
    activation_of,
    element_kind,
    per_tensor,
    refuse,
)
from memopt.dialects.arithmetic.even_lines import ADDENDS, Steps, find_lines
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multipliers
from memopt.dialects.arithmetic.stored import need_scales, rounds_once
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.base import ComputeOp

Fields = tuple[tuple[str, "int | float | str | Table"], ...]


def int8_range(op: Operation, result: SSAValue) -> tuple[tuple[str, int], ...]:
    """Return the range that the type and a fused activation leave of the result, rounded as the
    operation is."""
    activation_of(op)
    per_tensor(op, result)
    assert isinstance(op, ComputeOp)
    low, high = op.stored_range()
    return (("act_min", low), ("act_max", high))


def int8_weights(
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
    need_scales(op, weights)
    if any(encoding.zero_points):
        raise refuse(op, "weights with a zero point other than 0")
    return array, encoding.scales


def offset_filters(
    op: Operation,
    weights: SSAValue,
    bias: SSAValue | None,
    channels: int,
    axes: tuple[int, ...],
    reals: Sequence[float],
    constants: Constants,
) -> Fields:
    """The fields weights_zero_point, weights, bias, multiplier and shift of weights of bytes of one
    quantization, stored as the activations are, summed over `axes`. Nothing is folded: kernels take
    zero points off as they go. Refuses others, and what could overflow the int32 accumulator."""
    array, encoding = constants(weights), encoding_of(weights)
    if array is None:
        raise refuse(op, "weights that are only known at run time")
    kind = element_kind(op.results[0])
    if C_TYPES[kind] != f"{array.dtype}_t" or len(encoding.scales) != 1:
        raise refuse(op, f"{kind} kernels need {kind} weights of one scale, not {array.dtype}")
    need_scales(op, weights)
    zero = encoding.zero_points[0]
    total = int32_bias(op, bias, channels, constants)
    size = 255 * np.abs(array.astype(np.int64) - zero).sum(axis=axes)
    need_int32(op, np.abs(total) + size)
    return (
        ("weights_zero_point", zero),
        ("weights", Table(C_TYPES[kind], array)),
        ("bias", Table("int32_t", total.astype(np.int32))),
        *requantization(op, np.abs(total) + size, reals),
    )


EVEN = 127  # MEMOPT_EVEN in kernels/memopt_common.h
LINE = 96  # MEMOPT_LINE in kernels/memopt_common.h
WIDE = 64  # MEMOPT_WIDE in kernels/memopt_common.h


def accumulation(
    op: Operation,
    source: SSAValue,
    bias: SSAValue | None,
    weights: Array,
    axes: tuple[int, ...],
    reals: Sequence[float],
    constants: Constants,
    lines: bool,
) -> Fields:
    """The fields bias, multiplier and shift of the real multipliers `reals`, one or per channel.

    The bias is folded: bias - zero_point * sum(weights over axes). Every partial sum is below
    |bias| + 128 * sum(|weights|); where that may reach 2**30 the channel's shift is marked as wide
    (real models have such channels: dead ones, with a saturated bias). Refused is what could
    overflow the int32 accumulator. Where ONNX's rounding is asked for, multipliers are those of
    `codes`.
    """
    total = folded_bias(op, source, bias, weights, axes, constants)
    largest = np.abs(total) + 128 * np.abs(weights.astype(np.int64)).sum(axis=axes)
    return (
        ("bias", Table("int32_t", total.astype(np.int32))),
        *requantization(op, largest, reals, lines),
    )


def folded_bias(
    op: Operation,
    source: SSAValue,
    bias: SSAValue | None,
    weights: Array,
    axes: tuple[int, ...],
    constants: Constants,
) -> Array:
    """bias - zero_point * sum(weights over axes) in 64 bits: what sums of products with the stored
    values begin with."""
    total = -per_tensor(op, source)[1] * weights.astype(np.int64).sum(axis=axes)
    return total + int32_bias(op, bias, total.size, constants)


def int32_bias(op: Operation, bias: SSAValue | None, count: int, constants: Constants) -> Array:
    """A bias for each of `count` channels in 64 bits, zeros if there is none."""
    if bias is None:
        return np.zeros(count, np.int64)
    array = constants(bias)
    if array is None:
        raise refuse(op, "a bias that is only known at run time")
    if str(array.dtype) != "int32" or array.size != count:
        raise refuse(op, f"int8 kernels need one int32 bias per channel, not {array.dtype}")
    return array.reshape(-1).astype(np.int64)


def need_int32(op: Operation, largest: Array) -> None:
    """Refuse sums whose absolute value may be as large as this."""
    if (largest >= 1 << 31).any():
        raise refuse(op, "the int32 accumulator could overflow")


def requantization(
    op: Operation, largest: Array, reals: Sequence[float], lines: bool = False
) -> Fields:
    """The fields multiplier and shift of the real multipliers `reals`, one or per channel, of sums
    whose absolute values are up to `largest`, in 64 bits."""
    multiplier, shift = codes(op, largest, reals, lines)
    needs = ("LINES",) if rounds_even(op) and (shift != EVEN).any() else ()
    return (("multiplier", Table("int32_t", multiplier)), ("shift", Table("int8_t", shift, needs)))


def codes(
    op: Operation, largest: Array, reals: Sequence[float], lines: bool = False
) -> tuple[Array, Array]:
    """Return the multipliers as arrays, as memopt_requantize takes them: int32 multipliers, int8
    shifts; or as memopt_requantize_once does, where the operation says so. Where ONNX's rounding is
    asked for they are floats, or `lines` where there are any."""
    if rounds_even(op):
        return _even_codes(op, largest, np.array(reals, np.float32), lines)
    pairs = quantize_multipliers(reals)
    shift = np.array([s for _, s in pairs], dtype=np.int64)
    largest = largest << np.maximum(shift, 0)
    need_int32(op, largest)
    if shift.size == 1:
        largest = largest.max(keepdims=True)
    code = np.where((shift >= 0) | (largest >= 1 << 30), shift + WIDE, shift)
    multiplier = np.array([m for m, _ in pairs], dtype=np.int32)
    if rounds_once(op):
        code = 31 - shift
    return multiplier, code.astype(np.int8)


def _even_codes(op: Operation, largest: Array, reals: Array, lines: bool) -> tuple[Array, Array]:
    need_int32(op, largest)
    multiplier, code = reals.view(np.int32).copy(), np.full(reals.size, EVEN, np.int8)
    if not lines:
        return multiplier, code
    (_, low), (_, high) = int8_range(op, op.results[0])
    zero_point = per_tensor(op, op.results[0])[1]
    reach = largest if reals.size > 1 else largest.max(keepdims=True)
    has_line, line, addend = find_lines(reals, reach, Steps(low - zero_point, high - zero_point))
    multiplier[has_line], code[has_line] = line[has_line], LINE + addend[has_line] - ADDENDS[0]
    return multiplier, code


def even_steps(op: Operation) -> tuple[tuple[str, float], ...]:
    """The scales before and after, for a mean that is rounded to even."""
    scale, output_scale = (per_tensor(op, v)[0] for v in (op.operands[0], op.results[0]))
    return (("scale", scale), ("output_scale", output_scale))


def zero_points(op: Operation, source: SSAValue, result: SSAValue) -> tuple[tuple[str, int], ...]:
    return (
        ("input_zero_point", per_tensor(op, source)[1]),
        ("output_zero_point", per_tensor(op, result)[1]),
    )
