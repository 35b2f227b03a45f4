"""The objects while a strategy fills them: their sizes, and who is in them when."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import spans_of


class Objects:
    """Starts empty, for `items`. `sizes` in bytes, `of` the object of every item put so far, by
    `Item.index`."""

    def __init__(self, items: Sequence[Item]) -> None:
        self._busy = _Busy(max((item.upper for item in items), default=0))
        self.sizes: list[int] = []
        self.of: dict[int, int] = {}
        self.different: list[int] = []  # sizes, ascending
        self.of_size: dict[int, int] = {}  # bit k for object k
        self._taken: list[list[tuple[int, int]]] = []  # per object [lower, upper), ascending
        self._spans: dict[int, tuple[tuple[int, int], ...]] = {}  # per item, asked for often

    def gap(self, k: int, item: Item) -> int | None:
        """Steps between the item's life and the nearest one in object k; None if they overlap."""
        taken, best = self._taken[k], 1 << 62
        spans = self._spans.get(item.index)
        if spans is None:
            spans = self._spans[item.index] = spans_of(item)
        for lower, upper in spans:
            at = bisect_left(taken, (lower, upper))
            if at < len(taken):
                if taken[at][0] < upper:
                    return None
                best = min(best, taken[at][0] - upper)
            if at:
                if taken[at - 1][1] > lower:
                    return None
                best = min(best, lower - taken[at - 1][1])
        return best

    def free(self, item: Item) -> int:
        """The objects that are free while the item is live: bit k for object k."""
        busy = 0
        for lower, upper in spans_of(item):
            busy |= self._busy.within(lower, upper)
        return ~busy & ((1 << len(self.sizes)) - 1)

    def suitable(self, item: Item) -> list[int]:
        """Objects that are free while the item is live, in the order in which they were made."""
        free = self.free(item)
        return [k for k in range(len(self.sizes)) if free >> k & 1]

    def put(self, item: Item, k: int | None) -> int:
        """Put the item into object k, which grows if it is too small; None makes a new one."""
        if k is None:
            k = len(self.sizes)
            self.sizes.append(0)
            self._taken.append([])
        if item.size > self.sizes[k]:
            self._resize(k, item.size)
        for span in spans_of(item):
            insort(self._taken[k], span)
            self._busy.add(*span, 1 << k)
        self.of[item.index] = k
        return k

    def _resize(self, k: int, size: int) -> None:
        before, self.sizes[k] = self.sizes[k], size
        if before:
            self.of_size[before] &= ~(1 << k)
        if size not in self.of_size:
            insort(self.different, size)
        self.of_size[size] = self.of_size.get(size, 0) | 1 << k


class _Busy:
    """Which objects are busy when, as bits: a tree over the steps, node 1 above all of them.

    A node's `whole` bits hold in all of its steps, its `some` bits in one of them at least.
    """

    def __init__(self, steps: int) -> None:
        self._leaves = 1 << steps.bit_length()
        self._whole = [0] * (2 * self._leaves)
        self._some = [0] * (2 * self._leaves)

    def add(self, lower: int, upper: int, bit: int) -> None:
        """The objects of `bit` are busy in the steps [lower, upper)."""
        for node in self._cover(lower, upper):
            self._whole[node] |= bit
            self._some[node] |= bit
        for node in self._above(lower, upper):
            self._some[node] |= bit

    def within(self, lower: int, upper: int) -> int:
        """The objects that are busy in a step of [lower, upper)."""
        busy = 0
        for node in self._cover(lower, upper):
            busy |= self._some[node]
        for node in self._above(lower, upper):
            busy |= self._whole[node]
        return busy

    def _cover(self, lower: int, upper: int) -> Iterator[int]:
        """The fewest nodes whose steps together are [lower, upper)."""
        a, b = lower + self._leaves, upper + self._leaves
        while a < b:
            if a & 1:
                yield a
                a += 1
            if b & 1:
                b -= 1
                yield b
            a, b = a >> 1, b >> 1

    def _above(self, lower: int, upper: int) -> Iterator[int]:
        """The nodes above the first step and above the last."""
        for node in (lower + self._leaves, upper - 1 + self._leaves):
            while node := node >> 1:
                yield node
