"""Largest area first: bytes times steps, each into the smallest gap between those it lives with."""

from memopt.solvers.placement.address_space import smallest_gaps_in
from memopt.solvers.placement.rectangles import fixed_first, placement_of
from memopt.solvers.problems.placement import Placement, PlacementProblem


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` is not used."""
    items = problem.items
    order = sorted(items, key=lambda i: (i.size * (i.lower - i.upper), i.index))
    return placement_of(problem, items, smallest_gaps_in(fixed_first(items, order), items))
