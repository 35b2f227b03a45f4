"""The integer programs without one of their constraints: each mutant is caught.

`test_papers.py` has the programs as printed, with the case of hand size for each correction.
"""

import random
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import pytest
from cases import with_edges
from mutants import is_caught
from oracles import optimum, random_graph

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, ProblemError
from memopt.solvers.published.scheduling import ilp_olla
from memopt.solvers.scheduling.integer import IntegerProgram, over
from memopt.solvers.scheduling.methods import ilp

GRAPHS = 800
Patch = Callable[[pytest.MonkeyPatch], None]


def differs_by(solve: Callable[[MemoryGraph], Any]) -> Callable[[random.Random], bool]:
    def differs(rng: random.Random) -> bool:
        graph = random_graph(rng, 6)
        try:
            found = solve(graph)
        except ProblemError:  # the order is none, for want of precedence
            return True
        return (found.peak, found.optimal) != (optimum(graph), True)

    return differs


# -- Zhong's ---------------------------------------------------------------------------------------


def outputs_cost_nothing_in_their_step(patch: pytest.MonkeyPatch) -> None:
    """Without T >= O: a tensor is in memory from the step after the one that makes it."""

    def late(program: IntegerProgram, group: int, step: int) -> list[Any]:
        g = program.graph.groups[group]
        return [1] if g.is_input else [program.done(w, step - 1) for w in g.writers]

    patch.setattr(ilp, "begun", late)


def outputs_end_with_their_last_user(patch: pytest.MonkeyPatch) -> None:
    """Without T[out, last] = 1."""

    def users(program: IntegerProgram, group: int, step: int) -> list[Any]:
        g = program.graph.groups[group]
        return [program.done(u, step - 1) for u in {*g.writers, *g.readers}] or [0]

    patch.setattr(ilp, "over", users)


