"""Greedy by Size for Offset Calculation (Pisarchyk & Lee, section 5.2, Algorithm 3).

Largest first, each into the smallest gap between the placed buffers it lives with. The paper leaves
ties open: the longer-lived first, then the earlier.
"""

from memopt.solvers.placement.address_space import smallest_gaps_in
from memopt.solvers.placement.rectangles import fixed_first, placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the placement; `time_limit` is not used."""
    items = problem.items
    offsets = smallest_gaps_in(fixed_first(items, by_size(items)), items)
    return placement_of(problem, items, offsets)


def by_size(items: tuple[Item, ...]) -> list[Item]:
    """Largest first, then the longer-lived, then the earlier."""
    return sorted(items, key=lambda i: (-i.size, i.lower - i.upper, i.index))
