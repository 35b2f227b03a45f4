"""Does it all fit below a capacity, if offsets are multiples of a coarse unit? For CP-SAT.

    fits(problem, capacity=10_304, work=0.03)       # a placement, or None

Rows of one network have few sizes with a large common divisor, and a few bytes elsewhere (a result
of two classes) make it 1 or 2: thousands of addresses for each row, of which a hundred matter. So
what is small in byte-steps is rounded up to the unit of the rest. What is in parts that die alone
lies at an end of the arena at first, where the bytes that come free are in one stretch, then
anywhere. Cumulative beside NoOverlap2D, and no more: propagating pairs costs more than it saves.

That finds, and proves nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import accumulate
from math import gcd, lcm
from typing import Any

from memopt.solvers import clock
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem
from memopt.solvers.programs.limit import Limit

SMALL = 0.01  # of the byte-steps: what may be rounded up
MOST = 5_000  # rectangles
FEW = 64  # pieces of an item that are rectangles of their own

ANYWHERE: Mapping[int, int] = {}
Rectangles = list[tuple[int, int, int, int]]  # steps [from, to), address above the offset, units


@dataclass(frozen=True)
class Answer:
    """Answer to one question: whether the items fit (None: not decided), their offsets in bytes,
    and the `work` that it took, in CP-SAT's deterministic unit."""

    fits: bool | None
    offsets: tuple[int, ...] | None = None
    work: float = 0.0


