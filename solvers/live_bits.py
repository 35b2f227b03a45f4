"""Bits in use over time: units of an arena, or objects, each taken while something is live.

    taken = LiveBits([0, 3])
    taken.add(0, 4, 0b1)                 # in steps 0 to 3
    taken.within(3, 5)                   # 0b1

Two spans of steps meet if one begins within the other. So in a binary tree over time, whose leaves
are the stretches between two starts, a node has two integers: what was added by spans that begin in
its steps, and what by spans that have all of its steps but not all of its parent's. A question
reads the first of the largest nodes within its own steps, and the second of the nodes above its
start: some three nodes on each level, however much is live.
"""

from bisect import bisect_left
from collections.abc import Iterable


class LiveBits:
    """Nothing is taken yet. Every span to come begins at one of `starts`."""

    def __init__(self, starts: Iterable[int]) -> None:
        self._starts = sorted(set(starts))
        self._leaves = 1 << max(0, len(self._starts) - 1).bit_length()
        self._begun = [0] * (2 * self._leaves)
        self._whole = [0] * (2 * self._leaves)
        self._last = 0, 0  # the span that was asked for, which is added next, and its nodes
        self._last_nodes: tuple[int, list[int]] = 0, []

    def add(self, lower: int, upper: int, bits: int) -> None:
        """Take `bits` in the steps [lower, upper)."""
        leaf, spanned = self._nodes(lower, upper)
        full, begun = self._whole, self._begun
        for node in spanned:
            full[node] |= bits
        while leaf:
            begun[leaf] |= bits
            leaf >>= 1

    def within(self, lower: int, upper: int) -> int:
        """Return the bits that are taken in a step of [lower, upper)."""
        leaf, spanned = self._nodes(lower, upper)
        full, begun = self._whole, self._begun
        taken = 0
        for node in spanned:
            taken |= begun[node]
        while leaf:
            taken |= full[leaf]
            leaf >>= 1
        return taken

    def _nodes(self, lower: int, upper: int) -> tuple[int, list[int]]:
        """The leaf that begins at `lower`, and the largest nodes in the steps [lower, upper)."""
        if self._last == (lower, upper):
            return self._last_nodes
        leaf = bisect_left(self._starts, lower) + self._leaves
        spanned = nodes_between(leaf, bisect_left(self._starts, upper) + self._leaves)
        self._last, self._last_nodes = (lower, upper), (leaf, spanned)
        return leaf, spanned


def nodes_between(low: int, high: int) -> list[int]:
    """Return the largest nodes of a binary tree that have the leaves [low, high): node n is above
    2 n and 2 n + 1."""
    spanned: list[int] = []
    while low < high:
        if low & 1:
            spanned.append(low)
            low += 1
        if high & 1:
            high -= 1
            spanned.append(high)
        low >>= 1
        high >>= 1
    return spanned
