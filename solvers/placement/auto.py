"""`auto`: the best of all, stopping at the bound.

Greedy strategies first, then a local search, then a short exact attempt. `PlacementProblem.load`
is a bound that is met on most networks, so the later ones seldom run. Without a time limit each
stops after a fixed amount of work: the answer does not depend on the machine.
"""

from collections.abc import Callable, Iterator
from time import monotonic

from memopt.solvers.arena import Placement, PlacementProblem
from memopt.solvers.placement import best_fit, greedy_by_breadth, greedy_by_size, hill_climb, tflm
from memopt.solvers.placement.address_space import first_fit_in
from memopt.solvers.placement.items import Item, fixed_first, floor_of, items_of, placement_of

# Above these sizes the searches cost more than they gain by default.
CLIMB_ITEMS = 2_000
EXACT_ITEMS = 400


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` in seconds bounds the search that follows the greedy strategies."""
    deadline = None if time_limit is None else monotonic() + time_limit
    items = items_of(problem)
    floor = floor_of(problem, items)
    best: Placement | None = None
    for answer in _greedy(problem, items):
        if best is None or answer.arena < best.arena:
            best = answer
        if best.arena == floor:
            return best
    assert best is not None
    if time_limit is not None or len(items) <= CLIMB_ITEMS:
        half = None if deadline is None else (deadline - monotonic()) / 2
        best = hill_climb.improve(problem, items, best, half)
    if best.arena == floor:
        return best
    left = None if deadline is None else deadline - monotonic()
    if len(items) <= EXACT_ITEMS and (left is None or left > 0):
        from memopt.solvers.placement import exact

        best = exact.improve(problem, items, best, left).placement
    return best


def _greedy(problem: PlacementProblem, items: tuple[Item, ...]) -> Iterator[Placement]:
    yield greedy_by_size.solve(problem)
    yield best_fit.solve(problem)
    yield greedy_by_breadth.solve(problem)
    yield tflm.solve(problem)
    for order in ORDERS:
        ranked = fixed_first(items, sorted(items, key=order))
        yield placement_of(problem, items, first_fit_in(ranked, items))


ORDERS: tuple[Callable[[Item], tuple[int, ...]], ...] = (
    lambda i: (-i.area, -i.size, i.index),
    lambda i: (i.lower - i.upper, -i.size, i.index),
    lambda i: (i.lower, -i.upper, -i.size, i.index),
    lambda i: (-i.upper, i.lower, -i.size, i.index),
)
