"""The objects while a strategy fills them: their sizes, and who is in them when."""

from bisect import bisect_left, insort

from memopt.solvers.placement.items import Item
from memopt.solvers.shared_objects.sharing import spans_of


class Objects:
    """Starts empty. `sizes` in bytes, `of` the object of every item put so far, by `Item.index`."""

    def __init__(self) -> None:
        self.sizes: list[int] = []
        self.of: dict[int, int] = {}
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

    def suitable(self, item: Item) -> list[int]:
        """Objects that are free while the item is live, in the order in which they were made."""
        return [k for k in range(len(self.sizes)) if self.gap(k, item) is not None]

    def put(self, item: Item, k: int | None) -> int:
        """Put the item into object k, which grows if it is too small; None makes a new one."""
        if k is None:
            k = len(self.sizes)
            self.sizes.append(0)
            self._taken.append([])
        self.sizes[k] = max(self.sizes[k], item.size)
        for span in spans_of(item):
            insort(self._taken[k], span)
        self.of[item.index] = k
        return k
