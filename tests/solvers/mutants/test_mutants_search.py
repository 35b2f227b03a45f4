"""The search without one of the conditions of T1 or of going backwards: each mutant is caught.

`test_kill_moves.py` does the same for kill-moves.
"""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from mutants import is_caught
from oracles import optimum, random_graph, random_order

from memopt.solvers.problems.memory_graph import MemoryGraph, ProblemError
from memopt.solvers.scheduling import best_first, both_ends
from memopt.solvers.scheduling.methods import search

GRAPHS = 6000
Patch = Callable[[pytest.MonkeyPatch], None]


def search_differs(
    backward: bool = True, draw: Callable[[random.Random], MemoryGraph] = random_graph
) -> Callable[[random.Random], bool]:
    """With both ends, or from the start alone. The ends take turns after every state."""

    def differs(rng: random.Random) -> bool:
        graph = draw(rng)
        start = random_order(rng, graph)
        try:
            found = search.solve(graph, bound=0, incumbent=start, backward=backward)
        except ProblemError:  # an order that is none
            return True
        return (found.peak, found.optimal) != (optimum(graph), True)

    return differs


def commits_whatever_the_hill(patch: pytest.MonkeyPatch) -> None:
    def may(self: best_first.Search, step: int, after: int, level: int, limit: int) -> bool:
        return after <= level

    patch.setattr(best_first.Search, "may_commit", may)


def commits_whatever_the_level(patch: pytest.MonkeyPatch) -> None:
    def may(self: best_first.Search, step: int, after: int, level: int, limit: int) -> bool:
        return step <= limit

    patch.setattr(best_first.Search, "may_commit", may)


def kills_before_unread_inputs_are_gone(patch: pytest.MonkeyPatch) -> None:
    """The level of {} counts what is over after any first operator."""
    old: Any = best_first.Search._moves  # pyright: ignore[reportPrivateUsage]

    def moves(self: best_first.Search, done: int, frontier: tuple[int, ...]) -> Any:
        if self.by_kills:
            return self.kills.moves(done, frontier)
        return old(self, done, frontier)

    patch.setattr(best_first.Search, "_moves", moves)


def first_path_counts(patch: pytest.MonkeyPatch) -> None:
    """Depth first: the first order found is said to be optimal."""
    old: Any = best_first.Search._expand  # pyright: ignore[reportPrivateUsage]

    def expand(self: best_first.Search, *args: Any) -> Any:
        return old(self, *args)[:1]

    patch.setattr(best_first.Search, "_expand", expand)


@pytest.fixture(autouse=True)
def _turns(monkeypatch: pytest.MonkeyPatch) -> None:  # pyright: ignore[reportUnusedFunction]
    monkeypatch.setattr(both_ends, "TURN", 1)
    monkeypatch.setenv("MEMOPT_NATIVE", "0")  # the mutants are of the reference


@pytest.mark.deep
@pytest.mark.parametrize("backward", [False, True], ids=["one end", "both ends"])
@pytest.mark.parametrize(
    "mutant",
    [
        commits_whatever_the_hill,
        commits_whatever_the_level,
        kills_before_unread_inputs_are_gone,
        first_path_counts,
    ],
)
def test_t1_needs_every_condition(
    mutant: Patch, backward: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(search_differs(backward), lambda: mutant(monkeypatch), GRAPHS)


reversible = both_ends.reversible


def in_place_backwards(graph: MemoryGraph) -> bool:
    return reversible(replace(graph, inplace=()))


def unread_inputs_backwards(graph: MemoryGraph) -> bool:
    groups = tuple(replace(g, is_output=True) if g.is_input else g for g in graph.groups)
    return reversible(replace(graph, groups=groups))


@pytest.mark.parametrize("mutant", [in_place_backwards, unread_inputs_backwards])
def test_going_backwards_needs_every_condition(
    mutant: Callable[[MemoryGraph], bool], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(
        search_differs(), lambda: monkeypatch.setattr(both_ends, "reversible", mutant), GRAPHS
    )


def read_before_it_is_written(rng: random.Random) -> MemoryGraph:
    """A group has one more reader, which need not wait for any writer."""
    graph = random_graph(rng, 6, unread=False, inplace=False)
    groups = list(graph.groups)
    if groups:
        i = rng.randrange(len(groups))
        reader = rng.randrange(len(graph))
        groups[i] = replace(groups[i], readers=(*groups[i].readers, reader))
    return replace(graph, groups=tuple(groups))


def test_going_backwards_needs_a_writer_before_all_readers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_caught(
        search_differs(draw=read_before_it_is_written),
        lambda: monkeypatch.setattr(both_ends, "reversible", lambda _: True),  # pyright: ignore
        GRAPHS,
    )
