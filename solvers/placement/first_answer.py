"""The answer that a search begins with."""

from memopt.solvers import clock
from memopt.solvers.placement.methods import best_fit, greedy_by_size
from memopt.solvers.problems.placement import Placement, PlacementProblem


def first_answer(problem: PlacementProblem, deadline: float | None) -> Placement:
    """Return the better of two greedy placements, the first of them where time is over."""
    best = greedy_by_size.solve(problem)  # whenever the limit strikes, no worse than this
    if not clock.late(deadline):
        best = min(best, best_fit.solve(problem), key=lambda p: p.arena)
    return best
