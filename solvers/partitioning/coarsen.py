"""Coarsening: a graph with fewer, heavier operators whose every acyclic partition is one of ours.

Each rule contracts many pairs at once, and none of them can close a cycle:

    join     u into its only successor. A cluster is then a tree whose edges to the outside all
             leave from its root, so a cycle of clusters would be a cycle of roots.
    fork     v into its only predecessor: the same, mirrored.
    level    operators at the same depth (longest path from a source) that touch a common group.
             Every edge leads to a greater depth, also after they are merged.
    follow   neighbours in one topological order: clusters are intervals of it.

The first three follow the acyclic clusterings of dagP (Herrmann et al. 2017), on which Zhong's
partition rests; the last makes sure that there is always something to contract.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, topological_order
from memopt.solvers.scheduling.methods import rpo

# Of a group with more touchers than this no pairs are looked at: it weighs little on each.
WIDE = 32


@dataclass(frozen=True)
class Coarse:
    """One level: `weights[c]` operators of the original graph stand behind operator c.

    `cluster[v]` is the operator here of each operator one level finer (identity at the finest).
    """

    graph: MemoryGraph
    weights: tuple[int, ...]
    cluster: tuple[int, ...]


def finest(graph: MemoryGraph) -> Coarse:
    """The graph itself, each operator with weight 1; workspace and in-place play no part."""
    sizes = graph.sizes
    groups = tuple(
        Group(g.name, s, g.writers, g.readers, g.is_input, g.is_output)
        for g, s in zip(graph.groups, sizes, strict=True)
        if s and (g.writers or g.readers or g.is_output)
    )
    plain = MemoryGraph(graph.names, graph.predecessors, groups)
    return Coarse(plain, (1,) * len(graph), tuple(range(len(graph))))


def hierarchy(
    base: Coarse, target: int, heaviest: int, deadline: float | None = None
) -> list[Coarse]:
    """Levels from `base`, the finest, to one of at most `target` operators, if the weights
    allow it.

    No cluster holds more than `heaviest` operators. Raises TimeIsOverError at `deadline`.
    """
    levels = [base]
    while len(levels[-1].graph) > target:
        before = levels[-1]
        for rule in (_joins, _forks, _same_depth):
            coarse = _contract(levels[-1], rule(levels[-1].graph), heaviest, deadline)
            if len(coarse.graph) < len(levels[-1].graph):
                levels.append(coarse)
            if len(coarse.graph) <= target:
                return levels
        if len(levels[-1].graph) > 0.8 * len(before.graph):
            coarse = _contract(levels[-1], _following(levels[-1].graph), heaviest, deadline)
            if len(coarse.graph) > 0.95 * len(before.graph):
                break  # what is left is too heavy to pair
            levels.append(coarse)
    return levels


def _shared(graph: MemoryGraph, u: int, v: int) -> int:
    """Bytes of the groups that both touch."""
    sizes, theirs = graph.sizes, set(graph.touches[v])
    return sum([sizes[g] for g in graph.touches[u] if g in theirs])


def _joins(graph: MemoryGraph) -> list[tuple[int, int]]:
    return [(v, s[0]) for v, s in enumerate(graph.successors) if len(s) == 1]


def _forks(graph: MemoryGraph) -> list[tuple[int, int]]:
    return [(p[0], v) for v, p in enumerate(graph.predecessors) if len(set(p)) == 1]


def _same_depth(graph: MemoryGraph) -> list[tuple[int, int]]:
    depth = [0] * len(graph)
    for v in topological_order(graph):
        depth[v] = 1 + max((depth[p] for p in graph.predecessors[v]), default=-1)
    pairs: dict[tuple[int, int], None] = {}
    for group in graph.groups:
        touchers = sorted({*group.writers, *group.readers})
        if len(touchers) <= WIDE:
            for i, u in enumerate(touchers):
                same = next((v for v in touchers[i + 1 :] if depth[v] == depth[u]), None)
                if same is not None:
                    pairs[u, same] = None
    return list(pairs)


def _following(graph: MemoryGraph) -> list[tuple[int, int]]:
    order = rpo.order(graph)
    return list(zip(order[::2], order[1::2], strict=False))


def _contract(
    fine: Coarse, pairs: Sequence[tuple[int, int]], heaviest: int, deadline: float | None
) -> Coarse:
    """Merge the pairs, those that share most bytes per operator first. Raises TimeIsOverError."""
    graph = fine.graph
    weights = list(fine.weights)
    root = list(range(len(graph)))

    def find(v: int) -> int:
        while root[v] != v:
            root[v] = root[root[v]]
            v = root[v]
        return v

    def worth(pair: tuple[int, int]) -> tuple[float, int, int]:
        clock.raise_if_late(deadline)
        u, v = pair
        return -_shared(graph, u, v) / (weights[u] + weights[v]), u, v

    for u, v in sorted(pairs, key=worth):
        a, b = sorted((find(u), find(v)))
        if a != b and weights[a] + weights[b] <= heaviest:
            root[b] = a
            weights[a] += weights[b]
    roots = [find(v) for v in range(len(graph))]
    names = sorted(set(roots))
    number = {old: new for new, old in enumerate(names)}
    cluster = tuple([number[r] for r in roots])
    return Coarse(_quotient(graph, cluster, len(names)), tuple(weights[r] for r in names), cluster)


def _quotient(graph: MemoryGraph, cluster: Sequence[int], count: int) -> MemoryGraph:
    """The clusters as operators; groups that two of them do not see apart are added up."""
    predecessors: list[dict[int, None]] = [{} for _ in range(count)]
    for here, before in zip(cluster, graph.predecessors, strict=True):
        for p in before:
            if cluster[p] != here:
                predecessors[here][cluster[p]] = None
    same: dict[tuple[tuple[int, ...], tuple[int, ...], bool, bool], int] = {}
    for size, ends in _ends(graph, cluster):
        same[ends] = same.get(ends, 0) + size
    return MemoryGraph(
        ("",) * count,
        tuple(map(tuple, predecessors)),
        tuple(Group("", size, *ends) for ends, size in same.items()),
    )


def _ends(
    graph: MemoryGraph, cluster: Sequence[int]
) -> Iterator[tuple[int, tuple[tuple[int, ...], tuple[int, ...], bool, bool]]]:
    for g, size in zip(graph.groups, graph.sizes, strict=True):
        writers = tuple(dict.fromkeys([cluster[v] for v in g.writers]))
        readers = tuple(dict.fromkeys([cluster[v] for v in g.readers]))
        if g.is_input or g.is_output or len({*writers, *readers}) > 1:
            yield size, (writers, readers, g.is_input, g.is_output)
