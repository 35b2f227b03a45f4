"""HMCOS's reverse post-order: depth first from the outputs over producers, operands in order.

An operator is listed after everything it needs. (The classical order of the same name is
`fwd_rpo`; the two differ by up to a factor of two in peak.)
"""

from collections.abc import Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.theory.bounds import bounded


def order(graph: MemoryGraph, outputs: Sequence[int] | None = None) -> tuple[int, ...]:
    """Operators in post-order from the writers of the outputs, in group order, then from the rest.

    What no output needs comes last, by index. With many outputs the peak depends on which comes
    first, of which the rule says nothing: `outputs` gives other groups to start from.
    """
    if outputs is None:
        outputs = [i for i, g in enumerate(graph.groups) if g.is_output]
    roots = [w for i in outputs for w in graph.groups[i].writers]
    roots += [v for v in range(len(graph)) if not graph.successors[v]]
    result: list[int] = []
    seen = [False] * len(graph)
    for root in roots:
        if seen[root]:
            continue
        seen[root] = True
        stack = [(root, iter(graph.predecessors[root]))]
        while stack:
            v, rest = stack[-1]
            p = next((p for p in rest if not seen[p]), None)
            if p is None:
                result.append(v)
                stack.pop()
            else:
                seen[p] = True
                stack.append((p, iter(graph.predecessors[p])))
    return tuple(result)


def solve(graph: MemoryGraph) -> Schedule:
    """The reverse post-order with the bound T6."""
    return bounded(graph, order(graph))
