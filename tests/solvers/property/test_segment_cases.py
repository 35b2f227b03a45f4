"""Segment chains, merging, splits, Zhong's fusion on small graphs (docs/concepts/theory.md)."""

from dataclasses import replace

import pytest
from cases import liberis_figure_1, make
from oracles import optimum, optimum_in_blocks
from parallel_modules import merge_parallel

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, ProblemError, profile
from memopt.solvers.published.fusion import zhong
from memopt.solvers.scheduling.kill_moves import KillMoves
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.chains import chain_of, chains, contract_chains, reduced
from memopt.solvers.theory.fusion import Sides, contract, inside, separable
from memopt.solvers.theory.fusion_check import is_safe_chain
from memopt.solvers.theory.segments import ALL_CHAIN_RULES, Segment, canonical, cut_into_segments
from memopt.solvers.theory.splits import (
    commits,
    forced_cuts,
    least_levels,
    part_between,
    parts,
    splits,
)

# levels 8, 2, 9, 1, 6, 3 and steps 12, 16, 13, 7, 9
STAIRS = make(
    {"x": 8},
    [
        ("a", "x", "a:2", 2),
        ("b", "a", "b:9", 5),
        ("c", "b", "c:1", 3),
        ("d", "c", "d:6"),
        ("e", "d", "e:3"),
    ],
)

# Zhong IV.2: the operators stand in the order of which the printed condition holds
IV_2 = make(
    {"x": 8, "g": 6},
    [
        ("op0", "x", "a:3"),
        ("op2", "a", "c:8"),
        ("op1", "x", "b:1"),
        ("op3", "a b c", "y:8", 5),
        ("q", "g", "r:2", 14),
    ],
)

IV_1 = make({"x": 4}, [("v0", "x", "m:4", 4), ("v1", "m", "n:3", 4), ("z", "x", "o:1")])


def test_the_chain_of_a_staircase() -> None:
    assert canonical(STAIRS) == (
        Segment((0,), 12, 8, 2),
        Segment((1, 2), 16, 2, 1),
        Segment((3, 4), 9, 1, 3),
    )


def test_a_module_in_one_segment_is_one_node() -> None:
    graph = liberis_figure_1()
    chain = canonical(graph)
    assert chain is not None
    assert [(s.hill, s.start, s.end) for s in chain] == [(4960, 1568, 512)]
    small, members = reduced(graph)
    assert (len(small), len(members[0])) == (1, 7)
    assert optimum(small) == 4960


def test_a_flat_middle_joins_the_hill_that_is_not_lower() -> None:
    # levels 5, 1, 4, 1: the middle 1 -> 4 -> 1 has hill 5, no more than the 6 before it
    graph = make({"x": 5}, [("a", "x", "a:1"), ("b", "a", "b:4"), ("c", "b", "c:1")])
    assert canonical(graph) == (Segment((0, 1, 2), 6, 5, 1),)
    # and with a rise to 7 behind it, over a hill of 8, the tie goes to the smaller set
    graph = make(
        {"x": 5}, [("a", "x", "a:1"), ("b", "a", "b:4"), ("c", "b", "c:1"), ("d", "c", "d:7")]
    )
    assert canonical(graph) == (Segment((0,), 6, 5, 1), Segment((1, 2, 3), 8, 1, 7))


def test_a_flat_middle_higher_than_both_neighbours_is_a_segment() -> None:
    graph = make({"x": 5}, [("a", "x", "a:1"), ("b", "a", "b:1", 30), ("c", "b", "c:7")])
    assert canonical(graph) == (
        Segment((0,), 6, 5, 1),
        Segment((1,), 32, 1, 1),
        Segment((2,), 8, 1, 7),
    )


def test_a_segment_workspace_can_be_negative() -> None:
    graph = make({"x": 100, "g": 1}, [("a", "x", "p:1"), ("b", "p", "y:50"), ("q", "g", "r:60")])
    small, members = contract_chains(graph, [((0, 1),)])
    assert members == [(0, 1), (2,)]
    assert small.workspace == (101 - 100 - 50, 0)


