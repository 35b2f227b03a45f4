"""OLLA's program (9) against all orders, each placed by brute force."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from joint_problems import orders
from oracles import random_graph, random_order
from random_placements import smallest_arena, wrong

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.joint.in_place_choices import restricted
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, live_ranges
from memopt.solvers.programs.mathopt import Answer, CpSat
from memopt.solvers.published.joint import joint_olla
from memopt.solvers.published.joint.joint_olla import solve

CASES = 2_000


def small_graphs(seed: int, count: int) -> list[MemoryGraph]:
    """Graphs whose orders and placements can all be tried."""
    random, result = Random(seed), list[MemoryGraph]()
    while len(result) < count:
        graph = random_graph(random, 5, negative=False)
        if 1 <= len(graph.groups) + sum(w > 0 for w in graph.extra) <= 6 and graph.groups:
            result.append(restricted(graph, ()))
    return result


@pytest.mark.parametrize("solver", ["cp-sat", "highs"])
def test_the_program_equals_brute_force(solver: str, fuzz: float) -> None:
    count = int(CASES * fuzz) if solver == "cp-sat" else max(6, int(CASES * fuzz / 20))
    random, better = Random(7), 0
    for number, graph in enumerate(small_graphs(6, count)):
        best = min(map(smallest_arena, {live_ranges(graph, o) for o in orders(graph)}))
        order = random_order(random, graph)
        answer = solve(graph, order, 0, None, solver, pruning=bool(number % 3))
        problem = live_ranges(graph, answer.order)
        assert not wrong(problem, answer.placement.offsets, answer.placement.arena)
        assert answer.placement.arena == answer.lower_bound == best, graph
        better += answer.schedules > 1
    assert better


def chain_of_pairs() -> MemoryGraph:
    """Independent pairs of operators, of which some order needs less than the one in which all
    that is made comes first."""
    groups = tuple(Group(f"g{v}", 3 + v % 5, (2 * v,), (2 * v + 1,)) for v in range(6))
    before = tuple(() if v % 2 == 0 else (v - 1,) for v in range(12))
    return MemoryGraph(tuple(f"v{v}" for v in range(12)), before, groups)


def test_without_time_the_order_in_hand_is_the_answer_with_the_bound_in_hand() -> None:
    graph = chain_of_pairs()
    order = (*range(0, 12, 2), *range(1, 12, 2))
    with clock.reading(lambda: 5.0):
        answer = solve(graph, order, 7, 0.0)
    assert answer.order == order and answer.lower_bound == 7 < answer.placement.arena
    assert not answer.settled
    assert solve(graph, order, 0).placement.arena == 7


def test_an_arena_that_the_solver_did_not_mean_is_not_proven(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Within tolerances of HiGHS an arena may be smaller than what its values really need."""

    class Tolerant(CpSat):
        def minimize(
            self, objective: Any, time_limit: float | None = None, seed: int = 0
        ) -> Answer:
            answer = super().minimize(objective, time_limit, seed)

            def value(x: Any) -> int:
                return answer.value(x) - (x is objective)

            return replace(answer, bound=6, value=value)

    def tolerant(_: str) -> Tolerant:
        return Tolerant()

    monkeypatch.setattr(joint_olla, "new_model", tolerant)
    answer = solve(chain_of_pairs(), (*range(0, 12, 2), *range(1, 12, 2)), 0)
    assert (answer.placement.arena, answer.lower_bound) == (7, 6)


def test_an_unknown_solver_is_refused_though_nothing_is_to_solve() -> None:
    graph = MemoryGraph(("v",), ((),), (Group("x", 4, (0,), (), is_output=True),))
    assert solve(graph, (0,), 4).settled
    with pytest.raises(ProblemError, match="unknown solver 'foo'"):
        solve(graph, (0,), 4, solver="foo")


def test_parts_are_refused_by_name() -> None:
    graph = MemoryGraph(
        ("v",), ((),), (Group("x", 0, is_input=True), Group("x0", 4, (), (0,), True, piece=(0, 0)))
    )
    with pytest.raises(ProblemError, match="parts of one tensor"):
        solve(graph, (0,), 0)
