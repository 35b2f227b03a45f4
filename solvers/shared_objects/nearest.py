"""The pair of an item and a free object that leaves the object unused for the fewest steps.

All gaps between the items that wait and the objects are kept in one table. An object that takes an
item changes one column of it, and the least of the rows that had counted on that object.
"""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import spans_of

Vector = npt.NDArray[np.int64]

NEVER = 1 << 61  # the gap to an object that is not free
TAKEN = 1 << 62  # the least gap of an item that does not wait any more
BUSY = -1  # or below: a span is within another one


class Inside:
    """Spans [lower, upper) of steps that are in the objects, each with its object."""

    def __init__(self, spans: int) -> None:
        self._spans = np.empty((3, spans), np.int64)
        self._count = 0
        self.objects = 0

    def put(self, item: Item, k: int) -> None:
        """Put the item into object k, which may be the next new one."""
        self.objects = max(self.objects, k + 1)
        for span in spans_of(item):
            self._spans[:, self._count] = *span, k
            self._count += 1

    def gaps(self, items: Sequence[Item]) -> Vector:
        """For each item and each object the steps between them."""
        nearest = np.full((len(items), self.objects), NEVER)
        if not self.objects:
            return nearest
        spans = self._spans[:, : self._count]
        lower, upper, owner = spans[:, spans[2].argsort(kind="stable")]
        first = np.searchsorted(owner, np.arange(self.objects))
        for row, item in zip(nearest, items, strict=True):
            gap = np.minimum.reduceat(_gaps(lower, upper, item), first)
            row[:] = np.where(gap > BUSY, gap, NEVER)
        return nearest


class Waiting:
    """The items of one stage that have no object yet, in the order in which ties are settled."""

    def __init__(self, items: Sequence[Item], inside: Inside) -> None:
        self._items, self._inside = items, inside
        spans = [spans_of(item) for item in items]
        self._lower, self._upper = np.array([s for own in spans for s in own]).T
        self._first = np.cumsum([0, *map(len, spans[:-1])])  # span of each item
        self._gap = inside.gaps(items)  # its columns may be more than there are objects
        self._least = np.full(len(items), NEVER)
        self._nearest = np.full(len(items), -1)  # object, the oldest of several; -1 if none is free
        self._look_up(np.arange(len(items)))

    def next_pair(self) -> tuple[Item, int]:
        """The item with the least gap, and its object, which now has it."""
        i = int(self._least.argmin())
        item, k = self._items[i], int(self._nearest[i])
        is_new = k < 0
        k = self._inside.objects if is_new else k
        self._least[i], self._nearest[i] = TAKEN, -1
        self._inside.put(item, k)
        self._follow(item, k, is_new)
        return item, k

    def _follow(self, item: Item, k: int, is_new: bool) -> None:
        """Object k has taken an item."""
        gap = np.minimum.reduceat(_gaps(self._lower, self._upper, item), self._first)
        gap[gap <= BUSY] = NEVER
        if k == self._gap.shape[1]:
            more = np.full((len(self._items), k + 1), NEVER)
            self._gap = np.concatenate((self._gap, more), axis=1)
        before = self._gap[:, k]
        if not is_new:
            gap = np.where((gap < NEVER) & (before < NEVER), np.minimum(gap, before), NEVER)
        self._gap[:, k] = gap
        lost = np.flatnonzero((self._nearest == k) & (gap == NEVER))
        nearer = (gap < self._least) | ((gap == self._least) & (k < self._nearest))
        nearer = np.flatnonzero(nearer & (self._least < TAKEN))
        self._least[nearer], self._nearest[nearer] = gap[nearer], k
        if len(lost):
            self._look_up(lost)

    def _look_up(self, rows: Vector) -> None:
        if not self._inside.objects:
            return
        gaps = self._gap[rows, : self._inside.objects]
        nearest = gaps.argmin(axis=1)
        self._least[rows] = least = gaps[np.arange(len(rows)), nearest]
        self._nearest[rows] = np.where(least < NEVER, nearest, -1)


def _gaps(lower: Vector, upper: Vector, item: Item) -> Vector:
    """Steps between each span and the nearest of the item; negative where they overlap."""
    distances = [np.maximum(lower - end, start - upper) for start, end in spans_of(item)]
    return distances[0] if len(distances) == 1 else np.minimum.reduce(distances)
