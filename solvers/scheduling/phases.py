"""An order for what is made row by row and read as a whole: phase by phase.

Where many operators read many tensors at once, such as rows of an attention all keys, they are of a
later phase than what makes these, and so is what only they and their like need, such as queries:
what is not needed by then would wait. Of a phase first comes what later ones read and others of the
phase are made of, all rows of it, so that what the phase before left dies; then what is made of it.
Each comes with all that it needs, depth first, and what reads the same tensors besides follows at
once, so that they die.
"""

from collections.abc import Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph, topological_order

MANY = 8  # tensors that an operator reads, and readers of each, from which on it waits for them


def order(graph: MemoryGraph) -> tuple[int, ...] | None:
    """Return the order; None where all is one phase."""
    phase = phases(graph)
    if not any(phase):
        return None
    ordered = Ordered(graph)
    for root in roots(graph, phase):
        group = [root]
        for v in group:
            ordered.run_with_all_before(v)
            read = set(graph.touches[v]).difference(graph.writes[v])
            lists = (graph.groups[g].readers for g in sorted(read))
            beside = (s for readers in lists if len(readers) < MANY for s in readers)
            group += {s: None for s in beside if ordered.is_ready(s) and phase[s] == phase[root]}
    for v in range(len(graph)):
        ordered.run_with_all_before(v)
    return tuple(ordered.result)


class Ordered:
    """Operators that were put in an order."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.graph = graph
        self.result: list[int] = []
        self.seen = [False] * len(graph)
        self.remaining = [len(set(before)) for before in graph.predecessors]

    def is_ready(self, v: int) -> bool:
        """Return whether all is there that an operator needs, and it is not."""
        return not self.seen[v] and not self.remaining[v]

    def run_with_all_before(self, root: int) -> None:
        """Put an operator behind all that it needs, unless it is there."""
        before = self.graph.predecessors
        waiting = [] if self.seen[root] else [(root, reversed(before[root]))]
        self.seen[root] = True
        while waiting:
            v, rest = waiting[-1]
            p = next((p for p in rest if not self.seen[p]), None)
            if p is not None:
                self.seen[p] = True
                waiting.append((p, reversed(before[p])))
                continue
            self.result.append(v)
            waiting.pop()
            for s in self.graph.successors[v]:
                self.remaining[s] -= 1


def phases(graph: MemoryGraph) -> list[int]:
    """Return the phase of each operator, the latest that those who read its results leave it."""
    phase = [0] * len(graph)
    waits = [len(before) >= MANY for before in graph.predecessors]
    for v in reversed(topological_order(graph)):
        after = graph.successors[v]
        if len(after) >= MANY:
            phase[v] = min([phase[s] - waits[s] for s in after])
        elif after:
            phase[v] = min([phase[s] for s in after])
    first = min(phase, default=0)
    return [k - first for k in phase]


def roots(graph: MemoryGraph, phase: Sequence[int]) -> list[int]:
    """Return what later phases read, and what nobody does, phase by phase; what is made of others
    of them in the same phase comes behind all of these."""
    readers = [
        {r for g in written for r in graph.groups[g].readers}.intersection(after)
        for written, after in zip(graph.writes, graph.successors, strict=True)
    ]
    is_root = [
        not after or any(phase[r] > phase[v] for r in after) for v, after in enumerate(readers)
    ]
    behind = [0] * len(graph)
    for v in topological_order(graph):
        for r in readers[v]:
            if phase[r] == phase[v]:
                behind[r] = max(behind[r], behind[v] + is_root[v])
    return sorted(
        (v for v, root in enumerate(is_root) if root), key=lambda v: (phase[v], behind[v])
    )
