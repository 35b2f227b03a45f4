"""TensorFlow Lite's greedy of 2019: what an allocator gets that does not know the future.

Buffers in the order in which they come to life (ties as they are listed), each into the smallest
gap that holds it, else above all that are live (Lee et al. 2019; SimpleMemoryArena of then;
"Greedy (Lee et al., 2019)" in Pisarchyk & Lee's Table 2). Today's TFLite is `greedy-by-size`.
"""

from memopt.solvers.placement.address_space import smallest_gaps_in
from memopt.solvers.placement.rectangles import fixed_first, placement_of
from memopt.solvers.problems.placement import Placement, PlacementProblem


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the placement; `time_limit` is not used."""
    items = problem.items
    order = fixed_first(items, sorted(items, key=lambda i: (i.lower, i.index)))
    return placement_of(problem, items, smallest_gaps_in(order, items))
