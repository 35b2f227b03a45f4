"""The problem backwards: the same steps, the same optimum, and each condition is needed."""

import random
from dataclasses import replace

import pytest
from cases import make
from oracles import naive_steps, optimum, random_graph, random_order

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, profile
from memopt.solvers.scheduling.best_first import Search, Switches
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.reversal import (
    always_saved,
    backward,
    forward_order,
    reversible,
)

GRAPHS = 20_000


def steps_agree(graph: MemoryGraph, order: tuple[int, ...]) -> bool:
    """Whether `order` has the same steps read from its end in the graph backwards."""
    mirrored = backward(graph)
    back = tuple(len(graph) - 1 - v for v in reversed(order))
    assert forward_order(back) == order
    return list(profile(mirrored, back).steps) == naive_steps(graph, order)[::-1]


def test_steps_are_the_same_backwards(fuzz: float) -> None:
    rng = random.Random(0)
    some = saved = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph, _ = renumber(random_graph(rng, 10))
        if reversible(graph):
            some += 1
            saved += any(always_saved(graph))
            mirrored = backward(graph)
            mirrored.check()
            assert mirrored.level(0) == graph.level((1 << len(graph)) - 1)
            assert steps_agree(graph, random_order(rng, graph)), graph
    assert some and saved


def test_a_search_from_the_end_equals_brute_force(fuzz: float) -> None:
    rng = random.Random(1)
    some = saved = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph, _ = renumber(random_graph(rng, inplace=rng.random() < 0.5))
        floor = flow_bound(graph, [random_order(rng, graph)]).value
        if not reversible(graph) or backward(graph).level(0) > floor:
            continue
        some += 1
        saved += any(always_saved(graph))
        best = optimum(graph)
        switches = Switches(rng.random() < 0.7, rng.random() < 0.7, rng.random() < 0.7)
        only = Search(backward(graph), floor, best + 1, switches)
        only.run()
        assert only.exhausted and only.order is not None, graph
        assert profile(graph, forward_order(only.order)).peak == only.lower_bound == best, graph
        below = Search(backward(graph), floor, best)
        below.run()
        assert below.exhausted and below.order is None, graph
    assert some and saved


def test_every_technique_alone_equals_brute_force(fuzz: float) -> None:
    rng = random.Random(2)
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng)
        best = optimum(graph)
        start = random_order(rng, graph)
        for off in ("kill_moves", "commits", "dominance", "backward"):
            found = search.solve(graph, bound=0, incumbent=start, **{off: False})
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), (graph, off)


def test_both_ends_share_what_they_prove(fuzz: float) -> None:
    """Turns of one state: the floors rise in turns, and the answer is the same."""
    rng = random.Random(3)
    both = 0
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph, _ = renumber(random_graph(rng, 9, inplace=False, unread=False))
        best = optimum(graph)
        floor = rng.choice((0, flow_bound(graph, [random_order(rng, graph)]).value))
        ends = BothEnds.of(graph, floor, best + rng.choice((0, 1, 9)), Switches())
        turn = 0
        while not ends.exhausted:
            end = ends.ends[turn % len(ends.ends)]
            end.run(rng.randint(1, 3))
            for other in ends.ends:
                other.raise_floor(end.lower_bound)
            assert ends.exhausted or ends.lower_bound <= best, graph
            turn += 1
        both += len(ends.ends) == 2 and turn > 1
        if ends.order is None:
            assert ends.ends[0].ceiling == best, graph
        else:
            assert profile(graph, ends.order).peak == best, graph
    assert both


def test_memory_that_is_spent_leaves_a_valid_bound(fuzz: float) -> None:
    rng = random.Random(4)
    short = 0
    for _ in range(int(GRAPHS * fuzz / 8)):
        graph = random_graph(rng, 9)
        found = search.solve(graph, bound=0, max_bytes=rng.randint(0, 10_000))
        found.verify(graph)
        best = optimum(graph)
        assert found.lower_bound <= best <= found.peak, graph
        assert not found.optimal or found.peak == best, graph
        short += found.proof == "none"
    assert short


# u reads x once more beside v, which makes y over x if u has run
INPLACE = replace(
    make({"x": 10}, [("u", "x", "a:1"), ("v", "x", "y:10")], outputs="a y"),
    inplace=(InPlace(1, 2, 0),),
)
# x has no other reader, so y is always made over it
ALWAYS = replace(
    make({"x": 10}, [("u", "", "a:1"), ("v", "x", "y:10")], outputs="a y"),
    inplace=(InPlace(1, 2, 0),),
)
# nobody runs after a writer of g here, but it is read in part before it is written
EARLY = MemoryGraph(
    ("r", "w"), ((), (0,)), (Group("g", 8, (1,), (0,)), Group("y", 1, (1,), is_output=True))
)
UNREAD = MemoryGraph(
    ("a", "b"),
    ((), ()),
    (
        Group("x", 9, is_input=True),
        Group("p", 5, (0,), is_output=True),
        Group("q", 2, (1,), is_output=True),
    ),
)


def test_each_condition_is_needed() -> None:
    """In place, unread inputs, and what is read before it is written: not the same backwards."""
    for graph in (INPLACE, UNREAD):
        graph.check()
        assert not reversible(graph)
    with pytest.raises(ProblemError, match="'r' may read it before anything has written it"):
        EARLY.check()
    assert not reversible(EARLY)
    assert reversible(replace(INPLACE, inplace=()))
    assert not steps_agree(INPLACE, (0, 1))
    assert reversible(ALWAYS)
    assert always_saved(ALWAYS) == [0, 10]
    assert all(steps_agree(ALWAYS, order) for order in ((0, 1), (1, 0)))
    assert not steps_agree(EARLY, (0, 1))
    # backwards the input would be paid for throughout, or not at all
    assert naive_steps(UNREAD, (1, 0)) == [11, 7]


def test_outputs_above_every_step_are_not_searched_from_the_end() -> None:
    """A contracted module whose hill is below its results: t(V) is no step (reversal.py)."""
    graph = MemoryGraph(("a",), ((),), (Group("y", 20, (0,), is_output=True),), (-15,))
    assert reversible(graph)
    assert backward(graph).level(0) == 20 > optimum(graph) == 5
    assert len(BothEnds.of(graph, 5, 30, Switches()).ends) == 1
    assert len(BothEnds.of(graph, 20, 30, Switches()).ends) == 2
