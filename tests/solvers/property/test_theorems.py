"""Lemma 0, T1 and T6 of theory.md section 3 by name: the cases with their numbers, and each theorem

as it is stated, by its definition alone, on random problems. T2 to T4 are in
`test_theorems_modules.py`, T5 in `test_segment_cases.py`.
"""

import random
from dataclasses import replace
from itertools import permutations

import pytest
from cases import exact, forced, make, refused
from exhaustive import hill_between, least_steps, optimum, optimum_through
from oracles import ideals, random_graph, random_order, ready

from memopt.solvers.problems.memory_graph import (
    Group,
    InPlace,
    MemoryGraph,
    ProblemError,
    check_order,
    profile,
)
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.cuts import Cuts
from memopt.solvers.theory.fusion import (
    Sides,
)
from memopt.solvers.theory.network import Network

# -- Lemma 0 and T1 ------------------------------------------------------------------------------


def test_lemma_0_levels_are_submodular(fuzz: float) -> None:
    rng = random.Random(0)
    for _ in range(int(600 * fuzz)):
        graph = random_graph(rng, 6, unread=False)
        levels = {d: graph.level(d) for d in ideals(graph)}
        for a in levels:
            for b in levels:
                assert levels[a] + levels[b] >= levels[a | b] + levels[a & b], graph


def test_costs_never_grow_with_the_ideal(fuzz: float) -> None:
    """The second half of the proof of T1, in place and with groups of several writers."""
    rng = random.Random(1)
    for _ in range(int(600 * fuzz)):
        graph = random_graph(rng, 6)
        all_ideals = list(ideals(graph))
        for v in range(len(graph)):
            at = [d for d in all_ideals if v in ready(graph, d)]
            costs = {d: graph.cost(d, v) for d in at}
            assert all(costs[b] <= costs[a] for a in at for b in at if not a & ~b), graph


def nested(rng: random.Random, graph: MemoryGraph) -> tuple[int, int]:
    """Two random ideals, the first within the second."""
    order = random_order(rng, graph)
    a, b = sorted((rng.randint(0, len(order)), rng.randint(0, len(order))))
    return sum(1 << v for v in order[:a]), sum(1 << v for v in order[:b])


def between(graph: MemoryGraph, low: int, high: int) -> list[int]:
    return [d for d in ideals(graph) if not low & ~d and not d & ~high]


@pytest.mark.parametrize("mirrored", [False, True], ids=["forward", "from the end"])
def test_t1_a_commit_loses_nothing(mirrored: bool, fuzz: float) -> None:
    """T1 as stated. Forward every order through the first ideal may go on to the second; mirrored

    every order through the second may come from the first. H is the optimum, the best bound.
    """
    rng = random.Random(2)
    committed = wider = in_place = 0
    for _ in range(int(20_000 * fuzz)):
        graph = random_graph(rng, 7, unread=False)
        low, high = nested(rng, graph)
        start, end = (high, low) if mirrored else (low, high)
        least = min(graph.level(d) for d in between(graph, low, high))
        if low == high or graph.level(end) > least:
            continue
        through = optimum_through(graph, [start])
        if hill_between(graph, low, high) <= optimum(graph):
            assert optimum_through(graph, [low, high]) == through, (graph, low, high)
            committed += 1
            wider += (high & ~low).bit_count() > 1
            in_place += any((high & ~low) >> c.operator & 1 for c in graph.inplace)
    assert committed > 1000 * fuzz
    assert wider > 100 * fuzz
    assert in_place > 100 * fuzz


