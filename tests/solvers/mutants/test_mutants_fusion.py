"""Fusion and segment chains without one of their conditions: each mutant is caught.

It contracts what must not be, and the optimum of the result differs from brute force on one of the
first few thousand random problems.
"""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from contexts import contracted_differs, module_in
from mutants import first_difference, is_caught
from oracles import optimum, optimum_in_blocks, random_graph, random_order

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory import fusion, fusion_check
from memopt.solvers.theory.bounds import Bound
from memopt.solvers.theory.chains import Chain, chains
from memopt.solvers.theory.fusion import ALL_RULES, Rules, contract, modules
from memopt.solvers.theory.segments import ALL_CHAIN_RULES, ChainRules, Segment
from memopt.solvers.theory.small_module import SmallModule

GRAPHS = 6000


# -- T3 ------------------------------------------------------------------------------------------


def fused(rules: Rules) -> Callable[[random.Random], bool]:
    def differs(rng: random.Random) -> bool:
        graph = random_graph(rng, 6)
        best = optimum_in_blocks(graph, [m.operators for m in modules(graph, rules)])
        return best != optimum(graph)

    return differs


SEPARABLE = ["same_side", "shared_reads", "shared_groups", "unread_inputs"]


@pytest.mark.deep
@pytest.mark.parametrize("dropped", [*SEPARABLE, "inner_levels", "least_peak"])
def test_t3_needs_every_condition(dropped: str) -> None:
    assert first_difference(fused(ALL_RULES), 200) is None
    assert first_difference(fused(replace(ALL_RULES, **{dropped: False})), GRAPHS) is not None


def nodes_differ(rng: random.Random) -> bool:
    graph = random_graph(rng, 6)
    small, _ = contract(graph, modules(graph))
    return optimum(small) != optimum(graph)


def clamped(old: Callable[..., MemoryGraph]) -> Callable[..., MemoryGraph]:
    """Workspaces of contracted operators are not below 0."""

    def new(
        names: Sequence[str],
        before: object,
        groups: object,
        workspace: Sequence[int],
        *rest: object,
    ) -> MemoryGraph:
        kept = [w if "+" not in n else max(0, w) for n, w in zip(names, workspace, strict=True)]
        return old(names, before, groups, tuple(kept), *rest)

    return new


def test_t3_needs_negative_workspace(monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = clamped(MemoryGraph)
    assert is_caught(
        nodes_differ, lambda: monkeypatch.setattr(fusion, "MemoryGraph", mutant), GRAPHS
    )


def in_place_over_what_others_need(
    graph: MemoryGraph, operators: Sequence[int], members: int, before: int
) -> tuple[SmallModule, list[int]]:
    """`cut_out`, but with candidates whose operand is held or read after the module."""
    local, touched = cut_out(graph, operators, members, before)
    place = {v: i for i, v in enumerate(operators)}
    index = {g: i for i, g in enumerate(touched)}
    every = tuple(
        (place[v], index[c.result], index[c.operand])
        for v in operators
        for c in graph.candidates[v]
    )
    return local._replace(inplace=every), touched


cut_out = fusion.cut_out


def test_t3_in_place_only_over_what_dies_in_the_module(monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_caught(
        nodes_differ,
        lambda: monkeypatch.setattr(fusion, "cut_out", in_place_over_what_others_need),
        GRAPHS,
    )


# -- T2 ------------------------------------------------------------------------------------------


def module_differs(rules: ChainRules) -> Callable[[random.Random], bool]:
    def differs(rng: random.Random) -> bool:
        drawn = module_in(rng, rules)
        return drawn is not None and contracted_differs(drawn[0], [drawn[1]])

    return differs


@pytest.mark.parametrize(
    "dropped", ["boundaries", "least_hills", "lowest_valleys", "from_the_end", "liu"]
)
def test_t2_needs_every_rule(dropped: str) -> None:
    rules = replace(ALL_CHAIN_RULES, **{dropped: False})
    assert first_difference(module_differs(ALL_CHAIN_RULES), 200) is None
    assert first_difference(module_differs(rules), GRAPHS) is not None


@pytest.mark.parametrize("dropped", SEPARABLE)
def test_t2_needs_every_condition_of_separable(dropped: str) -> None:
    rules = replace(ALL_RULES, **{dropped: False})

    def differs(rng: random.Random) -> bool:
        graph = random_graph(rng, 6)
        return contracted_differs(graph, chains(graph, rules))

    assert first_difference(differs, GRAPHS) is not None


# -- chains that come from elsewhere -----------------------------------------------------------


def an_unsafe_chain_is_accepted(rng: random.Random) -> bool:
    """Any operators between two ideals, in any order and anyhow cut, as a file may hold them."""
    graph = random_graph(rng, 6, unread=False)
    order = random_order(rng, graph)
    a, b = sorted((rng.randint(0, len(order)), rng.randint(0, len(order))))
    if b - a < 2:
        return False
    cuts = sorted(rng.sample(range(a + 1, b), rng.randint(0, min(2, b - a - 1))))
    first, *rest = [order[i:j] for i, j in pairwise([a, *cuts, b])]
    chain: Chain = (first, *rest)
    return fusion_check.is_safe_chain(graph, chain) and contracted_differs(graph, [chain])


def not_separable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fusion_check, "separable", lambda *_: True)  # pyright: ignore


def any_single_node(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fusion_check, "_is_one_node", lambda *_: True)  # pyright: ignore


def other_boundaries(patch: pytest.MonkeyPatch) -> None:
    """Whatever the hills and levels that others can see."""
    same = (Segment((0,), 0, 0, 0),)
    patch.setattr(fusion_check, "chain_of", lambda _: same)  # pyright: ignore


def any_peak_of_all(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(fusion_check, "LARGE", 0)
    patch.setattr(fusion_check, "flow_bound", lambda *_, enough: Bound(enough, 0, 0))  # pyright: ignore


@pytest.mark.parametrize(
    "mutant", [not_separable, any_single_node, other_boundaries, any_peak_of_all]
)
def test_a_chain_from_elsewhere_is_checked_for_every_condition(
    mutant: Callable[[pytest.MonkeyPatch], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert is_caught(an_unsafe_chain_is_accepted, lambda: mutant(monkeypatch), GRAPHS)