def spans_of_users(choose: Callable[[Iterator[int]], int], outputs: bool) -> Patch:
    """(10) with another function of its users, or for outputs as well."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        def lives(self: ilp.Program) -> list[tuple[int, int]]:
            result: list[tuple[int, int]] = []
            for g in self.graph.groups:
                first = 0 if g.is_input else min(self.spans[w][0] for w in g.writers)
                users = {*g.writers, *g.readers}
                last = choose(self.spans[v][1] for v in users) if users else -1
                held = g.is_output and not outputs
                result.append((first, len(self.graph) - 1 if held else last))
            return result

        patch.setattr(ilp.Program, "lives", property(lives))

    return mutate


def spans_too_short(program: type[ilp.Program] | type[ilp_olla.Program]) -> Patch:
    """(9), or ALAP, one step early wherever that leaves one."""

    def mutate(patch: pytest.MonkeyPatch) -> None:
        old: Any = program.spans.func  # pyright: ignore[reportFunctionMemberAccess]
        patch.setattr(
            program,
            "spans",
            property(lambda self: [(a, max(a, b - 1)) for a, b in old(self)]),
        )

    return mutate


def in_place_while_others_wait(module: Any) -> Patch:
    def nobody(graph: MemoryGraph, candidate: InPlace) -> Iterator[int]:
        return iter(())

    return lambda patch: patch.setattr(module, "others", nobody)


def without(program: type, method: str) -> Patch:
    return lambda patch: patch.setattr(program, method, lambda *_: None)  # pyright: ignore


ZHONG: dict[str, Patch] = {
    "T >= O": outputs_cost_nothing_in_their_step,
    "T[out, last] = 1": outputs_end_with_their_last_user,
    "(10) min, not max": spans_of_users(min, outputs=False),
    "(10) not for outputs": spans_of_users(max, outputs=True),
    "(9) no shorter": spans_too_short(ilp.Program),
    "(3)-(5) precedence": without(ilp.Program, "_precedence"),
    "in place where the operand dies": in_place_while_others_wait(ilp),
    "one operand is taken over": without(ilp.Program, "_one_saving"),
}


@pytest.mark.deep
@pytest.mark.parametrize("dropped", ZHONG)
def test_zhongs_program_needs_every_constraint(
    dropped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = partial(ilp.solve, bound=None, warm_start=None)  # which may hide what is dropped
    assert is_caught(differs_by(alone), lambda: ZHONG[dropped](monkeypatch), GRAPHS)


# -- OLLA's ----------------------------------------------------------------------------------------


def operators_without_results_have_no_token(patch: pytest.MonkeyPatch) -> None:
    """What they read is not kept for them, as printed."""
    old = ilp_olla.Program.sinks

    def sinks(self: ilp_olla.Program, g: int) -> list[int]:
        return [v for v in old(self, g) if self.graph.writes[v]]

    patch.setattr(ilp_olla.Program, "sinks", sinks)


def outputs_are_not_held(patch: pytest.MonkeyPatch) -> None:
    old = ilp_olla.Program.surely

    def surely(self: ilp_olla.Program, g: int) -> tuple[int, int]:
        return (0, -1) if self.graph.groups[g].is_output else old(self, g)

    patch.setattr(ilp_olla.Program, "surely", surely)
    patch.setattr(ilp_olla.Program, "_to_the_end", lambda *_: None)  # pyright: ignore


def groups_of_several_writers_begin_with_the_last(patch: pytest.MonkeyPatch) -> None:
    def last(program: IntegerProgram, group: int, step: int) -> list[Any]:
        g = program.graph.groups[group]
        return [1] if g.is_input else [program.done(g.writers[-1], step)]

    patch.setattr(ilp_olla, "begun", last)


def groups_of_several_writers_end_with_one_user(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ilp_olla, "over", lambda *a: over(*a)[:1])  # pyright: ignore


def anything_shares_a_step(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(ilp_olla.Program, "one_by_one", False)


def preserved_one_step_too_long(patch: pytest.MonkeyPatch) -> None:
    old = ilp_olla.Program.surely

    def surely(self: ilp_olla.Program, g: int) -> tuple[int, int]:
        first, last = old(self, g)
        return first, min(last + 1, self.life(g)[1])

    patch.setattr(ilp_olla.Program, "surely", surely)


OLLA: dict[str, Patch] = {
    "a token of 0 bytes": operators_without_results_have_no_token,
    "outputs to the last step": outputs_are_not_held,
    "several writers: from the first": groups_of_several_writers_begin_with_the_last,
    "several writers: to the last user": groups_of_several_writers_end_with_one_user,
    "one by one": anything_shares_a_step,
    "PRES no longer": preserved_one_step_too_long,
    "ALAP no earlier": spans_too_short(ilp_olla.Program),
    "precedence": without(ilp_olla.Program, "_precedence"),
    "in place where the operand dies": in_place_while_others_wait(ilp_olla),
}


@pytest.mark.deep
@pytest.mark.parametrize("dropped", OLLA)
def test_ollas_program_needs_every_constraint(
    dropped: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(differs_by(ilp_olla.solve), lambda: OLLA[dropped](monkeypatch), GRAPHS)


def control_edges_cost(rng: random.Random) -> bool:
    graph = random_graph(rng, 8)
    ordered = with_edges(graph, ilp_olla.control_edges(graph))
    return optimum(ordered) != optimum(graph)


def test_olla_needs_anchors_that_descend(monkeypatch: pytest.MonkeyPatch) -> None:
    """Functions 3 and 4 as printed: an anchor need not descend from what the release needs."""

    def by_level_alone(graph: MemoryGraph, release: int, down: list[int]) -> int:
        before = sum(1 << v for v in range(len(graph)) if down[v] >> release & 1)
        return (1 << len(graph)) - 1 & ~(before | 1 << release)

    assert is_caught(
        control_edges_cost,
        lambda: monkeypatch.setattr(ilp_olla, "after_what_it_needs", by_level_alone),
        5 * GRAPHS,
    )
