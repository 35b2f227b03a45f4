"""The best of all strategies, then the exact search, stopping at the bound."""

from collections.abc import Sequence

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.heuristics import best_greedy
from memopt.solvers.shared_objects.methods import shared_objects_exact as exact
from memopt.solvers.shared_objects.sharing import total

EXACT = 300  # items up to which the exact search runs without a time limit
WORK = 10.0  # its deterministic time then


def prove(
    items: Sequence[Item], bound: int, time_limit: float | None = None
) -> tuple[list[int], int]:
    """The objects of all items and a proven bound in bytes. `time_limit` in seconds is for
    all of it; the exact search then runs up to `exact.LARGEST` items."""
    deadline = clock.deadline(time_limit)
    best = best_greedy(items, bound, deadline)
    seconds_left = clock.left(deadline)
    small = len(items) <= (EXACT if seconds_left is None else exact.LARGEST)
    if total(items, best) == bound or not small or (seconds_left is not None and seconds_left <= 0):
        return best, bound
    return exact.improve(items, best, bound, seconds_left, WORK)
