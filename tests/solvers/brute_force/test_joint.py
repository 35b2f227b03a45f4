"""Order and offsets together against all orders, each placed by brute force."""

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from time import monotonic

import pytest
from joint_problems import choices, orders
from oracles import random_graph, random_order
from random_placements import smallest_arena, wrong

from memopt.solvers import clock, joint
from memopt.solvers.joint import exact as joint_exact
from memopt.solvers.joint import in_place_choices as choices_module
from memopt.solvers.joint.in_place_choices import Choice, first_choice, other_choices, restricted
from memopt.solvers.joint.reorderings import reorderings
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import (
    Group,
    InPlace,
    MemoryGraph,
    Profile,
    live_ranges,
    profile,
)
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods.auto import met
from memopt.solvers.theory.bounds import trivial

CASES = 2_000


def smallest(graph: MemoryGraph) -> int:
    """The smallest arena over all orders and all that can be in place, by brute force."""
    problems = {live_ranges(g, o) for o in orders(graph) for g in choices(graph, o)}
    return min(map(smallest_arena, problems))


def smallest_as_usual(graph: MemoryGraph) -> int:
    """Where a result always lies over the first operand that dies."""
    return min(map(smallest_arena, {live_ranges(graph, o) for o in orders(graph)}))


def small_graphs(seed: int, count: int) -> list[MemoryGraph]:
    """Graphs whose orders and placements can all be tried."""
    random, result = Random(seed), list[MemoryGraph]()
    while len(result) < count:
        graph = random_graph(random, 5, negative=False)
        if 1 <= len(graph.groups) + sum(w > 0 for w in graph.extra) <= 6 and graph.groups:
            result.append(graph)
    return result


def checked(graph: MemoryGraph, found: joint.Joint) -> int:
    """The arena of an answer that is legal."""
    problem = live_ranges(restricted(graph, found.chosen), found.order)
    assert not wrong(problem, found.placement.offsets, found.placement.arena)
    assert found.lower_bound <= found.placement.arena
    return found.placement.arena


@pytest.mark.deep
def test_joint_equals_brute_force(fuzz: float) -> None:
    """Settled answers are the smallest arena over all orders and choices of what is in place; every
    bound is below it."""
    settled = 0
    for graph in small_graphs(3, max(40, int(CASES * fuzz))):
        best = smallest(graph)
        start = schedule(graph, "greedy")
        found = joint.solve(graph, start.order, start.lower_bound)
        assert found.lower_bound <= best <= checked(graph, found), graph
        if found.settled:
            settled += 1
            assert found.placement.arena == best, graph
    assert settled >= 38


@pytest.mark.deep
def test_the_exact_model_alone_equals_brute_force(fuzz: float) -> None:
    """From the sum of all sizes down, without a bound from elsewhere."""
    for graph in small_graphs(4, max(40, int(CASES * fuzz))):
        best = smallest(graph)
        order = schedule(graph, "greedy").order
        top = sum(graph.sizes) + sum(max(0, w) for w in graph.extra)
        found = joint_exact.search(graph, order, 0, top, None)
        assert found.placement is not None and found.lower_bound == best, graph
        assert found.placement.arena == best, graph
        problem = live_ranges(restricted(graph, found.chosen), found.order)
        assert not wrong(problem, found.placement.offsets, best)
        if best:
            below = joint_exact.search(graph, order, 0, best - graph.alignment, None)
            assert below.placement is None and below.lower_bound == best, graph


@pytest.mark.deep
def test_other_orders_help_where_the_exact_model_is_not_used(fuzz: float) -> None:
    """The walk over orders alone never makes it worse, and finds smaller arenas now and then."""
    random, better = Random(5), 0
    for _ in range(max(400, int(CASES * fuzz))):
        graph = random_graph(random, 16, negative=False)
        start = schedule(graph, "auto")
        problem = live_ranges(graph, start.order)
        if not problem.buffers:
            continue
        before = place(problem).arena
        found = joint.solve(graph, start.order, start.lower_bound, exact_operators=0)
        after = checked(graph, found)
        assert profile(graph, found.order).peak <= after <= before
        assert found.schedules >= 1
        better += after < before
    assert better, "no graph on which another order helps"


def test_what_a_choice_leaves_out_saves_no_bytes_in_bounds() -> None:
    """Whoever was asked of all candidates is asked anew."""
    raised = 0
    for seed in range(60):
        graph = random_graph(Random(seed), 7)
        every = trivial(graph), met(graph)
        fewer = restricted(graph, ())
        fresh = replace(fewer)
        assert (trivial(fewer), met(fewer)) == (trivial(fresh), met(fresh)), seed
        raised += (trivial(fewer), met(fewer)) != every
    assert raised >= 5


