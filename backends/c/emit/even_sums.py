"""Sums of int8 that are rounded as ONNX rounds their means: one product of integers for each count,
proven right for every sum, or the least sum of each result."""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation

from memopt.backends.c.emit.call import Array, Table, per_tensor
from memopt.dialects.arithmetic.even_rounding import quantized
from memopt.dialects.arithmetic.lazy_numpy import np

SUMS = 1 << 22
"""So many are tried of a count at most."""


def sum_fields(
    op: Operation, name: str, counts: Sequence[int], low: int, high: int, divides: bool = True
) -> "tuple[tuple[str, Table], ...] | None":
    """Return the fields of memopt_even_sum_s8 for sums of `counts` elements of the operand less its
    zero point, of which results are `low` .. `high`, None where there are too many sums. The first
    field is called `name`; what is not divided is a sum."""
    if max(counts) * 255 > SUMS:
        return None
    lines, searched = list[list[int]](), list[Array]()
    for count in counts:
        divisor = count if divides else 1
        sums = _sums(op, count)
        least = sums[0] + np.searchsorted(
            quantized(op, sums * per_tensor(op, op.operands[0])[0] / divisor, op.results[0]),
            np.arange(low + 1, high + 1),
        )
        ratio = per_tensor(op, op.operands[0])[0] / per_tensor(op, op.results[0])[0] / divisor
        steps = np.arange(low + 1, high + 1) - per_tensor(op, op.results[0])[1]
        changes = Changes(steps, least, least - 1)
        line = product_line(int(sums[0]), int(sums[-1]), ratio, changes)
        if line is None:
            line = (0, 0, 0, len(searched) * (high - low))
            searched.append(least)
        lines.append([count, *line])
    fields = ((name, Table("int32_t", np.array(lines, np.int32))),)
    if searched:
        fields = (*fields, ("least", Table("int32_t", np.array(searched, np.int32))))
    return fields


def _sums(op: Operation, count: int) -> Array:
    """Return all sums of so many elements, in order."""
    zero_point = per_tensor(op, op.operands[0])[1]
    return np.arange(count * (-128 - zero_point), count * (127 - zero_point) + 1, dtype=np.int64)


@dataclass(frozen=True)
class Changes:
    """The least number of which a result is at least each of `steps`, and the largest `before`, of
    which one is less; what lies outside of all numbers is none."""

    steps: Array
    least: Array
    before: Array


def product_line(
    first: int, last: int, ratio: float, changes: Changes
) -> tuple[int, int, int, int] | None:
    """Return left, multiplier, shift and base with which `((n << left) * multiplier >> 32) + base
    >> shift` changes as results do, of numbers n in first .. last; None if there are none. Products
    grow with n: so none between needs to be tried."""
    up_bits = 31 - max(abs(first), abs(last), 1).bit_length()
    exponent = int(np.frexp(ratio)[1])  # ratio < 2^exponent
    shift = min(up_bits - 1 - exponent, 29)
    if shift < 1:
        return None
    reached, above = changes.least <= last, changes.before >= first
    steps = changes.steps.astype(np.int64) << shift
    for nudge in sorted(range(-32, 33), key=abs):
        multiplier = round(ratio * 2.0 ** (32 + shift - up_bits)) + nudge
        if not 0 < multiplier < 1 << 31:
            continue
        lowest = (steps - ((changes.least << up_bits) * multiplier >> 32))[reached]
        highest = (steps - 1 - ((changes.before << up_bits) * multiplier >> 32))[above]
        base = int(lowest.max(initial=-(1 << 30)))
        if base <= 1 << 30 and (base <= highest).all():
            return up_bits, multiplier, shift, base
    return None
