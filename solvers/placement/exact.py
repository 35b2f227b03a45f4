"""Exact placement with CP-SAT: rectangles over time and address that do not overlap.

One integer per item, counted in the common divisor of all sizes and alignments; the objective is
the arena, never below the load. Meets the bound on most networks in well under a second and proves
an arena above it on small ones. Deterministic unless a time limit is given: one worker, a fixed
seed and a limit in CP-SAT's own unit of work.
"""

from dataclasses import dataclass
from math import gcd

from ortools.sat.python import cp_model

from memopt.solvers.arena import Placement, PlacementProblem
from memopt.solvers.placement.items import Item, floor_of, items_of, placement_of

WORK = 0.05  # CP-SAT's deterministic time: at most seconds on hundreds of items


@dataclass(frozen=True)
class Proven:
    """A placement and a lower bound on every arena, in bytes."""

    placement: Placement
    lower_bound: int


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """The best placement within the limit, from the best of `auto`."""
    from memopt.solvers.placement import auto

    best = auto.solve(problem, time_limit)
    return improve(problem, items_of(problem), best, time_limit, work=200 * WORK).placement


def improve(
    problem: PlacementProblem,
    items: tuple[Item, ...],
    best: Placement,
    seconds: float | None,
    work: float = WORK,
) -> Proven:
    """The best placement within the limit, not worse than `best`, and what is proven."""
    floor = floor_of(problem, items)
    if best.arena <= floor:
        return Proven(best, best.arena)
    active = [i for i in items if i.pieces]
    unit = gcd(*(i.alignment for i in active), *(p.size for i in active for p in i.pieces))
    unit = gcd(unit, *(i.fixed for i in active if i.fixed is not None))
    model = cp_model.CpModel()
    top = (best.arena - 1) // unit  # an improvement, or nothing
    arena = model.new_int_var(-(-floor // unit), top, "arena")
    offsets = _offsets(model, active, top, unit)
    if offsets is None:
        return Proven(best, best.arena)
    steps = sorted({s for i in active for p in i.pieces for s in (p.lower, p.upper)})
    rank = {s: r for r, s in enumerate(steps)}
    times: list[cp_model.IntervalVar] = []
    addresses: list[cp_model.IntervalVar] = []
    for item in active:
        for p in item.pieces:
            lower = rank[p.lower]
            times.append(model.new_fixed_size_interval_var(lower, rank[p.upper] - lower, ""))
            addresses.append(
                model.new_fixed_size_interval_var(offsets[item.index], p.size // unit, "")
            )
        model.add(offsets[item.index] + item.size // unit <= arena)
    model.add_no_overlap_2d(times, addresses)
    model.minimize(arena)

    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = 0
    if seconds is None:
        solver.parameters.max_deterministic_time = work
    else:
        solver.parameters.max_time_in_seconds = max(seconds, 0.01)
    status = solver.solve(model)
    if status == cp_model.INFEASIBLE:
        return Proven(best, best.arena)
    if status not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return Proven(best, floor)
    found = [0] * len(items)
    for item in items:
        found[item.index] = (
            solver.value(offsets[item.index]) * unit if item.pieces else item.fixed or 0
        )
    placement = placement_of(problem, items, found)
    bound = round(solver.best_objective_bound) * unit
    return Proven(placement, max(bound, floor))


def _offsets(
    model: cp_model.CpModel, active: list[Item], top: int, unit: int
) -> dict[int, cp_model.IntVar] | None:
    """One variable per item, in units; None if one cannot end below `top`."""
    result: dict[int, cp_model.IntVar] = {}
    for item in active:
        highest = top - item.size // unit
        fixed = None if item.fixed is None else item.fixed // unit
        if highest < 0 or (fixed is not None and fixed > highest):
            return None
        stride = item.alignment // unit
        if fixed is not None:
            result[item.index] = model.new_constant(fixed)
        elif stride == 1:
            result[item.index] = model.new_int_var(0, highest, "")
        else:
            steps = model.new_int_var(0, highest // stride, "")
            result[item.index] = model.new_int_var(0, highest, "")
            model.add(result[item.index] == stride * steps)
    return result
