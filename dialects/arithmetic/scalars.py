"""The fixed-point numbers of int8 and int16 arithmetic, one at a time.

Everything here equals TFLite's reference kernels (kernels/internal/quantization_util.cc,
kernels/kernel_util.cc) bit for bit, and gemmlowp (fixedpoint/fixedpoint.h), whose names are given.
A *multiplier* stands for the real number `multiplier * 2**(shift - 31)`; a positive shift is to the
left. Raw fixed-point values are plain integers in the range of an int32.
"""

import math
import struct
from collections.abc import Iterable

from memopt.dialects.memgraph.errors import MemoptError

INT32_MAX = (1 << 31) - 1
INT32_MIN = -(1 << 31)
MOST_LEFT = 30  # bits: what an int32 is shifted by further to the left is gone
FLOAT32_MAX = struct.unpack("<f", b"\xff\xff\x7f\x7f")[0]


def float32(value: float) -> float:
    """`value` rounded to float32: where the C++ source multiplies floats, so must we."""
    try:
        return struct.unpack("<f", struct.pack("<f", value))[0]
    except OverflowError:
        return math.copysign(math.inf, value)


def quantize_multiplier(real: float, most: int = MOST_LEFT) -> tuple[int, int]:
    """Return (multiplier, shift) of a real number >= 0 (QuantizeMultiplier, double rounding).
    Raises MemoptError for a shift of more bits than `most`, of which runtimes make anything."""
    if real == 0.0:
        return 0, 0
    fraction, shift = math.frexp(real)
    multiplier = math.floor(fraction * (1 << 31) + 0.5)
    if multiplier == 1 << 31:
        multiplier //= 2
        shift += 1
    if shift < -31:
        return 0, 0
    if shift > most:
        raise MemoptError(f"scales too far apart to compute with: a quotient is {real:g}")
    return multiplier, shift


def quantize_multipliers(reals: Iterable[float]) -> list[tuple[int, int]]:
    """Return `quantize_multiplier` of each."""
    return [quantize_multiplier(real) for real in reals]


def high_mul(a: int, b: int) -> int:
    """round(a * b / 2**31), ties upwards (SaturatingRoundingDoublingHighMul)."""
    return min((a * b + (1 << 30)) >> 31, INT32_MAX)


def round_shift(value: int, bits: int) -> int:
    """round(value / 2**bits), ties away from zero (RoundingDivideByPOT)."""
    mask = (1 << bits) - 1
    threshold = (mask >> 1) + (1 if value < 0 else 0)
    return (value >> bits) + (1 if value & mask > threshold else 0)


def multiply(value: int, multiplier: int, shift: int) -> int:
    """value * multiplier * 2**(shift - 31), rounded twice (MultiplyByQuantizedMultiplier)."""
    return round_shift(high_mul(value << max(shift, 0), multiplier), max(-shift, 0))


def saturate(value: int, low: int = -128, high: int = 127) -> int:
    return max(low, min(high, value))


def _exp_on_last_quarter(a: int) -> int:
    """exp of a in [-1/4, 0), Q0.31 (exp_on_interval_between_negative_one_quarter_and_0_excl)."""
    constant_term, one_third = 1895147668, 715827883
    x = a + (1 << 28)
    x2 = high_mul(x, x)
    x3 = high_mul(x2, x)
    x4_over_4 = round_shift(high_mul(x2, x2), 2)
    rest = round_shift(high_mul(x4_over_4 + x3, one_third) + x2, 1)
    return constant_term + high_mul(constant_term, x + rest)


_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
"""exp(-2**k), k = -2 ... 4, in Q0.31."""


def exp_on_negative_values(a: int, integer_bits: int) -> int:
    """exp of a <= 0, `integer_bits` (up to 5) before the point; result in Q0.31 (same name)."""
    quarter_bit = 31 - integer_bits - 2
    quarter = 1 << quarter_bit
    within = (a & (quarter - 1)) - quarter
    result = _exp_on_last_quarter(within << integer_bits)
    remainder = within - a
    for k, factor in enumerate(_EXP_FACTORS[: integer_bits + 2]):
        if remainder & (1 << (quarter_bit + k)):
            result = high_mul(result, factor)
    return INT32_MAX if a == 0 else result


def _reciprocal_of_half(x: int) -> int:
    """2 / (1 + x) of x in [0, 1), Q0.31, result in Q2.29: three Newton steps."""
    half_denominator = (x + INT32_MAX + 1) // 2
    estimate = 1515870810 + high_mul(half_denominator, -1010580540)
    for _ in range(3):
        rest = (1 << 29) - high_mul(half_denominator, estimate)
        estimate += saturate(high_mul(estimate, rest) << 2, INT32_MIN, INT32_MAX)
    return estimate


def one_over_one_plus_x(x: int) -> int:
    """1 / (1 + x) of x in [0, 1), both Q0.31 (one_over_one_plus_x_for_x_in_0_1)."""
    return saturate(_reciprocal_of_half(x) << 1, INT32_MIN, INT32_MAX)


