"""Items placed so far, and where the next one fits: the part that all greedy strategies share.

A new piece of `s` bytes and a placed one at [a, b) that are live together forbid the offsets
strictly between a - s and b; those less `Piece.at`, if it lies above its item's offset. The free
offsets of an item are what all its pieces leave. Placed pieces are kept by time, so a query looks
at what lives with the item and not at all that was placed: as bits where the arena has few units
(`AddressBits`), else as stretches (`live_stretches.py`).
"""

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.solvers.live_bits import LiveBits
from memopt.solvers.placement.live_stretches import LiveStretches
from memopt.solvers.placement.rectangles import arena_unit, unit_of
from memopt.solvers.problems.placement import Item, PlacementProblem

if TYPE_CHECKING:
    import numpy.typing as npt

    Vector = npt.NDArray[np.int64]

LARGEST = 2**63 - 1


class AddressRows:
    """Placed pieces as stretches of bytes. `offsets[i]` is that of item i, or -1."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.offsets = [-1] * len(items)
        # what has no bytes may still end a gap
        spans = [(p.lower, p.upper) for i in items for p in (i.pieces or (i,))]
        self._taken = LiveStretches(spans)

    def put(self, item: Item, offset: int) -> None:
        """Place `item`; the caller has asked where it fits."""
        self.offsets[item.index] = offset
        for p in item.pieces:
            self._taken.add(p.lower, p.upper, offset + p.at, offset + p.at + p.size)

    def end_gap(self, item: Item, offset: int) -> None:
        """Place an item without bytes where none that lives with it may reach across."""
        self.offsets[item.index] = offset
        self._taken.add(item.lower, item.upper, offset, offset)

    def first_fit(self, item: Item, at_least: int = 0) -> int:
        """The lowest free offset that is not below `at_least`."""
        candidates, room = self._gaps(item, at_least)
        return int(candidates[np.argmax(room >= 0)])

    def smallest_gap(self, item: Item) -> int:
        """The lowest offset in the smallest gap that holds the item, else above all in the way
        (Pisarchyk, Algorithm 3)."""
        candidates, room = self._gaps(item, 0)
        return int(candidates[room.view(np.uint64).argmin()])  # what is negative is largest there

    def _gaps(self, item: Item, at_least: int) -> "tuple[Vector, Vector]":
        """Ascending candidates for the lowest offset in each gap, and how much room is above.

        Gap k lies above the k forbidden stretches that end first, if no more than k begin below it:
        so their starts and ends are sorted each for themselves. The room of the last one, above
        everything in the way, has no end (the largest number); what is no gap, or too small, has a
        negative one. Offsets are below 2^62.
        """
        near = [(self._taken.within(p.lower, p.upper), p.size + p.at, p.at) for p in item.pieces]
        count = 1 + sum([len(rows) for rows, _, _ in near])
        candidates, ceiling = np.empty(count, np.int64), np.empty(count, np.int64)
        candidates[0], ceiling[0] = at_least, LARGEST
        at = 1
        for rows, above, inside in near:
            np.subtract(rows[:, 1], inside, out=candidates[at : at + len(rows)])
            np.subtract(rows[:, 0], above, out=ceiling[at : at + len(rows)])
            at += len(rows)
        np.maximum(candidates, at_least, out=candidates)
        candidates.sort()
        ceiling.sort()
        if item.alignment > 1:
            candidates = -(-candidates // item.alignment) * item.alignment
        return candidates, ceiling - candidates


UNITS = 1 << 13  # of an arena up to which bits answer sooner
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
    unit = offset_unit(items)
    few = max(load, highest) // unit <= min(UNITS, MOST // (len(change) or 1))
    return unit if few else None


def offset_unit(items: Sequence[Item]) -> int:
    """Bytes that divide every offset at which an item lies on others or at 0, and all sizes."""
    unit = arena_unit(items)
    if all(i.alignment % unit == 0 or unit % i.alignment == 0 for i in items):
        return unit  # alignments that divide all sizes are kept by themselves
    return unit_of(items)


class AddressBits:
    """Address space as `AddressSpace`, kept in bit sets.

    Offsets that are put and asked for are multiples of `unit` bytes, by default of those that
    divide alignments too. `offsets[i]` is that of item i, or -1.
    """

    def __init__(self, items: Sequence[Item], unit: int | None = None) -> None:
        self.offsets = [-1] * len(items)
        self._unit = unit or unit_of(items)
        self._taken = LiveBits([p.lower for i in items for p in i.pieces])
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
        step = max(1, item.alignment // self._unit)
        while True:
            rest = ~(forbidden >> at)
            at += (rest & -rest).bit_length() - 1  # the lowest that is free
            if not at % step:
                return at * self._unit
            at += -at % step

    def smallest_gap(self, item: Item) -> int:
        """The lowest offset in the smallest gap that holds the item, else above all in the way
        (Pisarchyk, Algorithm 3)."""
        step = max(1, item.alignment // self._unit)
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


AddressSpace = AddressBits | AddressRows


def address_space(items: Sequence[Item]) -> AddressSpace:
    """An empty one for `items`, of the form that answers sooner; the answers are the same."""
    unit = few_units(items)
    return AddressBits(items, unit) if unit else AddressRows(items)


def first_fit_in(order: Iterable[Item], items: tuple[Item, ...]) -> list[int]:
    """Return offsets of all items, each at the lowest free offset when its turn comes."""
    space = address_space(items)
    for item in order:
        given = _given(item)
        space.put(item, space.first_fit(item) if given is None else given)
    return space.offsets


def smallest_gaps_in(order: Iterable[Item], items: tuple[Item, ...]) -> list[int]:
    """Return offsets of all items, each in the smallest gap that holds it when its turn comes."""
    space = address_space(items)
    for item in order:
        given = _given(item)
        space.put(item, space.smallest_gap(item) if given is None else given)
    return space.offsets


def _given(item: Item) -> int | None:
    """A fixed offset, 0 for what has no bytes; None where the strategy chooses."""
    return item.fixed if item.fixed is not None or item.pieces else 0


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
