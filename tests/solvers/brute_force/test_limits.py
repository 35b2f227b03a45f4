"""Limits that only large graphs reach, set so low that small ones do: no answer changes.

Each says how much work is spent before something else is tried. Graphs of brute force's size never
come near them, so without this what lies behind them would not be held against brute force.
"""

import random
from collections.abc import Iterator

import pytest
from exhaustive import optimum
from oracles import random_graph, random_order

from memopt.solvers.problems.memory_graph import Schedule
from memopt.solvers.scheduling import best_first, both_ends, kill_moves, local_search
from memopt.solvers.scheduling.methods import auto, search
from memopt.solvers.theory import chains as chaining
from memopt.solvers.theory import fusion, segments, splits
from memopt.solvers.theory.chains import chains, contract_chains

GRAPHS = 10_000
LIMITS = (
    (best_first, "CHAIN"),
    (both_ends, "TURN"),
    (chaining, "DEEPEST"),
    (chaining, "LARGEST"),
    (fusion, "LARGEST"),
    (fusion, "STATES"),
    (kill_moves, "BLOCKERS"),
    (kill_moves, "COMPARISONS"),
    (local_search, "LARGEST"),
    (local_search, "STATES"),
    (local_search, "WINDOW"),
    (search, "FIRST"),
    (search, "LOOK"),
    (segments, "PATIENCE"),
    (splits, "REACH"),
)


@pytest.fixture(autouse=True)
def _forget() -> Iterator[None]:  # pyright: ignore[reportUnusedFunction]
    """Decisions made under other limits."""
    chaining.forget()
    yield
    chaining.forget()


def test_there_are_such_limits() -> None:
    """A limit that goes by another name now would be no limit here."""
    for module, name in LIMITS:
        assert getattr(module, name) >= 20, (module, name)


def test_search_and_auto_beyond_their_limits(fuzz: float) -> None:
    rng = random.Random(0)
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng)
        best = optimum(graph)
        with pytest.MonkeyPatch.context() as patch:
            for module, name in LIMITS:
                if rng.random() < 0.6:
                    patch.setattr(module, name, rng.choice((1, 2, 3)))
            found = search.solve(graph, bound=0, incumbent=random_order(rng, graph))
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), graph
            more = {"segments": rng.random() < 0.5, "splits": rng.random() < 0.5}
            found = auto.solve(graph, flow=False, **more)
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), (graph, more)


def test_a_peak_that_nobody_wants_is_not_searched_for(fuzz: float) -> None:
    """With `most` the answer is the best where that is low enough, else the proof that none is, in
    fewer states."""
    rng, states, fewer = random.Random(12), 0, 0
    for _ in range(max(300, int(GRAPHS * fuzz))):
        graph = random_graph(rng)
        best, switches = optimum(graph), {"flow": False, "fuse": rng.random() < 0.5}
        for most in (best - 1, best, best + 7):
            found = auto.solve(graph, most=most, **switches)
            found.verify(graph)
            assert (found.peak == best and found.optimal) or most < best, graph
            assert found.lower_bound > most or most >= best, graph
            assert found.proof == "none" or found.optimal, graph
        states += auto.solve(graph, **switches).states
        fewer += auto.solve(graph, most=best - 1, **switches).states
    assert 0 < fewer < states


def test_near_enough_to_the_bound_is_not_searched(fuzz: float) -> None:
    """With `tolerance` an order so near to the bound is the answer without a search, the bound
    stays true and one farther away is searched as ever."""
    rng, near, searched = random.Random(14), 0, 0
    for _ in range(max(300, int(GRAPHS * fuzz))):
        graph = random_graph(rng)
        best, plain = optimum(graph), auto.solve(graph)
        found = auto.solve(graph, tolerance=0.2)
        found.verify(graph)
        assert found.lower_bound <= best <= found.peak <= max(best, found.lower_bound * 1.2)
        near += found.peak > best or found.states < plain.states
        searched += found.states > 0
    assert near and searched


