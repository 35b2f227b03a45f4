"""dp, liberis and ilp-olla against exhaustive search; what the printed rules would miss."""

import random

import pytest
from cases import liberis_figure_1, make
from oracles import ideals, optimum, random_graph, random_order, ready

from memopt.solvers.bounds import flow_bound
from memopt.solvers.problem import MemoryGraph
from memopt.solvers.scheduling import dp, ilp, ilp_olla, liberis, schedule

GRAPHS = 100_000
PROGRAMS = 2_000


@pytest.mark.parametrize("seed", range(4))
def test_dp_and_liberis_equal_brute_force(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng)
        best = optimum(graph)
        found = dp.solve(
            graph,
            divide=rng.random() < 0.7,
            budgets=rng.random() < 0.8,
            width=rng.choice((1, 2, 5, 1000)),
        )
        found.verify(graph)
        assert (found.peak, found.optimal, found.proof) == (best, True, "search"), graph
        found = liberis.solve(graph)
        found.verify(graph)
        assert (found.peak, found.optimal, found.proof) == (best, True, "search"), graph


def test_dp_and_liberis_cut_short_stay_valid(fuzz: float) -> None:
    rng = random.Random(5)
    short = 0
    for _ in range(int(GRAPHS * fuzz / 20)):
        graph = random_graph(rng, 9)
        best = optimum(graph)
        for found in (
            dp.solve(graph, max_states=rng.randint(0, 8), width=rng.randint(1, 4)),
            liberis.solve(graph, max_states=rng.randint(0, 6)),
        ):
            found.verify(graph)
            assert found.lower_bound <= best <= found.peak, graph
            assert not found.optimal or found.peak == best, graph
            short += found.proof == "none"
    assert short


@pytest.mark.parametrize("seed", range(4))
def test_programs_equal_brute_force(seed: int, fuzz: float) -> None:
    """ilp-olla with every option on CP-SAT and on HiGHS, and ilp on HiGHS."""
    rng = random.Random(seed)
    for _ in range(int(PROGRAMS * fuzz / 4)):
        graph = random_graph(rng, 6)
        start = random_order(rng, graph) if rng.random() < 0.3 else None
        bound = flow_bound(graph, [random_order(rng, graph)]).value if rng.random() < 0.3 else None
        pruning, control, precedence = (rng.random() < 0.7 for _ in range(3))
        best = optimum(graph)
        for solver in ("cp-sat", "highs"):
            found = ilp_olla.solve(
                graph,
                bound=bound,
                warm_start=start,
                pruning=pruning,
                control=control,
                precedence=precedence,
                solver=solver,
            )
            found.verify(graph)
            assert (found.peak, found.optimal, found.proof) == (best, True, "ilp"), graph
            assert found.states == ilp_olla.count(graph, pruning, control, precedence)
        found = ilp.solve(graph, bound=bound, warm_start=start, pruning=pruning, solver="highs")
        found.verify(graph)
        assert (found.peak, found.optimal, found.proof) == (best, True, "ilp"), graph
        assert found.states == ilp.count(graph, pruning)


def test_liberis_figure_1_and_an_input_read_twice() -> None:
    figure = liberis_figure_1()
    assert liberis.solve(figure).peak == 4960
    assert schedule(figure, "source").peak == 5216
    twice = make({"x": 10}, [("A", "x", "a:5"), ("B", "x a", "b:1")])
    assert liberis.solve(twice).peak == dp.solve(twice).peak == 16


def test_olla_runs_an_operator_without_results() -> None:
    graph = make({}, [("v0", "", "a:10"), ("v1", "", "b:10"), ("v2", "a b", "")], outputs="a")
    assert ilp_olla.solve(graph).peak == optimum(graph) == 20


# p makes what the release v reads, and 30 B that stay; v may not push p before the chain a, b, c
ANCHOR = make(
    {},
    [
        ("r", "", "x:1"),
        ("p", "x", "g:1 q:30"),
        ("v", "g", "t:0"),
        ("a", "x", "i:20"),
        ("b", "i", "j:20"),
        ("c", "j", "k:1"),
    ],
    outputs="q k t",
)


def with_edges(graph: MemoryGraph, edges: list[tuple[int, int]]) -> MemoryGraph:
    """The graph with each (first, then) as a control edge."""
    before = [
        (*ps, *(v for v, anchor in edges if anchor == w)) for w, ps in enumerate(graph.predecessors)
    ]
    return MemoryGraph(
        graph.names,
        tuple(before),
        graph.groups,
        graph.workspace,
        graph.inplace,
        graph.alignment,
    )


def test_olla_anchors_by_level_alone_would_raise_the_optimum() -> None:
    """Functions 3 and 4 take c: level 3 > 2 of v, reached from r, which v descends from."""
    v, c = 2, 5
    assert optimum(ANCHOR) == 41
    assert optimum(with_edges(ANCHOR, [(v, c)])) == 52
    assert ilp_olla.control_edges(ANCHOR) == []
    assert ilp_olla.solve(ANCHOR).peak == 41


def test_control_edges_cost_nothing(fuzz: float) -> None:
    rng = random.Random(6)
    edges = 0
    for _ in range(int(GRAPHS * fuzz / 10)):
        graph = random_graph(rng, 9)
        found = ilp_olla.control_edges(graph)
        if found:
            edges += len(found)
            ordered = with_edges(graph, found)
            ordered.check()
            assert optimum(ordered) == optimum(graph), graph
    assert edges


def test_splits_elsewhere_than_at_hourglasses_would_raise_the_optimum() -> None:
    """A single live tensor is not enough: some order must be forced through the ideal."""
    rng = random.Random(7)
    worse = 0
    for _ in range(3000):
        graph = random_graph(rng, 6, negative=False)
        best, full = optimum(graph), (1 << len(graph)) - 1
        for ideal in ideals(graph):
            live = [g for g in range(len(graph.groups)) if graph.resident(g, ideal)]
            if ideal not in (0, full) and len(live) <= 1:
                split = _through(graph, ideal)
                worse += split > best
                assert ideal not in dp.hourglasses(graph) or split == best
    assert worse


def _through(graph: MemoryGraph, ideal: int) -> int:
    """The least peak over the orders that pass `ideal`."""
    best = {0: graph.level(0)}
    for done in ideals(graph):
        if done & ideal not in (done, ideal):
            continue
        for v in ready(graph, done):
            child = done | 1 << v
            if child & ideal in (child, ideal) and done in best:
                peak = max(best[done], graph.step(done, v))
                best[child] = min(best.get(child, peak), peak)
    return best[(1 << len(graph)) - 1]
