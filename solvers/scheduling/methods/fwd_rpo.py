"""The classical reverse post-order: depth first from the inputs over readers, then reversed."""

from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.theory.bounds import bounded


def order(graph: MemoryGraph) -> tuple[int, ...]:
    """Reversed post-order of a depth-first walk over successors, roots and branches by index."""
    post: list[int] = []
    seen = [False] * len(graph)
    for root in range(len(graph)):
        if seen[root] or graph.predecessors[root]:
            continue
        seen[root] = True
        stack = [(root, iter(graph.successors[root]))]
        while stack:
            v, rest = stack[-1]
            s = next((s for s in rest if not seen[s]), None)
            if s is None:
                post.append(v)
                stack.pop()
            else:
                seen[s] = True
                stack.append((s, iter(graph.successors[s])))
    return tuple(reversed(post))


def solve(graph: MemoryGraph) -> Schedule:
    """The classical reverse post-order with the bound T6."""
    return bounded(graph, order(graph))
