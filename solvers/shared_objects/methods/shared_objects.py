"""The best of all, stopping at the bound: the greedy strategies, min-cost flow, the exact search.

No strategy of Pisarchyk & Lee's Table 1 is best on every network, and together they take
milliseconds. On thousands of buffers the improved greedy by size has been far ahead of the others,
so it is the only one there; min-cost flow, which compares every pair, is left out before that.
"""

from collections.abc import Callable, Sequence

from memopt.solvers import clock
from memopt.solvers.placement.items import Item
from memopt.solvers.shared_objects.methods import shared_objects_by_breadth as by_breadth
from memopt.solvers.shared_objects.methods import shared_objects_by_size as by_size
from memopt.solvers.shared_objects.methods import shared_objects_exact as exact
from memopt.solvers.shared_objects.methods import shared_objects_greedy as greedy
from memopt.solvers.shared_objects.methods import shared_objects_improved as improved
from memopt.solvers.shared_objects.methods import shared_objects_min_cost_flow as min_cost_flow

PAIRS = 600  # items up to which every pair may be compared
ALL = 5_000  # items up to which all greedy strategies run
EXACT = 300  # items up to which the exact search runs without a time limit
WORK = 10.0  # its deterministic time then

Strategy = Callable[[Sequence[Item]], list[int]]
OTHERS: tuple[Strategy, ...] = (by_size.solve, by_breadth.solve, greedy.solve)


def solve(
    items: Sequence[Item], bound: int, time_limit: float | None = None
) -> tuple[list[int], int]:
    """The objects of all items and a proven bound in bytes. `time_limit` in seconds bounds the
    exact search, which then runs up to `exact.LARGEST` items."""
    deadline = None if time_limit is None else clock.now() + time_limit
    best = best_greedy(items, bound)
    left = None if deadline is None else deadline - clock.now()
    small = len(items) <= (EXACT if left is None else exact.LARGEST)
    if total(items, best) == bound or not small or (left is not None and left <= 0):
        return best, bound
    return exact.improve(items, best, bound, left, WORK)


def best_greedy(items: Sequence[Item], bound: int) -> list[int]:
    """The best answer of the strategies without search; stops at `bound` bytes."""
    others = OTHERS if len(items) <= ALL else ()
    pairwise: tuple[Strategy, ...] = (min_cost_flow.solve,) if len(items) <= PAIRS else ()
    best = improved.solve(items)
    for strategy in (*others, *pairwise):
        if total(items, best) == bound:
            break
        answer = strategy(items)
        if total(items, answer) < total(items, best):
            best = answer
    return best


def total(items: Sequence[Item], objects: Sequence[int]) -> int:
    """Bytes of all objects."""
    sizes: dict[int, int] = {}
    for item, k in zip(items, objects, strict=True):
        sizes[k] = max(sizes.get(k, 0), item.size)
    return sum(sizes.values())
