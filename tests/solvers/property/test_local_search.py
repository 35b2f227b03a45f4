"""Local search and the phases of auto: never worse, every limit leaves a true answer."""

import random

import pytest
from cases import make
from oracles import optimum, random_graph, random_order

from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling import local_search
from memopt.solvers.scheduling.methods import auto, search
from memopt.solvers.theory.fusion import modules

GRAPHS = 20_000


def test_windows_never_raise_the_peak_and_find_the_optimum_of_small_graphs(fuzz: float) -> None:
    """A window over the whole graph is an exact search."""
    rng = random.Random(0)
    better = 0
    for _ in range(int(GRAPHS * fuzz / 4)):
        graph = random_graph(rng, 9)
        order = random_order(rng, graph)
        start, best = profile(graph, order).peak, optimum(graph)
        found, states = local_search.improve(graph, order, 0)
        peak = profile(graph, found).peak
        assert best <= peak <= start, graph
        assert states <= 2 * local_search.ALL_STATES
        better += peak < start
        floor = rng.randint(0, start)
        enough, _ = local_search.improve(graph, order, floor)
        assert profile(graph, enough).peak <= start
    assert better


def test_small_windows_lower_the_peak(fuzz: float) -> None:
    rng = random.Random(1)
    better = 0
    for _ in range(max(5, int(200 * fuzz))):
        graph = random_graph(rng, 40)
        order = random_order(rng, graph)
        found, _ = local_search.improve(graph, order, 0, all_states=300)
        peak = profile(graph, found).peak
        assert peak <= profile(graph, order).peak, graph
        better += peak < profile(graph, order).peak
    assert better


def test_a_window_says_what_its_order_takes(fuzz: float) -> None:
    """Levels and steps that are put together of windows are those of the order as a whole."""
    rng = random.Random(5)
    changed = 0
    for i in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, 12, inplace=i % 2 == 0)
        order = random_order(rng, graph)
        facts = profile(graph, order)
        along = local_search._ProfiledOrder(  # pyright: ignore[reportPrivateUsage]
            order, facts.levels, facts.steps
        )
        low = rng.randrange(len(order))
        high = rng.randint(low + 1, len(order))
        better, _ = local_search._window(  # pyright: ignore[reportPrivateUsage]
            graph, along, low, high, 0, None, local_search.STATES
        )
        if better is not None:
            changed += 1
            facts = profile(graph, better.order)
            assert (better.levels, better.steps) == (facts.levels, facts.steps), (graph, order)
    assert changed


def test_no_time_leaves_the_order_as_it_is() -> None:
    graph = make(
        {"x": 1},
        [("a", "x", "p:10"), ("b", "x", "q:10"), ("c", "p", "r:1"), ("d", "q", "s:1")],
        outputs="r s",
    )
    order = (0, 1, 2, 3)
    assert local_search.improve(graph, order, 0, time_limit=0) == (order, 0)
    assert profile(graph, local_search.improve(graph, order, 0)[0]).peak < 21


def test_auto_without_any_one_technique_equals_brute_force(fuzz: float) -> None:
    rng = random.Random(2)
    names = (
        "fuse",
        "flow",
        "local",
        "kill_moves",
        "commits",
        "dominance",
        "backward",
    )
    for _ in range(int(GRAPHS * fuzz / 10)):
        graph = random_graph(rng)
        best = optimum(graph)
        for name in names:
            found = auto.solve(graph, **{name: False})
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), (graph, name)
        for on in ({"segments": True}, {"splits": True}, {"segments": True, "splits": True}):
            found = auto.solve(graph, **on)
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), (graph, on)


def test_fusion_that_runs_out_of_time_finds_nothing() -> None:
    graph = make({"x": 8}, [("a", "x", "t:24"), ("b", "t", "y:8")], outputs="y")
    assert len(modules(graph)) == 1
    assert modules(graph, time_limit=-1) == []
    assert auto.solve(graph, time_limit=0).peak == 32


def test_auto_cut_short_stays_valid(fuzz: float) -> None:
    rng = random.Random(3)
    short = 0
    for _ in range(max(50, int(GRAPHS * fuzz / 10))):
        graph = random_graph(rng, 9)
        best = optimum(graph)
        flow = rng.random() < 0.5
        answers = (
            auto.solve(graph, flow=flow, fuse=False, max_states=rng.randint(0, 4)),
            auto.solve(graph, flow=flow, fuse=False, max_bytes=rng.randint(0, 5_000)),
            auto.solve(graph, flow=flow, time_limit=0.0),
        )
        for found in answers:
            found.verify(graph)
            assert found.lower_bound <= best <= found.peak, graph
            assert not found.optimal or found.peak == best, graph
            short += not found.optimal
    assert short


class Recorded:
    """Local search that counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(
        self,
        graph: MemoryGraph,
        order: tuple[int, ...],
        floor: int,
        time_limit: float | None,
        *,
        times: int,
    ) -> tuple[tuple[int, ...], int]:
        self.calls += 1
        return local_search.improve(graph, order, floor, time_limit, times=times)


def test_a_long_search_looks_for_better_orders(
    monkeypatch: pytest.MonkeyPatch, fuzz: float
) -> None:
    """With the first look after no state at all, all phases run on small graphs."""
    rng = random.Random(4)
    monkeypatch.setattr(search, "FIRST", 0)
    looked = 0
    for _ in range(int(GRAPHS * fuzz / 10)):
        graph = random_graph(rng)
        best = optimum(graph)
        polish = Recorded()
        start = random_order(rng, graph)
        found = search.explore(graph, 0, start, search.Limits(), polish=polish)
        found.verify(graph)
        assert (found.peak, found.optimal) == (best, True), graph
        looked += polish.calls
    assert looked
