"""Contraction, merging and splits against exhaustive search: no optimum changes by a byte.

100,000 problems for each, over all features of the model; a fortieth unless the full counts
are asked for (`MEMOPT_FUZZ`). `test_segments.py` and the `test_mutants_*.py` drop the conditions.
"""

import random
from collections.abc import Callable

import pytest
from contexts import contracted, module_in, surrounded
from oracles import optimum, optimum_in_blocks, random_graph, random_order
from parallel_modules import merge_parallel

from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.published.fusion import zhong
from memopt.solvers.scheduling import in_parts
from memopt.solvers.scheduling.methods import greedy
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.chains import chains
from memopt.solvers.theory.fusion import contract, expand, modules
from memopt.solvers.theory.splits import parts, splits

GRAPHS = 100_000
SEEDS = 4


def modules_as_nodes(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """T3, to a fixed point."""
    graph = random_graph(rng, 9)
    found = modules(graph)
    small, members = contract(graph, found)
    small.check()
    best = optimum(graph)
    assert optimum(small) == best, graph
    assert optimum_in_blocks(graph, [m.operators for m in found]) == best, graph
    order = random_order(rng, small)
    assert profile(graph, expand(order, members)).peak == profile(small, order).peak, graph
    assert flow_bound(small, [greedy.order(small)]).value <= best, graph
    for m in found:
        assert m.hill >= max(m.level_in, m.level_out) or min(graph.workspace) < 0
    return graph, bool(found)


def by_zhong(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """Zhong's Algorithm 1 with its conditions corrected."""
    graph = random_graph(rng, 8)
    found = zhong.modules(graph)
    assert optimum(contract(graph, found)[0]) == optimum(graph), graph
    return graph, bool(found)


def segment_chains(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """T2, T3 and T4 to a fixed point, on a random problem."""
    graph = random_graph(rng, 8)
    found = chains(graph)
    assert contracted(rng, graph, found) == optimum(graph), graph
    return graph, bool(found)


def one_chain(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """T2 for one module with whatever runs before, beside and after it."""
    drawn = module_in(rng)
    while drawn is None:
        drawn = module_in(rng)
    graph, chain = drawn
    assert contracted(rng, graph, [chain]) == optimum(graph), (graph, chain)
    return graph, len(chain) > 1


def merged_modules(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """T4 for two or three modules with whatever runs before, beside and after them."""
    while True:
        drawn = surrounded(rng, rng.choice((2, 2, 2, 3)), 2)
        if drawn is not None:
            graph, found = drawn
            chain = merge_parallel(graph, found)
            if chain is not None:
                break
    assert contracted(rng, graph, [chain]) == optimum(graph), (graph, chain)
    return graph, len(chain) > 1


def safe_splits(rng: random.Random) -> tuple[MemoryGraph, bool]:
    """T5 along any order and under any proven bound, and the search that works by parts."""
    graph = random_graph(rng, 7)
    best = optimum(graph)
    bound = rng.choice((None, best, best - rng.randint(0, 9)))
    found = splits(graph, random_order(rng, graph), bound)
    assert max(optimum(p.graph) + p.through for p in parts(graph, found)) == best, graph
    answer = in_parts.solve(graph, bound=best - rng.randint(0, 20))
    answer.verify(graph)
    assert (answer.peak, answer.lower_bound, answer.optimal) == (best, best, True), graph
    return graph, bool(found)


CHECKS: dict[str, Callable[[random.Random], tuple[MemoryGraph, bool]]] = {
    "contraction to nodes (T3)": modules_as_nodes,
    "contraction to chains (T2)": segment_chains,
    "a chain in any surroundings (T2)": one_chain,
    "merging (T4)": merged_modules,
    "splits (T5)": safe_splits,
    "Zhong's fusion, corrected": by_zhong,
}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", CHECKS)
def test_keeps_the_optimum(
    name: str, seed: int, fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    """0 differences; `telling` graphs are those in which something was contracted or split."""
    rng = random.Random(f"{name} {seed}")
    count = max(50, int(GRAPHS * fuzz / SEEDS))
    telling = sum(CHECKS[name](rng)[1] for _ in range(count))
    assert telling > 0.1 * count
    record_property("brute force", (name, count, telling))
