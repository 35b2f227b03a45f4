"""Segment chains, their merging and safe splits against exhaustive search; no rule is idle."""

import random
from dataclasses import replace
from itertools import pairwise

import pytest
from contexts import surrounded
from oracles import optimum, random_graph, random_order
from random_functions import random_function

from memopt.dialects.errors import MemoptError
from memopt.dialects.plan import functions
from memopt.dialects.verify_plan import verify_plan
from memopt.passes.memgraph_fuse import Rule, fuse_function
from memopt.passes.memgraph_schedule import schedule_function
from memopt.solvers import zhong_fusion
from memopt.solvers.chains import Chain, chain_of, chains, contract_chains, merge_parallel
from memopt.solvers.fusion import ALL_RULES, Rules, Sides, contract, expand, inside, separable
from memopt.solvers.fusion_check import is_safe_chain
from memopt.solvers.problem import MemoryGraph, profile
from memopt.solvers.scheduling import auto, in_parts
from memopt.solvers.segments import ALL_CHAIN_RULES, ChainRules
from memopt.solvers.splits import ALL_SPLIT_RULES, SplitRules, parts, splits

GRAPHS = 100_000


def contracted(graph: MemoryGraph, found: list[Chain]) -> int:
    """The optimum of the contracted graph; -1 if it has none."""
    small, members = contract_chains(graph, found)
    best = optimum(small)
    order = random_order(random.Random(best), small)
    assert profile(graph, expand(order, members)).peak == profile(small, order).peak, graph
    return best


def module_in(
    rng: random.Random, rules: ChainRules = ALL_CHAIN_RULES
) -> tuple[MemoryGraph, Chain] | None:
    """A random module in its surroundings, and its chain; None if it is no separable one."""
    drawn = surrounded(rng, 1, 4)
    if drawn is None:
        return None
    graph, (members,) = drawn
    sides = Sides.of(graph)
    if not separable(graph, members, sides):
        return None
    sub, operators = inside(graph, members, sides)
    found = chain_of(sub, rules)
    assert found is not None
    first, *rest = [tuple(operators[v] for v in s.operators) for s in found]
    return graph, (first, *rest)


