"""List scheduling: of the ready operators the one that asks for least, and frees most.

An operator that does not raise the level and whose step stays below the peak so far is taken at
once (the free move: theory.md T1 with one operator). Otherwise the least step above the peak
decides, then the level left behind, then how recently the operator's operands were made, which
keeps the order inside one branch of the network.
"""

from memopt.solvers.bounds import bounded
from memopt.solvers.problem import MemoryGraph, Schedule, topological_order


def order(graph: MemoryGraph) -> tuple[int, ...]:
    """One greedy order; time is linear in the graph times the number of ready operators."""
    waiting = [len(set(ps)) for ps in graph.predecessors]
    remaining = [len({*g.writers, *g.readers}) for g in graph.groups]
    written = [g.is_input for g in graph.groups]
    made = [-1] * len(graph)  # the step at which an operator became ready
    ready = {v for v, w in enumerate(waiting) if w == 0}
    level = graph.level(0)
    peak = level
    result: list[int] = []

    def change(v: int) -> tuple[int, int]:
        fresh = sum(graph.sizes[g] for g in graph.writes[v] if not written[g])
        freed = sum(
            graph.sizes[g]
            for g in graph.touches[v]
            if remaining[g] == 1 and not graph.groups[g].is_output
        )
        used = next((c for c in graph.candidates[v] if remaining[c.operand] == 1), None)
        cost = fresh + graph.extra[v] - (graph.sizes[used.result] if used else 0)
        return cost, fresh - freed

    changes = {v: change(v) for v in ready}
    while ready:
        best = min(
            ready,
            key=lambda v: (
                max(level + changes[v][0], peak) + max(changes[v][1], 0),
                changes[v][1],
                -made[v],
                v,
            ),
        )
        cost, delta = changes.pop(best)
        ready.remove(best)
        peak = max(peak, level + cost)
        level += delta - (graph.unread_inputs if not result else 0)
        result.append(best)
        stale: set[int] = set()
        for g in graph.touches[best]:
            remaining[g] -= 1
            if best in graph.groups[g].writers:
                if not written[g]:
                    stale.update(graph.groups[g].writers)
                written[g] = True
            if remaining[g] == 1:
                stale.update(graph.groups[g].writers, graph.groups[g].readers)
        for s in graph.successors[best]:
            waiting[s] -= 1
            if waiting[s] == 0:
                made[s] = len(result)
                ready.add(s)
                stale.add(s)
        for v in stale & ready:
            changes[v] = change(v)
    return tuple(result)


def solve(graph: MemoryGraph) -> Schedule:
    """The greedy order with the bound T6."""
    return bounded(graph, order(graph) if len(graph) else topological_order(graph))
