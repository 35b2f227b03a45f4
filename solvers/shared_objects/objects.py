"""The objects while a strategy fills them: their sizes, and which are busy when."""

from bisect import bisect_left, insort
from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from memopt.solvers.live_bits import LiveBits
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import spans_of

LOOKS = 64  # sizes that are looked at one by one: as long as looking at those of all objects


class Objects:
    """Starts empty, for `items`. `sizes` in bytes, `of` the object of every item put so far, by
    `Item.index`. A set of objects is an integer: bit k for object k."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._busy = LiveBits(p.lower for item in items for p in item.pieces)
        self.sizes: list[int] = []
        self._array = np.zeros(len(items), np.int64)  # of the sizes, for all at once
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
        at = bisect_left(self._different, size)
        k = self._first(free, self._different[at : at + LOOKS])
        if k is not None or at + LOOKS >= len(self._different):
            return k
        sizes = self._sizes_of(free)
        large_enough = np.flatnonzero(sizes >= size)
        return int(large_enough[sizes[large_enough].argmin()]) if len(large_enough) else None

    def largest(self, free: int, size: int) -> int | None:
        """The largest of the objects `free` that lacks `size` bytes, the oldest of several."""
        at = bisect_left(self._different, size)
        k = self._first(free, reversed(self._different[max(0, at - LOOKS) : at]))
        if k is not None or at <= LOOKS:
            return k
        sizes = self._sizes_of(free)
        too_small = np.flatnonzero((sizes >= 0) & (sizes < size))
        return int(too_small[sizes[too_small].argmax()]) if len(too_small) else None

    def _first(self, free: int, sizes: Iterable[int]) -> int | None:
        """The oldest of the objects `free` that has the first of the sizes that any has."""
        for size in sizes:
            of_size = free & self._of_size[size]
            if of_size:
                return (of_size & -of_size).bit_length() - 1
        return None

    def _sizes_of(self, free: int) -> npt.NDArray[np.int64]:
        """Return the sizes of the objects `free`, -1 for those that are not."""
        count = len(self.sizes)
        octets = np.frombuffer(free.to_bytes((count + 7) // 8, "little"), np.uint8)
        is_free = np.unpackbits(octets, count=count, bitorder="little")
        return np.where(is_free, self._array[:count], -1)

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
        before, self.sizes[k], self._array[k] = self.sizes[k], size, size
        if before:
            self._of_size[before] ^= 1 << k
            if not self._of_size[before]:
                del self._of_size[before], self._different[bisect_left(self._different, before)]
        if size not in self._of_size:
            insort(self._different, size)
        self._of_size[size] = self._of_size.get(size, 0) | 1 << k
