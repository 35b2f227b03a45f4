"""The functions of int16 that TFLite's reference kernels look up in tables, between whose entries
they draw lines (kernels/internal/common.h, reference/integer_ops/logistic.h and tanh.h), one number
at a time and bit for bit."""

import math
from collections.abc import Callable
from functools import cache
from typing import Any

from xdsl.ir import Operation

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import unknown

UNIT = 3 * 4096
"""Steps of 1 in what `logistic` and `tanh` take."""


@cache
def sigmoid_table() -> tuple[int, ...]:
    """1 / (1 + exp(-i / 24)) in Q0.16 for i = 0 ... 255, moved by half of what the line to the next
    one misses in its middle; the last one is almost 1 (sigmoid_table_uint16)."""

    def sigmoid(i: float) -> float:
        return 65536 / (1 + math.exp(-i / 24))

    def moved(i: int) -> int:
        here, line = sigmoid(i), (sigmoid(i) + sigmoid(i + 1)) / 2
        return math.floor(here - (line - sigmoid(i + 0.5)) / 2 + 0.5)

    return (*(moved(i) for i in range(255)), 65535)


def logistic(x: int) -> int:
    """1 / (1 + exp(-x / UNIT)) in Q0.15."""
    table, size = sigmoid_table(), abs(x)
    high = size >> 9
    if high >= 255:
        result = 0x7FFF << 10
    else:
        result = (table[high] << 9) + (size & 0x1FF) * (table[high + 1] - table[high])
    return (result + (1 << 9) if x >= 0 else (1 << 25) - result + (1 << 9) - 1) >> 10


def tanh(x: int) -> int:
    """The hyperbolic tangent of x / UNIT in Q0.15."""
    table, size = sigmoid_table(), abs(x)
    high = size >> 8
    if high >= 255:
        result = 0xFFFF << 8
    else:
        result = (table[high] << 8) + (size & 0xFF) * (table[high + 1] - table[high])
    middle = 1 << 23
    return (result - middle + (1 << 7) if x >= 0 else -result + middle + (1 << 7) - 1) >> 8


def power_of_two(scale: float) -> int | None:
    """The power of two that a scale is, up to a thousandth of it in its exponent, None if it is
    none (CheckedLog2)."""
    power = math.log2(scale)
    return round(power) if abs(power - round(power)) < 1e-3 else None


def to_units(op: Operation, scale: float, powers: tuple[int, ...]) -> tuple[int, int]:
    """(multiplier, shift to the right) from steps of `scale` to those of `logistic` and `tanh`,
    where a scale that is one of the powers of two is taken for that (LogisticPrepare, TanhPrepare).
    """
    power = power_of_two(scale) if scale else None
    if power in powers:
        return 3 << (power + 12), 0
    multiplier, shift = scale * UNIT, 0
    while multiplier <= 32767.0 / 2 and shift <= 30:
        multiplier, shift = multiplier * 2, shift + 1
    if not 1 <= multiplier < 65536:
        raise unknown(
            op, f"an input scale of {scale:g}, with which an int32 of the kernel overflows"
        )
    return int(multiplier), shift


def in_units(x: int, multiplier: int, shift: int) -> int:
    """A stored integer in such steps."""
    return (x * multiplier + (1 << shift - 1 if shift else 0)) >> shift


@cache
def exponential_table() -> tuple[int, ...]:
    """exp from -10 to 0 in Q0.15, in 513 places (softmax_common.cc)."""
    return _lines(lambda x: np.float32(np.exp(np.float64(x))), -10, 0)


@cache
def reciprocal_table() -> tuple[int, ...]:
    """1 / (1 + x) from 0 to 1 in Q0.15, in 513 places (softmax_common.cc)."""
    return _lines(lambda x: np.float32(1) / (np.float32(1) + x), 0, 1)


def _lines(function: Callable[[Any], Any], low: float, high: float) -> tuple[int, ...]:
    """Where lines between 513 places follow a function from -1 to 1 best (gen_lut), in float32."""
    one = np.float32(32768)
    first, step = np.float32(low), np.float32((high - low) / 512)

    def of(place: Any) -> Any:
        return function(np.float32(place)) * one

    def rounded(x: Any) -> float:
        return float(np.copysign(np.floor(np.abs(np.float64(x)) + 0.5), x))

    values: list[int] = []
    for i in range(512):
        here = rounded(of(first + np.float32(i) * step))
        next_ = of(first + np.float32(i + 1) * step)
        line = rounded(np.float32(next_ + np.float32(here)) / np.float32(2))
        middle = rounded(of(first + np.float32(i) * step + step / np.float32(2)))
        values.append(int(min(max(here - rounded((line - middle) / 2), -32768), 32767)))
    return (*values, int(min(rounded(of(np.float32(high))), 32767)))


def look_up(table: tuple[int, ...], x: int) -> int:
    """Return the value at an int16 on the lines between the 513 places (LUTLookup)."""
    at = 256 + (x >> 7)
    return table[at] + (((table[at + 1] - table[at]) * (x & 0x7F) + 64) >> 7)
