"""An order for what is made row by row and read as a whole: phase by phase.

Where many operators read many tensors at once, such as rows of an attention all keys, they are of a
later phase than what makes these, and so is what only they and their like need, such as queries:
what is not needed by then would wait. Of a phase first comes what later ones read and others of the
phase are made of, all rows of it, so that what the phase before left dies; then what is made of it.
Each comes with all that it needs, depth first, and what reads the same tensors besides follows at
once, so that they die.
"""

from collections.abc import Sequence
from itertools import chain

from memopt.solvers.problems.memory_graph import MemoryGraph, topological_order
from memopt.solvers.theory.ideals import FanOut, Waiting

MANY = 8  # tensors that an operator reads, and readers of each, from which on it waits for them


def order(graph: MemoryGraph) -> tuple[int, ...] | None:
    """Return the order; None where all is one phase."""
    phase = phases(graph)
    if not any(phase):
        return None
    ordered, reads = Ordered(graph), _read_by_few(graph)
    for root in roots(graph, phase):
        group = [root]
        for v in group:
            ordered.run_with_all_before(v)
            lists = (graph.groups[g].readers for g in reads[v] if g not in graph.writes[v])
            beside = (s for readers in lists for s in readers)
            group += {s: None for s in beside if ordered.is_ready(s) and phase[s] == phase[root]}
    for v in range(len(graph)):
        ordered.run_with_all_before(v)
    return tuple(ordered.result)


def _read_by_few(graph: MemoryGraph) -> list[list[int]]:
    """Return for each operator the tensors that it reads and few do, ascending."""
    reads: list[list[int]] = [[] for _ in graph.names]
    for index, group in enumerate(graph.groups):
        for v in group.readers if len(group.readers) < MANY else ():
            reads[v].append(index)
    return reads


class Ordered:
    """Operators that were put in an order."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.graph = graph
        self.result: list[int] = []
        self.seen = [False] * len(graph)
        self.waiting = Waiting(graph)

    def is_ready(self, v: int) -> bool:
        """Return whether all is there that an operator needs, and it is not."""
        return not self.seen[v] and not self.waiting.remaining[v]

    def run_with_all_before(self, root: int) -> None:
        """Put an operator behind all that it needs, unless it is there."""
        before, seen, remaining = self.graph.predecessors, self.seen, self.waiting.remaining
        waiting = [] if seen[root] else [(root, reversed(before[root]))]
        seen[root] = True
        while waiting:
            v, rest = waiting[-1]
            for p in rest if remaining[v] else ():
                if not seen[p]:
                    seen[p] = True
                    waiting.append((p, reversed(before[p])))
                    break
            else:
                self.result.append(v)
                waiting.pop()
                self.waiting.ran(v)


def phases(graph: MemoryGraph) -> list[int]:
    """Return the phase of each operator, the latest that those who read its results leave it."""
    phase, edges = [0] * len(graph), FanOut.of(graph)
    waits = [len(before) >= MANY for before in graph.predecessors]
    together: dict[int, int] = {}  # of operators that have the same many readers
    for v in reversed(topological_order(graph)):
        after, number = graph.successors[v], edges.number[v]
        if number >= 0:
            if number not in together:
                together[number] = min([phase[s] - waits[s] for s in edges.readers[number]])
            phase[v] = min([phase[s] - waits[s] for s in edges.others[v]] + [together[number]])
        elif len(after) >= MANY:
            phase[v] = min([phase[s] - waits[s] for s in after])
        elif after:
            phase[v] = min([phase[s] for s in after])
    first = min(phase, default=0)
    return [k - first for k in phase]


def roots(graph: MemoryGraph, phase: Sequence[int]) -> list[int]:
    """Return what later phases read, and what nobody does, phase by phase; what is made of others
    of them in the same phase comes behind all of these."""
    edges = FanOut.of(graph)
    readers = [
        set(after).intersection(chain.from_iterable([graph.groups[g].readers for g in written]))
        for written, after in zip(graph.writes, edges.others, strict=True)
    ]
    phases_of = [{phase[r] for r in read} for read in edges.readers]
    is_root = [
        not (after or number >= 0)
        or any(phase[r] > phase[v] for r in after)
        or (number >= 0 and max(phases_of[number]) > phase[v])
        for v, (after, number) in enumerate(zip(readers, edges.number, strict=True))
    ]
    behind = [0] * len(graph)
    for v in topological_order(graph):
        number = edges.number[v]
        beside = edges.readers[number] if number >= 0 and phase[v] in phases_of[number] else ()
        for r in (*readers[v], *beside):
            if phase[r] == phase[v]:
                behind[r] = max(behind[r], behind[v] + is_root[v])
    return sorted(
        (v for v, root in enumerate(is_root) if root), key=lambda v: (phase[v], behind[v])
    )