def fits(
    problem: PlacementProblem,
    capacity: int,
    work: float,
    seconds: float | None = None,
    fine: bool = False,
) -> Placement | None:
    """A placement in `capacity` bytes, verified, or None if none was found; with `fine` offsets may
    at last be multiples of the unit of all sizes.

    `work` in CP-SAT's deterministic unit is for each of a few questions, `seconds` for them all.
    """
    deadline = clock.deadline(seconds)
    items = [i for i in problem.items if i.pieces]
    if sum(len(i.pieces) for i in items) > MOST:
        return None
    for unit in units(items)[: 1 + fine]:
        if any((i.fixed or 0) % unit for i in items):
            continue
        for pinned in _pinned(items, capacity // unit * unit):
            limit = Limit(clock.left(deadline), work, always=True)
            answer = ask(items, capacity, unit, limit, pinned)
            if answer.offsets is not None:
                return placed(problem, answer.offsets)
    return None


def placed(problem: PlacementProblem, offsets: Sequence[int]) -> Placement:
    """The placement that has the items with pieces at these offsets; verified."""
    where = [i.fixed or 0 for i in problem.items]
    for item, at in zip((i for i in problem.items if i.pieces), offsets, strict=True):
        where[item.index] = at
    answer = placement_of(problem, problem.items, where)
    answer.verify(problem)
    return answer


def units(items: Sequence[Item]) -> tuple[int, ...]:
    """The coarse unit and that of all sizes, in bytes."""
    area: dict[int, int] = {}
    for item in items:
        for p in item.pieces:
            area[p.size] = area.get(p.size, 0) + p.size * (p.upper - p.lower)
    small, dropped = SMALL * sum(area.values()), set[int]()
    for size in sorted(area, key=lambda s: (area[s], s)):
        small -= area[size]
        if small < 0:
            break
        dropped.add(size)
    numbers = [(p.size, p.at) for i in items for p in i.pieces]
    coarse = gcd(*(n for n in numbers if n[0] not in dropped for n in n))
    fine = gcd(*(n for pair in numbers for n in pair))
    return tuple(dict.fromkeys(unit for unit in (coarse, fine) if unit))


def widest_unit(items: Sequence[Item], capacity: int) -> int:
    """Return the coarsest unit of what is largest in byte-steps to which all else is rounded up
    with a load of at most `capacity` bytes; that of all sizes where there is none, 1 of no
    items."""
    area: dict[int, int] = {}
    numbers: dict[int, int] = {}
    for item in items:
        for p in item.pieces:
            area[p.size] = area.get(p.size, 0) + p.size * (p.upper - p.lower)
            numbers[p.size] = gcd(numbers.get(p.size, p.size), p.at)
    largest_first = sorted(area, key=lambda size: (-area[size], size))
    finer = list(dict.fromkeys(accumulate((numbers[size] for size in largest_first), gcd)))
    fitting = (unit for unit in finer if _load(items, unit) <= capacity)
    return next(fitting, finer[-1] if finer else 1)


def _load(items: Sequence[Item], unit: int) -> int:
    """Return the most bytes that are live together, rounded up to units."""
    changes: dict[int, int] = {}
    for item in items:
        for lower, upper, _, size in rectangles_of(item, unit):
            changes[lower] = changes.get(lower, 0) + size
            changes[upper] = changes.get(upper, 0) - size
    return unit * max(accumulate(changes[step] for step in sorted(changes)), default=0)


def _stride(item: Item, unit: int) -> int:
    """Units from one offset that the item may have to the next."""
    return lcm(item.alignment, unit) // unit


def _pinned(items: Sequence[Item], top: int) -> Iterator[dict[int, int]]:
    """Offsets of what is largest in parts: at the end of `top` bytes, at the start, anywhere."""
    parts = [i for i in items if i.in_parts and i.fixed is None]
    if parts:
        largest = max(parts, key=lambda i: (i.size, -i.index))
        if top >= largest.size:
            yield {largest.index: top - largest.size}
            yield {largest.index: 0}
    yield {}


def ask(
    items: Sequence[Item],
    capacity: int,
    unit: int,
    limit: Limit,
    pinned: Mapping[int, int] = ANYWHERE,
) -> Answer:
    """Offsets of these items, multiples of `unit`, below `capacity` bytes; `pinned` are known."""
    top, known, room = capacity // unit, list[Rectangles](), list[int]()
    for item in items:
        known.append(rectangles_of(item, unit))
        # there has to be room for pieces of other steps, too, where only some are asked about: what
        # is pinned there next would else be moved
        ends = [at + size for _, _, at, size in known[-1]]
        room.append(top - max(-(-item.size // unit), *ends))
        if room[-1] < 0:
            return Answer(fits=False)
    cp: Any = import_module("memopt.solvers.programs.cp_solver")  # loads OR-Tools
    model: Any = cp.cp_model.CpModel()
    times: list[Any] = []
    addresses: list[Any] = []
    heights: list[int] = []
    offsets: list[Any] = []
    for item, rectangles, highest in zip(items, known, room, strict=True):
        fixed = pinned.get(item.index, item.fixed)
        stride = _stride(item, unit)
        if fixed is None:
            offset = stride * model.new_int_var(0, highest // stride, "")
        else:  # rounding up may have left less room
            offset = stride * model.new_constant(min(fixed // unit, highest) // stride)
        offsets.append(offset)
        for lower, upper, at, size in rectangles:
            times.append(model.new_fixed_size_interval_var(lower, upper - lower, ""))
            addresses.append(model.new_fixed_size_interval_var(offset + at, size, ""))
            heights.append(size)
    model.add_no_overlap_2d(times, addresses)
    model.add_cumulative(times, heights, top)
    answer = cp.solve(model, limit)
    if answer.found:
        return Answer(True, tuple([answer.value(o) * unit for o in offsets]), answer.work)
    return Answer(False if answer.infeasible else None, work=answer.work)


def rectangles_of(item: Item, unit: int) -> Rectangles:
    """Return one rectangle per piece; of many, one of all that lie one above the other for the same
    steps: rows that outlive a window are hundreds there, and few are answered as they are. A single
    one where pieces would round into each other."""
    rounded = [(p.lower, p.upper, p.at // unit, -(-(p.at + p.size) // unit)) for p in item.pieces]
    if item.in_parts and any(n % unit for p in item.pieces for n in (p.at, p.size)):
        return [(item.lower, item.upper, 0, max(end for *_, end in rounded))]
    if len(rounded) <= FEW:
        return [(lower, upper, at, end - at) for lower, upper, at, end in rounded]
    joined: Rectangles = []
    below: dict[tuple[int, int, int], int] = {}  # steps, and where a rectangle ends -> its number
    for lower, upper, at, end in rounded:
        number = below.pop((lower, upper, at), len(joined))
        start = joined[number][2] if number < len(joined) else at
        joined[number : number + 1] = [(lower, upper, start, end - start)]
        below[lower, upper, end] = number
    return joined