_LOG_2, _SQRT_HALF, _ROOT_4_HALF = 1488522236, 1518500250, 1805811301
"""log(2), 2**-0.5 and 2**-0.25 in Q0.31."""


def log_at_least_one(x: int) -> int:
    """log of x >= 1 in Q12.19, result in Q5.26 (log_x_for_x_greater_than_or_equal_to_1)."""

    def up(value: int, bits: int) -> int:
        return saturate(value << bits, INT32_MIN, INT32_MAX)

    # x = r * 2**power with r near 2**-0.25, taken from x or from x * sqrt(1/2); powers in Q6.25.
    zeros = 32 - x.bit_length()
    less_zeros = 31 - high_mul(x, _SQRT_HALF).bit_length()
    r = min(up(high_mul(x << (zeros - 1), _SQRT_HALF), 1), up(x, less_zeros))
    power = max(((12 - zeros) << 25) + (1 << 23), ((12 - less_zeros) << 25) - (1 << 23))
    # log(r * 2**0.25) as a quotient of polynomials.
    middle, q = (r + _ROOT_4_HALF + 1) // 2, 2 * (r - _ROOT_4_HALF)
    square = high_mul(q, q)
    above = high_mul(q, r) + high_mul(high_mul(q, square), 117049297)
    inner = 1057819769 + q + high_mul(127690142, square)
    below = high_mul(middle, inner) + high_mul(638450708, q)
    rest = high_mul(round_shift(above, 6), one_over_one_plus_x(below))
    return up(high_mul(power, _LOG_2) + rest, 1)


def logistic(a: int) -> int:
    """1 / (1 + exp(-a)) of a in Q4.27, result in Q0.31 (gemmlowp's logistic)."""
    if a == 0:
        return 1 << 30
    positive = one_over_one_plus_x(exp_on_negative_values(-abs(a), 4))
    return positive if a > 0 else INT32_MAX - positive


def tanh(a: int) -> int:
    """tanh of a in Q4.27, result in Q0.31 (gemmlowp's tanh): of 2a, read as Q5.26."""
    if a == 0:
        return 0
    rest = _reciprocal_of_half(exp_on_negative_values(-abs(a), 5)) - (1 << 29)
    positive = saturate(rest << 2, INT32_MIN, INT32_MAX)
    return positive if a > 0 else -positive


def input_radius(integer_bits: int, shift: int) -> int:
    """Inputs from here on leave the fixed-point range (CalculateInputRadius, 31 bits)."""
    return math.floor(((1 << integer_bits) - 1) * (1 << (31 - integer_bits)) / (1 << shift))


def softmax_scaling(beta: float, input_scale: float) -> tuple[int, int]:
    """(multiplier, shift to the left) of differences of stored inputs, to Q5.26
    (PreprocessSoftmaxScaling)."""
    return quantize_multiplier(min(beta * input_scale * (1 << 26), float(INT32_MAX)), most=31)


def softmax_exponentials(beta: float, input_scale: float) -> tuple[int, ...]:
    """exp(-d * beta * input_scale) in Q0.31 for d = 0, 1, ...: 1 to 256 entries.

    Where TensorFlow Lite cuts off (PreprocessSoftmaxScaling, CalculateInputRadius) the table ends.
    """
    multiplier, shift = softmax_scaling(beta, input_scale)
    return tuple(
        exp_on_negative_values(high_mul(-d << shift, multiplier), 5)
        for d in range(min(input_radius(5, shift), 255) + 1)
    )


def quantized_range(
    activation: str, scale: float, zero_point: int, low: int = -128, high: int = 127
) -> tuple[int, int]:
    """Return the part of low .. high that a fused activation keeps
    (CalculateActivationRangeQuantized). Raises MemoptError where its ends in steps of the scale are
    no int32."""

    def quantize(real: float) -> int:
        # std::round of a float quotient: ties away from zero.
        steps = float32(float32(real) / float32(scale))
        if abs(steps) > INT32_MAX:
            raise MemoptError(f"the scale {scale:g} is too small for {activation}")
        return zero_point + int(math.copysign(math.floor(abs(steps) + 0.5), steps))

    reals = {
        "": (None, None),
        "relu": (0.0, None),
        "relu6": (0.0, 6.0),
        "relu_n1_to_1": (-1.0, 1.0),
        "relu_0_to_1": (0.0, 1.0),
    }
    if activation not in reals:
        raise ValueError(f"activation {activation!r}")
    lowest, highest = reals[activation]
    return (
        low if lowest is None else max(low, quantize(lowest)),
        high if highest is None else min(high, quantize(highest)),
    )


def float_range(activation: str) -> tuple[float, float]:
    """The float32 range that a fused activation leaves (CalculateActivationRange)."""
    limits = {
        "": (-FLOAT32_MAX, FLOAT32_MAX),
        "relu": (0.0, FLOAT32_MAX),
        "relu6": (0.0, 6.0),
        "relu_n1_to_1": (-1.0, 1.0),
    }
    if activation not in limits:
        raise ValueError(f"activation {activation!r}")
    return limits[activation]
