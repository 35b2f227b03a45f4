"""Acyclic k-way partition by levels: coarsen, cut the coarsest graph, refine on the way back.

The price of a partition is the sum of the levels at its cuts, in bytes: a storage group counts once
per cut that it crosses. Two reasons. A cut at a globally minimal level loses nothing (theory.md
T5), so cheap cuts are those that restrict the schedule least; and what crosses a cut is in memory
at once, so a dear one is a peak of its own.

Several partitions are made: from the coarsest graph, and from whole topological orders cut where
they are cheapest. The one whose parts a heuristic schedules with the least peak is taken.
"""

import random
from collections.abc import Sequence

from memopt.solvers.partitioning.coarsen import Coarse, finest, hierarchy
from memopt.solvers.partitioning.intervals import breadth_first, in_intervals
from memopt.solvers.partitioning.methods import naive
from memopt.solvers.partitioning.parts import Partition, heaviest_part, price
from memopt.solvers.partitioning.refine import refine
from memopt.solvers.problems.memory_graph import (
    MemoryGraph,
    ProblemError,
    check_order,
    topological_order,
)
from memopt.solvers.scheduling.methods import fwd_rpo, greedy, rpo
from memopt.solvers.scheduling.partitioned import heuristic_peak, start_orders

BALANCE = 0.5
# The coarsest graph has this many operators per part, but no fewer than SMALLEST.
COARSE_PER_PART = 30
SMALLEST = 120
RANDOM_ORDERS = 6
# So many of the orders, the cheapest to cut, are refined on each level.
REFINED = 3


def solve(graph: MemoryGraph, k: int, balance: float = BALANCE, seed: int = 0) -> Partition:
    """The best acyclic partition found into `k` parts; deterministic.

    No part is empty or has more than (1 + `balance`) times the mean number of operators; a small
    part costs nothing, so there is no other limit. Raises ProblemError for a negative `balance`.
    """
    n = len(graph)
    if balance < 0:
        raise ProblemError(f"balance={balance} is negative")
    if k == 1:
        return Partition((0,) * n, 1)
    heaviest = heaviest_part(n, k, balance)
    found = [Partition(tuple(p), k) for p in _candidates(graph, k, heaviest, seed)]
    plain = naive.solve(graph, k)
    if max(plain.sizes) <= heaviest:
        found.append(plain)
    orders = start_orders(graph)

    def worth(partition: Partition) -> tuple[int, int]:
        return heuristic_peak(graph, partition, orders), price(graph, partition)

    return min(dict.fromkeys(found), key=worth)


def _candidates(graph: MemoryGraph, k: int, heaviest: int, seed: int) -> list[list[int]]:
    base = finest(graph)
    result = _refined(base, _orders(base.graph), k, heaviest)
    target = max(COARSE_PER_PART * k, SMALLEST)
    levels = hierarchy(base, target, max(1, len(graph) // (8 * k)))
    if len(levels) > 1:
        rng = random.Random(seed)
        coarsest = levels[-1]
        orders = _orders(coarsest.graph)
        orders += [_random_order(coarsest.graph, rng) for _ in range(RANDOM_ORDERS)]
        found = _refined(coarsest, orders, k, heaviest)
        if found:
            result.append(_uncoarsen(levels, found[0], k, heaviest))
    return result


def _refined(
    level: Coarse, orders: Sequence[Sequence[int]], k: int, heaviest: int
) -> list[list[int]]:
    """Partitions of one level, cheapest first: the orders that are cheapest to cut, refined."""

    def cost(part: Sequence[int]) -> int:
        return price(level.graph, Partition(tuple(part), k))

    cut = [in_intervals(level.graph, level.weights, order, k, heaviest) for order in orders]
    best = sorted((part for part in cut if part is not None), key=cost)[:REFINED]
    return sorted((refine(level.graph, level.weights, p, k, heaviest) for p in best), key=cost)


def _uncoarsen(levels: Sequence[Coarse], part: list[int], k: int, heaviest: int) -> list[int]:
    for coarse, fine in zip(levels[:0:-1], levels[-2::-1], strict=True):
        part = [part[c] for c in coarse.cluster]
        part = refine(fine.graph, fine.weights, part, k, heaviest)
    return part


def _orders(graph: MemoryGraph) -> list[tuple[int, ...]]:
    source = tuple(range(len(graph)))
    try:
        check_order(graph, source)
    except ProblemError:
        source = topological_order(graph)
    orders = (source, greedy.order(graph), rpo.order(graph), fwd_rpo.order(graph))
    return list(dict.fromkeys((*orders, breadth_first(graph))))


def _random_order(graph: MemoryGraph, rng: random.Random) -> tuple[int, ...]:
    """Depth first in a random order of branches."""
    waiting = [len(set(ps)) for ps in graph.predecessors]
    stack = [v for v, w in enumerate(waiting) if w == 0]
    rng.shuffle(stack)
    order: list[int] = []
    while stack:
        v = stack.pop()
        order.append(v)
        ready: list[int] = []
        for s in graph.successors[v]:
            waiting[s] -= 1
            if waiting[s] == 0:
                ready.append(s)
        rng.shuffle(ready)
        stack += ready
    return tuple(order)
