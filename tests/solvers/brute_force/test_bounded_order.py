"""Whether a peak can be had, against the least one by definition."""

import random

import pytest
from oracles import optimum, random_graph

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling.bounded_order import bounded_order


def test_the_least_peak_can_be_had_and_nothing_below(fuzz: float) -> None:
    above = 0
    for seed in range(max(200, int(5_000 * fuzz))):
        rng = random.Random(f"within {seed}")
        graph = random_graph(rng, rng.choice((5, 8, 11)))
        least = optimum(graph)
        for most in {least, least + rng.randint(1, 9), (least + sum(graph.sizes)) // 2}:
            order = bounded_order(graph, max(most, least))
            assert order is not None
            assert profile(graph, order).peak <= max(most, least), graph
        assert bounded_order(graph, least - 1) is None, graph
        above += bounded_order(graph, rng.randint(-1, least - 1)) is None
    assert above


def test_a_question_that_stays_open_is_not_answered() -> None:
    graph = next(
        graph
        for graph in (random_graph(random.Random(seed), 11) for seed in range(1_000))
        if _is_open(graph)
    )
    with pytest.raises(clock.TimeIsOverError):
        bounded_order(graph, optimum(graph) - 1, states=1)


def _is_open(graph: MemoryGraph) -> bool:
    try:
        bounded_order(graph, optimum(graph) - 1, states=1)
    except clock.TimeIsOverError:
        return True
    return False