def test_where_there_is_no_other_order_the_arena_stays() -> None:
    """Two steps whose buffers, live together, leave a gap that no order closes."""
    made, read = (Group(name, 1, (v,), (1,), alignment=4) for v, name in enumerate("ab"))
    graph = MemoryGraph(("first", "second"), ((), (0,)), (made, read))
    found = joint.solve(graph, (0, 1), profile(graph, (0, 1)).peak, exact_operators=0)
    assert profile(graph, (0, 1)).peak == 2 and checked(graph, found) == 5


def test_other_orders_end_at_the_deadline() -> None:
    """Also where there is no other order to give, ever: in a chain nothing can move."""
    groups = tuple(Group(f"g{v}", 4, (v,), is_output=True) for v in range(4))
    chain = MemoryGraph(tuple("abcd"), ((), (0,), (1,), (2,)), groups)
    assert not list(reorderings(chain, range(4), 16, deadline=monotonic() + 0.01))
    free = MemoryGraph(tuple("abcd"), ((), (), (), ()), groups)
    assert list(reorderings(free, range(4), 16, moves=100))
    assert not list(reorderings(free, range(4), 16, moves=100, deadline=monotonic()))


# -- what is in place of what, chosen otherwise at one operator ------------------------------------


def one_changed(
    graph: MemoryGraph, order: Sequence[int], chosen: Choice, limit: int
) -> list[Choice]:
    """By the definition: each graph of other candidates, and its profile."""
    place, used = {v: i for i, v in enumerate(order)}, {c.operator: c for c in chosen}
    others: list[tuple[int, InPlace | None]] = []
    for v in order:
        for c in graph.candidates[v]:
            dies = all(place[u] <= place[v] for u in graph.touchers[c.operand])
            if dies and c != used.get(v) and graph.sizes[c.result]:
                others.append((v, c))
    others += [(v, None) for v, c in used.items() if graph.sizes[c.result]]
    found: list[Choice] = []
    for v, c in others:
        choice = tuple(x for x in chosen if x.operator != v) + ((c,) if c is not None else ())
        kept = {(x.operator, x.operand) for x in choice}
        other = replace(
            graph, inplace=tuple(x for x in graph.inplace if (x.operator, x.operand) in kept)
        )
        if profile(other, order).peak <= limit:
            found.append(choice)
    return found


def test_another_choice_changes_the_step_of_its_operator_alone(fuzz: float) -> None:
    rng, choices = Random(11), 0
    for _ in range(int(CASES * fuzz)):
        graph = random_graph(rng)
        if not graph.inplace or any(c.forced for c in graph.inplace):
            continue
        order = random_order(rng, graph)
        peak = profile(graph, order).peak
        chosen = first_choice(graph, order)
        for limit in (peak - 3, peak, peak + 40):
            expected = one_changed(graph, order, chosen, limit)
            assert list(other_choices(graph, order, chosen, limit)) == expected, graph
            choices += len(expected)
            chosen = rng.choice([chosen, *expected])
    assert choices > CASES * fuzz / 10


def test_other_choices_are_looked_at_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """One profile for all of them, not one for each, and none once the time is over."""
    profiled: list[int] = []

    def counted(graph: MemoryGraph, order: Sequence[int]) -> Profile:
        profiled.append(len(order))
        return profile(graph, order)

    monkeypatch.setattr(choices_module, "profile", counted)
    count = 200
    before = tuple([() if v == 0 else (v - 1,) for v in range(count)])
    groups = [Group("x", 64, (), (0,), is_input=True)]
    groups += [Group(f"t{v}", 64, (v,), (v + 1,)) for v in range(count - 1)]
    groups.append(Group("y", 64, (count - 1,), (), is_output=True))
    inplace = tuple(InPlace(v, v + 1, v) for v in range(count))
    graph = MemoryGraph(tuple(f"v{v}" for v in range(count)), before, tuple(groups), (), inplace)
    order = range(count)
    chosen = first_choice(graph, order)
    del profiled[:]
    assert len(list(other_choices(graph, order, chosen, 200))) == count
    assert len(profiled) == 1
    with clock.reading(lambda: 5.0):
        assert not list(other_choices(graph, order, chosen, 200, deadline=4.0))
