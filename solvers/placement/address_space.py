"""Items placed so far, and where the next one fits: the part that all greedy strategies share.

A new piece of `s` bytes and a placed one at [a, b) that are live together forbid the offsets
strictly between a - s and b. The free offsets of an item are what all its pieces leave. Kept in
flat arrays: a query is a few passes over them, which holds for ten thousand items.
"""

from collections.abc import Callable, Iterable

import numpy as np
import numpy.typing as npt

from memopt.solvers.arena import PlacementProblem
from memopt.solvers.placement.items import Item

Vector = npt.NDArray[np.int64]


class AddressSpace:
    """Placed pieces as rows (lower, upper, offset, end). `offsets[i]` is that of item i, or -1."""

    def __init__(self, items: Iterable[Item]) -> None:
        items = tuple(items)
        self.offsets = [-1] * len(items)
        self._rows = np.empty((4, sum(max(1, len(i.pieces)) for i in items)), np.int64)
        self._count = 0

    def put(self, item: Item, offset: int) -> None:
        """Place `item`; the caller has asked where it fits."""
        self.offsets[item.index] = offset
        for p in item.pieces:
            self.block(p.lower, p.upper, offset, offset + p.size)

    def block(self, lower: int, upper: int, offset: int, end: int) -> None:
        """Take [offset, end) in steps [lower, upper); an empty range may not lie inside an item."""
        self._rows[:, self._count] = (lower, upper, offset, end)
        self._count += 1

    def gaps(self, item: Item, at_least: int = 0) -> tuple[Vector, Vector]:
        """Ascending candidates for the lowest offset in each gap, and how much room is above.

        The room of the last candidate, above everything in the way, has no end (the largest
        number); a gap that is too small has a negative one. Offsets are below 2^62.
        """
        rows = self._rows[:, : self._count]
        starts: list[Vector] = []
        ends: list[Vector] = []
        spans = [(p.lower, p.upper, p.size) for p in item.pieces]
        for lower, upper, size in spans or [(item.lower, item.upper, 0)]:
            meets = (rows[0] < upper) & (rows[1] > lower)
            starts.append(rows[2][meets] - size)
            ends.append(rows[3][meets])
        start, end = np.concatenate(starts), np.concatenate(ends)
        order = np.argsort(start, kind="stable")
        floor = np.full(len(order) + 1, at_least, np.int64)
        np.maximum(floor[1:], np.maximum.accumulate(end[order]), out=floor[1:])
        candidates = -(-floor // item.alignment) * item.alignment
        ceiling = np.append(start[order], np.iinfo(np.int64).max)
        return candidates, ceiling - candidates

    def first_fit(self, item: Item, at_least: int = 0) -> int:
        """The lowest free offset that is not below `at_least`."""
        candidates, room = self.gaps(item, at_least)
        return int(candidates[np.argmax(room >= 0)])

    def smallest_gap(self, item: Item) -> int:
        """The lowest offset in the smallest gap that holds the item, else above all in the way
        (Pisarchyk, Algorithm 3)."""
        candidates, room = self.gaps(item)
        return int(candidates[np.argmin(np.where(room >= 0, room, np.iinfo(np.int64).max))])


def first_fit_in(order: Iterable[Item], items: tuple[Item, ...]) -> list[int]:
    """Offsets of all items, each at the lowest free offset when its turn comes."""
    space = AddressSpace(items)
    for item in order:
        space.put(item, _given(item, space.first_fit))
    return space.offsets


def smallest_gaps_in(order: Iterable[Item], items: tuple[Item, ...]) -> list[int]:
    """Offsets of all items, each in the smallest gap that holds it when its turn comes."""
    space = AddressSpace(items)
    for item in order:
        space.put(item, _given(item, space.smallest_gap))
    return space.offsets


def _given(item: Item, choose: Callable[[Item], int]) -> int:
    """A fixed offset, 0 for what has no bytes, else what the strategy chooses."""
    if item.fixed is not None:
        return item.fixed
    return choose(item) if item.pieces else 0


def loads(problem: PlacementProblem) -> list[tuple[int, int]]:
    """(step, live bytes) at every step at which a piece starts, ascending."""
    change: dict[int, int] = {}
    starts: set[int] = set()
    for pieces in problem.pieces.values():
        for p in pieces:
            starts.add(p.lower)
            change[p.lower] = change.get(p.lower, 0) + p.size
            change[p.upper] = change.get(p.upper, 0) - p.size
    level = 0
    answer: list[tuple[int, int]] = []
    for step in sorted(change):
        level += change[step]
        if step in starts:
            answer.append((step, level))
    return answer
