"""SERENITY's and Liberis' dynamic programs without one of their conditions: each is caught."""

import random
from collections.abc import Callable
from typing import Literal

import pytest
from exhaustive import optimum, optimum_through
from mutants import is_caught
from oracles import ideals, random_graph

from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError
from memopt.solvers.published.scheduling import dp, liberis
from memopt.solvers.theory.ideals import ancestors

GRAPHS = 4000
Patch = Callable[[pytest.MonkeyPatch], None]


def dp_differs(rng: random.Random) -> bool:
    graph = random_graph(rng, 7)
    found = dp.solve(graph, width=rng.choice((1, 2, 1000)))
    return (found.peak, found.lower_bound, found.optimal) != (optimum(graph),) * 2 + (True,)


def dp_fails(rng: random.Random) -> bool:
    try:
        return dp_differs(rng)
    except (ProblemError, ValueError):  # no order at all
        return True


def splits_at_single_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """As printed: wherever one tensor is live, though some orders do not pass there."""

    def printed(graph: MemoryGraph) -> list[int]:
        up, full = ancestors(graph), (1 << len(graph)) - 1
        found: list[int] = []
        for v in range(len(graph)):
            ideal = up[v] | 1 << v
            live = sum(graph.resident(g, ideal) for g in range(len(graph.groups)))
            if live == 1 and ideal != full and not (found and found[-1] & ~ideal):
                found.append(ideal)
        return [*found, full]

    monkeypatch.setattr(dp, "hourglasses", printed)


def proves_the_highest_dropped_step(monkeypatch: pytest.MonkeyPatch) -> None:
    def drop(self: dp.Run, step: int) -> None:
        self.dropped = step if self.dropped is None else max(self.dropped, step)

    monkeypatch.setattr(dp.Run, "drop", drop)


def takes_a_timeout_for_no_solution(monkeypatch: pytest.MonkeyPatch) -> None:
    old = dp.Run.solve

    def solve(
        self: dp.Run, width: int | None, max_states: int, deadline: float | None
    ) -> Literal["timeout", "no solution"] | tuple[tuple[int, ...], int]:
        found = old(self, width, max_states, deadline)
        if found == "timeout":
            self.dropped = self.budget + 1
            return "no solution"
        return found

    monkeypatch.setattr(dp.Run, "solve", solve)


def believes_levels_below_negative_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    def floor(self: dp.Serenity, start: int, end: int) -> int:
        return max(self.graph.level(start), self.graph.level(end))

    monkeypatch.setattr(dp.Serenity, "floor", floor)


@pytest.mark.parametrize(
    "mutant",
    [
        splits_at_single_tensors,
        proves_the_highest_dropped_step,
        takes_a_timeout_for_no_solution,
        believes_levels_below_negative_workspace,
    ],
)
def test_serenity_needs_every_condition(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_caught(dp_fails, lambda: mutant(monkeypatch), GRAPHS)


def test_splits_elsewhere_than_at_hourglasses_would_raise_the_optimum() -> None:
    """A single live tensor is not enough: every order must be forced through the ideal."""
    rng = random.Random(7)
    worse = 0
    for _ in range(1500):
        graph = random_graph(rng, 6, negative=False)
        best, full = optimum(graph), (1 << len(graph)) - 1
        hourglasses = dp.hourglasses(graph)
        for ideal in ideals(graph):
            live = [g for g in range(len(graph.groups)) if graph.resident(g, ideal)]
            if ideal not in (0, full) and len(live) <= 1:
                split = optimum_through(graph, [ideal])
                worse += split > best
                assert ideal not in hourglasses or split == best
    assert worse


def liberis_differs(rng: random.Random) -> bool:
    graph = random_graph(rng, 7)
    try:
        found = liberis.solve(graph)
        found.verify(graph)
    except (ProblemError, KeyError):  # an order that is none
        return True
    return (found.peak, found.lower_bound, found.optimal) != (optimum(graph),) * 2 + (True,)


def anything_may_be_last(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        liberis,
        "last_of_some_order",
        lambda done, followers: list(liberis.bits(done)),  # pyright: ignore
    )


def only_the_last_in_number_is_last(monkeypatch: pytest.MonkeyPatch) -> None:
    """One order in place of all."""
    old = liberis.last_of_some_order
    monkeypatch.setattr(
        liberis,
        "last_of_some_order",
        lambda done, followers: old(done, followers)[-1:],  # pyright: ignore
    )


@pytest.mark.parametrize("mutant", [anything_may_be_last, only_the_last_in_number_is_last])
def test_liberis_needs_every_condition(mutant: Patch, monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_caught(liberis_differs, lambda: mutant(monkeypatch), GRAPHS)
