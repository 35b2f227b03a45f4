"""Best fit as for strip packing (Burke et al. 2004; for arenas Sekiyama et al. 2018, section 3).

A skyline over time starts flat at address 0. Again and again its lowest stretch (the earliest, if
several) gets the longest-lived buffer that fits into it in time; if none does, the stretch is
lifted to its lower neighbour and joined with it.

Fixed buffers are placed first, and what the skyline proposes is moved up past them. Where there are
none, nothing lies above the skyline, and nobody has to be asked what is free: then the native
library (`native_best_fit.py`) gives many buffers the same offsets, sooner.
"""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush
from importlib import import_module
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import is_loaded, np
from memopt.solvers.native.library import library
from memopt.solvers.placement.address_space import AddressSpace, address_space
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem

NATIVE = "memopt.solvers.placement.native_best_fit"  # loaded when many are placed
SOON = 500  # items that Python places as soon as that is loaded


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the placement; `time_limit` is not used."""
    items = problem.items
    space = address_space(items) if _has_fixed(items) else _Above(items)
    for item in items:
        if item.fixed is not None:
            space.put(item, item.fixed)
        elif not item.pieces:
            space.put(item, 0)
    movable = [i for i in items if i.fixed is None and i.pieces]
    offsets: Sequence[int] | None = None
    if is_native(problem):
        native: Any = import_module(NATIVE)
        offsets = native.offsets_of(movable)  # None for what overflows there
    if offsets is not None:
        for item, offset in zip(movable, offsets, strict=True):
            space.put(item, offset)
    elif movable:
        _fill(movable, space)
    return placement_of(problem, items, space.offsets)


def is_native(problem: PlacementProblem) -> bool:
    """Return whether the native library is asked."""
    items = problem.items
    return len(items) > SOON and not _has_fixed(items) and library() is not None


def _has_fixed(items: Sequence[Item]) -> bool:
    return any(item.fixed is not None for item in items)


class _Above:
    """Address space above a skyline, with the interface of `AddressSpace`: all of it is free."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.offsets = [-1] * len(items)

    def put(self, item: Item, offset: int) -> None:
        self.offsets[item.index] = offset

    def first_fit(self, item: Item, at_least: int) -> int:
        return at_least + -at_least % item.alignment


def _fill(movable: list[Item], space: AddressSpace | _Above) -> None:
    waiting = _Waiting(movable)
    skyline = _Skyline(min(i.lower for i in movable), max(i.upper for i in movable))
    for _ in movable:
        while True:
            at, start, end, height = skyline.lowest()
            item = waiting.take(start, end)
            if item is not None:
                break
            skyline.lift(at)
        offset = space.first_fit(item, height)
        space.put(item, offset)
        skyline.fill(at, [(lower, upper, offset + top) for lower, upper, top in item.tops])


# Items that are asked one by one sooner than as an array, and than numpy is loaded: 0.1 s.
FEW, FEW_WITHOUT_NUMPY = 24, 1_000


class _Waiting:
    """The items to come, by their first step, so that a stretch asks those that begin in it."""

    def __init__(self, items: list[Item]) -> None:
        self._ranked = sorted(items, key=lambda i: (i.lower - i.upper, -i.size, i.index))
        self._rank = sorted(range(len(items)), key=lambda rank: self._ranked[rank].lower)
        self._lower = [self._ranked[rank].lower for rank in self._rank]
        self._upper = [self._ranked[rank].upper for rank in self._rank]
        self._arrays: tuple[Any, Any] | None = None  # of ranks and upper ends, once asked for

    def take(self, start: int, end: int) -> Item | None:
        """The longest-lived item within steps [start, end), the largest of several."""
        at = bisect_left(self._lower, start)
        until = bisect_left(self._lower, end, at)
        taken = len(self._rank)  # the rank of what was taken, behind all
        best, rank = at, taken
        if until - at <= (FEW if is_loaded() else FEW_WITHOUT_NUMPY):
            for i in range(at, until):
                if self._rank[i] < rank and self._upper[i] <= end:
                    best, rank = i, self._rank[i]
        else:
            if self._arrays is None:
                self._arrays = np.array(self._rank), np.array(self._upper)
            ranks, uppers = self._arrays
            fits = np.where(uppers[at:until] <= end, ranks[at:until], taken)
            best += int(fits.argmin())
            rank = int(fits[best - at])
        if rank == taken:
            return None
        self._rank[best] = taken
        if self._arrays is not None:
            self._arrays[0][best] = taken
        return self._ranked[rank]


Stretch = tuple[int, int, int]  # start, end, height


class _Skyline:
    """Stretches in a linked list, and a heap of them by height; what was replaced is None."""

    def __init__(self, start: int, end: int) -> None:
        self._stretches: list[Stretch | None] = [(start, end, 0)]
        self._before, self._after = [-1], [-1]
        self._heap = [(0, start, 0)]

    def lowest(self) -> tuple[int, int, int, int]:
        """(number, start, end, height) of the lowest stretch, the earliest of several."""
        while self._stretches[self._heap[0][2]] is None:
            heappop(self._heap)
        at = self._heap[0][2]
        stretch = self._stretches[at]
        assert stretch
        return at, *stretch

    def lift(self, at: int) -> None:
        """Lift stretch `at`, whose neighbours are higher, to the lower one and join them."""
        stretch = self._stretches[at]
        sides = [self._stretches[s] for s in (self._before[at], self._after[at]) if s >= 0]
        assert stretch
        self._replace(at, [(stretch[0], stretch[1], min([s[2] for s in sides if s]))])

    def fill(self, at: int, blocks: list[Stretch]) -> None:
        """Put `blocks`, ascending and disjoint in time, on stretch `at`."""
        stretch = self._stretches[at]
        assert stretch
        start, end, height = stretch
        result: list[Stretch] = []
        for block in blocks:
            if start < block[0]:
                result.append((start, block[0], height))
            result.append(block)
            start = block[1]
        if start < end:
            result.append((start, end, height))
        self._replace(at, result)

    def _replace(self, at: int, stretches: list[Stretch]) -> None:
        before, after = self._before[at], self._after[at]
        self._stretches[at] = None
        for side, end in ((before, 0), (after, -1)):
            neighbour = self._stretches[side] if side >= 0 else None
            if neighbour and neighbour[2] == stretches[end][2]:
                start = min(neighbour[0], stretches[end][0])
                stretches[end] = (start, max(neighbour[1], stretches[end][1]), neighbour[2])
                self._stretches[side] = None
                if end == 0:
                    before = self._before[side]
                else:
                    after = self._after[side]
        for stretch in stretches:
            new = len(self._stretches)
            self._stretches.append(stretch)
            self._before.append(before)
            self._after.append(after)
            if before >= 0:
                self._after[before] = new
            heappush(self._heap, (stretch[2], stretch[0], new))
            before = new
        if after >= 0:
            self._before[after] = before
