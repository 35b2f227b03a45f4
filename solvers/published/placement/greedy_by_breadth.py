"""Greedy by Breadth for Offset Calculation (Pisarchyk & Lee, section 5.3).

Steps by the bytes live in them, most first; in each step the buffers that have no offset yet,
largest first, each into the smallest gap. The paper leaves ties open: the earlier of equally broad
steps first; buffers of one size as `greedy_by_size.py` has them.
"""

from bisect import bisect_left

import numpy as np

from memopt.solvers.placement.address_space import loads, smallest_gaps_in
from memopt.solvers.placement.methods.greedy_by_size import by_size
from memopt.solvers.placement.rectangles import fixed_first, placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the placement; `time_limit` is not used."""
    items = problem.items
    order = fixed_first(items, by_breadth(problem, items))
    return placement_of(problem, items, smallest_gaps_in(order, items))


def by_breadth(problem: PlacementProblem, items: tuple[Item, ...]) -> list[Item]:
    """Items in the order in which the broadest steps meet them: by their own broadest step."""
    breadths = loads(problem)
    steps = [step for step, _ in breadths]
    ranks = np.empty(len(steps), np.int64)
    broadest = sorted(range(len(steps)), key=lambda k: (-breadths[k][1], k))
    ranks[broadest] = np.arange(len(steps))
    best = [ranks]  # best[j][k]: the least rank of steps k to k + 2^j - 1
    while 2 ** len(best) <= len(steps):
        half = 2 ** (len(best) - 1)
        best.append(np.minimum(best[-1][:-half], best[-1][half:]))

    def rank(item: Item) -> int:
        first, last = bisect_left(steps, item.lower), bisect_left(steps, item.upper)
        if first == last:
            return len(steps)  # without bytes, and nothing starts while it is live
        level = (last - first).bit_length() - 1
        return int(min(best[level][first], best[level][last - 2**level]))

    return sorted(by_size(items), key=rank)
