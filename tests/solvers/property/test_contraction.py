"""Tests of a graph that is contracted step by step, and looked at only where it changed."""

import random
from collections import Counter

import pytest
from oracles import random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph, bits
from memopt.solvers.theory import chains as chaining
from memopt.solvers.theory import fusion
from memopt.solvers.theory.chains import Chain, chains
from memopt.solvers.theory.contraction import Block, Contraction
from memopt.solvers.theory.fusion import Module, Sides, contract, modules
from memopt.solvers.theory.ideals import renumber

GRAPHS = 20_000
OPERATORS = (6, 10, 20, 40)


def graphs(seed: int, fuzz: float) -> list[MemoryGraph]:
    rng = random.Random(seed)
    count = max(150, int(GRAPHS * fuzz))
    return [renumber(random_graph(rng, rng.choice(OPERATORS)))[0] for _ in range(count)]


def found(graph: MemoryGraph) -> tuple[list[Module], list[Chain]]:
    return modules(graph), chains(graph)


@pytest.mark.parametrize("largest", [3, 48])
def test_around_changes_is_all_that_is_new(
    largest: int, fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check that rounds that look at changed nodes find what rounds find that look everywhere."""
    monkeypatch.setattr(chaining, "DEEPEST", largest)
    monkeypatch.setattr(fusion, "FEW", 0)  # of any number of changes only these are looked at
    drawn = graphs(largest, fuzz)
    near = list(map(found, drawn))
    monkeypatch.setattr(fusion, "FEW", 1 << 62)

    def everywhere(state: Contraction, changes: object) -> list[tuple[int, int]]:
        return chaining._everywhere(state)  # pyright: ignore[reportPrivateUsage]

    monkeypatch.setattr(chaining, "_near", everywhere)
    assert near == list(map(found, drawn))
    assert sum(any(len(c) > 1 for c in known) for _, known in near) > 5
    assert sum(len(known) > 1 for known, _ in near) > 5


def groups_of(graph: MemoryGraph) -> Counter[tuple[object, ...]]:
    """Return the bytes by the operators that touch them and how, of groups that are there at an end
    or touched."""
    result = Counter[tuple[object, ...]]()
    for g, size in zip(graph.groups, graph.sizes, strict=True):
        if g.readers or g.writers:
            key = frozenset(g.writers), frozenset(g.readers), g.is_input, g.is_output
            result[key] += size
    return +result


def test_a_contraction_is_the_contracted_graph(fuzz: float) -> None:
    """Check that contracting modules one by one gives the graph in which all of them are nodes,
    renumbered."""
    contracted = 0
    for graph in graphs(1, fuzz):
        fused = modules(graph)
        state = Contraction.of(graph)
        for module in fused:
            state.contract([Block(module.operators, module.hill - module.level_in)])
        small, members = contract(graph, fused)
        numbered, old = renumber(small)
        nodes = state.nodes(state.alive)
        assert [tuple(state.operators(v)) for v in nodes] == [members[i] for i in old]
        number = {v: i for i, v in enumerate(nodes)}
        for v, i in number.items():
            assert {number[p] for p in state.predecessors[v]} == set(numbered.predecessors[i])
            assert {number[s] for s in state.successors[v]} == set(numbered.successors[i])
        sides = Sides.of(numbered)
        for masks, wanted in ((state.sides.up, sides.up), (state.sides.down, sides.down)):
            own = [sum(1 << number[u] for u in bits(masks[v] & state.alive)) for v in nodes]
            assert own == wanted
        assert [state.extra[v] for v in nodes] == list(numbered.extra)
        bytes_of = Counter[tuple[object, ...]]()
        for g in {g for v in nodes for g in state.touches[v]}:
            group = state.groups[g]
            key = (
                frozenset(number[v] for v in bits(state.writer_masks[g])),
                frozenset(number[v] for v in bits(state.reader_masks[g])),
                group.is_input,
                group.is_output,
            )
            bytes_of[key] += state.sizes[g]
        assert +bytes_of == groups_of(numbered)
        contracted += bool(fused)
    assert contracted > 20
