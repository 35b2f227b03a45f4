"""The best of the strategies that do not search: greedy ones and min-cost flow.

No strategy of Pisarchyk & Lee's Table 1 is best on every network, and together they take
milliseconds. On thousands of buffers the improved greedy by size has been far ahead of the others,
so it is the only one there; min-cost flow, which compares every pair, is left out before that.
"""

from collections.abc import Callable, Sequence

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.methods import shared_objects_by_breadth as by_breadth
from memopt.solvers.shared_objects.methods import shared_objects_by_size as by_size
from memopt.solvers.shared_objects.methods import shared_objects_greedy as greedy
from memopt.solvers.shared_objects.methods import shared_objects_improved as improved
from memopt.solvers.shared_objects.methods import shared_objects_min_cost_flow as min_cost_flow
from memopt.solvers.shared_objects.sharing import total

PAIRS = 600  # items up to which every pair may be compared
ALL = 5_000  # items up to which all greedy strategies run
MOST = 0.8  # of the seconds until a deadline, for the improved greedy

Strategy = Callable[[Sequence[Item]], list[int]]
OTHERS: tuple[Strategy, ...] = (by_size.solve, by_breadth.solve, greedy.solve)


def best_greedy(items: Sequence[Item], bound: int, deadline: float | None = None) -> list[int]:
    """The best answer of the strategies without search; stops at `bound` bytes, or at a deadline:
    the improved greedy has most of the time until then, and greedy by size answers where that is
    not enough, which takes about as long as reading the items."""
    others = OTHERS if len(items) <= ALL else ()
    flow: tuple[Strategy, ...] = (lambda items: min_cost_flow.until(items, deadline),)
    pairwise = flow if len(items) <= PAIRS else ()
    try:
        best = improved.until(items, clock.deadline(clock.left(deadline, MOST)))
    except clock.TimeIsOverError:
        return by_size.solve(items, by_size.USUAL)
    for strategy in (*others, *pairwise):
        if total(items, best) == bound or clock.late(deadline):
            break
        try:
            answer = strategy(items)
        except clock.TimeIsOverError:
            break
        if total(items, answer) < total(items, best):
            best = answer
    return best
