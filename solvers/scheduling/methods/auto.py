"""The best order that the time allows, and what is proven about it.

Heuristics first, then the bound T6: on real networks they often meet, and nothing is left to
search. Otherwise modules are contracted (T3), the contracted graph gets the same treatment, and the
exact search takes over, of many rows from stretches of operators (`row_stretches.py`); when that
takes long, local search looks for a better order in between.
Without a time limit the answer is deterministic.
"""

from typing import cast

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError, Schedule, profile
from memopt.solvers.scheduling import in_parts, local_search, phases, row_stretches
from memopt.solvers.scheduling.methods import fwd_rpo, greedy, rpo, search
from memopt.solvers.theory.bounds import Bound, flow_bound, trivial
from memopt.solvers.theory.chains import reduced
from memopt.solvers.theory.fusion import contract, expand, modules

OPTIONS = {
    "fuse": "contract modules first",
    "segments": "contract to chains of segments",
    "splits": "search part by part (T5)",
    "flow": "bound by min-cuts (T6)",
    "local": "improve the order by local search",
    "stretches": "search many rows from stretches of rows on demand",
}


def heuristics(graph: MemoryGraph, deadline: float | None = None) -> list[tuple[int, ...]]:
    """Orders worth knowing, best first: source (if it is an order), greedy, both post-orders, and
    phase by phase; those that are there by `deadline`, and one at least."""
    orders: list[tuple[int, tuple[int, ...]]] = []
    least = trivial(graph)
    for order in (_source, greedy.order, rpo.order, fwd_rpo.order, phases.order):
        if orders and clock.late(deadline):
            break
        operators = order(graph)
        if operators is not None:
            orders.append((profile(graph, operators).peak, operators))
            if orders[-1][0] == least:
                break  # no other is better
    return [order for _, order in sorted(orders, key=lambda o: o[0])]


def met(graph: MemoryGraph, time_limit: float | None = None) -> Schedule | None:
    """Return the schedule of the heuristics if its peak meets the bound T6; else None.

    It takes a millisecond for a graph of 20 operators, a tenth of the work before a search.
    """
    orders, bound = _orders_and_bound(graph, clock.deadline(time_limit))
    peak = profile(graph, orders[0]).peak
    if bound.value != peak:
        return None
    return Schedule(orders[0], peak, peak, bound.proof)


def _orders_and_bound(
    graph: MemoryGraph, deadline: float | None, flow: bool = True
) -> tuple[list[tuple[int, ...]], Bound]:
    """Return the heuristics and the bound T6, without `flow` the trivial one. Without a deadline
    they stay with the graph: who has a peak that is near enough may ask for a better one later."""
    if not flow:
        return heuristics(graph, deadline), Bound(trivial(graph), None, 0)
    if deadline is None and "heuristics and T6" in graph.of_orders:
        known = graph.of_orders["heuristics and T6"]
        return cast("tuple[list[tuple[int, ...]], Bound]", known)
    orders = heuristics(graph, deadline)
    both = orders, flow_bound(graph, orders, time_limit=clock.left(deadline))
    if deadline is None:
        graph.of_orders["heuristics and T6"] = both
    return both


def _source(graph: MemoryGraph) -> tuple[int, ...] | None:
    source = tuple(range(len(graph)))
    return source if graph.topological == source else None


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    max_states: int | None = None,
    max_bytes: int | None = None,
    fuse: bool = True,
    segments: bool = False,
    splits: bool = False,
    flow: bool = True,
    local: bool = True,
    stretches: bool = True,
    kill_moves: bool = True,
    commits: bool = True,
    dominance: bool = True,
    backward: bool = True,
    most: int | None = None,
    tolerance: float = 0.0,
) -> Schedule:
    """The best order known after `time_limit` seconds, with the bound proven by then.

    `proof` is `flow` where T6 on `graph` itself meets the peak, `search` where contraction and
    search are needed, `none` where time or memory ended first. `max_states` and `max_bytes` end
    the search early. The others switch single techniques: `fuse` contracts modules; `segments`
    contracts to segment chains (T2, T4) instead of single nodes, `splits` searches part by part
    (T5): fewer states, but on the papers' networks not less time; `flow` computes T6, `local` is
    local search, `stretches` begins the search of large graphs of rows at stretches of rows on
    demand; the next four are the search's. With `most` (bytes) no order of a higher peak is
    searched for, and the search ends where it has proven that there is no other. With `tolerance`
    there is no search where the heuristics come so near to the bound, a part of it. Raises
    ProblemError for `segments` without `fuse`.
    """
    if segments and not fuse:
        raise ProblemError("segments without fuse: segments are what modules are contracted to")
    deadline = clock.deadline(time_limit)
    if most is not None and (least := trivial(graph)) > most:
        order = graph.topological
        return Schedule(order, profile(graph, order).peak, least, "none")
    orders, first = _orders_and_bound(graph, deadline, flow)
    best, bound = orders[0], first.value
    peak = profile(graph, best).peak

    def known() -> Schedule:
        return Schedule(best, peak, bound, first.proof if bound == peak else "none")

    clock.tell(peak, bound)
    near = bound * (1 + tolerance)
    if peak <= near or clock.late(deadline) or (most is not None and bound > most):
        return known()
    time_for_fusion = clock.left(deadline, 1 / 3)
    if segments:
        small, members = reduced(graph, time_limit=time_for_fusion)
    else:
        fused = modules(graph, time_limit=time_for_fusion) if fuse else []
        small, members = contract(graph, fused)
    if clock.late(deadline):
        return known()
    inner, floor = orders, bound
    is_smaller = len(small) < len(graph) or segments  # else it is the same graph
    if is_smaller:
        inner, lower = _orders_and_bound(small, deadline, flow)
        floor = max(bound, lower.value)
    start = inner[0]
    below = profile(small, start).peak
    if stretches and len(small) > search.LARGE and below > floor:  # fewer are searched to the end
        start = row_stretches.order(small, below, deadline) or start
    if profile(small, start).peak < peak:
        best, peak = expand(start, members), profile(small, start).peak

    clock.tell(peak, floor)
    exact = in_parts.explore if splits else search.explore
    answer = exact(
        small,
        floor,
        start,
        search.Limits(clock.left(deadline), max_states, max_bytes, tells=most is None),
        search.Switches(kill_moves, commits, dominance, backward),
        ceiling=peak if most is None else min(peak, most + 1),
        polish=local_search.improve if local else None,
    )
    if answer.peak < peak:
        best, peak = expand(answer.order, members), answer.peak
    if bound == peak:
        # what T6 proves of the graph itself is worth more than a search: anyone can check a flow
        return Schedule(best, peak, bound, first.proof, answer.states)
    bound = min(answer.lower_bound, peak)
    return Schedule(best, peak, bound, answer.proof if bound == peak else "none", answer.states)
