"""Every exact method and the bound T6 against exhaustive search on random small problems.

100,000 problems for each, over all features of the model; a fortieth unless the full counts
are asked for (`MEMOPT_FUZZ`). The integer programs stand in `test_ilp.py`, contraction, merging and
splits in `test_brute_force_fusion.py`.
"""

import random
from collections import Counter
from collections.abc import Callable
from typing import Any

import pytest
from exhaustive import least_steps, optimum
from features import FEATURES, features, pairs
from oracles import random_graph, random_order

from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.published.scheduling import dp, liberis
from memopt.solvers.scheduling import both_ends
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.scheduling.methods import auto, greedy, search
from memopt.solvers.theory.bounds import flow_bound, trivial
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.reversal import forward_order

GRAPHS = 100_000
SEEDS = 4


def by_search(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    """All of it, and without one technique. On large graphs both ends take turns, here at once."""
    start = random_order(rng, graph)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(both_ends, "TURN", rng.choice((1, 1, 2, 256)))
        for off in (None, rng.choice(("kill_moves", "commits", "backward", "dominance"))):
            options: dict[str, Any] = {off: False} if off else {}
            found = search.solve(graph, bound=0, incumbent=start, **options)
            found.verify(graph)
            assert (found.peak, found.optimal) == (best, True), off
    return found.states > 0


def from_the_end(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    """The end of the search that goes backwards, alone, where there is one.

    It does not know the level before the first step, which the other end proves at once.
    """
    numbered, _ = renumber(graph)
    known = profile(numbered, random_order(rng, numbered)).peak
    bound = max(graph.level(0), rng.choice((0, best, best - rng.randint(0, 9))))
    both = BothEnds.of(numbered, bound, known + 1)
    for end in both.ends[1:]:
        end.run()
        assert end.order is not None
        assert profile(numbered, forward_order(end.order)).peak == end.lower_bound == best
    return len(both.ends) > 1


def by_auto(rng: random.Random, graph: MemoryGraph, best: int) -> bool:
    """As it comes, and without T6, so that contraction and search have to find and prove it."""
    searched = False
    other = rng.choice(
        ({}, {"segments": True}, {"splits": True}, {"segments": True, "splits": True})
    )
    for options in ({}, {"flow": False, **other}):
        found = auto.solve(graph, **options)
        found.verify(graph)
        assert (found.peak, found.optimal) == (best, True), options
        searched |= found.states > 0
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
    "search from the end": from_the_end,
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
    count, telling = max(50, int(GRAPHS * fuzz / SEEDS)), 0
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
