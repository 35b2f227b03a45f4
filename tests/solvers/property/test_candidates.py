"""Where fusion looks for modules, and how it decides about pairs: by their definitions."""

import random

from oracles import random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.contraction import Contraction
from memopt.solvers.theory.fusion import ALL_RULES, Sides, module_of, pair_of
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.module_candidates import adjacent, candidates

GRAPHS = 20_000
OPERATORS = 10


def graphs(fuzz: float) -> list[MemoryGraph]:
    rng = random.Random(8)
    return [renumber(random_graph(rng, OPERATORS))[0] for _ in range(max(200, int(GRAPHS * fuzz)))]


def next_to_each_other(graph: MemoryGraph, sides: Sides) -> list[tuple[int, int]]:
    """(second, first), by what is before and after both."""
    up, down, count = sides.up, sides.down, len(graph)
    return [
        (v, p)
        for v in range(count)
        for p in range(v)
        if p in graph.predecessors[v] and up[v] == up[p] | 1 << p and down[p] == down[v] | 1 << v
    ]


def test_pairs_are_decided_as_any_module(fuzz: float) -> None:
    """Those that are adjacent are found, and each is the same module, or none."""
    fused = refused = 0
    for graph in graphs(fuzz):
        sides = Sides.of(graph)
        state = Contraction.of(graph)
        pairs = list(adjacent(state, range(len(graph))))
        assert pairs == next_to_each_other(graph, sides)
        for v, p in pairs:
            module = module_of(graph, 1 << p | 1 << v, sides)
            assert pair_of(state, p, v, ALL_RULES) == module, graph
            fused, refused = fused + (module is not None), refused + (module is None)
    assert fused > 20 and refused > 20


def closing(v: int, after: tuple[tuple[int, ...], ...]) -> int | None:
    """The nearest operator that every path from `v` along `after` meets, by all paths."""
    paths = [[v]]
    common: set[int] | None = None
    while paths:
        path = paths.pop()
        further = [[*path, s] for s in set(after[path[-1]])]
        paths += further
        if not further:
            common = set(path) if common is None else common & set(path)
    beyond = (common or set()) - {v}
    return min(beyond, key=lambda w: abs(w - v)) if beyond else None


def test_regions_are_between_forks_and_their_joins(fuzz: float) -> None:
    """With 2 operators inside or more, each alone, with its ends, and with both."""
    found = 0
    for graph in graphs(fuzz)[::4]:
        sides = Sides.of(graph)
        listed = candidates(Contraction.of(graph), OPERATORS)
        given = {mask for mask, _ in listed}
        assert len(given) == len(listed)
        assert all(mask.bit_count() == count for mask, count in listed)
        for v in range(len(graph)):
            down, up = closing(v, graph.successors), closing(v, graph.predecessors)
            for u, w in ((v, down), (up, v)):
                if u is None or w is None:
                    continue
                inner = sides.down[u] & sides.up[w]
                if inner:
                    found += 1
                    wanted = {inner | 1 << u, inner | 1 << w, inner | 1 << u | 1 << w}
                    assert wanted <= given, graph
                    assert inner in given or inner.bit_count() < 2, graph
    assert found > 20
