"""Offsets for every value of one bounded dimension: lines a*n+b for 1 <= n <= N.

Which buffer lies below which is taken from placements at N and at 1, and holds for every n. Each
buffer, the lowest first, then gets the lowest line that is, at 1 and at N, above all that it is to
be above:
between them that are lines or, where a buffer holds several sizes, the greatest of lines, which is
convex, so that the line through the ends is above it. Its slope is a whole multiple of the
alignment; where it has to be rounded it is exact at N, where the arena is largest.
"""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from memopt.solvers.errors import ProblemError
from memopt.solvers.live_bits import nodes_between
from memopt.solvers.problems.placement import round_up

Line = tuple[int, int]


@dataclass(frozen=True)
class Growing:
    """A buffer: steps [lower, upper) with the bytes held at 1 and at N, ascending in time."""

    pieces: tuple[tuple[int, int, int, int], ...]
    alignment: int = 1


@dataclass(frozen=True)
class Growth:
    """An offset a*n+b for each buffer, as (a, b), and the arena at 1 and at N, in bytes."""

    offsets: tuple[Line, ...]
    arena: tuple[int, int]


def grown(buffers: Sequence[Growing], largest: int, orders: Sequence[Sequence[int]]) -> Growth:
    """Return the offsets of the order (the lowest first) that needs least at `largest`, then at 1.

    Raises ProblemError for a dimension below 2, and for no order.
    """
    if largest < 2 or not orders:
        raise ProblemError(f"a dimension up to {largest} with {len(orders)} orders")
    answers = [_lowest(buffers, largest, order) for order in orders]
    return min(answers, key=lambda a: (a.arena[1], a.arena[0]))


class _Tops:
    """The highest end of what is placed in each step, at 1 and at N.

    In a binary tree over time: `_all` is below the end of all steps of a node, `_some` the highest
    end of any of them.
    """

    def __init__(self, buffers: Sequence[Growing]) -> None:
        self._starts = sorted({piece[0] for buffer in buffers for piece in buffer.pieces})
        self._leaves = 1 << max(0, len(self._starts) - 1).bit_length()
        self._all = [[0, 0] for _ in range(2 * self._leaves)]
        self._some = [[0, 0] for _ in range(2 * self._leaves)]

    def _nodes(self, lower: int, upper: int) -> tuple[list[int], set[int]]:
        """Return the nodes that have these steps, and all above the first and the last."""
        low, high = (bisect_left(self._starts, step) + self._leaves for step in (lower, upper))
        ends = low, high - 1
        above = {leaf >> k for leaf in ends for k in range(self._leaves.bit_length())}
        return nodes_between(low, high), above

    def above(self, lower: int, upper: int) -> Line:
        """Return the highest ends in steps [lower, upper)."""
        nodes, above = self._nodes(lower, upper)
        tops = [self._some[n] for n in nodes] + [self._all[n] for n in above]
        return max(top[0] for top in tops), max(top[1] for top in tops)

    def add(self, lower: int, upper: int, ends: Line) -> None:
        """Let what is in steps [lower, upper) end there, or higher."""
        nodes, above = self._nodes(lower, upper)
        tops = [self._some[n] for n in (*nodes, *above)] + [self._all[n] for n in nodes]
        for top in tops:
            top[:] = max(top[0], ends[0]), max(top[1], ends[1])


def _lowest(buffers: Sequence[Growing], largest: int, order: Sequence[int]) -> Growth:
    offsets: dict[int, Line] = {}
    ends = [0, 0]
    tops = _Tops(buffers)
    for i in order:
        pieces = [piece for piece in buffers[i].pieces if piece[2] or piece[3]]
        below = [tops.above(lower, upper) for lower, upper, *_ in pieces]
        first = max((top[0] for top in below), default=0)
        alignment = buffers[i].alignment
        last = round_up(max((top[1] for top in below), default=0), alignment)
        slope = (last - first) // (largest - 1) // alignment * alignment
        offsets[i] = slope, last - slope * largest
        places = slope + offsets[i][1], last
        for lower, upper, *held in pieces:
            tops.add(lower, upper, (places[0] + held[0], places[1] + held[1]))
        sizes = [max((p[k] for p in buffers[i].pieces), default=0) for k in (2, 3)]
        ends = [max(e, o + s) if s else e for e, o, s in zip(ends, places, sizes, strict=True)]
    return Growth(tuple(offsets[i] for i in range(len(buffers))), (ends[0], ends[1]))
