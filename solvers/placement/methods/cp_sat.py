"""Exact placement with CP-SAT, a second opinion: rectangles over time and address.

One integer per item, counted in the common divisor of all sizes and alignments; the objective is
the arena, never below the load. Beside the rectangles (NoOverlap2D), each maximal set of items that
are live together is a disjunctive resource of its own: CP-SAT reasons about who comes first there,
and about their sum, more strongly than about pairs of rectangles. Symmetry: items that are alike
ascend, and an arena of rectangles can be turned upside down, so the largest one lies in its lower
half.

Deterministic unless a time limit is given: one worker, a fixed seed, and a limit in CP-SAT's own
unit of work.
"""

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING, Any

from memopt.solvers import clock
from memopt.solvers.placement.first_answer import first_answer
from memopt.solvers.placement.rectangles import cliques_of, floor_of, placement_of, unit_of
from memopt.solvers.placement.strips import is_plain
from memopt.solvers.problems.placement import Item, Piece, PlacementProblem, Proven

if TYPE_CHECKING:
    from memopt.solvers.programs.or_tools import cp_model

WORK = 10.0  # CP-SAT's deterministic time: at most a minute on hundreds of items
PER_SECOND = 10_000  # items that are stated, sent and read: not begun where that takes too long
CLIQUES = 20_000  # entries of all cliques up to which they are stated

# called with the best arena and the bound in bytes, and the number of answers
Progress = Callable[[int, int, int], None]


def prove(
    problem: PlacementProblem,
    time_limit: float | None = None,
    capacity: int | None = None,
    cuts: bool = True,
    symmetry: bool = True,
    progress: Progress | None = None,
) -> Proven:
    """The best placement within the limit, and the bound that is proven.

    With `capacity` (bytes) it ends at an arena that fits, or with a bound above it. `cuts` and
    `symmetry` leave out what the file's docstring says beyond NoOverlap2D. A program that takes
    longer to state than there is time for is not begun.
    """
    deadline = clock.deadline(time_limit)
    best = first_answer(problem, deadline)
    items = problem.items
    floor = floor_of(problem, items)
    goal = floor if capacity is None else capacity
    if best.arena <= goal or goal < floor:
        return Proven(best, floor)
    active = [i for i in items if i.pieces]
    if clock.late(clock.sooner(deadline, len(active) / PER_SECOND)):
        return Proven(best, floor)
    unit = unit_of(active)
    top = (best.arena - 1 if capacity is None else capacity) // unit  # an improvement, or nothing
    cp: Any = import_module("memopt.solvers.programs.cp_solver")  # loads OR-Tools
    model: cp_model.CpModel = cp.cp_model.CpModel()
    offsets = _offsets(model, active, top, unit)
    bound = best.arena if capacity is None else capacity + 1
    if offsets is None:
        return Proven(best, bound)
    arena = model.new_int_var(-(-floor // unit), top, "arena")
    for item in active:
        model.add(offsets[item.index] + item.size // unit <= arena)
    _rectangles(model, active, offsets, unit, cuts)
    if symmetry:
        _symmetry(model, active, offsets, arena, unit)
    if capacity is None:
        model.minimize(arena)

    told = _Told(unit, floor, progress) if progress and capacity is None else None
    # CP-SAT looks at the clock the later, the more items it has
    seconds = clock.left(clock.sooner(deadline, len(active) / PER_SECOND / 2))
    solver = cp.solve(model, cp.Limit(seconds, WORK), told=told)
    if solver.infeasible:
        return Proven(best, bound)
    if not solver.found:
        return Proven(best, floor)
    addresses = [0] * len(items)
    for item in items:
        addresses[item.index] = (
            solver.value(offsets[item.index]) * unit if item.pieces else item.fixed or 0
        )
    answer = placement_of(problem, items, addresses)
    proven = 0 if capacity is not None else (solver.bound or 0) * unit
    return Proven(answer, max(floor, min(proven, answer.arena)))


def _offsets(
    model: "cp_model.CpModel", active: list[Item], top: int, unit: int
) -> "dict[int, cp_model.IntVar] | None":
    """One variable per item, in units; None if one cannot end at `top` or below."""
    result: dict[int, cp_model.IntVar] = {}
    for item in active:
        highest = top - item.size // unit
        if highest < 0 or (item.fixed or 0) // unit > highest:
            return None
        stride = item.alignment // unit
        if item.fixed is not None:
            result[item.index] = model.new_constant(item.fixed // unit)
            continue
        result[item.index] = model.new_int_var(0, highest, "")
        if stride > 1:
            steps = model.new_int_var(0, highest // stride, "")
            model.add(result[item.index] == stride * steps)
    return result


def _rectangles(
    model: "cp_model.CpModel",
    active: list[Item],
    offsets: "dict[int, cp_model.IntVar]",
    unit: int,
    cuts: bool,
) -> None:
    steps = sorted({s for i in active for p in i.pieces for s in (p.lower, p.upper)})
    rank = {s: r for r, s in enumerate(steps)}
    times: list[cp_model.IntervalVar] = []
    addresses: dict[tuple[int, Piece], cp_model.IntervalVar] = {}
    for item in active:
        for p in item.pieces:
            lower = rank[p.lower]
            times.append(model.new_fixed_size_interval_var(lower, rank[p.upper] - lower, ""))
            addresses[item.index, p] = model.new_fixed_size_interval_var(
                offsets[item.index] + p.at // unit, p.size // unit, ""
            )
    model.add_no_overlap_2d(times, list(addresses.values()))
    for clique in _few_cliques(active) if cuts else ():
        model.add_no_overlap([addresses[i, p] for i, p in clique])


def _few_cliques(active: list[Item]) -> list[list[tuple[int, Piece]]]:
    """Return `cliques_of`; none where they have more than `CLIQUES` entries, which may be too many
    to be listed."""
    result: list[list[tuple[int, Piece]]] = []
    entries = 0
    for clique in cliques_of(active):
        entries += len(clique)
        if entries > CLIQUES:
            return []
        result.append(clique)
    return result


def _symmetry(
    model: "cp_model.CpModel",
    active: list[Item],
    offsets: "dict[int, cp_model.IntVar]",
    arena: "cp_model.IntVar",
    unit: int,
) -> None:
    before: dict[object, Item] = {}
    for item in active:
        if item.fixed is not None:
            continue
        if item.outline in before:
            model.add(offsets[before[item.outline].index] <= offsets[item.index])
        before[item.outline] = item
    if active and is_plain(active):
        # among those alike the one before the others: the two rules must agree on who is lower
        largest = max(active, key=lambda i: (i.area, -i.index))
        alike = [
            i
            for i in active
            if (i.pieces[0].lower, i.pieces[0].upper, i.size)
            == (largest.pieces[0].lower, largest.pieces[0].upper, largest.size)
        ]
        if len(alike) == 1:
            model.add(2 * offsets[largest.index] + largest.size // unit <= arena)


class _Told:
    """Hands each answer on to `progress`."""

    def __init__(self, unit: int, floor: int, progress: Progress) -> None:
        self._unit, self._floor, self._progress, self._count = unit, floor, progress, 0

    def __call__(self, objective: float, bound: float) -> None:
        self._count += 1
        proven = max(self._floor, round(bound) * self._unit)
        self._progress(round(objective) * self._unit, proven, self._count)
