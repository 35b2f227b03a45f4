"""The answers that a search begins with."""

from collections.abc import Iterator

from memopt.solvers import clock
from memopt.solvers.placement.methods import best_fit, greedy_by_size
from memopt.solvers.problems.placement import Placement, PlacementProblem

LARGE_ITEMS = 20_000  # above which best fit comes first, which is sooner done
LONGER = 4  # times what was taken: time that must be left for another greedy strategy
NATIVE = 5  # times that after best fit in the library, a tenth of what another one takes


def first_answer(problem: PlacementProblem, deadline: float | None) -> Placement:
    """Return the better of two greedy placements, the first of them where time is over."""
    return min(first_answers(problem, deadline), key=lambda p: p.arena)


def first_answers(problem: PlacementProblem, deadline: float | None) -> Iterator[Placement]:
    """Yield two greedy placements; the first, whole, where there is no time for the second."""
    if len(problem.items) <= LARGE_ITEMS:
        yield greedy_by_size.solve(problem)  # whenever the limit strikes, no worse than this
        if not clock.late(deadline):
            yield best_fit.solve(problem)
        return
    started = clock.now()
    yield best_fit.solve(problem)
    longer = LONGER * NATIVE if best_fit.is_native(problem) else LONGER
    if not clock.late(clock.sooner(deadline, longer * (clock.now() - started))):
        yield greedy_by_size.solve(problem)
