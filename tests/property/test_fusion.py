"""Fusion against exhaustive search: no optimum changes, and no condition of it is idle."""

import random
from dataclasses import replace

import pytest
from oracles import optimum, optimum_in_blocks, random_graph, random_order

from memopt.solvers.bounds import flow_bound
from memopt.solvers.fusion import (
    ALL_RULES,
    Rules,
    Sides,
    contract,
    expand,
    inside,
    least_inner_level,
    least_inner_level_by_cuts,
    modules,
)
from memopt.solvers.ideals import renumber
from memopt.solvers.problem import MemoryGraph, profile
from memopt.solvers.scheduling import greedy

GRAPHS = 20_000


def raises(graph: MemoryGraph, rules: Rules) -> bool:
    """Whether running what `rules` fuse in one go costs bytes, or cannot be done at all."""
    best = optimum_in_blocks(graph, [m.operators for m in modules(graph, rules)])
    return best is None or best > optimum(graph)


@pytest.mark.parametrize("seed", range(4))
def test_contraction_keeps_the_optimum(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    fused = 0
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng, 9)
        found = modules(graph)
        contracted, members = contract(graph, found)
        contracted.check()
        fused += len(found)
        best = optimum(graph)
        assert optimum(contracted) == best, graph
        assert optimum_in_blocks(graph, [m.operators for m in found]) == best, graph
        order = random_order(rng, contracted)
        there = profile(graph, expand(order, members))
        assert there.peak == profile(contracted, order).peak, graph
        assert flow_bound(contracted, [greedy.order(contracted)]).value <= best, graph
        for m in found:
            assert m.hill >= max(m.level_in, m.level_out) or min(graph.workspace) < 0
    assert fused


@pytest.mark.parametrize(
    "dropped", ["same_side", "shared_reads", "shared_groups", "inner_levels", "least_peak"]
)
def test_every_condition_is_needed(dropped: str) -> None:
    """A fusion that ignores one legality condition raises some optimum, or is no order at all."""
    rules = replace(ALL_RULES, **{dropped: False})
    rng = random.Random(dropped)
    for _ in range(4000):
        graph = random_graph(rng, 6)
        if raises(graph, rules):
            return
    pytest.fail(f"no graph needs {dropped}")


def test_least_inner_level_both_ways(fuzz: float) -> None:
    rng = random.Random(3)
    for _ in range(int(GRAPHS * fuzz / 10)):
        graph, _ = renumber(random_graph(rng, 6, unread=False))
        if len(graph) < 2:
            continue
        members = (1 << len(graph)) - 1
        sub, _ = inside(graph, members, Sides.of(graph))
        assert least_inner_level(sub) == least_inner_level_by_cuts(sub), graph
