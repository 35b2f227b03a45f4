"""Schedule a partitioned graph part by part (Zhong, Algorithm 2).

Heuristics order every part. Then the method that was asked for takes the parts that hold the
potential peak, highest first, and stops where no other part can reach what is settled: a part whose
heuristic peak is at most the proven-needed peak of another one never decides. Zhong asks the
integer program only for the parts in which the reverse post-order of the whole graph has its peak,
and takes that order elsewhere; then a part that was left alone can hold the new peak.

A partition restricts the order, so the optimum over its orders is no bound for all orders: the
bound here is T6 on the whole graph, and the answer is optimal exactly where the peak meets it.
Where nobody asked for these parts (`solve_automatic`) the order of the whole graph comes first.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, cast

from memopt.solvers import clock
from memopt.solvers.partitioning.parts import Part, Partition, split
from memopt.solvers.problems.memory_graph import (
    MemoryGraph,
    ProblemError,
    Schedule,
    check_order,
    profile,
)
from memopt.solvers.scheduling import METHODS, schedule
from memopt.solvers.scheduling.methods import fwd_rpo, greedy, rpo
from memopt.solvers.theory.bounds import flow_bound

# Methods that order whole graphs of any size; of the others, parts are what makes them end.
WHOLE_METHODS = ("source", "greedy", "rpo", "fwd-rpo", "auto", "search")
WHOLE_SHARE = 0.75  # of the time is for an order of the whole, where parts come after it
PARTS_SHARE = 8  # all parts together take one of so many of the states that the whole took


@dataclass(frozen=True)
class Parts:
    """The parts' orders one after the other, and what each part needs in bytes.

    `solved` are the parts that the method has been asked for. `exact` says that it proved all of
    them, so that no order that keeps to the partition has a lower peak.
    """

    order: tuple[int, ...]
    peaks: tuple[int, ...]
    solved: tuple[int, ...]
    exact: bool
    states: int


def start_orders(graph: MemoryGraph) -> list[tuple[int, ...]]:
    """The heuristics' orders of the whole graph; each is also an order of every part."""
    return [greedy.order(graph), rpo.order(graph), fwd_rpo.order(graph)]


def part_orders(
    parts: Sequence[Part], whole: Sequence[Sequence[int]], deadline: float | None = None
) -> list[tuple[int, ...]]:
    """The best order of each part, in the part's own numbers.

    From `whole` orders restricted to the part and, until `deadline`, its own heuristics and its own
    source order.
    """
    restricted = list(_restricted(parts, whole))
    best: list[tuple[int, ...]] = []
    for p, part in enumerate(parts):
        orders = [orders[p] for orders in restricted]
        if not clock.late(deadline):
            orders = [*start_orders(part.graph), *orders]
            source = tuple(range(len(part.graph)))
            if _is_order(part.graph, source):
                orders.append(source)
        best.append(min(orders, key=lambda o: profile(part.graph, o).peak))
    return best


def _restricted(
    parts: Sequence[Part], whole: Sequence[Sequence[int]]
) -> Iterator[list[tuple[int, ...]]]:
    """For each order of the whole graph the order that it means for each part."""
    home = {v: (p, i) for p, part in enumerate(parts) for i, v in enumerate(part.operators)}
    for order in whole:
        pieces: list[list[int]] = [[] for _ in parts]
        for v in order:
            p, i = home[v]
            pieces[p].append(i)
        yield [tuple(piece) for piece in pieces]


def _is_order(graph: MemoryGraph, order: Sequence[int]) -> bool:
    try:
        check_order(graph, order)
    except ProblemError:
        return False
    return True


def heuristic_peak(graph: MemoryGraph, partition: Partition, whole: Sequence[Sequence[int]]) -> int:
    """The peak of some orders of the whole graph, made to keep to `partition`, in bytes.

    How good a partition is, at little cost: each part takes the best of them.
    """
    sizes = partition.sizes
    best = [1 << 62] * len(sizes)
    for order in whole:
        # sorting is stable: the parts one after the other, each in this order
        along = profile(graph, sorted(order, key=partition.part.__getitem__))
        end = 0
        for p, size in enumerate(sizes):
            start, end = end, end + size
            best[p] = min(best[p], max((along.levels[start], *along.steps[start:end])))
    return max(best)