def test_work_ends_the_search_of_a_large_graph(fuzz: float) -> None:
    """Of graphs above `LARGE` that have no other limit; what is said then is true."""
    rng = random.Random(2)
    ended = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng)
        best, start = optimum(graph), random_order(rng, graph)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "LARGE", len(graph) - 1)
            patch.setattr(search, "WORK", rng.choice((0, 1, 3)) * len(graph))
            found = search.solve(graph, bound=0, incumbent=start)
            again = search.solve(graph, bound=0, incumbent=start)
            limited = search.solve(graph, time_limit=1e6, bound=0, incumbent=start)
            patch.setattr(search, "LARGE", len(graph))
            smaller = search.solve(graph, bound=0, incumbent=start)
        found.verify(graph)
        assert found == again
        assert found.lower_bound <= best <= found.peak, graph
        assert (limited.peak, limited.optimal) == (smaller.peak, smaller.optimal) == (best, True)
        ended += found.proof == "none"
    assert ended > GRAPHS * fuzz / 10


def test_a_search_near_its_end_goes_on(fuzz: float) -> None:
    """It ends more often where its work did not suffice, and the order is the same unless the peak
    falls."""
    rng = random.Random(5)
    proven = lower = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng)
        best, start = optimum(graph), random_order(rng, graph)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "LARGE", len(graph) - 1)
            patch.setattr(search, "WORK", rng.choice((1, 3)) * len(graph))
            patch.setattr(search, "LONGER", 0)
            first = search.solve(graph, bound=0, incumbent=start)  # far from its bound
            patch.setattr(search, "NEAR", graph.level(0) + sum(graph.sizes))
            further = search.solve(graph, bound=0, incumbent=start)
            patch.setattr(search, "NEAR", first.peak / max(1, first.lower_bound) - 1.000001)
            far = search.solve(graph, bound=0, incumbent=start)
        further.verify(graph)
        assert first.lower_bound <= further.lower_bound <= best <= further.peak <= first.peak
        assert further.order == first.order or further.peak < first.peak, graph
        assert far == first
        proven += further.optimal and not first.optimal
        lower += further.peak < first.peak
    assert proven > GRAPHS * fuzz / 10 and lower


def test_far_from_its_bound_a_longer_look_follows(fuzz: float) -> None:
    """It finds lower peaks, and changes nothing where it does not."""
    rng = random.Random(6)
    lower = same = 0
    for _ in range(max(200, int(GRAPHS * fuzz))):
        graph = random_graph(rng, 10)
        start, polish = random_order(rng, graph), rng.choice((None, None, local_search.improve))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(search, "LARGE", len(graph) - 1)
            patch.setattr(search, "WORK", len(graph))
            answers: list[Schedule] = []
            for longer in (0, 100):
                patch.setattr(search, "LONGER", longer)
                answers.append(search.explore(graph, 0, start, search.Limits(), polish=polish))
        first, longer = answers
        longer.verify(graph)
        assert longer.lower_bound <= optimum(graph) <= longer.peak <= first.peak
        assert longer.peak < first.peak or longer.order == first.order, graph
        lower += longer.peak < first.peak
        same += longer.peak == first.peak
    assert lower and same


def test_looks_of_a_large_graph_are_parts_of_its_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where its states are limited, but not where its time is."""
    looks = list[int]()

    def descend(searched: object, states: int, *more: object) -> tuple[None, int]:
        looks.append(states)
        return None, 0

    monkeypatch.setattr(search, "FIRST", 1)
    monkeypatch.setattr(search, "_descend", descend)
    monkeypatch.setattr(search, "WORK", 50_000)
    graph = random_graph(random.Random(3), 60)
    monkeypatch.setattr(search, "LARGE", len(graph) - 1)
    order = random_order(random.Random(3), graph)
    for limits in (search.Limits(None, 9), search.Limits(1e6, 9)):
        search.explore(graph, 0, order, limits)
    assert looks == [search.WORK // len(graph) // 50, search.LOOK]


def test_contraction_beyond_its_limits(fuzz: float) -> None:
    rng = random.Random(1)
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng)
        with pytest.MonkeyPatch.context() as patch:
            for module, name in LIMITS:
                if rng.random() < 0.6:
                    patch.setattr(module, name, rng.choice((1, 2, 3)))
            small, _ = contract_chains(graph, chains(graph, states=rng.choice((1, 3, 10, 30))))
        assert optimum(small) == optimum(graph), graph
