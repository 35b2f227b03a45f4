"""The answers that a search begins with."""

from collections.abc import Iterator

from memopt.solvers import clock
from memopt.solvers.placement.methods import best_fit, greedy_by_size
from memopt.solvers.problems.placement import Placement, PlacementProblem

LARGE_ITEMS = 20_000  # above which best fit comes first, which looks at the clock
LONGER = 4  # times what was taken: time that must be left for another greedy strategy


def first_answer(problem: PlacementProblem, deadline: float | None) -> Placement:
    """Return the better of two greedy placements, the first of them where time is over."""
    return min(first_answers(problem, deadline), key=lambda p: p.arena)


def first_answers(problem: PlacementProblem, deadline: float | None) -> Iterator[Placement]:
    """Yield greedy placements, one at least, until `deadline`."""
    started = clock.now()
    if len(problem.items) <= LARGE_ITEMS:
        yield greedy_by_size.solve(problem)  # whenever the limit strikes, no worse than this
        if not clock.late(deadline):
            yield best_fit.solve_until(problem, deadline)
        return
    yield best_fit.solve_until(problem, deadline)
    if not clock.late(clock.sooner(deadline, LONGER * (clock.now() - started))):
        yield greedy_by_size.solve(problem)
