"""The native search over downsets takes the states of `best_first.py`, one after the other."""

import random
from itertools import count

import pytest
from native import needs_native
from oracles import random_graph, random_order

from memopt.solvers import clock
from memopt.solvers.native.library import LARGEST
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, profile
from memopt.solvers.scheduling import best_first, both_ends, native_search
from memopt.solvers.scheduling.best_first import ALL_ON, Search, Switches
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.scheduling.native_search import NativeSearch, search_of
from memopt.solvers.theory.ideals import renumber

pytestmark = needs_native
GRAPHS = 10_000


def facts(search: Search) -> tuple[object, ...]:
    return (
        *(search.states, search.memory, search.waiting),
        *(search.lower_bound, search.exhausted, search.order),
    )


def pair(graph: MemoryGraph, floor: int, ceiling: int, switches: Switches) -> tuple[Search, Search]:
    native = search_of(graph, floor, ceiling, switches)
    assert isinstance(native, NativeSearch)
    return Search(graph, floor, ceiling, switches), native


def test_every_state_is_that_of_the_reference(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """With limits of states and bytes, floors that rise and ceilings that fall on the way."""
    rng, several = random.Random(1), 0
    for _ in range(int(GRAPHS * fuzz)):
        graph, _ = renumber(random_graph(rng, rng.choice((3, 7, 12, 20))))
        peak = profile(graph, random_order(rng, graph)).peak
        monkeypatch.setattr(best_first, "CHAIN", rng.choice((1, 2, 64)))
        monkeypatch.setattr(native_search, "SLICE", rng.choice((1, 100, 5_000_000)))
        switches = Switches(*(rng.random() < 0.8 for _ in range(3)))
        floor = rng.choice((0, peak // 2, peak - 3))
        searches = pair(graph, floor, peak + rng.choice((0, 1, 9)), switches)
        while not searches[0].exhausted and searches[0].states < 2_000:
            states, memory = rng.choice((1, 2, 5, 100)), rng.choice((None, None, 10_000))
            rise = rng.choice((0, 0, 0, 0, 1, 3))
            for search in searches:
                search.run(states, None, memory)
            assert facts(searches[0]) == facts(searches[1]), (graph, switches)
            if memory is not None and searches[0].memory > memory:
                break
            for search in searches:
                search.raise_floor(search.lower_bound + rise)
                search.ceiling -= rise % 2
        several += searches[0].states > 1
    assert several


def wide(rng: random.Random, pairs: int) -> MemoryGraph:
    """So many operators with a reader each, of which none waits for another."""
    groups = tuple(Group(f"t{v}", rng.choice((1, 2, 5)), (v,), (v + pairs,)) for v in range(pairs))
    last = tuple(Group(f"u{v}", 9, (v + pairs,), ()) for v in range(pairs))
    before = ((),) * pairs + tuple((v,) for v in range(pairs))
    return MemoryGraph(tuple(f"n{v}" for v in range(2 * pairs)), before, groups + last)


def test_both_ends_of_large_graphs_are_those_of_the_reference(
    fuzz: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They have 300 operators, so that masks take several words, and more kill-moves than FEW."""
    rng, large = random.Random(2), 0
    for number in range(max(12, int(GRAPHS * fuzz / 20))):
        drawn = random_graph(rng, rng.choice((70, 140, 400)))
        graph, _ = renumber(wide(rng, 120) if number == 0 else drawn)
        peak = profile(graph, random_order(rng, graph)).peak
        answers: list[object] = []
        for native in ("0", "1"):
            monkeypatch.setenv("MEMOPT_NATIVE", native)
            search = BothEnds.of(graph, peak * 2 // 3, peak)
            assert isinstance(search.ends[0], NativeSearch) == (native == "1")
            search.run(400, None, 1 << 40)
            look = search.again(peak * 3 // 4, peak)
            look.run(400, None, 1 << 40)
            answers.append(([facts(e) for e in search.ends], [facts(e) for e in look.ends]))
        assert answers[0] == answers[1], graph
        large += len(graph) > 128
    assert large


def test_the_clock_is_read_between_slices(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look takes a second; what was searched until then is known, and the search goes on."""
    monkeypatch.setattr(native_search, "SLICE", 1)
    rng = random.Random(3)
    graph = next(g for g, _ in iter(lambda: renumber(random_graph(rng, 30)), None) if len(g) > 20)
    peak = profile(graph, random_order(rng, graph)).peak
    reference, native = pair(graph, 0, peak + 1, ALL_ON)
    reference.run()
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        native.run(None, 5.0)
        assert 0 < native.states <= 5
        while not native.exhausted:
            native.run(None, clock.now() + 5)
    assert facts(native) == facts(reference)


def test_the_clock_is_read_within_a_state_of_many_branches(monkeypatch: pytest.MonkeyPatch) -> None:
    """A state that a deadline interrupts counts as put aside, and is the first to go on with."""
    monkeypatch.setattr(native_search, "SLICE", 1)
    graph, _ = renumber(wide(random.Random(6), 120))
    peak = profile(graph, tuple(range(len(graph)))).peak
    reference, native = pair(graph, 0, peak, ALL_ON)
    reference.run(3)
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        native.run(3, 20.0)
        assert isinstance(native, NativeSearch) and native.paused
        assert (native.states, native.waiting, native.exhausted) == (1, 1, False)
        while native.paused or native.states < 3:
            native.run(3 - native.states, clock.now() + 20)
    assert facts(native) == facts(reference)
    native.ceiling = native.lower_bound
    native.run()
    assert native.exhausted and native.order is None


def test_what_overflows_in_the_library_is_searched_in_python() -> None:
    for size in (LARGEST >> 2, LARGEST, LARGEST * 4):
        groups = (Group("a", size, (0,), (1,)), Group("b", size, (1,), is_output=True))
        graph = MemoryGraph(("u", "v"), ((), (0,)), groups)
        reference, native = pair(graph, 0, 4 * size, ALL_ON)
        for search in (reference, native):
            search.run()
        assert facts(native) == facts(reference) and native.lower_bound == 2 * size
        assert isinstance(native, NativeSearch) and native.refused


def test_a_search_that_is_forgotten_keeps_its_bound() -> None:
    rng = random.Random(4)
    graph, _ = renumber(random_graph(rng, 12))
    search = search_of(graph, 0, 1 << 40, ALL_ON)
    search.run(1)
    bound = search.lower_bound
    search.forget()
    search.forget()
    assert (search.lower_bound, search.memory, search.waiting) == (bound, 0, 0)


def test_without_the_library_python_searches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MEMOPT_NATIVE", "0")
    graph, _ = renumber(random_graph(random.Random(5), 12))
    assert type(search_of(graph, 0, 1 << 40, ALL_ON)) is Search
    assert native_search.__name__ == both_ends.NATIVE
