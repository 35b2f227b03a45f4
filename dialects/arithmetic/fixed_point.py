"""Fixed-point arithmetic of TFLite's reference kernels on whole numpy arrays: the functions of
arithmetic.py, element by element, on int64."""

from collections.abc import Callable

from xdsl.ir import Operation

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import INT32_MAX, quantize_multipliers
from memopt.dialects.arithmetic.stored import Array, rounds_once, unknown
from memopt.dialects.memgraph.errors import MemoptError


def high_mul(a: Array, b: Array) -> Array:
    """round(a * b / 2**31), ties upwards (SaturatingRoundingDoublingHighMul)."""
    return np.minimum((a * b + (1 << 30)) >> 31, INT32_MAX)


def round_shift(value: Array, bits: Array) -> Array:
    """round(value / 2**bits), ties away from zero (RoundingDivideByPOT)."""
    mask = (1 << bits) - 1
    return (value >> bits) + ((value & mask) > (mask >> 1) + (value < 0))


def rescale(op: Operation, value: Array, multiplier: Array, shift: Array) -> Array:
    """value * multiplier * 2**(shift - 31), rounded twice, or once where the operation says so
    (MultiplyByQuantizedMultiplier, without and with TFLITE_SINGLE_ROUNDING).

    Raises MemoptError where the arithmetic of the runtime leaves an int32.
    """
    multiplier, shift = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    moved = value << np.maximum(shift, 0)
    need_int32(op, moved)
    if rounds_once(op):
        total = 31 - shift
        return (value * multiplier + (np.int64(1) << (total - 1))) >> total
    return round_shift(high_mul(moved, multiplier), np.maximum(-shift, 0))


def rescale_wide(value: Array, multiplier: Array, shift: Array) -> Array:
    """Rescale sums in an int64 with 16 bits of the multiplier, rounded once (the overload of
    MultiplyByQuantizedMultiplier for int64). Raises MemoptError for shifts that it has not."""
    multiplier, shift = np.asarray(multiplier, np.int64), np.asarray(shift, np.int64)
    reduced = np.where(multiplier < 0x7FFF0000, (multiplier + (1 << 15)) >> 16, 0x7FFF)
    total = 15 - shift
    if (total < 1).any():
        raise MemoptError("scales too far apart to compute with in 16 bits")
    return (value * reduced + (np.int64(1) << (total - 1))) >> total


def multipliers(reals: list[float]) -> tuple[Array, Array]:
    """(multipliers, shifts) of real numbers >= 0."""
    pairs = quantize_multipliers(reals)
    return (np.array([m for m, _ in pairs], np.int64), np.array([s for _, s in pairs], np.int64))


def need_int32(op: Operation, value: Array) -> None:
    """Raise MemoptError if an element is no int32: there the runtime's arithmetic overflows."""
    if value.size and max(int(value.max()), -int(value.min())) > INT32_MAX:
        raise unknown(op, "a number that leaves an int32, such scales have no meaning")


def by_table(values: Array, function: Callable[[int], int]) -> Array:
    """`function` of every element, asked once for each different one."""
    if not values.size:
        return values.astype(np.int64)
    different, where = np.unique(values, return_inverse=True)
    table = np.array([function(int(v)) for v in different], np.int64)
    return table[where].reshape(values.shape)
