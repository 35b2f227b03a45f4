"""Greedy by Breadth for Offset Calculation (Pisarchyk & Lee, section 5.3).

Steps by the bytes live in them, most first; in each step the buffers that have no offset yet,
largest first, each into the smallest gap.
"""

from memopt.solvers.arena import Placement, PlacementProblem
from memopt.solvers.placement.address_space import loads, smallest_gaps_in
from memopt.solvers.placement.greedy_by_size import by_size
from memopt.solvers.placement.items import Item, fixed_first, items_of, placement_of


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` is not used."""
    items = items_of(problem)
    order = fixed_first(items, by_breadth(problem, items))
    return placement_of(problem, items, smallest_gaps_in(order, items))


def by_breadth(problem: PlacementProblem, items: tuple[Item, ...]) -> list[Item]:
    """Items in the order in which the broadest steps meet them."""
    broadest = sorted(loads(problem), key=lambda s: (-s[1], s[0]))
    waiting = by_size(items)
    order: list[Item] = []
    for step, _ in broadest:
        rest: list[Item] = []
        for item in waiting:
            (order if item.lower <= step < item.upper else rest).append(item)
        waiting = rest
        if not waiting:
            break
    return order + waiting
