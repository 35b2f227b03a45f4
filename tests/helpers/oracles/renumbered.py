"""Graphs under other numbers."""

import random

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph


def shuffled(graph: MemoryGraph, rng: random.Random) -> MemoryGraph:
    """Return the same problem under other numbers and names."""
    new = list(range(len(graph)))
    rng.shuffle(new)
    old = [new.index(i) for i in range(len(new))]
    groups = list(range(len(graph.groups)))
    rng.shuffle(groups)

    def moved(vs: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new[v] for v in vs)

    return MemoryGraph(
        tuple(f"n{v}" for v in old),
        tuple(moved(graph.predecessors[v]) for v in old),
        tuple(
            Group(f"h{g}", x.size, moved(x.writers), moved(x.readers), x.is_input, x.is_output)
            for g in groups
            for x in [graph.groups[g]]
        ),
        tuple(graph.workspace[v] for v in old),
        tuple(
            InPlace(new[c.operator], groups.index(c.result), groups.index(c.operand))
            for c in graph.inplace
        ),
        graph.alignment,
    )
