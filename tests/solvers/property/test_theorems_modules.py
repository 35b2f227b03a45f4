"""Separable modules, T2, T3 and T4 of theory.md section 3 by name: the cases with their numbers,

what is allowed, and that no boundary of a chain can be left out.
"""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest
from cases import exact, forced, make
from contexts import beside, contracted, piece
from oracles import (
    optimum,
)

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, profile
from memopt.solvers.theory.chains import chain_of
from memopt.solvers.theory.fusion import (
    ALL_RULES,
    Module,
    Sides,
    contract,
    inside,
    least_inner_level,
    separable,
)
from memopt.solvers.theory.segments import Segment, canonical

# -- separable modules -------------------------------------------------------------------------


def test_condition_1_nobody_is_before_a_part_of_a_module() -> None:
    """p is before b and beside a: if a, b run in one go, P must be made while x is still there."""
    graph = make(
        {"x": 10, "w": 1},
        [("a", "x", "A:1"), ("p", "w", "P:10"), ("b", "A P", "y:1")],
    )
    assert exact(graph) == 12
    assert forced(graph, 0, 2) == 21
    sides = Sides.of(graph)
    assert not separable(graph, 0b101, sides)
    assert separable(graph, 0b101, sides, replace(ALL_RULES, same_side=False))


def test_condition_2_nobody_beside_a_module_reads_what_it_reads() -> None:
    graph = make({"x": 4}, [("v0", "x", "m:4", 4), ("v1", "m", "n:3", 4), ("z", "x", "o:1")])
    assert exact(graph) == 12
    assert forced(graph, 0, 1) == 13
    sides = Sides.of(graph)
    assert not separable(graph, 0b011, sides)
    assert separable(graph, 0b011, sides, replace(ALL_RULES, shared_reads=False))


def test_condition_3_no_storage_group_across_a_module() -> None:
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


def _sizes(rng: random.Random, count: int) -> list[int]:
    return [rng.choice((1, 2, 3, 5, 8, 13)) for _ in range(count)]


def several_inputs_and_outputs(rng: random.Random) -> tuple[MemoryGraph, int]:
    x, y, p, q, r, s, g, h = _sizes(rng, 8)
    operators = [
        ("a", "x y", f"p:{p} q:{q}", rng.randint(0, 9)),
        ("b", "p q", f"r:{r} s:{s}"),
        ("z", "g", f"h:{h}", rng.randint(0, 20)),
        ("end", "r s h", "e:1"),
    ]
    return make({"x": x, "y": y, "g": g}, operators), 0b11


def inputs_read_again_after(rng: random.Random) -> tuple[MemoryGraph, int]:
    x, p, q, g, h = _sizes(rng, 5)
    operators = [
        ("a", "x", f"p:{p}", rng.randint(0, 9)),
        ("b", "x p", f"q:{q}"),
        ("z", "g", f"h:{h}", rng.randint(0, 20)),
        ("end", "x q h", "e:1"),
    ]
    return make({"x": x, "g": g}, operators), 0b11


def outputs_inside(rng: random.Random) -> tuple[MemoryGraph, int]:
    x, p, o, q, g, h = _sizes(rng, 6)
    operators = [
        ("a", "x", f"p:{p} o:{o}", rng.randint(0, 9)),
        ("b", "p o", f"q:{q}"),
        ("z", "g", f"h:{h}", rng.randint(0, 20)),
        ("end", "q h", "e:1"),
    ]
    return make({"x": x, "g": g}, operators, outputs="o e"), 0b11


def in_place_inside(rng: random.Random) -> tuple[MemoryGraph, int]:
    graph, members = inputs_read_again_after(rng)
    p, q = graph.groups[2], graph.groups[3]
    groups = (*graph.groups[:3], replace(q, size=min(p.size, q.size)), *graph.groups[4:])
    return replace(graph, groups=groups, inplace=(InPlace(1, 3, 2),)), members


def not_series_parallel(rng: random.Random) -> tuple[MemoryGraph, int]:
    """N: c needs a and b, d needs b alone."""
    x, y, a, b, c, d, g, h = _sizes(rng, 8)
    operators = [
        ("a", "x", f"a:{a}", rng.randint(0, 9)),
        ("b", "y", f"b:{b}", rng.randint(0, 9)),
        ("c", "a b", f"c:{c}", rng.randint(0, 9)),
        ("d", "b", f"d:{d}", rng.randint(0, 9)),
        ("z", "g", f"h:{h}", rng.randint(0, 20)),
        ("end", "c d h", "e:1"),
    ]
    return make({"x": x, "y": y, "g": g}, operators), 0b1111


