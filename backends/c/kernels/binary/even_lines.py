"""Sums and products of two bytes by integers that are right for all 65,536 pairs."""

from dataclasses import dataclass
from functools import cache

from memopt.backends.c.emit.call import Array, per_tensor
from memopt.backends.c.emit.even_sums import Changes, product_line
from memopt.backends.c.emit.int8 import Fields, int8_range
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.operators.binary import BinaryOp, SumOp

NUDGES = sorted(range(-3, 4), key=abs)


@dataclass(frozen=True)
class Sides:
    """The numbers of operands and result: scales, the right one with its sign, and zero points."""

    a: tuple[float, int]
    b: tuple[float, int]
    output: tuple[float, int]


def sum_fields(op: BinaryOp, sign: int) -> Fields | None:
    """Return the fields of memopt_sum_line_s8 for a sum that rounds as ONNX's, None where no line
    is right for all pairs."""
    a, b, output = (per_tensor(op, v) for v in (op.lhs, op.rhs, op.result))
    ends = int8_range(op, op.result)
    sides = Sides(a, (sign * b[0], b[1]), output)
    return _line_fields(sides, ends, _results(sides, *(end for _, end in ends), product=False))


def tflm_sum_fields(op: SumOp) -> Fields | None:
    """Return the same for a sum that rounds twice, as TensorFlow Lite Micro's. Raises MemoptError
    for scales that it does not have."""
    a, b, output = (per_tensor(op, v) for v in (op.lhs, op.rhs, op.result))
    every = np.arange(-128, 128, dtype=np.int64)
    results = op.stored(op.of_stored(every[:, None], every[None, :], bits=8))
    return _line_fields(
        Sides(a, (op.SIGN * b[0], b[1]), output),
        int8_range(op, op.result),
        results.astype(np.int64),
    )


def _line_fields(sides: Sides, ends: Fields, want: Array) -> Fields | None:
    low, high = (end for _, end in ends)
    ratios = tuple(scale / sides.output[0] for scale, _ in (sides.a, sides.b))
    line = _sum_line(ratios, want.astype(np.int8).tobytes(), low, high)
    if line is None:
        return None
    names = ("a_multiplier", "b_multiplier", "base", "shift")
    return (*zip(names, line, strict=True), *ends, ("full", int((low, high) == (-128, 127))))


@cache
def _sum_line(
    ratios: tuple[float, ...], results: bytes, low: int, high: int
) -> tuple[int, int, int, int] | None:
    """Return multipliers, base and shift with which `(a * a_multiplier + b * b_multiplier + base)
    >> shift`, clamped, is what `results` say of all pairs, and no sum needs more than 32 bits."""
    want = np.frombuffer(results, np.int8).reshape(256, 256).astype(np.int64)
    largest = 129 + sum(abs(ratio) * 256 for ratio in ratios)
    most_bits = min(31 - int(np.frexp(largest)[1]), 28)
    for shift in range(most_bits + 1, max(most_bits - 2, 0), -1):
        reals = [ratio * (1 << shift) for ratio in ratios]
        for a in NUDGES:
            for b in NUDGES:
                multipliers = round(reals[0]) + a, round(reals[1]) + b
                if (base := _base(want, multipliers, shift, (low, high))) is not None:
                    return *multipliers, base, shift
    return None


def _base(
    want: Array, multipliers: tuple[int, int], shift: int, ends: tuple[int, int]
) -> int | None:
    """Return what is to be added to the products of all pairs; None if nothing is right for all."""
    a, b = (m * np.arange(-128, 128, dtype=np.int64) for m in multipliers)
    missing = (want << shift) - (a[:, None] + b)  # a base is at least that, less than 2^shift more
    least = int(missing[want > ends[0]].max(initial=-(1 << 31)))
    largest = int(missing[want < ends[1]].min(initial=1 << 31)) + (1 << shift) - 1
    base = max(least, min(largest, 0))
    reach = [part + base for part in (0, b.min(), b.max(), a.min() + b.min(), a.max() + b.max())]
    fits = max(reach) < 1 << 31 and min(reach) >= -(1 << 31)
    return base if least <= largest and fits else None


def product_fields(op: BinaryOp) -> Fields | None:
    """Return line and ends of memopt_product_even_s8, None where none is right for all
    pairs."""
    a, b, output = (per_tensor(op, v) for v in (op.lhs, op.rhs, op.result))
    ends = int8_range(op, op.result)
    line = _product_line(Sides(a, b, output), *(end for _, end in ends))
    if line is None:
        return None
    return (*zip(("left", "multiplier", "shift", "base"), line, strict=True), *ends)


@cache
def _product_line(sides: Sides, low: int, high: int) -> tuple[int, int, int, int] | None:
    """Return the numbers of the line. Floats may make a smaller result of a larger product: then
    there is none."""
    every = np.arange(-128, 128)
    products = np.multiply.outer(every - sides.a[1], every - sides.b[1])
    results = _results(sides, low, high, product=True) - low
    first, last = int(products.min()), int(products.max())
    least, largest = np.full(high - low + 1, last + 1), np.full(high - low + 1, first - 1)
    np.minimum.at(least, results, products)
    np.maximum.at(largest, results, products)
    changes = Changes(
        np.arange(low + 1, high + 1) - sides.output[1],
        np.minimum.accumulate(least[::-1])[::-1][1:],
        np.maximum.accumulate(largest)[:-1],
    )
    ratio = sides.a[0] * sides.b[0] / sides.output[0]
    return product_line(first, last, ratio, changes)


def _results(sides: Sides, low: int, high: int, product: bool) -> Array:
    """Return what ONNX makes of all pairs: of floats, as memopt_binary_even_s8."""
    every, zero_point = np.arange(-128, 128), sides.output[1]
    a, b = (
        (every - zero).astype(np.float32) * np.float32(scale) for scale, zero in (sides.a, sides.b)
    )
    reals = np.multiply.outer(a, b) if product else np.add.outer(a, b)
    steps = (reals / np.float32(sides.output[0])).astype(np.float64)
    return np.clip(np.rint(steps) + zero_point, low, high).astype(np.int64)
