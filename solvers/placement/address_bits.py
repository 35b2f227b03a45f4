"""Items placed so far as bits, one per unit of address: for arenas of few units."""

from collections.abc import Sequence
from itertools import accumulate

from memopt.solvers.live_bits import LiveBits
from memopt.solvers.placement.rectangles import unit_of
from memopt.solvers.problems.placement import Item

MOST = 1 << 27  # units by starts: what `LiveBits` may hold, four integers of so many bits at worst


def few_units(items: Sequence[Item]) -> int | None:
    """Bytes of a unit, if the arena has few of them for so many items, and is not much above the
    load; else None."""
    change: dict[int, int] = {}
    for item in items:
        for p in item.pieces:
            change[p.lower] = change.get(p.lower, 0) + p.size
            change[p.upper] = change.get(p.upper, 0) - p.size
    load = max(accumulate(change[step] for step in sorted(change)), default=0)
    highest = max((i.fixed + i.size for i in items if i.fixed is not None), default=0)
    unit = unit_of(items)
    return unit if max(load, highest) // unit * len(change) <= MOST else None


class AddressBits:
    """Address space as `AddressSpace`, kept in bit sets.

    `unit` is `unit_of(items)`, where that is known; `offsets[i]` is that of item i, or -1.
    """

    def __init__(self, items: Sequence[Item], unit: int | None = None) -> None:
        self.offsets = [-1] * len(items)
        self._unit = unit or unit_of(items)
        self._taken = LiveBits(p.lower for i in items for p in i.pieces)
        self._ends: list[tuple[int, int, int]] = []  # (lower, upper, unit)

    def put(self, item: Item, offset: int) -> None:
        """Place `item`; the caller has asked where it fits."""
        self.offsets[item.index] = offset
        for p in item.pieces:
            bits = (1 << p.size // self._unit) - 1 << (offset + p.at) // self._unit
            self._taken.add(p.lower, p.upper, bits)

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
            taken = self._taken.within(p.lower, p.upper)
            size, at = p.size // self._unit, p.at // self._unit
            result |= _widened(taken, size) >> at
            for lower, upper, unit in self._ends:
                if lower < p.upper and upper > p.lower:
                    first = max(0, unit - at - size + 1)
                    result |= (1 << unit - at) - (1 << first) if first < unit - at else 0
        return result


def _widened(taken: int, size: int) -> int:
    """Where `size` units would lie over one that is taken: each bit, and the size - 1 below it."""
    done = 1
    while done < size:
        more = min(done, size - done)
        taken |= taken >> more
        done += more
    return taken
