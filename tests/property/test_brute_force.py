"""Every exact method and the bound T6 against exhaustive search on random small problems.

100,000 problems for each, over all features of the model; a tenth of them unless the full counts
are asked for (`MEMOPT_FUZZ`). The integer programs stand in `test_ilp.py`, contraction, merging and
splits in `test_brute_force_fusion.py`.
"""

import random
from collections import Counter
from collections.abc import Callable

import pytest
from features import FEATURES, features, pairs
from oracles import least_steps, optimum, random_graph, random_order

from memopt.solvers.bounds import flow_bound, trivial
from memopt.solvers.problem import MemoryGraph
from memopt.solvers.scheduling import auto, dp, greedy, liberis, search

GRAPHS = 100_000
SEEDS = 4


def by_search(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    start = random_order(rng, graph)
    for kill_moves, commits in ((True, True), (False, True), (True, False)):
        found = search.solve(
            graph, bound=0, incumbent=start, kill_moves=kill_moves, commits=commits
        )
        found.verify(graph)
        assert (found.peak, found.optimal) == (best, True), (kill_moves, commits)
    return found.states > 0


def by_auto(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    """As it comes, and in another way; its claim holds whatever proves it."""
    searched = False
    other = rng.choice(({"segments": True, "splits": True}, {"fuse": False}, {"splits": True}))
    for options in ({}, other):
        found = auto.solve(graph, **options)
        found.verify(graph)
        assert (found.peak, found.optimal) == (best, True), options
        searched |= found.proof == "search"
    return searched


def by_dp(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    found = dp.solve(
        graph,
        divide=rng.random() < 0.7,
        budgets=rng.random() < 0.8,
        width=rng.choice((1, 2, 5, 1000)),
    )
    found.verify(graph)
    assert (found.peak, found.optimal, found.proof) == (best, True, "search")
    return found.states > 0


def by_liberis(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    found = liberis.solve(graph)
    found.verify(graph)
    assert (found.peak, found.optimal, found.proof) == (best, True, "search")
    return True


def the_bound(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    """T6 is what its definition says, wherever it stops early, and no more than the optimum."""
    orders = [random_order(rng, graph), greedy.order(graph)]
    value = flow_bound(graph, orders[: rng.choice((1, 2))]).value
    assert value == max(trivial(graph), *least_steps(graph))
    assert trivial(graph) <= flow_bound(graph, orders, max_flows=1).value <= value <= best
    return value > trivial(graph)


CHECKS: dict[str, Callable[[random.Random, MemoryGraph, int], bool]] = {
    "search": by_search,
    "auto": by_auto,
    "dp": by_dp,
    "liberis": by_liberis,
    "T6": the_bound,
}


@pytest.mark.parametrize("seed", range(SEEDS))
@pytest.mark.parametrize("name", CHECKS)
def test_equals_brute_force(
    name: str, seed: int, fuzz: float, record_property: Callable[[str, object], None]
) -> None:
    """0 differences; `telling` graphs are those on which the method had something to decide."""
    rng = random.Random(f"{name} {seed}")
    count, telling = int(GRAPHS * fuzz / SEEDS), 0
    for _ in range(count):
        graph = random_graph(rng)
        try:
            telling += CHECKS[name](rng, graph, optimum(graph))
        except AssertionError as error:
            raise AssertionError(graph) from error
    assert telling
    record_property("brute force", (name, count, telling))


def test_random_problems_have_every_feature_and_every_two_of_them() -> None:
    rng = random.Random(0)
    count = 4000
    single: Counter[str] = Counter()
    double: Counter[frozenset[str]] = Counter()
    for _ in range(count):
        found = features(random_graph(rng))
        single.update(found)
        double.update(pairs(found))
    assert set(single) == FEATURES
    assert min(single.values()) > 0.02 * count, single
    missing = set(pairs(FEATURES)) - {p for p, n in double.items() if n >= 8}
    assert not missing
