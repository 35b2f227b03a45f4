"""In place inside the cost model against in place after scheduling: never worse, and now and then
better."""

import random
from dataclasses import replace

from cases import make
from oracles import random_graph

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, profile
from memopt.solvers.scheduling import schedule

GRAPHS = 10_000


def peaks(graph: MemoryGraph) -> tuple[int, int]:
    """The least peak where results may lie over operands, and that of the best order without, in
    which then each result that can lies over an operand."""
    alone = schedule(replace(graph, inplace=()))
    inside = schedule(graph)
    assert inside.proof != "none" and inside.peak == inside.lower_bound
    return inside.peak, profile(graph, alone.order).peak


def test_it_is_never_worse_than_in_place_after_scheduling(fuzz: float) -> None:
    rng = random.Random(3)
    better = 0
    for _ in range(max(400, int(GRAPHS * fuzz))):
        inside, after = peaks(random_graph(rng, rng.randint(3, 7)))
        assert inside <= after
        better += inside < after
    assert better > 0


def test_a_relu_beside_another_reader() -> None:
    """Both orders need 19 bytes where nothing lies over anything; the ReLU, if it is last, none of
    its own."""
    graph = make({"x": 8}, [("relu", "x", "r:8"), ("other", "x", "o:3")], outputs="r o")
    assert schedule(graph).peak == 19
    relu = InPlace(operator=0, result=1, operand=0)
    assert peaks(replace(graph, inplace=(relu,))) == (11, 19)
