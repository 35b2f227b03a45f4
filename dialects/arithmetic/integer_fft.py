"""The Fourier transform of fixed-point numbers as KissFFT defines it: each stage of 4 or 2 divides
its numbers by that, and each product is rounded to the stored bits, halves up.

    real_transform(array, 512)         # int16 or int32 [..., 512] -> [..., 514]: real, imaginary
    inverse_transform(array, 512)      # [..., 514] -> [..., 512]
"""

import math

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array

LEAST_LENGTH, MOST_LENGTH = 4, 1 << 15


def is_length(length: int) -> bool:
    """Return whether transforms of that many real numbers are known: powers of 2 from 4 on."""
    return LEAST_LENGTH <= length <= MOST_LENGTH and not length & (length - 1)


def stages(count: int) -> list[int]:
    """Return how many parts each stage of `count` complex numbers joins, the last to run first."""
    twos = count.bit_length() - 1
    return [4] * (twos // 2) + [2] * (twos % 2)


def turns(count: int, bits: int, is_inverse: bool) -> Array:
    """Return e^(-2 pi i k / count), or with a plus, as fixed-point numbers [count, 2]."""
    sign = 1 if is_inverse else -1
    return _on_circle([2 * math.pi * k / count * sign for k in range(count)], bits)


def half_turns(count: int, bits: int, is_inverse: bool) -> Array:
    """Return the numbers by which two halves of a real transform of 2 * `count` numbers differ."""
    sign = 1 if is_inverse else -1
    return _on_circle([math.pi * (k / count + 0.5) * sign for k in range(1, count // 2 + 1)], bits)


def _on_circle(phases: list[float], bits: int) -> Array:
    one = (1 << bits - 1) - 1
    points = [(math.cos(p), math.sin(p)) for p in phases]
    return np.array([[math.floor(0.5 + one * v) for v in point] for point in points], np.int64)


class _Numbers:
    """Fixed-point numbers of 16 or 32 bits in int64; sums wrap round as those of the type."""

    def __init__(self, dtype: Array) -> None:
        self.dtype = dtype
        self.bits = 8 * dtype.itemsize

    def wrapped(self, values: Array) -> Array:
        return values.astype(self.dtype).astype(np.int64)

    def rounded(self, values: Array) -> Array:
        return self.wrapped((values + (1 << self.bits - 2)) >> (self.bits - 1))

    def divided(self, values: Array, by: int) -> Array:
        return self.rounded(values * (((1 << self.bits - 1) - 1) // by))

    def product(self, a: Array, b: Array) -> Array:
        real = a[..., 0] * b[..., 0] - a[..., 1] * b[..., 1]
        imaginary = a[..., 0] * b[..., 1] + a[..., 1] * b[..., 0]
        return self.rounded(np.stack([real, imaginary], -1))


def _transform(n: _Numbers, values: Array, is_inverse: bool) -> Array:
    """Return the transform of complex numbers [..., count, 2]."""
    count = values.shape[-2]
    table = turns(count, n.bits, is_inverse)

    def joined(first: int, step: int, parts: list[int]) -> Array:
        if not parts:
            return values[..., first : first + 1, :]
        part, length = parts[0], count // step // parts[0]
        pieces = [joined(first + q * step, step * part, parts[1:]) for q in range(part)]
        pieces = [n.divided(piece, part) for piece in pieces]
        turn = table[np.arange(length) * step]
        if part == 2:
            turned = n.product(pieces[1], turn)
            sums = [pieces[0] + turned, pieces[0] - turned]
            return n.wrapped(np.concatenate(sums, -2))
        others = [turn, table[2 * np.arange(length) * step], table[3 * np.arange(length) * step]]
        a, b, c = (n.product(piece, t) for piece, t in zip(pieces[1:], others, strict=True))
        even, odd = n.wrapped(pieces[0] + b), n.wrapped(pieces[0] - b)
        sum_, difference = n.wrapped(a + c), n.wrapped(a - c)
        across = np.stack([difference[..., 1], -difference[..., 0]], -1)
        across = -across if is_inverse else across
        sums = [even + sum_, odd + across, even - sum_, odd - across]
        return n.wrapped(np.concatenate(sums, -2))

    return joined(0, 1, stages(count))


def _conjugate(n: _Numbers, values: Array) -> Array:
    return n.wrapped(values * np.array([1, -1], np.int64))


def real_transform(values: Array, length: int) -> Array:
    """Return the first half of the transform of `length` real numbers, behind which zeros stand,
    and one number more."""
    n, count = _Numbers(values.dtype), length // 2
    padded = np.zeros((*values.shape[:-1], length), np.int64)
    padded[..., : values.shape[-1]] = values
    pairs = _transform(n, padded.reshape(*values.shape[:-1], count, 2), False)
    result = np.zeros((*values.shape[:-1], count + 1, 2), np.int64)
    ends = n.divided(pairs[..., 0, :], 2)
    result[..., 0, 0] = ends.sum(-1)
    result[..., count, 0] = ends[..., 0] - ends[..., 1]
    k = np.arange(1, count // 2 + 1)
    low = n.divided(pairs[..., k, :], 2)
    high = n.divided(_conjugate(n, pairs[..., count - k, :]), 2)
    sums, differences = n.wrapped(low + high), n.wrapped(low - high)
    turned = n.product(differences, half_turns(count, n.bits, False))
    result[..., k, :] = _half(n, sums + turned)
    behind = np.stack([sums[..., 0] - turned[..., 0], turned[..., 1] - sums[..., 1]], -1)
    result[..., count - k, :] = _half(n, behind)
    return result.reshape(*values.shape[:-1], length + 2).astype(values.dtype)


def _half(n: _Numbers, sums: Array) -> Array:
    """Return half of sums, which are int's: those of 32 bits wrap round before."""
    return (n.wrapped(sums) if n.bits == 32 else sums) >> 1


def inverse_transform(values: Array, length: int) -> Array:
    """Return `length` real numbers of half of their transform and one number more."""
    n, count = _Numbers(values.dtype), length // 2
    given = values.reshape(*values.shape[:-1], count + 1, 2).astype(np.int64)
    pairs = np.zeros((*values.shape[:-1], count, 2), np.int64)
    first, last = given[..., 0, 0], given[..., count, 0]
    pairs[..., 0, :] = n.divided(n.wrapped(np.stack([first + last, first - last], -1)), 2)
    k = np.arange(1, count // 2 + 1)
    low = n.divided(given[..., k, :], 2)
    high = n.divided(_conjugate(n, given[..., count - k, :]), 2)
    even = n.wrapped(low + high)
    odd = n.product(n.wrapped(low - high), half_turns(count, n.bits, True))
    pairs[..., k, :] = n.wrapped(even + odd)
    pairs[..., count - k, :] = _conjugate(n, n.wrapped(even - odd))
    return _transform(n, pairs, True).reshape(*values.shape[:-1], length).astype(values.dtype)