def test_the_search_gives_up_honestly() -> None:
    graph = make({"x": 1}, [(f"v{i}", "x", f"t{i}:{i + 2}") for i in range(12)])
    assert canonical(graph, states=5) is None
    assert chain_of(graph, states=5) is None


def test_a_valley_is_a_place_for_others() -> None:
    """T2: the case of Theorem IV.2 becomes two segments, and the optimum stays 27."""
    found = chains(IV_2)
    small, _ = contract_chains(IV_2, found)
    assert optimum(IV_2) == optimum(small) == 27
    (chain,) = [c for c in found if 0 in c[0]]
    assert len(chain) == 2
    assert optimum_in_blocks(IV_2, [(0, 1, 2, 3)]) == 30


def test_overlapping_chains_are_refused() -> None:
    with pytest.raises(ProblemError):
        contract_chains(STAIRS, [((0, 1),), ((1, 2),)])


# -- the check of chains that come from elsewhere ------------------------------------------------


def test_only_a_safe_cut_is_accepted() -> None:
    beside = make(
        {"x": 8, "g": 6},
        [
            ("a", "x", "a:2", 2),
            ("b", "a", "b:9", 5),
            ("c", "b", "c:1", 3),
            ("q", "g", "r:2", 14),
        ],
    )
    assert is_safe_chain(beside, ((0,), (1, 2)))
    assert is_safe_chain(beside, ((0,), (1,), (2,)))  # finer than need be
    assert not is_safe_chain(beside, ((0, 1), (2,)))
    assert not is_safe_chain(beside, ((0, 1, 2),))
    assert not is_safe_chain(IV_2, ((0, 1, 2, 3),))
    assert not is_safe_chain(IV_1, ((0,), (1,)))  # not separable: z reads x too


# -- T4 ------------------------------------------------------------------------------------------


def test_parallel_chains_merge_by_sorting() -> None:
    graph = make(
        {"i1": 9, "i2": 9, "g": 5},
        [
            ("a", "i1", "A:1", 7),
            ("b", "i2", "B:3", 2),
            ("c", "A", "C:6", 1),
            ("d", "B", "D:8", 9),
            ("q", "g", "r:2", 14),
        ],
    )
    chain = merge_parallel(graph, [0b0101, 0b1010])
    assert chain is not None
    assert [v for s in chain for v in s] == [1, 0, 3, 2]
    assert optimum(contract_chains(graph, [chain])[0]) == optimum(graph)


def test_t4_only_if_the_union_is_a_module() -> None:
    graph = make(
        {"i1": 1, "i2": 1},
        [("a", "i1", "A:10"), ("b", "i2", "B:10", 5), ("z", "A", "o:1")],
    )
    assert optimum(graph) == 17
    assert profile(graph, (1, 0, 2)).peak == 21
    sides = Sides.of(graph)
    assert separable(graph, 0b01, sides)
    assert separable(graph, 0b10, sides)
    assert merge_parallel(graph, [0b01, 0b10]) is None
    wrong = merge_parallel(graph, [0b01, 0b10], replace(ALL_CHAIN_RULES, union=False))
    assert wrong is not None
    assert optimum(contract_chains(graph, [wrong])[0]) == 21


def test_modules_in_sequence_do_not_merge() -> None:
    assert merge_parallel(STAIRS, [0b00011, 0b01100]) is None


# -- T5 ------------------------------------------------------------------------------------------


def test_forced_cuts() -> None:
    graph = make(
        {"x": 4}, [("a", "x", "a:4"), ("b", "a", "b:2"), ("c", "a", "c:2"), ("d", "b c", "d:1")]
    )
    assert forced_cuts(graph) == [0b0001, 0b0111]
    assert forced_cuts(make({"x": 1}, [("a", "x", "a:1"), ("b", "x", "b:1")])) == []


def test_what_passes_a_part_counts() -> None:
    graph = make({"x": 1}, [("a", "x", "t:1 o:10"), ("b", "t", "m:20"), ("c", "m", "y:1")])
    part = part_between(graph, 0b001, 0b111)
    assert part.through == 10
    assert optimum(part.graph) + part.through == optimum(graph) == 31


