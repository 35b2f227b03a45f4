"""Products of sums with real numbers that are rounded as ONNX rounds them, as lines of integers.

`(256 * sum + addend) * multiplier / 2^44`, rounded to nearest, halves up, changes where
`float32(sum) * real`, rounded to even, does: a result of a byte changes 255 times at most, so that
trying the sums beside these changes is a proof. No line has the same changes where products of
float32 lie close to halves on both sides; then the real number stays.
"""

from dataclasses import dataclass

from memopt.dialects.arithmetic.even_rounding import rescaled
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array

FRACTION = 12  # bits of a product behind the point: memopt_line
SUM_BITS = 8  # that a sum is shifted to the left by
ADDENDS = (-2, 1)  # MEMOPT_LINE is the code of the first
SUM = (1 << 31 - SUM_BITS) - 1  # the largest |sum|
LARGEST = 2.0 ** (SUM_BITS - FRACTION - 1)  # of which the multiplier has 31 bits
LEAST = 2.0**-24  # of which no sum makes more than a half
NUDGES = sorted(range(-40, 41), key=abs)


@dataclass(frozen=True)
class Steps:
    """Results less their zero point, `low` to `high`."""

    low: int
    high: int


def find_lines(reals: Array, reach: Array, steps: Steps) -> tuple[Array, Array, Array]:
    """Return for each of `reals` whether there is a line for sums up to `reach` in size, and its
    multiplier and addend, in 64 bits."""
    may = (reals >= LEAST) & (reals < LARGEST) & (reach <= SUM)
    multipliers, addends = np.zeros((2, len(reals)), np.int64)
    has_line = np.zeros(len(reals), bool)
    at = np.flatnonzero(may)
    changes = _Changes.of(reals[at], reach[at], steps)
    exact = reals[at].astype(np.float64) * 2.0 ** (32 + FRACTION - SUM_BITS)
    apart = np.maximum(1, np.floor(exact * reals[at] / 2.0**18))
    rest = np.arange(at.size)
    for nudge in NUDGES:
        multiplier = (np.rint(exact) + nudge * apart)[rest].astype(np.int64)
        addend = changes.of_channels(rest).addend(multiplier)
        line = (addend >= ADDENDS[0]) & (multiplier < 1 << 31)
        done = rest[line]
        multipliers[at[done]], addends[at[done]] = multiplier[line], addend[line]
        has_line[at[done]] = True
        rest = rest[~line]
        if not rest.size:
            break
    return has_line, multipliers, addends


@dataclass(frozen=True)
class _Changes:
    """The least sum of each channel for each of `steps`, and the largest of the step before; of
    those that a channel reaches."""

    steps: Array
    least: Array
    before: Array
    has_least: Array
    has_before: Array

    @staticmethod
    def of(reals: Array, reach: Array, steps: Steps) -> "_Changes":
        """Return those of products rounded to even. They are at most one sum away from where a
        product is a half: float32 moves a product of a sum below 2^23 by less than half a sum."""
        values = np.arange(steps.low + 1, steps.high + 1)
        far = np.ceil((values - 0.5) / reals.astype(np.float64)[:, None])
        sums: Array = np.clip(far, -SUM, SUM).astype(np.int64)
        least: Array = sums + 1
        for closer in (sums, sums - 1):
            results: Array = rescaled(closer.T, reals).T
            least[results >= values] = closer[results >= values]
        ends: Array = reach[:, None]
        has_least: Array = least <= ends
        has_before: Array = least > -ends
        return _Changes(
            values, np.maximum(least, -ends), np.minimum(least - 1, ends), has_least, has_before
        )

    def of_channels(self, channels: Array) -> "_Changes":
        """Return the changes of some channels."""
        fields = (self.least, self.before, self.has_least, self.has_before)
        return _Changes(self.steps, *(field[channels] for field in fields))

    def addend(self, multiplier: Array) -> Array:
        """Return an addend for each channel's multiplier, less than the first where none is
        right."""
        halves = (2 * self.steps - 1) << (31 + FRACTION)
        least = -(-halves // multiplier[:, None])  # that is as much times the multiplier
        least_sums, sums_before = self.least << SUM_BITS, self.before << SUM_BITS
        lowest = np.where(self.has_least, least - least_sums, ADDENDS[0])
        highest = np.where(self.has_before, least - 1 - sums_before, ADDENDS[1])
        low = lowest.max(1, initial=ADDENDS[0])
        high = highest.min(1, initial=ADDENDS[1])
        return np.where(low <= high, low, ADDENDS[0] - 1)
