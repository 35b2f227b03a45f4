"""Merging, splits and Zhong's fusion without one of their conditions: each mutant is caught."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
from contexts import contracted_differs, surrounded
from mutants import first_difference, is_caught
from oracles import optimum, random_graph, random_order
from parallel_modules import merge_parallel

from memopt.solvers.problems.memory_graph import Group, MemoryGraph
from memopt.solvers.published.fusion import zhong
from memopt.solvers.theory import chains as chains_module
from memopt.solvers.theory import splits
from memopt.solvers.theory.fusion import contract
from memopt.solvers.theory.segments import ALL_CHAIN_RULES, ChainRules, Segment
from memopt.solvers.theory.splits import ALL_SPLIT_RULES, Part, SplitRules, parts

GRAPHS = 6000


# -- T4 ------------------------------------------------------------------------------------------


def union_differs(rules: ChainRules) -> Callable[[random.Random], bool]:
    def differs(rng: random.Random) -> bool:
        graph = random_graph(rng, 6, unread=False)
        if any(p > v for v, before in enumerate(graph.predecessors) for p in before):
            return False
        pairs = [[1 << a, 1 << b] for a in range(len(graph)) for b in range(a)]
        found = [merge_parallel(graph, pair, rules) for pair in pairs]
        return any(chain and contracted_differs(graph, [chain]) for chain in found)

    return differs


def test_t4_needs_a_separable_union() -> None:
    assert first_difference(union_differs(ALL_CHAIN_RULES), 200) is None
    rules = replace(ALL_CHAIN_RULES, union=False)
    assert first_difference(union_differs(rules), GRAPHS) is not None


def by_rank(
    rank: Callable[[Segment], tuple[int, int]],
) -> Callable[[Sequence[Sequence[Segment]]], list[Segment]]:
    """`merged` with another order of segments; each chain keeps its own."""

    def merged(found: Sequence[Sequence[Segment]]) -> list[Segment]:
        left = [list(chain) for chain in found]
        result: list[Segment] = []
        while any(left):
            first = min((c for c in left if c), key=lambda c: rank(c[0]))
            result.append(first.pop(0))
        return result

    return merged


def _kind(s: Segment) -> int:
    return 0 if s.end < s.start else 1 if s.end == s.start else 2


RANKS: dict[str, Callable[[Segment], tuple[int, int]]] = {
    "falling by hill alone": lambda s: (_kind(s), (s.hill, 0, s.end - s.hill)[_kind(s)]),
    "rising by hill alone": lambda s: (_kind(s), (s.hill - s.start, 0, -s.hill)[_kind(s)]),
    "flat ones first": lambda s: (
        (1, 0, 2)[_kind(s)],
        (s.hill - s.start, 0, s.end - s.hill)[_kind(s)],
    ),
    "flat ones last": lambda s: (
        (0, 2, 1)[_kind(s)],
        (s.hill - s.start, 0, s.end - s.hill)[_kind(s)],
    ),
}


def merging_differs(rng: random.Random) -> bool:
    drawn = surrounded(rng, 2, 3)
    chain = None if drawn is None else merge_parallel(*drawn)
    return drawn is not None and chain is not None and contracted_differs(drawn[0], [chain])


@pytest.mark.parametrize("rank", RANKS)
def test_t4_needs_the_order_of_liu(rank: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = by_rank(RANKS[rank])
    assert is_caught(
        merging_differs, lambda: monkeypatch.setattr(chains_module, "merged", mutant), GRAPHS
    )


# -- T5 ------------------------------------------------------------------------------------------


def split_differs(rules: SplitRules) -> Callable[[random.Random], bool]:
    def differs(rng: random.Random) -> bool:
        graph = random_graph(rng, 7)
        best = optimum(graph)
        bound = rng.choice((None, best, best - rng.randint(0, 9)))
        found = splits.splits(graph, random_order(rng, graph), bound, rules)
        try:
            return max(optimum(p.graph) + p.through for p in parts(graph, found)) != best
        except KeyError:  # a part whose operators lack what they need
            return True

    return differs


@pytest.mark.deep
@pytest.mark.parametrize("dropped", ["descends", "least", "hill", "valley", "unread", "start"])
def test_t5_needs_every_condition(dropped: str) -> None:
    assert first_difference(split_differs(ALL_SPLIT_RULES), 200) is None
    rules = replace(ALL_SPLIT_RULES, **{dropped: False})
    assert first_difference(split_differs(rules), GRAPHS) is not None


def test_t5_needs_what_passes_a_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """SERENITY's "a single tensor" forgets the graph inputs and outputs that live through it."""
    old = splits.part_between

    def alone(graph: MemoryGraph, low: int, high: int, level: int | None = None) -> Part:
        return replace(old(graph, low, high, level), through=0)

    assert is_caught(
        split_differs(ALL_SPLIT_RULES),
        lambda: monkeypatch.setattr(splits, "part_between", alone),
        GRAPHS,
    )


# -- Zhong ---------------------------------------------------------------------------------------


def diamond(rng: random.Random) -> MemoryGraph:
    """The form of theory.md's case for Theorem IV.2 in random sizes: random graphs rarely have it.

    x -> op0 -> a -> op2 -> c and x -> op1 -> b meet in op3; g -> q -> r stands beside.
    """
    x, a, b, c, y, g, r = (rng.randint(0, 10) for _ in range(7))
    graph = MemoryGraph(
        ("op0", "op2", "op1", "op3", "q"),
        ((), (0,), (), (0, 1, 2), ()),
        (
            Group("x", x, readers=(0, 2), is_input=True),
            Group("a", a, (0,), (1, 3)),
            Group("c", c, (1,), (3,)),
            Group("b", b, (2,), (3,)),
            Group("y", y, (3,), is_output=True),
            Group("g", g, readers=(4,), is_input=True),
            Group("r", r, (4,), is_output=True),
        ),
        (0, 0, 0, rng.randint(0, 9), rng.randint(0, 20)),
    )
    graph.check()
    return graph


@pytest.mark.parametrize("dropped", ["isolated", "every_order"])
def test_zhong_needs_both_corrections(dropped: str) -> None:
    def under(rules: zhong.ZhongRules) -> Callable[[random.Random], bool]:
        def differs(rng: random.Random) -> bool:
            graph = diamond(rng) if rng.random() < 0.5 else random_graph(rng, 6)
            small, _ = contract(graph, zhong.modules(graph, rules=rules))
            return optimum(small) != optimum(graph)

        return differs

    assert first_difference(under(zhong.CORRECTED), 200) is None
    rules = replace(zhong.CORRECTED, **{dropped: False})
    assert first_difference(under(rules), GRAPHS) is not None