def test_a_least_level_is_a_split() -> None:
    graph = make(
        {"x": 9, "g": 9}, [("a", "x", "a:1"), ("b", "g", "b:1"), ("c", "a", "c:5"), ("d", "b", "")]
    )
    assert least_levels(graph, (0, 1, 3, 2)) == [0b1011]
    assert least_levels(graph, (0, 2, 1, 3)) == []
    assert 0b1011 in splits(graph, (0, 1, 3, 2))


def test_an_ideal_that_t1_allows_is_a_split() -> None:
    """Neither forced nor of the least level: a frees 7 B, its step of 15 is within the bound."""
    graph = make({"x": 9, "g": 4}, [("a", "x", "a:2"), ("b", "g", "b:5"), ("d", "a b", "d:1")])
    order = (0, 1, 2)
    assert forced_cuts(graph) == [0b011]
    assert least_levels(graph, order) == []
    assert commits(graph, order, 14) == []  # a's step is 15
    assert commits(graph, order, 15) == [0b001]
    assert optimum(graph) == 15
    found = parts(graph, splits(graph, order, 15))
    assert [optimum(p.graph) + p.through for p in found] == [15, 11, 8]


# -- Zhong ---------------------------------------------------------------------------------------


def fused_optimum(graph: MemoryGraph, rules: zhong.ZhongRules) -> int | None:
    found = zhong.modules(graph, rules=rules)
    return optimum_in_blocks(graph, [m.operators for m in found])


def test_zhong_theorem_iv_2_27_not_30() -> None:
    assert optimum(IV_2) == fused_optimum(IV_2, zhong.CORRECTED) == 27
    assert fused_optimum(IV_2, zhong.PRINTED) == 30
    assert fused_optimum(IV_2, replace(zhong.CORRECTED, every_order=False)) == 30


def test_zhong_theorem_iv_1_12_not_13() -> None:
    assert optimum(IV_1) == fused_optimum(IV_1, zhong.CORRECTED) == 12
    assert fused_optimum(IV_1, zhong.PRINTED) == 13
    assert fused_optimum(IV_1, replace(zhong.CORRECTED, isolated=False)) == 13


def test_zhong_fuses_what_its_theorems_allow() -> None:
    residual = make({"x": 4}, [("a", "x", "p:4"), ("b", "p", "q:4"), ("add", "x q", "y:4")])
    found = zhong.modules(residual)
    assert [m.operators for m in found] == [(0, 1, 2)]
    assert optimum(contract(residual, found)[0]) == optimum(residual) == 12


def test_levels_of_segments_are_the_modules_own() -> None:
    sub, _ = inside(IV_2, 0b1111, Sides.of(IV_2))
    assert cut_into_segments(sub, [(0, 2), (1, 3)]) == (
        Segment((0, 2), 12, 8, 4),
        Segment((1, 3), 25, 4, 8),
    )


def test_what_an_operator_frees_does_not_pay_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kill-moves: a negative workspace and a result in place may not count on the same bytes."""
    graph = MemoryGraph(
        ("op0", "op1", "op2", "op3", "op4", "op5", "op6"),
        ((), (0,), (0, 1), (1,), (3,), (), (5,)),
        (
            Group("g0", 2, is_input=True, is_output=True),
            Group("g1", 8, (0,), (1, 2)),
            Group("g3", 34, (2,), is_output=True),
            Group("g4", 8, (3,), is_output=True),
            Group("g5", 5, (5,), (6,)),
            Group("g6", 5, (6,)),
            Group("g7", 12, (6,), is_output=True),
        ),
        (0, 0, 0, 12, 0, 0, -8),
        (InPlace(6, 5, 4),),
    )
    assert optimum(graph) == search.solve(graph, bound=48).peak == 53
    assert not KillMoves(graph).covers
    monkeypatch.setattr(KillMoves, "covers", True)
    assert search.solve(graph, bound=48).peak > 53
