"""Work that large graphs take: counted, not timed."""

import random

import pytest
from cases import make
from oracles import random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges, profile
from memopt.solvers.scheduling.methods import auto, search
from memopt.solvers.theory import bounds, chains, fusion, segments
from memopt.solvers.theory.bounds import Bound, FlowBound
from memopt.solvers.theory.ideals import Sides

GRAPHS = 2_000


def blocks(count: int) -> MemoryGraph:
    """Return residual blocks one after the other."""
    nodes: list[tuple[str, str, str]] = []
    last = "x"
    for i in range(count):
        nodes += [(f"a{i}", last, f"a{i}:4"), (f"b{i}", f"a{i}", f"b{i}:16")]
        nodes.append((f"c{i}", f"{last} b{i}", f"c{i}:16"))
        last = f"c{i}"
    return make({"x": 16}, nodes, outputs=last)


def test_a_bound_that_the_first_order_meets_takes_no_square_of_bits() -> None:
    """Masks of the operators of each group are a square of the graph."""
    graph = blocks(100)
    assert auto.solve(graph).optimal
    squares = {"writer_masks", "reader_masks", "toucher_masks", "predecessor_masks"}
    assert not squares & vars(graph).keys()


@pytest.mark.parametrize("ends", [{"time_limit": 0.0}, {"enough": 1}, {"max_flows": 0}])
def test_a_bound_that_ends_before_a_flow_asks_nobody_who_is_before_whom(
    ends: dict[str, float],
) -> None:
    graph = crossed(4, 5)
    bound = FlowBound(graph, **ends)  # pyright: ignore[reportArgumentType]
    assert bound.solve([graph.topological]).flows == 0
    assert FlowBound(graph).solve([graph.topological]).flows > 0
    assert "cuts" not in vars(bound)


def test_of_one_upper_bound_those_that_are_tied_to_most_others_are_asked_first() -> None:
    graph = crossed(4, 5)
    bound = FlowBound(graph)
    order = bound._likely_first([5] * len(graph), 4)  # pyright: ignore[reportPrivateUsage]
    tied = [bound.cuts.up[v].bit_count() + bound.cuts.down[v].bit_count() for v in order]
    assert tied == sorted(tied, reverse=True) and len(set(tied)) > 1
    last = bound._likely_first([5, 9, *[5] * 18], 5)  # pyright: ignore[reportPrivateUsage]
    assert last == [1]


def test_a_peak_below_what_an_operator_touches_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """No heuristic is asked, and the bound says no more than that."""
    graph = crossed(4, 5)
    least = bounds.trivial(graph)
    monkeypatch.setattr(auto, "heuristics", None)
    answer = auto.solve(graph, most=least - 1)
    assert (answer.lower_bound, answer.proof, answer.states) == (least, "none", 0)
    assert answer.peak == profile(graph, graph.topological).peak
    with pytest.raises(TypeError):
        auto.solve(graph, most=least)


def test_operators_of_a_large_graph_are_not_ranked(monkeypatch: pytest.MonkeyPatch) -> None:
    """All that is before and after each of 60,000 operators takes half a gigabyte."""
    graph = crossed(4, 5)
    ranked = FlowBound(graph).solve([graph.topological])
    monkeypatch.setattr(bounds, "RANKED", len(graph) - 1)
    bound = FlowBound(graph)
    bound._likely_first([99] * len(graph), 0)  # pyright: ignore[reportPrivateUsage]
    assert "cuts" not in vars(bound)
    assert bound.solve([graph.topological]).value == ranked.value


def test_an_equal_module_is_cut_into_segments_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graphs, searched = [blocks(5), blocks(5)], list[MemoryGraph]()
    canonical = chains.canonical

    def counted(sub: MemoryGraph, *how: object) -> tuple[segments.Segment, ...] | None:
        searched.append(sub)
        return canonical(sub, *how)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(chains, "canonical", counted)
    chains.forget()
    assert chains.chain_of(graphs[0]) == chains.chain_of(graphs[1])
    assert len(searched) == 1