@pytest.mark.parametrize("mirrored", [False, True], ids=["forward", "from the end"])
@pytest.mark.parametrize("dropped", ["hill", "level"])
def test_t1_needs_both_side_conditions(dropped: str, mirrored: bool) -> None:
    rng = random.Random(3)
    for _ in range(20_000):
        graph = random_graph(rng, 6, unread=False)
        low, high = nested(rng, graph)
        start, end = (high, low) if mirrored else (low, high)
        least = min(graph.level(d) for d in between(graph, low, high))
        if dropped != "level" and graph.level(end) > least:
            continue
        if dropped != "hill" and hill_between(graph, low, high) > optimum(graph):
            continue
        if optimum_through(graph, [low, high]) > optimum_through(graph, [start]):
            return
    pytest.fail(f"T1 without its {dropped} was right throughout")


def test_t1_nothing_in_between_may_be_lower() -> None:
    """Without `minimal` a branch could commit past a valley: x, of 9 bytes, dies inside it."""
    graph = make(
        {"x": 9, "w": 1},
        [("a", "x", "b:1"), ("c", "b", "d:8"), ("e", "w", "f:1", 12)],
    )
    assert exact(graph) == 15
    level, middle, end = graph.level(0), graph.level(0b1), graph.level(0b11)
    assert middle < end <= level
    assert (forced(graph, 0, 1) or 0) > 15
    assert refused(graph, 0, 1)


def test_allocating_just_in_time_is_wrong() -> None:
    """Plausible, and right on every benchmark: nothing but what the first reader of a result needs

    runs between the two.
    """

    def just_in_time(graph: MemoryGraph, up: list[int], order: tuple[int, ...]) -> bool:
        for i, v in enumerate(order):
            after = [j for j in range(i, len(order)) if order[j] in graph.successors[v]]
            if after and any(not up[order[after[0]]] >> w & 1 for w in order[i : after[0]]):
                return False
        return True

    rng = random.Random(4)
    wrong = 0
    for _ in range(400):
        graph = random_graph(rng, 5, inplace=False, negative=False)
        peaks: list[int] = []
        for order in permutations(range(len(graph))):
            try:
                check_order(graph, order)
            except ProblemError:
                continue
            if just_in_time(graph, Sides.of(graph).up, order):
                peaks.append(profile(graph, order).peak)
        wrong += min(peaks) > optimum(graph)
    assert 0 < wrong < 200


# -- T6 ------------------------------------------------------------------------------------------


def test_t6_in_place_taken_naively_is_no_bound() -> None:
    graph = MemoryGraph(
        ("relu",),
        ((),),
        (
            Group("x", 10, readers=(0,), is_input=True),
            Group("y", 10, writers=(0,), is_output=True),
        ),
        inplace=(InPlace(0, 1, 0),),
    )
    naive = Network(replace(graph, inplace=())).cut(0, None)
    assert naive is not None and naive.value == 20
    assert flow_bound(graph, [(0,)]).value == exact(graph) == 10


def test_t6_a_storage_group_is_one_node_pair() -> None:
    """p and q joined: all 10 bytes are there while either is written, also if b runs first."""
    graph = make({}, [("a", "", "p:5"), ("b", "", "q:5", 7), ("c", "p q", "y:1")], joined="p q")
    assert flow_bound(graph, [(0, 1, 2)]).value == exact(graph) == 17
    apart = make({}, [("a", "", "p:5"), ("b", "", "q:5", 7), ("c", "p q", "y:1")])
    assert flow_bound(apart, [(0, 1, 2)]).value == exact(apart) == 12


def test_t6_is_the_least_step_over_all_ideals(fuzz: float) -> None:
    """Each operator's cut is exactly the least step at which it can run."""
    rng = random.Random(6)
    for _ in range(int(2000 * fuzz)):
        graph = random_graph(rng, 6, unread=False)
        network, least = Network(graph), least_steps(graph)
        for v in range(len(graph)):
            cuts = [network.cut(v, c) for c in (None, *graph.candidates[v])]
            assert min(c.value for c in cuts if c) == least[v], (graph, v)
            small = [Cuts(graph).least_step(v, c) for c in (None, *graph.candidates[v])]
            assert [c and c.value for c in cuts] == [x and x[0] for x in small], (graph, v)
