"""Every case of docs/theory.md by name, with its numbers."""

import random
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from cases import (
    Printed,
    liberis_figure_1,
    make,
    olla_function_5,
    printed_liberis,
    printed_olla,
    printed_zhong,
)
from oracles import ideals, optimum, optimum_in_blocks, random_graph, random_order, ready

from memopt.solvers.bounds import flow_bound
from memopt.solvers.cuts import Cuts
from memopt.solvers.fusion import (
    ALL_RULES,
    Module,
    Sides,
    contract,
    expand,
    inside,
    module_of,
    modules,
    separable,
)
from memopt.solvers.network import Network
from memopt.solvers.problem import Group, InPlace, MemoryGraph, profile
from memopt.solvers.scheduling import schedule, search

EXACT: list[Callable[[MemoryGraph], int]] = [
    lambda g: schedule(g, "auto").peak,
    lambda g: schedule(g, "search", bound=0).peak,
    lambda g: schedule(g, "ilp").peak,
    lambda g: contracted_optimum(g),
]


def contracted_optimum(graph: MemoryGraph) -> int:
    small, members = contract(graph, modules(graph))
    return profile(graph, expand(schedule(small, "search").order, members)).peak


def exact(graph: MemoryGraph) -> int:
    """The optimum, on which brute force and all exact methods must agree."""
    best = optimum(graph)
    assert [method(graph) for method in EXACT] == [best] * len(EXACT)
    return best


def forced(graph: MemoryGraph, *operators: int) -> int | None:
    """The optimum when `operators` run in one go, in that order, legal or not."""
    return optimum_in_blocks(graph, [operators])


def refused(graph: MemoryGraph, *operators: int) -> bool:
    return module_of(graph, sum(1 << v for v in operators), Sides.of(graph)) is None


# -- section 2: corrections to the papers --------------------------------------------------


def test_zhong_theorem_iv_2_needs_every_inner_order() -> None:
    graph = make(
        {"x": 8, "g": 6},
        [
            ("op0", "x", "a:3"),
            ("op1", "x", "b:1"),
            ("op2", "a", "c:8"),
            ("op3", "a b c", "y:8", 5),
            ("q", "g", "r:2", 14),
        ],
    )
    assert exact(graph) == 27
    assert forced(graph, 0, 2, 1, 3) == 30
    sub, _ = inside(graph, 0b1111, Sides.of(graph))
    facts = profile(sub, (0, 2, 1, 3))
    assert (facts.peak, facts.levels) == (25, (8, 11, 19, 12, 8))
    assert min(profile(sub, (0, 1, 2, 3)).levels) == 4
    assert separable(graph, 0b1111, Sides.of(graph))
    assert refused(graph, 0, 1, 2, 3)


def test_zhong_theorem_iv_1_decreasing_with_a_shared_input() -> None:
    graph = make({"x": 4}, [("v0", "x", "m:4", 4), ("v1", "m", "n:3", 4), ("z", "x", "o:1")])
    assert exact(graph) == 12
    assert forced(graph, 0, 1) == 13
    assert refused(graph, 0, 1)


RESIDUAL = make({"x": 4}, [("a", "x", "p:4"), ("b", "p", "q:4"), ("add", "p q", "y:4")])


def test_zhong_equation_10_as_printed_makes_a_residual_block_infeasible() -> None:
    assert printed_zhong(RESIDUAL, Printed(last="max", keeps=True)) is None
    assert printed_zhong(RESIDUAL, Printed(last="min-inner", keeps=True)) == exact(RESIDUAL) == 12


def test_zhong_equation_10_does_not_apply_to_outputs() -> None:
    assert printed_zhong(RESIDUAL, Printed(last="min", keeps=True)) is None


def test_zhong_program_as_printed_makes_outputs_free() -> None:
    graph = make({"x": 1}, [("a", "x", "y:100")])
    assert printed_zhong(graph, Printed()) == 1
    assert printed_zhong(graph, Printed(keeps=True)) == exact(graph) == 101