def crossed(width: int, depth: int) -> MemoryGraph:
    """Return layers of operators, each of which reads two of the layer before: there is no module
    in them."""
    rng, row = random.Random(0), [f"x{i}" for i in range(width)]
    nodes: list[tuple[str, str, str]] = []
    for d in range(depth):
        names = [f"t{d}_{i}" for i in range(width)]
        read = [" ".join(dict.fromkeys((row[i], row[i - 1]))) for i in range(width)]
        nodes += [(n, r, f"{n}:{rng.randint(1, 99)}") for n, r in zip(names, read, strict=True)]
        row = names
    return make(dict.fromkeys([f"x{i}" for i in range(width)], 9), nodes, outputs=" ".join(row))


def test_a_graph_without_modules_is_bounded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, bounded = crossed(6, 4), list[MemoryGraph]()
    assert not fusion.modules(graph)
    flow_bound = auto.flow_bound

    def counted(graph: MemoryGraph, *how: object, **more: object) -> Bound:
        bounded.append(graph)
        return flow_bound(graph, *how, **more)  # pyright: ignore[reportArgumentType]

    monkeypatch.setattr(auto, "flow_bound", counted)
    answer = auto.solve(graph)
    assert answer.peak > flow_bound(graph, [answer.order]).value  # it was searched
    assert bounded == [graph]


def test_a_crowded_graph_gets_fewer_states(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = crossed(8, 30)
    order = tuple(range(len(graph)))
    spans = [b.upper - b.lower - 1 for b in live_ranges(graph, order).buffers]
    ends = sum(g.is_output for g in graph.groups)  # alive to the end, where nobody touches them
    assert 0 < search.alive(graph, order) <= sum(spans) + ends
    states = search.states_for(graph, order)
    assert states == search.WORK // len(graph)
    monkeypatch.setattr(search, "CROWD", search.alive(graph, order) / 10)
    assert search.states_for(graph, order) == int(states / 100)


@pytest.mark.parametrize("states", [None, 10])
def test_a_crowded_graph_gets_the_memory_that_was_asked_for(
    monkeypatch: pytest.MonkeyPatch, states: int | None
) -> None:
    graph, used = crossed(8, 30), list[int]()

    def run(_: object, states: int | None, deadline: float | None, max_bytes: int) -> None:
        used.append(max_bytes)

    monkeypatch.setattr(search.BothEnds, "run", run)
    for crowd, given, expected in (
        (search.CROWD, None, search.MAX_BYTES),
        (100, None, search.CROWD_BYTES),
        (100, 4 * search.MAX_BYTES, 4 * search.MAX_BYTES),
        (100, 1_000, 1_000),
    ):
        monkeypatch.setattr(search, "CROWD", crowd)
        limits = search.Limits(max_states=states, max_bytes=given)
        search.explore(graph, 0, tuple(range(len(graph))), limits)
        assert used[0] == expected
        used.clear()


def test_a_crowd_near_its_bound_is_searched_where_that_gets_many_states(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    graph, ran = crossed(8, 30), list[int | None]()

    def run(_: object, states: int | None, deadline: float | None, max_bytes: int) -> None:
        ran.append(states)

    monkeypatch.setattr(search.BothEnds, "run", run)
    order = tuple(range(len(graph)))
    peak, crowd = profile(graph, order).peak, search.alive(graph, order)
    for crowded, near, bound in ((400, 1, peak - 1), (10, 1, peak - 1), (400, 0, peak - 1)):
        monkeypatch.setattr(search, "CROWD", crowd / crowded)
        monkeypatch.setattr(search, "CLOSE", near)
        ran.clear()
        answer = search.explore(graph, bound, order, search.Limits())
        assert (answer.order, answer.lower_bound, answer.proof) == (order, bound, "none")
        assert bool(ran) == (crowded == 10 or not near)


def test_operators_that_are_ready_are_those_of_the_definition(fuzz: float) -> None:
    """Ideals that a search reaches know what is ready from those before."""
    rng = random.Random(0)
    reached = 0
    for _ in range(int(GRAPHS * fuzz)):
        graph = random_graph(rng, 9)
        chain = segments._Search(  # pyright: ignore[reportPrivateUsage]
            graph, segments.ALL_CHAIN_RULES, segments.STATES
        )
        chain.blocks()
        sides, full = Sides.of(graph), (1 << len(graph)) - 1
        for forward in (False, True):
            for done, ready in chain.ready[forward].items():
                undone = full & ~done if forward else done
                masks = sides.up if forward else sides.down
                every = (v for v in range(len(graph)) if undone >> v & 1)
                assert ready == sum(1 << v for v in every if not masks[v] & undone), graph
                reached += 1
    assert reached
