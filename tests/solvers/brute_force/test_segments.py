"""The least inner level, chains that come from elsewhere, and fused functions in the IR."""

import random
from itertools import pairwise

import pytest
from contexts import contracted, module_in
from oracles import optimum, random_graph, random_order
from pass_functions import fuse_function, schedule_function
from random_functions import random_function

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.solvers.fusion import RULES
from memopt.solvers.fusion.rules import auto
from memopt.solvers.problems.memory_graph import profile
from memopt.solvers.theory import fusion_check
from memopt.solvers.theory.fusion import Sides, inside, least_inner_level, least_inner_level_by_cuts
from memopt.solvers.theory.fusion_check import is_safe_chain
from memopt.solvers.theory.ideals import renumber
from memopt.verify.plan import verify_plan


def test_least_inner_level_both_ways(fuzz: float) -> None:
    rng = random.Random(3)
    for _ in range(int(2000 * fuzz)):
        graph, _ = renumber(random_graph(rng, 6, unread=False))
        if len(graph) < 2:
            continue
        sub, _ = inside(graph, (1 << len(graph)) - 1, Sides.of(graph))
        assert least_inner_level(sub) == least_inner_level_by_cuts(sub), graph


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
            assert contracted(rng, graph, [(first, *rest)]) == optimum(graph), (graph, first, rest)
        else:
            refused += 1
    assert accepted
    assert refused


def test_a_large_graph_may_be_one_module(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is where heuristics meet the bound; all of it in an order of a higher peak is refused."""
    monkeypatch.setattr(fusion_check, "LARGE", 0)
    rng = random.Random(7)
    whole = searched = refused = 0
    for _ in range(max(60, int(10_000 * fuzz))):
        graph = random_graph(rng, 8)
        best, found = optimum(graph), auto.solve(graph, rng.choice((None, 10.0)))
        assert contracted(rng, graph, found) == best, graph
        is_whole = [len(s) for chain in found for s in chain] == [len(graph)]
        whole, searched = whole + is_whole, searched + (not is_whole)
        order = random_order(rng, graph)
        if len(order) > 1 and profile(graph, order).peak > best:
            assert not is_safe_chain(graph, (order,)), graph
            refused += 1
    assert whole and searched and refused


# -- in the IR ---------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", RULES)
def test_fused_functions_have_the_same_peak(rule: str, fuzz: float) -> None:
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
