"""Depth first: of the ready operators the one that became ready last, of several the first."""

from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.theory.bounds import bounded

OPTIONS = {
    "last": "of several that became ready together take the last",
}


def solve(graph: MemoryGraph, last: bool = False) -> Schedule:
    """That order with the bound T6."""
    waiting = [len(set(before)) for before in graph.predecessors]
    steps = range(len(graph))
    ready = [v for v in (steps if last else reversed(steps)) if not waiting[v]]
    order: list[int] = []
    while ready:
        order.append(ready.pop())
        found = graph.successors[order[-1]]
        for after in found if last else reversed(found):
            waiting[after] -= 1
            if not waiting[after]:
                ready.append(after)
    return bounded(graph, tuple(order))
