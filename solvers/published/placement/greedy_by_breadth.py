"""Greedy by Breadth for Offset Calculation (Pisarchyk & Lee, section 5.3).

Steps by the bytes live in them, most first; in each step the buffers that have no offset yet,
largest first, each into the smallest gap. The paper leaves ties open: the earlier of equally broad
steps first; buffers of one size as `greedy_by_size.py` has them.
"""

from bisect import bisect_left

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
    ranks = [0] * len(steps)
    for place, k in enumerate(sorted(range(len(steps)), key=lambda k: (-breadths[k][1], k))):
        ranks[k] = place
    best: list[list[int]] = [ranks]  # best[j][k]: the least rank of steps k to k + 2^j - 1
    while 2 ** len(best) <= len(steps):
        half = 2 ** (len(best) - 1)
        best.append([min(pair) for pair in zip(best[-1], best[-1][half:], strict=False)])

    def rank(item: Item) -> int:
        first, last = bisect_left(steps, item.lower), bisect_left(steps, item.upper)
        if first == last:
            return len(steps)  # without bytes, and nothing starts while it is live
        level = (last - first).bit_length() - 1
        return min(best[level][first], best[level][last - (1 << level)])

    return sorted(by_size(items), key=rank)
