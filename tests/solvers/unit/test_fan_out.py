"""Edges between the same many writers and readers, against the edges one by one."""

import random

import pytest
from oracles import random_graph

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, topological_order
from memopt.solvers.scheduling import phases
from memopt.solvers.scheduling.methods import greedy
from memopt.solvers.theory import ideals
from memopt.solvers.theory.ideals import FanOut, Waiting, ancestors, descendants

GRAPHS = 2_000


def layers(rng: random.Random) -> MemoryGraph:
    """Return layers of rows, each made of some of the one before, or of all of it; a row may need
    the row before it, too, as rows of one operator do."""
    before: list[list[int]] = [[]]
    layer = [0]
    for _ in range(rng.randint(1, 4)):
        reads_all, in_turn = rng.random() < 0.7, rng.random() < 0.5
        first, rows = len(before), rng.randint(1, 5)
        for v in range(first, first + rows):
            read = layer if reads_all else rng.sample(layer, rng.randint(1, len(layer)))
            beside = [rng.randrange(first)] if rng.random() < 0.3 else []
            turn = [v - 1] if in_turn and v > first else []
            before.append([*dict.fromkeys([*read, *beside, *turn])])
        layer = [*range(first, first + rows)]
    count = len(before)
    sizes = [rng.randint(0, 9) for _ in range(count)]
    readers = [
        [r for r in range(count) if v in before[r] and rng.random() < 0.95] for v in range(count)
    ]
    outputs = [not read or rng.random() < 0.1 for read in readers]
    groups = [
        Group(str(v), sizes[v], (v,), tuple(readers[v]), is_output=outputs[v]) for v in range(count)
    ]
    inplace = [
        InPlace(r, r, v)
        for v in range(count)
        for r in readers[v][: rng.randint(0, 2)]
        if sizes[r] <= sizes[v] and not outputs[v]
    ]
    graph = MemoryGraph(
        tuple(map(str, range(count))),
        tuple(map(tuple, before)),
        tuple(groups),
        tuple(rng.randint(0, 5) for _ in range(count)),
        tuple(inplace),
    )
    graph.check()
    return graph


def graphs(fuzz: float) -> list[MemoryGraph]:
    """Layers of rows, and random graphs."""
    seeds = range(max(100, int(GRAPHS * fuzz)))
    rngs = [random.Random(f"fan {seed}") for seed in seeds]
    return [layers(rng) if k % 4 else random_graph(rng, 9) for k, rng in enumerate(rngs)]


def test_edges_taken_apart_are_all_edges(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ideals, "MANY", 2)
    shared = 0
    for graph in graphs(fuzz):
        edges = FanOut.of(graph)
        for v, number in enumerate(edges.number):
            readers = edges.readers[number] if number >= 0 else ()
            assert sorted((*edges.others[v], *readers)) == sorted(graph.successors[v]), graph
        shared += any(count > 1 for count in edges.writers)
        assert [edges.number.count(k) for k in range(len(edges.readers))] == [*edges.writers]
    assert shared > 10  # whose writers wait for each other


def test_an_operator_is_ready_when_the_last_before_it_ran(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ideals, "MANY", 2)
    for graph in graphs(fuzz):
        waiting, done = Waiting(graph), set[int]()
        for v in topological_order(graph):
            before = {s for s in range(len(graph)) if done.issuperset(graph.predecessors[s])}
            done.add(v)
            after = {s for s in range(len(graph)) if done.issuperset(graph.predecessors[s])}
            assert sorted(waiting.ran(v)) == sorted(after - before), graph
            assert {s for s, left in enumerate(waiting.remaining) if not left} == after


def test_ancestors_and_descendants_are_those_of_the_edges(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ideals, "MANY", 2)
    for graph in graphs(fuzz):
        above = [0] * len(graph)
        for v in topological_order(graph):
            for p in graph.predecessors[v]:
                above[v] |= above[p] | 1 << p
        below = [
            sum(1 << s for s in range(len(graph)) if above[s] >> v & 1) for v in range(len(graph))
        ]
        assert (ancestors(graph), descendants(graph)) == (above, below), graph


def test_orders_do_not_depend_on_how_edges_are_counted(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The greedy order and that of phases, of each graph counted together and edge by edge."""
    monkeypatch.setattr(phases, "MANY", 2)
    orders: list[list[object]] = []
    for many in (2, 100):
        monkeypatch.setattr(ideals, "MANY", many)
        orders.append([(greedy.order(graph), phases.order(graph)) for graph in graphs(fuzz)])
    assert orders[0] == orders[1]
