"""Items placed so far as bits, one per unit of address: for arenas of few units.

A binary tree over time whose leaves are the stretches between two starts of items, so that items
that meet share a leaf. A node has two integers of a bit per unit: `inside`, what is taken by all
pieces that touch its stretch from below, and `across`, what the pieces take that span it but not
its parent. A query reads `inside` of the largest nodes within its steps, and `across` above them:
two nodes or so on each level, however many pieces are live.
"""

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate
from math import gcd

from memopt.solvers.problems.placement import Item

MOST = 1 << 27  # units by starts: what the tree may hold, four integers of so many bits at worst


def unit_of(items: Sequence[Item]) -> int:
    """Bytes that divide all sizes, alignments and fixed offsets."""
    sizes = (p.size for i in items for p in i.pieces)
    return gcd(*sizes, *(i.alignment for i in items), *(i.fixed or 0 for i in items)) or 1


def few_bits(items: Sequence[Item]) -> bool:
    """Whether the arena has few units for so many items, if it is not much above the load."""
    change: dict[int, int] = {}
    for p in (p for i in items for p in i.pieces):
        change[p.lower] = change.get(p.lower, 0) + p.size
        change[p.upper] = change.get(p.upper, 0) - p.size
    load = max(accumulate(change[step] for step in sorted(change)), default=0)
    highest = max((i.fixed + i.size for i in items if i.fixed is not None), default=0)
    return max(load, highest) // unit_of(items) * len(change) <= MOST


class AddressBits:
    """What `AddressSpace` is, by other means. `offsets[i]` is that of item i, or -1."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.offsets = [-1] * len(items)
        self._unit = unit_of(items)
        self._starts = sorted({p.lower for i in items for p in i.pieces})
        self._leaves = 1 << max(0, len(self._starts) - 1).bit_length()
        self._inside = [0] * (2 * self._leaves)
        self._across = [0] * (2 * self._leaves)
        self._ends: list[tuple[int, int, int]] = []  # (lower, upper, unit)
        self._last: tuple[int, int] = (0, 0)  # the steps that were asked for, and their nodes
        self._last_nodes: tuple[list[int], set[int]] = ([], set())

    def put(self, item: Item, offset: int) -> None:
        """Place `item`; the caller has asked where it fits."""
        self.offsets[item.index] = offset
        inside, across = self._inside, self._across
        for p in item.pieces:
            bits = (1 << p.size // self._unit) - 1 << offset // self._unit
            spanned, above = self._nodes(p.lower, p.upper)
            for node in spanned:
                across[node] |= bits
                inside[node] |= bits
            for node in above:
                inside[node] |= bits

    def end_gap(self, item: Item, offset: int) -> None:
        """Place an item without bytes where none that lives with it may reach across."""
        self.offsets[item.index] = offset
        self._ends.append((item.lower, item.upper, offset // self._unit))

    def first_fit(self, item: Item, at_least: int = 0) -> int:
        """The lowest free offset that is not below `at_least`."""
        forbidden = self._forbidden(item)
        at = -(-at_least // self._unit)
        step = item.alignment // self._unit
        while True:
            rest = ~(forbidden >> at)
            at += (rest & -rest).bit_length() - 1  # the lowest that is free
            if not at % step:
                return at * self._unit
            at += -at % step

    def smallest_gap(self, item: Item) -> int:
        """The lowest offset in the smallest gap that holds the item, else above all in the way
        (Pisarchyk, Algorithm 3)."""
        step = item.alignment // self._unit
        best = least = -1
        forbidden = self._forbidden(item)
        free = f"{forbidden:b}"[::-1] if forbidden else ""  # by address
        start = free.find("0")
        while start >= 0:
            end = free.find("1", start)
            offset = start + -start % step
            if offset < end and (best < 0 or end - offset < least):
                best, least = offset, end - offset
                if least == 1:  # none is smaller
                    break
            start = free.find("0", end)
        if best < 0:
            best = len(free) + -len(free) % step
        return best * self._unit

    def _forbidden(self, item: Item) -> int:
        """The offsets, in units, at which a piece of `item` would lie over something."""
        result = 0
        for p in item.pieces:
            spanned, above = self._nodes(p.lower, p.upper)
            taken = 0
            for node in spanned:
                taken |= self._inside[node]
            for node in above:
                taken |= self._across[node]
            size = p.size // self._unit
            result |= _widened(taken, size)
            for lower, upper, unit in self._ends:
                if lower < p.upper and upper > p.lower:
                    first = max(0, unit - size + 1)
                    result |= (1 << unit) - (1 << first) if first < unit else 0
        return result

    def _nodes(self, lower: int, upper: int) -> tuple[list[int], set[int]]:
        """The largest nodes that lie in steps [lower, upper), and all that lie above them."""
        if self._last == (lower, upper):  # what has found its offset is put there next
            return self._last_nodes
        left = bisect_left(self._starts, lower) + self._leaves
        right = bisect_left(self._starts, upper) + self._leaves
        spanned: list[int] = []
        while left < right:
            if left & 1:
                spanned.append(left)
                left += 1
            if right & 1:
                right -= 1
                spanned.append(right)
            left >>= 1
            right >>= 1
        above: set[int] = set()
        for node in spanned:
            parent = node >> 1
            while parent and parent not in above:
                above.add(parent)
                parent >>= 1
        self._last, self._last_nodes = (lower, upper), (spanned, above)
        return spanned, above


def _widened(taken: int, size: int) -> int:
    """Where `size` units would lie over one that is taken: each bit, and the size - 1 below it."""
    done = 1
    while done < size:
        more = min(done, size - done)
        taken |= taken >> more
        done += more
    return taken
