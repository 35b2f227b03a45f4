"""T6 with a network that lacks one of its parts: each mutant is caught by T6's own definition.

A missing arc makes the bound too low, a result that is paid twice or in vain makes it too high,
which is worse: it is no bound then.
"""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from exhaustive import least_steps, optimum
from mutants import first_difference, is_caught
from oracles import random_graph, random_order

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph
from memopt.solvers.theory import bounds
from memopt.solvers.theory.cuts import Cuts

GRAPHS = 2000


def bound_differs(rng: random.Random) -> bool:
    graph = random_graph(rng, 7)
    value = bounds.flow_bound(graph, [random_order(rng, graph)]).value
    return value != max(bounds.trivial(graph), *least_steps(graph))


def is_no_bound(rng: random.Random) -> bool:
    graph = random_graph(rng, 7)
    return bounds.flow_bound(graph, [random_order(rng, graph)]).value > optimum(graph)


def of_groups(change: Callable[[Group], list[Group]]) -> Callable[[MemoryGraph], MemoryGraph]:
    """What the network sees: each group changed; candidates keep their groups' first parts."""

    def changed(graph: MemoryGraph) -> MemoryGraph:
        parts = [change(g) for g in graph.groups]
        place = [sum(map(len, parts[:i])) for i in range(len(parts))]
        inplace = tuple(
            InPlace(c.operator, place[c.result], place[c.operand]) for c in graph.inplace
        )
        return replace(graph, groups=tuple(g for gs in parts for g in gs), inplace=inplace)

    return changed


def a_tensor_per_writer(g: Group) -> list[Group]:
    if len(set(g.writers)) < 2:
        return [g]
    return [replace(g, writers=(w,)) for w in sorted(set(g.writers))]


def one_reader_is_enough(g: Group) -> list[Group]:
    return [replace(g, readers=g.readers[:1])]


def one_writer_is_enough(g: Group) -> list[Group]:
    return [g if g.is_input else replace(g, writers=g.writers[:1])]


def outputs_are_not_held(g: Group) -> list[Group]:
    return [replace(g, is_output=False)]


def inputs_are_made_by_their_reader(g: Group) -> list[Group]:
    return [replace(g, is_input=False, writers=g.writers or g.readers[:1]) if g.readers else g]


def seen_as(
    monkeypatch: pytest.MonkeyPatch, change: Callable[[MemoryGraph], MemoryGraph]
) -> Callable[[], None]:
    def mutate() -> None:
        monkeypatch.setattr(bounds, "Cuts", lambda graph, limit: Cuts(change(graph), limit))  # pyright: ignore

    return mutate


@pytest.mark.parametrize(
    "change",
    [
        one_reader_is_enough,
        one_writer_is_enough,
        outputs_are_not_held,
        inputs_are_made_by_their_reader,
    ],
)
def test_t6_needs_every_arc(
    change: Callable[[Group], list[Group]], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(bound_differs, seen_as(monkeypatch, of_groups(change)), GRAPHS)


def test_t6_a_group_is_one_node_pair(monkeypatch: pytest.MonkeyPatch) -> None:
    """A node pair for each writer counts the group more than once."""
    assert is_caught(is_no_bound, seen_as(monkeypatch, of_groups(a_tensor_per_writer)), GRAPHS)


def test_t6_precedence_is_in_the_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it an ideal may leave out what those in it need, beyond v's own ancestors."""

    def loose(graph: MemoryGraph) -> MemoryGraph:
        return replace(graph, predecessors=((),) * len(graph))

    assert is_caught(bound_differs, seen_as(monkeypatch, loose), GRAPHS)


least_step = Cuts.least_step


def nothing_in_place(
    self: Cuts, operator: int, candidate: InPlace | None
) -> tuple[int, int] | None:
    return None if candidate else least_step(self, operator, None)


def the_first_operand_alone(
    self: Cuts, operator: int, candidate: InPlace | None
) -> tuple[int, int] | None:
    if candidate and candidate != self.graph.candidates[operator][0]:
        return None
    return least_step(self, operator, candidate)


def always_in_place(self: Cuts, operator: int, candidate: InPlace | None) -> tuple[int, int] | None:
    """As if the operand died wherever the operator runs."""
    if candidate is None:
        return least_step(self, operator, None)
    results = set(self.graph.writes[operator]) - {candidate.result}
    never = self.down[operator] | 1 << operator
    return self._least(self.up[operator], never, results, self.graph.extra[operator])  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("mutant", [nothing_in_place, the_first_operand_alone])
def test_t6_in_place_once_per_operand(mutant: object, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the cut of a candidate that can be taken over, T6 is no bound."""
    assert is_caught(
        is_no_bound, lambda: monkeypatch.setattr(Cuts, "least_step", mutant), 3 * GRAPHS
    )


def test_t6_in_place_where_the_operand_dies(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_caught(
        bound_differs, lambda: monkeypatch.setattr(Cuts, "least_step", always_in_place), GRAPHS
    )


def test_t6_every_result_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    old = Cuts._least  # pyright: ignore[reportPrivateUsage]

    def free(self: Cuts, run: int, never: int, results: set[int], constant: int) -> object:
        return old(self, run, never, set(), constant)

    assert is_caught(bound_differs, lambda: monkeypatch.setattr(Cuts, "_least", free), GRAPHS)


def test_t6_workspace_is_paid(monkeypatch: pytest.MonkeyPatch) -> None:
    def bare(graph: MemoryGraph) -> MemoryGraph:
        return replace(graph, workspace=(0,) * len(graph))

    assert first_difference(bound_differs, 200) is None
    seen_as(monkeypatch, bare)()
    assert first_difference(bound_differs, GRAPHS) is not None
