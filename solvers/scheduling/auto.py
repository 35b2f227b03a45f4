"""The best order that the time allows, and what is proven about it.

Heuristics first, then the bound T6: on real networks they often meet, and nothing is left to
search. Otherwise the exact search takes over. Without a time limit the answer is deterministic.
"""

import time

from memopt.solvers.bounds import flow_bound
from memopt.solvers.problem import MemoryGraph, ProblemError, Schedule, check_order, profile
from memopt.solvers.scheduling import fwd_rpo, greedy, rpo, search


def heuristics(graph: MemoryGraph) -> list[tuple[int, ...]]:
    """Orders worth knowing, best first: source (if it is an order), greedy and both post-orders."""
    orders = [greedy.order(graph), rpo.order(graph), fwd_rpo.order(graph)]
    source = tuple(range(len(graph)))
    try:
        check_order(graph, source)
    except ProblemError:
        pass
    else:
        orders.insert(0, source)
    return sorted(orders, key=lambda o: profile(graph, o).peak)


def solve(
    graph: MemoryGraph, time_limit: float | None = None, max_states: int = search.MAX_STATES
) -> Schedule:
    """The best order known after `time_limit` seconds, with the bound proven by then."""
    started = time.monotonic()
    orders = heuristics(graph)
    peak = profile(graph, orders[0]).peak
    bound = flow_bound(graph, orders, time_limit=time_limit)
    if bound.value == peak:
        return Schedule(orders[0], peak, peak, "flow")
    left = None if time_limit is None else max(0.0, time_limit - (time.monotonic() - started))
    found = search.solve(graph, left, bound=bound.value, incumbent=orders[0], max_states=max_states)
    if bound.value in (found.peak, found.lower_bound):
        # what T6 proves is worth more than what a search says: anyone can check a flow
        return Schedule(found.order, found.peak, bound.value, "flow", found.states)
    return found
