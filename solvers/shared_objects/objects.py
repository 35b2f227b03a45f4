"""The objects while a strategy fills them: their sizes, and which are busy when."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence
from itertools import islice

from memopt.solvers.live_bits import LiveBits
from memopt.solvers.problems.memory_graph import bits
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import spans_of


class Objects:
    """Starts empty, for `items`. `sizes` in bytes, `of` the object of every item put so far, by
    `Item.index`. A set of objects is an integer: bit k for object k."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._busy = LiveBits(p.lower for item in items for p in item.pieces)
        self.sizes: list[int] = []
        self.of: dict[int, int] = {}
        self._different: list[int] = []  # sizes, ascending
        self._of_size: dict[int, int] = {}  # sets of objects

    def free(self, item: Item) -> int:
        """The objects that are free while the item is live."""
        busy = 0
        for lower, upper in spans_of(item):
            busy |= self._busy.within(lower, upper)
        return ~busy & ((1 << len(self.sizes)) - 1)

    def least(self, free: int, size: int) -> int | None:
        """The smallest of the objects `free` that has `size` bytes, the oldest of several."""
        if self._are_few(free):
            large_enough = (k for k in bits(free) if self.sizes[k] >= size)
            return min(large_enough, key=lambda k: (self.sizes[k], k), default=None)
        at = bisect_left(self._different, size)
        return self._first(free, islice(self._different, at, None))

    def largest(self, free: int, size: int) -> int | None:
        """The largest of the objects `free` that lacks `size` bytes, the oldest of several."""
        if self._are_few(free):
            too_small = (k for k in bits(free) if self.sizes[k] < size)
            return min(too_small, key=lambda k: (-self.sizes[k], k), default=None)
        at = bisect_left(self._different, size)
        return self._first(free, reversed(self._different[:at]))

    def _are_few(self, free: int) -> bool:
        """Return whether to look at each of the free objects is quicker than to look for a size
        that one has."""
        return free.bit_count() ** 2 < len(self._different)

    def _first(self, free: int, sizes: Iterable[int]) -> int | None:
        for size in sizes:
            of_size = free & self._of_size[size]
            if of_size:
                return (of_size & -of_size).bit_length() - 1
        return None

    def put(self, item: Item, k: int | None) -> int:
        """Put the item into object k, which grows if it is too small; None makes a new one."""
        if k is None:
            k = len(self.sizes)
            self.sizes.append(0)
        if item.size > self.sizes[k]:
            self._resize(k, item.size)
        for lower, upper in spans_of(item):
            self._busy.add(lower, upper, 1 << k)
        self.of[item.index] = k
        return k

    def _resize(self, k: int, size: int) -> None:
        before, self.sizes[k] = self.sizes[k], size
        if before:
            self._of_size[before] &= ~(1 << k)
        if size not in self._of_size:
            insort(self._different, size)
        self._of_size[size] = self._of_size.get(size, 0) | 1 << k
