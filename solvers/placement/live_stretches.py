"""Stretches of the arena that are taken over time, found by the steps in which they are.

    taken = LiveStretches([(0, 4), (3, 5)])
    taken.add(0, 4, 64, 128)             # the bytes [64, 128) in steps 0 to 3
    taken.within(3, 5)                   # [[64, 128]]

Two spans of steps meet if one begins within the other, so they are kept in a binary tree over time
as those of `live_bits.py`: a node has the stretches of spans that begin in its steps, and those of
spans that have all of its steps but not all of its parent's. Where many have come together they are
joined, for who is above all of them only asks for what is free between. All spans are known
beforehand: nodes that none of them consists of are left out.
"""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Sequence
from struct import Struct
from typing import TYPE_CHECKING

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.solvers.live_bits import nodes_between

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.int64]
    Rows = Vector  # (start, end), one row per stretch

ROW = Struct("=qq")
MANY = 256  # stretches of an answer, in which those of a node are looked at
FEW = 32  # stretches of a node that are not joined


class LiveStretches:
    """Nothing is taken yet. Every span that is added or asked for is one of `spans`."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        given = spans or [(0, 1)]
        lower, upper = np.array(given, np.int64).T
        starts = np.array(sorted({start for start, _ in given}), np.int64)
        self._starts: list[int] = starts.tolist()
        self._leaves = 1 << max(0, len(starts) - 1).bit_length()
        low = np.array(np.searchsorted(starts, lower), np.int64) + self._leaves
        high = np.array(np.searchsorted(starts, upper), np.int64) + self._leaves
        self._above = _next_above(_used(low, high, self._leaves))
        # bytes of rows: at a node what begins there, and `2 * leaves` behind it what has all of it
        self._rows: defaultdict[int, bytearray] = defaultdict(bytearray)
        self._most: dict[int, int] = {}  # bytes of a node that are not joined
        self._last = (0, 0), ([0], [0])  # the span that was asked for, which is added next

    def add(self, lower: int, upper: int, start: int, end: int) -> None:
        """Take the bytes [start, end) in the steps [lower, upper), or end a gap where they are
        none."""
        row, rows = ROW.pack(start, end), self._rows
        for node in self._nodes(lower, upper)[1]:
            rows[node] += row

    def within(self, lower: int, upper: int) -> "Rows":
        """Return the stretches that are taken in a step of [lower, upper), in any order; those that
        meet may be joined."""
        nodes = self._nodes(lower, upper)[0]
        stretches = b"".join([self._rows[node] for node in nodes])
        if len(stretches) > MANY * ROW.size and self._join(nodes):
            stretches = b"".join([self._rows[node] for node in nodes])
        return np.frombuffer(stretches, np.int64).reshape(-1, 2)

    def _join(self, nodes: Sequence[int]) -> bool:
        """Join the stretches of nodes that have twice as many as the last time; return whether
        there are any."""
        limits, rows = self._most, self._rows
        grown = [n for n in nodes if len(rows[n]) > limits.get(n, FEW * ROW.size)]
        for node in grown:
            rows[node] = bytearray(_joined(np.frombuffer(rows[node], np.int64).reshape(-1, 2)))
            limits[node] = 2 * len(rows[node]) + FEW * ROW.size
        return bool(grown)

    def _nodes(self, lower: int, upper: int) -> tuple[list[int], list[int]]:
        """The nodes that are asked for what is taken in the steps [lower, upper), and those to
        which it is added."""
        if self._last[0] == (lower, upper):
            return self._last[1]
        leaves, above = self._leaves, self._above
        leaf = bisect_left(self._starts, lower) + leaves
        spanned = nodes_between(leaf, bisect_left(self._starts, upper) + leaves)
        begun: list[int] = []
        node = above[2 * leaf]
        while node:
            begun.append(node)
            node = above[node]
        behind = 2 * leaves
        nodes = [*spanned, *[n + behind for n in begun]], [*begun, *[n + behind for n in spanned]]
        self._last = (lower, upper), nodes
        return nodes


def _used(low: "Vector", high: "Vector", leaves: int) -> "npt.NDArray[np.bool_]":
    """Return whether a node of the tree is one of those between two leaves, for any two."""
    used = np.zeros(2 * leaves, np.bool_)
    while len(low):
        used[low[low & 1 == 1]] = True
        used[high[high & 1 == 1] - 1] = True
        low, high = low + 1 >> 1, high >> 1
        go_on = low < high
        low, high = low[go_on], high[go_on]
    return used


def _next_above(used: "npt.NDArray[np.bool_]") -> list[int]:
    """Return for each node, and for those that leaves would be above, the next one above it that is
    used; 0 for none."""
    above = np.zeros(2 * len(used), np.int64)
    first = 1
    while first < len(used):
        nodes = np.arange(first, 2 * first)
        above[2 * first : 4 * first] = np.repeat(np.where(used[nodes], nodes, above[nodes]), 2)
        first *= 2
    return above.tolist()


def _joined(rows: "Rows") -> bytes:
    """Return the rows of the same bytes that do not meet, ascending: one begins where as many have
    ended as have begun."""
    starts, ends = np.sort(rows[:, 0]), np.sort(rows[:, 1])
    gaps = (starts[1:] > ends[:-1]).nonzero()[0]
    joined = np.empty((len(gaps) + 1, 2), np.int64)
    joined[0, 0], joined[1:, 0] = starts[0], starts[gaps + 1]
    joined[-1, 1], joined[:-1, 1] = ends[-1], ends[gaps]
    return joined.tobytes()
