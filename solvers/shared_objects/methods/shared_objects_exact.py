"""Exact assignment by CP-SAT: the best answer of the strategies, improved until it is proven.

Where those stop above the bound of the positional maxima, only a search can say whether they or the
bound are to blame. An object is named after the first of its items by falling size, its leader,
which is as large as it is; so objects are not interchangeable and sizes need no variables
(asymmetric representatives, as for colorings: Campelo, Campos & Correa 2008):

    x[i, j]   item i is in the object that item j leads, j first of the two and not live with i
    least     the sum of size[j] x[j, j]
    exactly one x[i, j] per item i; for every maximal set of live items and every leader j, at most
    x[j, j] of the x[i, j]
"""

from collections.abc import Sequence
from functools import reduce
from math import gcd
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Item
from memopt.solvers.programs.cp_solver import Limit, solve
from memopt.solvers.programs.or_tools import cp_model
from memopt.solvers.shared_objects.heuristics import best_greedy
from memopt.solvers.shared_objects.profiles import cliques

LARGEST = 1_000  # items: a variable for every pair that may share an object
WORK = 100.0  # CP-SAT's units of deterministic time, about as many seconds


def prove(
    items: Sequence[Item], bound: int, time_limit: float | None = None
) -> tuple[list[int], int]:
    """The objects of all items and a proven bound in bytes, as `improve`."""
    deadline = clock.deadline(time_limit)
    best = best_greedy(items, bound, deadline)
    return improve(items, best, bound, clock.left(deadline))


def improve(
    items: Sequence[Item],
    objects: Sequence[int],
    bound: int,
    time_limit: float | None = None,
    work: float = WORK,
) -> tuple[list[int], int]:
    """A best assignment that starts from `objects`, and a proven bound in bytes, at least `bound`.

    Stops after `time_limit` seconds, building included, or without one after `work`. Raises
    ProblemError above `LARGEST` items.
    """
    if len(items) > LARGEST:
        raise ProblemError(
            f"the exact assignment takes {LARGEST:,} buffers at most, one variable per pair; these "
            f"are {len(items):,}"
        )
    deadline = clock.deadline(time_limit)
    ranked = sorted(range(len(items)), key=lambda i: (-items[i].size, items[i].lower, i))
    rank = {i: position for position, i in enumerate(ranked)}
    order = [items[i] for i in ranked]
    unit = reduce(gcd, (item.size for item in order), 0)
    model: Any = cp_model.CpModel()
    try:
        x = _variables(model, order, deadline)
    except clock.TimeIsOverError:
        return list(objects), bound
    cost: Any = sum(order[j].size // unit * x[j, j] for j in range(len(order)))
    leaders: dict[int, int] = {}
    hint: list[tuple[Any, int]] = []
    for position, i in enumerate(ranked):
        leader = leaders.setdefault(objects[i], position)
        mine = (j for j in range(position + 1) if (position, j) in x)
        hint += [(x[position, j], int(j == leader)) for j in mine]
    known = sum(order[j].size // unit for j in leaders.values())
    model.add(cost <= known)
    model.add(cost >= -(-bound // unit))
    model.minimize(cost)
    # the relaxation of this form is tight: with all cuts, proofs take two thirds of the time
    solver = solve(model, Limit(clock.left(deadline), work), hint, linearization=2)
    if not solver.found and solver.status != "UNKNOWN":
        raise ProblemError(f"exact assignment: CP-SAT says {solver.status}")
    best = max(bound, (solver.bound or 0) * unit)
    if not solver.found:
        return list(objects), best
    leader_of = {i: j for (i, j), v in x.items() if solver.value(v)}
    return [leader_of[rank[i]] for i in range(len(items))], best


def _variables(
    model: Any, order: Sequence[Item], deadline: float | None
) -> dict[tuple[int, int], Any]:
    """x[i, j] with its constraints, for items in falling order of size. Raises TimeIsOverError."""
    n = len(order)
    sets = [tuple(live) for _, live in cliques(order)]
    together: list[set[int]] = [set() for _ in order]
    for live in sets:
        clock.raise_if_late(deadline)
        for i in live:
            together[i].update(live)
    x: dict[tuple[int, int], Any] = {}
    for i in range(n):
        clock.raise_if_late(deadline)
        apart = (j for j in range(i + 1) if i == j or j not in together[i])
        mine = {(i, j): model.new_bool_var(f"x{i}_{j}") for j in apart}
        model.add_exactly_one(mine.values())
        x |= mine
    for j in range(n):
        clock.raise_if_late(deadline)
        followers = {tuple(i for i in live if i > j and (i, j) in x) for live in sets}
        for live in sorted(followers):
            if live:
                model.add(sum(x[i, j] for i in live) <= x[j, j])
    return x
