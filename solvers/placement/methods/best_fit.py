"""Best fit as for strip packing (Burke et al. 2004; for arenas Sekiyama et al. 2018, section 3).

A skyline over time starts flat at address 0. Again and again its lowest stretch (the earliest, if
several) gets the longest-lived buffer that fits into it in time; if none does, the stretch is
lifted to its lower neighbour and joined with it.

Where a search begins with it and time ends first, what waits lies above what lives with it, the
longest-lived first.

Fixed buffers are placed first, and what the skyline proposes is moved up past them. Where there are
none, nothing lies above the skyline, and nobody has to be asked what is free.
"""

from bisect import bisect_left
from collections.abc import Sequence
from heapq import heappop, heappush
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import is_loaded, np
from memopt.solvers import clock
from memopt.solvers.placement.address_space import AddressSpace, address_space
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the placement; `time_limit` is not used."""
    return solve_until(problem, None)


def solve_until(problem: PlacementProblem, deadline: float | None) -> Placement:
    """Return the placement, for who begins with it; from `deadline` on what waits is stacked."""
    items = problem.items
    fixed = any(item.fixed is not None for item in items)
    space = address_space(items) if fixed else _Above(items)
    for item in items:
        if item.fixed is not None:
            space.put(item, item.fixed)
        elif not item.pieces:
            space.put(item, 0)
    movable = [i for i in items if i.fixed is None and i.pieces]
    if movable and not _fill(movable, space, deadline):
        if sum(space.offsets[i.index] < 0 for i in movable) > len(movable) / 2:
            for item in movable:  # little stands, and a stack of all is lower than one on it
                space.offsets[item.index] = -1
        _stack(items, space.offsets)
    return placement_of(problem, items, space.offsets)


class _Above:
    """Address space above a skyline, with the interface of `AddressSpace`: all of it is free."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.offsets = [-1] * len(items)

    def put(self, item: Item, offset: int) -> None:
        self.offsets[item.index] = offset

    def first_fit(self, item: Item, at_least: int) -> int:
        return at_least + -at_least % item.alignment


def _fill(movable: list[Item], space: AddressSpace | _Above, deadline: float | None) -> bool:
    """Place the items; False where time is over before all are."""
    started = clock.now()
    waiting = _Waiting(movable)
    skyline = _Skyline(min(i.lower for i in movable), max(i.upper for i in movable))
    # what waits has to be stacked, and the answer verified, which is some sorting too
    deadline = clock.sooner(deadline, 2 * (clock.now() - started))
    for _ in movable:
        if clock.late(deadline):
            return False
        while True:
            at, start, end, height = skyline.lowest()
            item = waiting.take(start, end)
            if item is not None:
                break
            skyline.lift(at)
        offset = space.first_fit(item, height)
        space.put(item, offset)
        skyline.fill(at, [(lower, upper, offset + top) for lower, upper, top in item.tops])
    return True


def _stack(items: Sequence[Item], offsets: list[int]) -> None:
    """Give each item without an offset one above all that lives with it."""
    pieces = [p for i in items for p in i.pieces]
    lower, upper = np.array([p.lower for p in pieces]), np.array([p.upper for p in pieces])
    steps = np.unique(np.concatenate((lower, upper)))
    ends = zip(
        np.searchsorted(steps, lower).tolist(), np.searchsorted(steps, upper).tolist(), strict=True
    )
    spans = {i.index: [(next(ends), p.at, p.size) for p in i.pieces] for i in items}
    heights = np.zeros(len(steps), np.int64)

    def rank(item: Item) -> tuple[int, ...]:
        return offsets[item.index] < 0, item.lower - item.upper, -item.size, item.index

    for item in sorted(items, key=rank):
        own = [(heights[first:last], at, size) for (first, last), at, size in spans[item.index]]
        if offsets[item.index] < 0:
            offset = max(0, *(int(below.max()) - at for below, at, _ in own))
            offsets[item.index] = offset + -offset % item.alignment
        for below, at, size in own:
            np.maximum(below, offsets[item.index] + at + size, out=below)


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