def test_liberis_algorithm_1_counts_an_input_read_twice_twice() -> None:
    graph = make({"x": 10}, [("A", "x", "t:5"), ("B", "x t", "y:1")])
    assert printed_liberis(graph) == 25
    assert exact(graph) == 16


def test_olla_never_runs_an_operator_without_outputs() -> None:
    graph = make({}, [("v0", "", "p:10"), ("v1", "", "q:10"), ("v2", "p q", "")])
    assert printed_olla(graph) == 10
    assert exact(graph) == 20


def test_olla_function_5_must_take_the_interval_of_the_chosen_edge() -> None:
    # the long edge 0, inside it edge 1; edge 2 is the last one visited and lies elsewhere
    spans = [(0, 10), (2, 8), (11, 12)]
    assert olla_function_5(spans, printed=False) == [0, 1]
    assert olla_function_5(spans, printed=True) == [0, 2]


def test_merging_equal_operators_can_raise_the_optimum() -> None:
    apart = make(
        {"x": 10},
        [
            ("relu1", "x", "a:10"),
            ("p", "a", "p:1"),
            ("h", "p", "h:1", 30),
            ("relu2", "x", "b:10"),
            ("y", "x b h", "y:1"),
        ],
    )
    merged = make(
        {"x": 10},
        [("relu", "x", "a:10"), ("p", "a", "p:1"), ("h", "p", "h:1", 30), ("y", "x a h", "y:1")],
    )
    assert (exact(apart), exact(merged)) == (42, 52)


def test_a_slice_as_an_alias_can_raise_the_optimum() -> None:
    rest = [("op", "w", "z:50", 60)]
    copied = make({"x": 100, "w": 1}, [("slice", "x", "s:10"), *rest, ("use", "s z", "y:1")])
    aliased = make({"x": 100, "w": 1}, [*rest, ("use", "x z", "y:1")])
    assert (exact(copied), exact(aliased)) == (121, 211)


def test_splitting_at_a_single_tensor_forgets_a_live_output() -> None:
    graph = make(
        {"x": 1},
        [("a", "x", "t:1 o:10"), ("b", "t", "m:20"), ("c", "m", "y:1")],
    )
    parts = (
        make({"x": 1}, [("a", "x", "t:1 o:10")]),
        make({"t": 1}, [("b", "t", "m:20"), ("c", "m", "y:1")]),
    )
    assert max(map(exact, parts)) == 21
    assert exact(graph) == 31


# -- section 3: what is true ------------------------------------------------------------


def test_condition_3_storage_groups_across_a_module() -> None:
    graph = make(
        {"x": 3, "w": 4},
        [
            ("0", "x", "u:18", 15),
            ("1", "u", "p:6", 5),
            ("2", "w", "q:19"),
            ("3", "p q", "y:4", 13),
        ],
        joined="p q",
    )
    assert exact(graph) == 48
    assert profile(graph, (0, 2, 1, 3)).peak == 48
    assert forced(graph, 0, 1) == 52
    sides = Sides.of(graph)
    assert not separable(graph, 0b11, sides)
    assert separable(graph, 0b11, sides, replace(ALL_RULES, shared_groups=False))


def test_lemma_0_levels_are_submodular(fuzz: float) -> None:
    rng = random.Random(0)
    for _ in range(int(600 * fuzz)):
        graph = random_graph(rng, 6, unread=False)
        levels = {d: graph.level(d) for d in ideals(graph)}
        for a in levels:
            for b in levels:
                assert levels[a] + levels[b] >= levels[a | b] + levels[a & b], graph


