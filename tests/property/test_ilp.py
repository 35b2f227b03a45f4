"""The integer program against exhaustive search."""

import random

import pytest
from oracles import optimum, random_graph, random_order

from memopt.solvers.bounds import flow_bound
from memopt.solvers.scheduling import ilp

GRAPHS = 20_000  # a hundredth of it unless the full counts are asked for: CP-SAT is slow to start


@pytest.mark.parametrize("seed", range(4))
def test_ilp_equals_brute_force(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    for _ in range(int(GRAPHS * (fuzz if fuzz >= 1 else fuzz / 10) / 4)):
        graph = random_graph(rng, 6)
        start = random_order(rng, graph) if rng.random() < 0.3 else None
        bound = flow_bound(graph, [random_order(rng, graph)]).value if rng.random() < 0.3 else None
        found = ilp.solve(graph, bound=bound, warm_start=start, pruning=rng.random() < 0.7)
        found.verify(graph)
        assert (found.peak, found.optimal, found.proof) == (optimum(graph), True, "ilp"), graph


def test_pruning_only_leaves_variables_out() -> None:
    rng = random.Random(9)
    fewer = 0
    for _ in range(40):
        graph = random_graph(rng, 6)
        with_it, without = ilp.solve(graph), ilp.solve(graph, pruning=False)
        assert with_it.peak == without.peak
        assert with_it.states <= without.states
        fewer += with_it.states < without.states
    assert fewer


def test_the_same_call_gives_the_same_answer() -> None:
    graph = random_graph(random.Random(4), 8)
    assert ilp.solve(graph) == ilp.solve(graph)


def test_out_of_time_is_no_proof() -> None:
    rng = random.Random(5)
    graph = random_graph(rng, 30, unread=False)
    while len(graph) < 25:
        graph = random_graph(rng, 30, unread=False)
    found = ilp.solve(graph, time_limit=0.0)
    found.verify(graph)
    assert found.proof == "none"