@pytest.mark.parametrize(
    "allowed",
    [
        several_inputs_and_outputs,
        inputs_read_again_after,
        outputs_inside,
        in_place_inside,
        not_series_parallel,
    ],
)
def test_separable_is_wider_than_isolated(
    allowed: Callable[[random.Random], tuple[MemoryGraph, int]],
) -> None:
    """What theory.md allows is a module, and its chain (T2) raises no optimum."""
    rng = random.Random(0)
    for _ in range(200):
        graph, members = allowed(rng)
        graph.check()
        sides = Sides.of(graph)
        assert separable(graph, members, sides)
        sub, operators = inside(graph, members, sides)
        found = chain_of(sub)
        assert found is not None
        first, *rest = [tuple(operators[v] for v in s.operators) for s in found]
        assert contracted(rng, graph, [(first, *rest)]) == optimum(graph), graph


# -- T2 and T3 -----------------------------------------------------------------------------------


def beside_boundary(chain: tuple[Segment, ...], i: int) -> MemoryGraph | None:
    """One operator z that may run at the boundary before segment `i` of `chain` and nowhere else,

    if the peak shall be the highest hill: it frees, or makes, or needs, what fits just there.
    """
    top = max(s.hill for s in chain)
    left, right = chain[i - 1], chain[i]
    if left.start > left.end and right.hill > left.hill:
        made, kept, work = top - left.hill, 0, left.hill - left.end
    elif right.end > right.start and left.hill > right.hill:
        made, kept, work = 0, top - right.hill, right.hill - right.start
    elif left.start > left.end and right.end > right.start:
        made, kept, work = 0, 0, top - left.end
    else:
        return None
    return make({"g": made}, [("z", "g", f"r:{kept}", work)])


def test_t2_and_t3_no_boundary_can_be_left_out(fuzz: float) -> None:
    """For each boundary of a canonical chain there is a graph around the module that needs it.

    So fusing a module of more than one segment into one node is not safe in every context: T3.
    """
    rng = random.Random(5)
    needed = 0
    for _ in range(int(4000 * fuzz)):
        module = piece(rng, 5)
        chain = canonical(module) if min(module.workspace) >= 0 else ()
        assert chain is not None
        for i in range(1, len(chain)):
            other = beside_boundary(chain, i)
            assert other is not None, chain
            graph, _ = beside([module, other])
            blocks = [s.operators for s in chain]
            merged = [*blocks[: i - 1], blocks[i - 1] + blocks[i], *blocks[i + 1 :]]
            best = optimum(graph)
            assert contracted(rng, graph, [(blocks[0], *blocks[1:])]) == best, graph
            assert contracted(rng, graph, [(merged[0], *merged[1:])]) > best, (graph, chain, i)
            whole = tuple(v for block in blocks for v in block)
            assert contracted(rng, graph, [(whole,)]) > best, (graph, chain, i)
            needed += 1
    assert needed > 500 * fuzz


def test_t3_the_cheap_test_is_sufficient(fuzz: float) -> None:
    """No proper non-empty ideal below both ends: the chain is one segment, in any order."""
    rng = random.Random(6)
    found = 0
    for _ in range(int(4000 * fuzz)):
        module = piece(rng, 5)
        ends = max(module.level(0), module.level((1 << len(module)) - 1))
        least = least_inner_level(module)
        if least is not None and least >= ends:
            chain = canonical(module)
            assert chain is not None and len(chain) == 1, module
            assert chain[0].hill == max(profile(module, chain[0].operators).steps)
            found += 1
    assert found > 100 * fuzz


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


# -- T4 ------------------------------------------------------------------------------------------


def test_t4_merging_only_if_the_union_is_a_module() -> None:
    graph = make(
        {"i1": 1, "i2": 1},
        [("a", "i1", "A:10"), ("b", "i2", "B:10", 5), ("z", "A", "o:1")],
    )
    assert exact(graph) == 17
    assert profile(graph, (0, 2, 1)).peak == 17
    assert profile(graph, (1, 0, 2)).peak == 21
    assert not separable(graph, 0b11, Sides.of(graph))
