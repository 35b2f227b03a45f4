"""Merging segment chains that run side by side (theory.md T4; Liu 1987, Kayaaslan et al. 2018).

Modules that have nothing to do with each other (no edge, no group that two of them touch), and
whose union is itself a separable module, need not be searched together: their canonical segments
merge by sorting. Falling ones by increasing (hill - start), then flat ones, then rising ones by
decreasing (hill - end): first what frees memory at the least cost, last what fills it.
"""

import heapq
from collections.abc import Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.segments import Segment


def merged(chains: Sequence[Sequence[Segment]]) -> list[Segment]:
    """The segments of all chains in one order; within each chain the order stays."""

    def rank(segment: Segment) -> tuple[int, int]:
        if segment.end < segment.start:
            return 0, segment.hill - segment.start
        if segment.end == segment.start:
            return 1, 0
        return 2, segment.end - segment.hill

    return list(heapq.merge(*chains, key=rank))


def parallel_parts(sub: MemoryGraph) -> list[int]:
    """Masks of the parts of a module that have nothing to do with each other; one if it is whole.

    Operators belong together if one needs the other, or both touch the same bytes.
    """
    parent = list(range(len(sub)))

    def find(v: int) -> int:
        while parent[v] != v:
            parent[v] = parent[parent[v]]
            v = parent[v]
        return v

    for v, before in enumerate(sub.predecessors):
        for p in before:
            parent[find(p)] = find(v)
    for group, size in zip(sub.groups, sub.sizes, strict=True):
        touchers = [*group.writers, *group.readers]
        for v in touchers[1:] if size else ():
            parent[find(v)] = find(touchers[0])
    parts: dict[int, int] = {}
    for v in range(len(sub)):
        parts[find(v)] = parts.get(find(v), 0) | 1 << v
    return list(parts.values())