# -- T2 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
def test_chains_keep_the_optimum(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    nodes = operators = 0
    for _ in range(int(GRAPHS * fuzz / 8)):
        graph = random_graph(rng, 8)
        found = chains(graph)
        assert contracted(graph, found) == optimum(graph), graph
        nodes += len(graph) - sum(len(s) - 1 for c in found for s in c)
        operators += len(graph)
    assert nodes < 0.6 * operators


@pytest.mark.parametrize("seed", range(4))
def test_a_chain_keeps_the_optimum_in_any_surroundings(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    lengths = [0] * 12
    for _ in range(int(GRAPHS * fuzz / 8)):
        drawn = module_in(rng)
        if drawn is not None:
            graph, chain = drawn
            lengths[len(chain)] += 1
            assert contracted(graph, [chain]) == optimum(graph), (graph, chain)
    assert sum(lengths[3:]) > 10 * fuzz


@pytest.mark.parametrize(
    "dropped", ["boundaries", "least_hills", "lowest_valleys", "from_the_end", "liu"]
)
def test_every_rule_of_the_chain_is_needed(dropped: str) -> None:
    rules = replace(ALL_CHAIN_RULES, **{dropped: False})
    rng = random.Random(dropped)
    for _ in range(4000):
        drawn = module_in(rng, rules)
        if drawn is not None and contracted(drawn[0], [drawn[1]]) != optimum(drawn[0]):
            return
    pytest.fail(f"no module needs {dropped}")


@pytest.mark.parametrize("dropped", ["same_side", "shared_reads", "shared_groups"])
def test_every_condition_of_separable_is_needed(dropped: str) -> None:
    rules: Rules = replace(ALL_RULES, **{dropped: False})
    rng = random.Random(dropped)
    for _ in range(4000):
        graph = random_graph(rng, 6)
        small, _ = contract_chains(graph, chains(graph, rules))
        try:
            if optimum(small) != optimum(graph):
                return
        except KeyError:  # a cycle: no order of the contracted graph is left
            return
    pytest.fail(f"no graph needs {dropped}")


def test_a_chain_that_somebody_else_cut_is_derived_again(fuzz: float) -> None:
    """What `is_safe_chain` accepts keeps the optimum; it accepts our own chains."""
    rng = random.Random(5)
    accepted = refused = 0
    for _ in range(int(10_000 * fuzz)):
        drawn = module_in(rng)
        if drawn is None:
            continue
        graph, chain = drawn
        assert is_safe_chain(graph, chain), (graph, chain)
        flat = [v for s in chain for v in s]
        if len(flat) < 2:
            continue
        sub, operators = inside(graph, sum(1 << v for v in flat), Sides.of(graph))
        order = [operators[v] for v in random_order(rng, sub)]
        cuts = sorted(rng.sample(range(1, len(flat)), rng.randint(0, min(2, len(flat) - 1))))
        ends = [0, *cuts, len(flat)]
        first, *rest = [tuple(order[a:b]) for a, b in pairwise(ends)]
        if is_safe_chain(graph, (first, *rest)):
            accepted += 1
            assert contracted(graph, [(first, *rest)]) == optimum(graph), (graph, first, rest)
        else:
            refused += 1
    assert accepted
    assert refused


# -- T4 ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(2))
def test_merging_keeps_the_optimum(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    merged = 0
    for _ in range(int(GRAPHS * fuzz / 2)):
        drawn = surrounded(rng, 2, 2)
        if drawn is None:
            continue
        graph, modules = drawn
        chain = merge_parallel(graph, modules)
        if chain is not None:
            merged += 1
            assert contracted(graph, [chain]) == optimum(graph), (graph, chain)
    assert merged


def test_merging_needs_a_separable_union() -> None:
    rules = replace(ALL_CHAIN_RULES, union=False)
    rng = random.Random(1)
    for _ in range(4000):
        graph = random_graph(rng, 6, unread=False)
        pairs = [
            [1 << a, 1 << b]
            for a in range(len(graph))
            for b in range(a)
            if list(graph.predecessor_masks) == sorted(graph.predecessor_masks)
        ]
        for pair in pairs:
            chain = merge_parallel(graph, pair, rules)
            if chain is None:
                continue
            small, _ = contract_chains(graph, [chain])
            try:
                if optimum(small) != optimum(graph):
                    return
            except KeyError:
                return
    pytest.fail("no graph needs the condition")


# -- T5 ----------------------------------------------------------------------------------------


def by_parts(
    rng: random.Random, graph: MemoryGraph, best: int, rules: SplitRules
) -> tuple[int, int]:
    """(splits, largest optimum of the parts), with a random order and a random proven bound."""
    bound = rng.choice((None, best, best - rng.randint(0, 9)))
    found = splits(graph, random_order(rng, graph), bound, rules)
    return len(found), max(optimum(p.graph) + p.through for p in parts(graph, found))


@pytest.mark.parametrize("seed", range(2))
def test_splits_keep_the_optimum(seed: int, fuzz: float) -> None:
    rng = random.Random(seed)
    count = 0
    for _ in range(int(GRAPHS * fuzz / 2)):
        graph = random_graph(rng, 7)
        best = optimum(graph)
        found, peak = by_parts(rng, graph, best, ALL_SPLIT_RULES)
        count += found
        assert peak == best, graph
        answer = in_parts.solve(graph, bound=best - rng.randint(0, 20))
        answer.verify(graph)
        assert answer.peak == answer.lower_bound == best, graph
        assert answer.optimal
    assert count


@pytest.mark.parametrize("dropped", ["descends", "least", "hill", "valley"])
def test_every_condition_of_a_split_is_needed(dropped: str) -> None:
    rules = replace(ALL_SPLIT_RULES, **{dropped: False})
    rng = random.Random(dropped)
    for _ in range(6000):
        graph = random_graph(rng, 7)
        best = optimum(graph)
        try:
            if by_parts(rng, graph, best, rules)[1] != best:
                return
        except KeyError:  # a part whose operators lack what they need
            return
    pytest.fail(f"no graph needs {dropped}")


def test_auto_with_segments_and_splits_finds_the_optimum(fuzz: float) -> None:
    rng = random.Random(9)
    for _ in range(int(10_000 * fuzz)):
        graph = random_graph(rng, 8)
        answer = auto.solve(graph, segments=True, splits=True)
        answer.verify(graph)
        assert answer.optimal
        assert answer.peak == optimum(graph), graph


# -- Zhong -------------------------------------------------------------------------------------


def test_zhong_corrected_keeps_the_optimum(fuzz: float) -> None:
    rng = random.Random(4)
    fused = 0
    for _ in range(int(20_000 * fuzz)):
        graph = random_graph(rng, 8)
        found = zhong_fusion.modules(graph)
        fused += len(found)
        assert optimum(contract(graph, found)[0]) == optimum(graph), graph
    assert fused


def test_zhong_iv_1_needs_an_isolated_pair() -> None:
    rules = replace(zhong_fusion.CORRECTED, isolated=False)
    rng = random.Random(0)
    for _ in range(4000):
        graph = random_graph(rng, 6)
        if optimum(contract(graph, zhong_fusion.modules(graph, rules=rules))[0]) != optimum(graph):
            return
    pytest.fail("no graph needs it")


# -- in the IR ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", ["auto", "t3", "zhong"])
def test_fused_functions_have_the_same_peak(rule: Rule, fuzz: float) -> None:
    segments = 0
    for seed in range(int(3000 * fuzz)):
        module = random_function(random.Random(seed), 9)
        flat = next(functions(module.clone()))
        func = next(functions(module))
        try:
            best = schedule_function(flat, "search", None)
        except MemoptError:
            continue
        segments += fuse_function(func, rule)
        answer = schedule_function(func, "search", None)
        assert (answer.peak, answer.optimal) == (best.peak, True), f"seed {seed}"
        verify_plan(func, placed=False)
    assert segments