def solve_parts(
    graph: MemoryGraph,
    partition: Partition,
    method: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Parts:
    """Order every part with `method`, within `time_limit` seconds if given.

    Each part may take half of the time that is left, as the later ones seldom need any.

    A method other than the heuristics runs only on the parts that can hold the peak. The order is
    the best one within the partition where `exact` (workspaces that make a step cost less than the
    level before it, which no operator and no contracted module has, excepted).
    """
    partition.verify(graph)
    deadline = clock.deadline(time_limit)
    parts = split(graph, partition)
    if method in ("source", "greedy", "rpo", "fwd-rpo"):
        answers = [schedule(part.graph, method, **options) for part in parts]
        return _joined(parts, [a.order for a in answers], range(len(parts)), False, 0)
    orders = part_orders(parts, start_orders(graph), deadline)
    peaks = [profile(p.graph, o).peak for p, o in zip(parts, orders, strict=True)]
    settled, states, exact = -1, 0, True
    solved: list[int] = []
    ranking = sorted(range(len(parts)), key=lambda p: (-peaks[p], p))
    for rank, p in enumerate(ranking):
        if peaks[p] <= settled:
            break
        if clock.late(deadline):
            exact = False
            break
        share = clock.left(deadline, 1 if rank == len(parts) - 1 else 1 / 2)
        answer = schedule(parts[p].graph, method, share, **options)
        solved.append(p)
        states += answer.states
        exact = exact and answer.optimal
        if answer.peak < peaks[p]:
            orders[p] = answer.order
        settled = max(settled, min(peaks[p], answer.peak))
    return _joined(parts, orders, solved, exact, states)


def _joined(
    parts: Sequence[Part],
    orders: Sequence[Sequence[int]],
    solved: Sequence[int],
    exact: bool,
    states: int,
) -> Parts:
    order = tuple(part.operators[i] for part, o in zip(parts, orders, strict=True) for i in o)
    peaks = tuple(profile(part.graph, o).peak for part, o in zip(parts, orders, strict=True))
    return Parts(order, peaks, tuple(sorted(solved)), exact, states)


def solve(
    graph: MemoryGraph,
    partition: Partition,
    method: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Schedule:
    """`graph` in an order that keeps to `partition`, verified on the whole graph.

    Raises ProblemError for an unknown method, one that refuses a part, or a partition with a part
    that is empty or an edge to an earlier part.
    """
    if method not in METHODS:
        raise ProblemError(f"unknown method {method!r}: one of {', '.join(METHODS)}")
    graph.check()
    deadline = clock.deadline(time_limit)
    with clock.watched("peak"):  # of all parts, and not of each
        solved = solve_parts(graph, partition, method, time_limit, **options)
    peak = profile(graph, solved.order).peak
    bound = flow_bound(graph, [solved.order], clock.left(deadline))
    proof = bound.proof if bound.value == peak else "none"
    answer = Schedule(solved.order, peak, bound.value, proof, solved.states)
    answer.verify(graph)
    return answer


def schedule_whole(graph: MemoryGraph, time_limit: float | None = None) -> Schedule:
    """Return what `auto` finds of the whole graph. It stays with the graph if it is proven or no
    time was set, so that whoever partitions and whoever orders ask for it once; with a time limit
    only what is proven is taken again, as no other answer says what that time gives."""
    known = cast("Schedule | None", graph.of_orders.get("auto"))
    if known is not None and (known.optimal or time_limit is None):
        return known
    answer = schedule(graph, "auto", time_limit)
    if answer.optimal or time_limit is None:
        graph.of_orders["auto"] = answer
    return answer


def solve_automatic(
    graph: MemoryGraph,
    partition: Partition,
    method: str = "auto",
    time_limit: float | None = None,
    **options: Any,
) -> Schedule:
    """Return the better of `method`'s order of the whole graph and one that keeps to `partition`,
    the latter where the former is not proven, and with a small part of its states and time.

    Of methods that do not order whole graphs of any size it is as `solve`, and raises the same.
    """
    if method not in WHOLE_METHODS:
        return solve(graph, partition, method, time_limit, **options)
    partition.verify(graph)
    deadline = clock.deadline(time_limit)
    seconds = clock.left(deadline, WHOLE_SHARE)
    if method == "auto" and not options:
        unrestricted = schedule_whole(graph, seconds)
    else:
        unrestricted = schedule(graph, method, seconds, **options)
    if unrestricted.optimal or partition.k == 1 or clock.late(deadline):
        return unrestricted
    if method in ("auto", "search"):
        options["max_states"] = max(1, unrestricted.states // (PARTS_SHARE * partition.k))
    restricted = solve(graph, partition, method, clock.left(deadline), **options)
    if restricted.peak >= unrestricted.peak:
        return replace(unrestricted, states=unrestricted.states + restricted.states)
    if unrestricted.lower_bound > restricted.lower_bound:
        proof = "search" if restricted.peak == unrestricted.lower_bound else "none"
        restricted = replace(restricted, lower_bound=unrestricted.lower_bound, proof=proof)
    return replace(restricted, states=unrestricted.states + restricted.states)
