"""Partitions that cut one topological order into intervals."""

from bisect import bisect_left, bisect_right
from collections import deque
from collections.abc import Sequence
from itertools import accumulate

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile


def breadth_first(graph: MemoryGraph) -> tuple[int, ...]:
    """Kahn's order with a queue: what became ready first runs first."""
    waiting = [len(set(ps)) for ps in graph.predecessors]
    queue = deque(v for v, w in enumerate(waiting) if w == 0)
    order: list[int] = []
    while queue:
        v = queue.popleft()
        order.append(v)
        for s in graph.successors[v]:
            waiting[s] -= 1
            if waiting[s] == 0:
                queue.append(s)
    return tuple(order)


def best_cuts(
    levels: Sequence[int],
    weights: Sequence[int],
    k: int,
    heaviest: int,
    deadline: float | None = None,
) -> list[int] | None:
    """The k-1 places 0 < c < n at which cutting an order costs least; None if no such places exist.

    `levels[i]` is the price of a cut before place i, `weights[i]` the positive weight at place i;
    no interval is empty or heavier than `heaviest`. Dynamic programming over places, one sliding
    window minimum per part: time k * n. Raises TimeIsOverError at `deadline`.
    """
    n = len(weights)
    before = [0, *accumulate(weights)]
    infinite = 1 << 62
    cost = [0] + [infinite] * n  # the least price with the last interval ending at each place
    low = 0  # no place before it can be an end
    origin: list[list[int]] = []
    for intervals in range(1, k + 1):
        clock.raise_if_late(deadline)
        following, come = [infinite] * (n + 1), [0] * (n + 1)
        begin = low  # the first place that is not in the window yet
        rest = k - intervals
        least = max(intervals, before[n] - rest * heaviest)
        heaviest_sum = min(intervals * heaviest, before[n] - rest)
        low, high = bisect_left(before, least), bisect_right(before, heaviest_sum) - 1
        window: deque[int] = deque()
        for i in range(low, high + 1):
            while begin < i:
                if cost[begin] < infinite:
                    while window and cost[window[-1]] >= cost[begin]:
                        window.pop()
                    window.append(begin)
                begin += 1
            while window and before[i] - before[window[0]] > heaviest:
                window.popleft()
            if window:
                come[i] = window[0]
                following[i] = cost[window[0]] + (levels[i] if i < n else 0)
        cost = following
        origin.append(come)
    if cost[n] >= infinite:
        return None
    cuts: list[int] = []
    place = n
    for come in reversed(origin):
        place = come[place]
        cuts.append(place)
    return cuts[-2::-1]


def in_intervals(
    graph: MemoryGraph,
    weights: Sequence[int],
    order: Sequence[int],
    k: int,
    heaviest: int,
    deadline: float | None = None,
) -> list[int] | None:
    """The part of each operator where `order` is cut into `k` intervals at the least sum of levels.

    None if no such intervals keep to `heaviest`. Raises TimeIsOverError at `deadline`.
    """
    levels = profile(graph, order).levels
    cuts = best_cuts(levels, [weights[v] for v in order], k, heaviest, deadline)
    if cuts is None:
        return None
    part = [0] * len(graph)
    for p, (first, last) in enumerate(zip([0, *cuts], [*cuts, len(order)], strict=True)):
        for i in range(first, last):
            part[order[i]] = p
    return part