@pytest.mark.parametrize(
    "wrong",
    [
        lambda self, step, after, level, limit: after <= level,  # pyright: ignore
        lambda self, step, after, level, limit: step <= limit,  # pyright: ignore
    ],
    ids=["ignores the hill", "ignores the level"],
)
def test_t1_both_side_conditions_matter(wrong: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def differs() -> bool:
        rng = random.Random(0)
        for _ in range(1000):
            graph = random_graph(rng, 8)
            found = search.solve(graph, bound=0, incumbent=random_order(rng, graph))
            if found.peak != optimum(graph):
                return True
        return False

    assert not differs()
    monkeypatch.setattr(search.Search, "may_commit", wrong)
    assert differs()


def test_t1_nothing_in_between_may_be_lower() -> None:
    """Without `minimal` a branch could commit past a valley: x, of 9 bytes, dies inside it."""
    graph = make(
        {"x": 9, "w": 1},
        [("a", "x", "b:1"), ("c", "b", "d:8"), ("e", "w", "f:1", 12)],
    )
    assert exact(graph) == 15
    level, middle, end = graph.level(0), graph.level(0b1), graph.level(0b11)
    assert middle < end <= level
    assert (forced(graph, 0, 1) or 0) > 15
    assert refused(graph, 0, 1)


def test_t3_a_segment_workspace_can_be_negative() -> None:
    graph = make({"x": 100}, [("a", "x", "p:1"), ("b", "p", "y:50")])
    small, members = contract(graph, [_module(graph, 0, 1)])
    assert members == [(0, 1)]
    assert small.workspace == (101 - 100 - 50,)
    assert optimum(small) == exact(graph) == 101


def _module(graph: MemoryGraph, *operators: int) -> Module:
    sub, inner = inside(graph, sum(1 << v for v in operators), Sides.of(graph))
    facts = profile(sub, tuple(inner.index(v) for v in operators))
    return Module(operators, max(facts.steps), facts.levels[0], facts.levels[-1])


def test_t4_merging_only_if_the_union_is_a_module() -> None:
    graph = make(
        {"i1": 1, "i2": 1},
        [("a", "i1", "A:10"), ("b", "i2", "B:10", 5), ("z", "A", "o:1")],
    )
    assert exact(graph) == 17
    assert profile(graph, (0, 2, 1)).peak == 17
    assert profile(graph, (1, 0, 2)).peak == 21
    assert not separable(graph, 0b11, Sides.of(graph))


def test_t6_in_place_taken_naively_is_no_bound() -> None:
    graph = MemoryGraph(
        ("relu",),
        ((),),
        (
            Group("x", 10, readers=(0,), is_input=True),
            Group("y", 10, writers=(0,), is_output=True),
        ),
        inplace=(InPlace(0, 1, 0),),
    )
    naive = Network(replace(graph, inplace=())).cut(0, None)
    assert naive is not None and naive.value == 20
    assert flow_bound(graph, [(0,)]).value == exact(graph) == 10


def test_t6_is_the_least_step_over_all_ideals(fuzz: float) -> None:
    """Each operator's cut is exactly the least step at which it can run."""
    rng = random.Random(6)
    for _ in range(int(2000 * fuzz)):
        graph = random_graph(rng, 6, unread=False)
        network = Network(graph)
        for v in range(len(graph)):
            cuts = [network.cut(v, c) for c in (None, *graph.candidates[v])]
            least = min(graph.step(d, v) for d in ideals(graph) if v in ready(graph, d))
            assert min(c.value for c in cuts if c) == least, (graph, v)
            small = [Cuts(graph).least_step(v, c) for c in (None, *graph.candidates[v])]
            assert [c and c.value for c in cuts] == [x and x[0] for x in small], (graph, v)


# -- section 4: the papers' figures ------------------------------------------------------------


def test_liberis_figure_1() -> None:
    graph = liberis_figure_1()
    assert profile(graph, range(7)).peak == 5216
    assert profile(graph, (0, 3, 5, 1, 2, 4, 6)).peak == 4960
    assert exact(graph) == 4960
    assert printed_liberis(graph) == 4960
    small, members = contract(graph, modules(graph))
    assert len(small) < 7
    found = schedule(small, "ilp")
    assert (found.peak, found.optimal, found.proof) == (4960, True, "ilp")
    assert profile(graph, expand(found.order, members)).peak == 4960
