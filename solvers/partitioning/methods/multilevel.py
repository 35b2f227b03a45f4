"""Acyclic k-way partition by levels: coarsen, cut the coarsest graph, refine on the way back.

The price of a partition is the sum of the levels at its cuts, in bytes: a storage group counts once
per cut that it crosses. Two reasons. A cut at a globally minimal level loses nothing (theory.md
T5), so cheap cuts are those that restrict the schedule least; and what crosses a cut is in memory
at once, so a dear one is a peak of its own.

Several partitions are made: from the coarsest graph, and from whole topological orders cut where
they are cheapest. The one whose parts a heuristic schedules with the least peak is taken.
"""

import random
from collections.abc import Iterable, Iterator, Sequence

from memopt.solvers import clock
from memopt.solvers.partitioning.coarsen import Coarse, finest, hierarchy
from memopt.solvers.partitioning.intervals import breadth_first, in_intervals
from memopt.solvers.partitioning.methods import naive
from memopt.solvers.partitioning.parts import BALANCE, Partition, heaviest_part, price
from memopt.solvers.partitioning.refine import refine
from memopt.solvers.problems.memory_graph import (
    MemoryGraph,
    ProblemError,
    check_order,
    topological_order,
)
from memopt.solvers.scheduling.methods import fwd_rpo, greedy, rpo
from memopt.solvers.scheduling.partitioned import heuristic_peak, start_orders

# The coarsest graph has this many operators per part, but no fewer than SMALLEST.
COARSE_PER_PART = 30
SMALLEST = 120
RANDOM_ORDERS = 6
# So many of the orders, the cheapest to cut, are refined on each level.
REFINED = 3


def solve(
    graph: MemoryGraph,
    k: int,
    balance: float = BALANCE,
    seed: int = 0,
    time_limit: float | None = None,
) -> Partition:
    """The best acyclic partition found into `k` parts within `time_limit` seconds, no worse than
    the naive one; deterministic without a limit.

    No part is empty or has more than (1 + `balance`) times the mean number of operators; a small
    part costs nothing, so there is no other limit. Raises ProblemError for a negative `balance`.
    """
    if balance < 0:
        raise ProblemError(f"balance={balance} is negative")
    deadline = clock.deadline(time_limit)
    plain = naive.solve(graph, k)
    if k == 1 or clock.late(deadline):
        return plain
    heaviest = heaviest_part(len(graph), k, balance)
    orders = start_orders(graph)

    def worth(partition: Partition) -> tuple[int, int]:
        return heuristic_peak(graph, partition, orders), price(graph, partition)

    began = clock.now()
    least = worth(plain)
    end = clock.sooner(deadline, clock.now() - began)  # then one more can be judged
    judged: list[tuple[tuple[int, int], Partition]] = []
    for part in _candidates(graph, k, heaviest, seed, end):
        answer = Partition(tuple(part), k)
        judged.append((worth(answer), answer))
        if clock.late(end):
            break
    return min([*judged, (least, plain)], key=lambda entry: entry[0])[1]


def _candidates(
    graph: MemoryGraph, k: int, heaviest: int, seed: int, deadline: float | None
) -> Iterator[list[int]]:
    base = finest(graph)
    yield from _refined(base, _orders(base.graph), k, heaviest, deadline)
    target = max(COARSE_PER_PART * k, SMALLEST)
    try:
        levels = hierarchy(base, target, max(1, len(graph) // (8 * k)), deadline)
    except clock.TimeIsOverError:
        return
    if len(levels) > 1:
        rng = random.Random(seed)
        coarsest = levels[-1]
        orders = list(_orders(coarsest.graph))
        orders += [_random_order(coarsest.graph, rng) for _ in range(RANDOM_ORDERS)]
        refined = list(_refined(coarsest, orders, k, heaviest, deadline))
        if refined:
            cheapest = min(refined, key=lambda part: _cost(coarsest, part, k))
            yield _uncoarsen(levels, cheapest, k, heaviest, deadline)


def _refined(
    level: Coarse, orders: Iterable[Sequence[int]], k: int, heaviest: int, deadline: float | None
) -> Iterator[list[int]]:
    """Yield partitions of one level: the orders that are cheapest to cut, of those that are cut by
    `deadline`, refined."""
    cut: list[list[int]] = []
    try:
        for order in orders:
            part = in_intervals(level.graph, level.weights, order, k, heaviest, deadline)
            cut += [part] if part is not None else []
    except clock.TimeIsOverError:
        pass
    for part in sorted(cut, key=lambda part: _cost(level, part, k))[:REFINED]:
        yield refine(level.graph, level.weights, part, k, heaviest, deadline)


def _cost(level: Coarse, part: Sequence[int], k: int) -> int:
    return price(level.graph, Partition(tuple(part), k))


def _uncoarsen(
    levels: Sequence[Coarse], part: list[int], k: int, heaviest: int, deadline: float | None
) -> list[int]:
    for coarse, fine in zip(levels[:0:-1], levels[-2::-1], strict=True):
        part = [part[c] for c in coarse.cluster]
        part = refine(fine.graph, fine.weights, part, k, heaviest, deadline)
    return part


def _orders(graph: MemoryGraph) -> Iterator[tuple[int, ...]]:
    """Yield orders of a graph, none twice; each is found when it is asked for."""
    seen: set[tuple[int, ...]] = set()
    for order in (_source, greedy.order, rpo.order, fwd_rpo.order, breadth_first):
        operators = order(graph)
        if operators not in seen:
            seen.add(operators)
            yield operators


def _source(graph: MemoryGraph) -> tuple[int, ...]:
    source = tuple(range(len(graph)))
    try:
        check_order(graph, source)
    except ProblemError:
        return topological_order(graph)
    return source


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
