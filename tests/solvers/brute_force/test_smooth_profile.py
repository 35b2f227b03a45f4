"""Orders with fewer bytes near the peak, against all orders, and what fits into a coarse unit."""

from itertools import permutations
from random import Random
from typing import Any

import pytest
from oracles import random_graph

from memopt.solvers import clock, joint
from memopt.solvers.joint import smooth_profile
from memopt.solvers.joint.smooth_profile import COSTS, LENGTH, smoother_orders
from memopt.solvers.placement import coarse
from memopt.solvers.problems.memory_graph import (
    Group,
    MemoryGraph,
    ProblemError,
    profile,
)
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.scheduling import schedule


def near(steps: tuple[int, ...], limit: int, share: float, power: int) -> float:
    """What the bytes above the floor cost, by the definition."""
    floor = min(limit - int(limit * share), limit - 1)
    return sum((max(0, s - floor) / (limit - floor)) ** power for s in steps)


def least(graph: MemoryGraph, limit: int, share: float, power: int) -> float:
    """Over all orders of a peak within `limit`."""
    found: list[float] = []
    for order in permutations(range(len(graph))):
        try:
            known = profile(graph, order)
        except ProblemError:
            continue
        if known.peak <= limit:
            found.append(near(known.steps, limit, share, power))
    return min(found)


def test_in_one_stretch_the_order_is_the_best(fuzz: float) -> None:
    """Small graphs are one stretch, of which every downset is kept: nothing is calmer."""
    random, better = Random(1), 0
    for _ in range(max(40, int(2_000 * fuzz))):
        graph = random_graph(random, 6)
        assert len(graph) <= LENGTH
        start = schedule(graph, "rpo").order
        limit = profile(graph, start).peak
        if limit <= 0:
            continue
        answers = [start, *smoother_orders(graph, start, limit)]
        better += len(answers) > 1
        for answer in answers:
            assert profile(graph, answer).peak <= limit
        for share, power in COSTS:
            costs = [near(profile(graph, a).steps, limit, share, power) for a in answers]
            assert abs(min(costs) - least(graph, limit, share, power)) < 1e-9, graph
    assert better, "no graph of which another order is calmer"


@pytest.mark.deep
def test_longer_orders_stay_orders_and_within_the_limit(fuzz: float) -> None:
    random, better = Random(2), 0
    for _ in range(max(4, int(20 * fuzz))):
        graph = random_graph(random, 3 * LENGTH)
        start = schedule(graph, "rpo").order
        limit = profile(graph, start).peak
        for answer in smoother_orders(graph, start, limit):  # `profile` refuses what is no order
            assert profile(graph, answer).peak <= limit
            better += 1
    assert better


def test_the_deadline_ends_it() -> None:
    graph = random_graph(Random(3), 2 * LENGTH)
    start = schedule(graph, "rpo").order
    with clock.reading(lambda: 5.0):
        assert not list(smoother_orders(graph, start, profile(graph, start).peak, 5.0))


def problem(*buffers: tuple[int, int, int]) -> PlacementProblem:
    """Of (bytes, from step, to step)."""
    found = [Buffer(f"b{i}", *b, i) for i, b in enumerate(buffers)]
    return PlacementProblem(tuple(found))


def test_what_is_small_is_rounded_up_to_the_unit_of_the_rest() -> None:
    rows = problem((384, 0, 90), (768, 10, 100), (384, 20, 95), (2, 99, 100))
    assert coarse.units([i for i in rows.items if i.pieces]) == (384, 2)
    found = coarse.fits(rows, 1_536, work=1.0)
    assert found is not None and found.arena <= 1_536
    assert all(offset % 384 == 0 for offset in found.offsets)


def test_the_widest_unit_is_one_with_which_the_load_still_fits() -> None:
    """Small sizes are rounded up only where there is room for it."""
    rows = problem((384, 0, 90), (768, 10, 100), (384, 20, 95), (700, 99, 100))
    items = rows.items
    assert rows.load == 1_536
    assert coarse.widest_unit(items, rows.load) == 384
    assert coarse.widest_unit(items, rows.load - 1) == 4
    above = problem((384, 0, 90), (768, 10, 100), (384, 20, 90), (700, 94, 95))
    assert coarse.widest_unit(above.items, above.load) == 384
    above = problem((384, 0, 90), (768, 10, 100), (384, 20, 95), (700, 94, 95))
    assert coarse.widest_unit(above.items, above.load) == 4
    assert coarse.widest_unit((), 8) == 1


def test_what_does_not_fit_in_units_may_fit_in_bytes() -> None:
    tight = problem((384, 0, 90), (768, 10, 100), (2, 10, 11))
    assert coarse.fits(tight, 1_154, work=1.0) is None
    found = coarse.fits(tight, 1_154, work=1.0, fine=True)
    assert found is not None and found.arena == 1_154
    assert coarse.fits(tight, 1_153, work=1.0, fine=True) is None


def test_parts_that_die_alone_are_laid_at_an_end() -> None:
    """Rows of an input die one by one; what comes meanwhile fits only where they were."""
    parts = [Buffer("x", 40, 0, 1, 0)]
    parts += [Buffer(f"x{r}", 10, 0, r + 1, 0, at=10 * r) for r in range(4)]
    fresh = [Buffer(f"y{r}", 10, r + 1, 6, 5 + r) for r in range(4)]
    found = coarse.fits(PlacementProblem((*parts, *fresh)), 40, work=1.0)
    assert found is not None and found.arena == 40


def test_what_is_fixed_stays() -> None:
    fixed = PlacementProblem((Buffer("a", 8, 0, 2, 0, fixed=8), Buffer("b", 8, 1, 3, 1)))
    found = coarse.fits(fixed, 16, work=1.0)
    assert found is not None and found.offsets == (8, 0)
    assert coarse.fits(fixed, 8, work=1.0) is None


def test_without_a_time_limit_questions_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each costs as much as it has buffers, squared, so that few are asked about very many."""
    asked: list[int] = []

    def never(problem: PlacementProblem, *_: object) -> None:
        asked.append(len(problem.items))

    monkeypatch.setattr(coarse, "fits", never)
    monkeypatch.setattr(joint, "ASKED", 5_000)
    graph = random_graph(Random(17), 60)  # is ordered at once, and not placed at its peak
    start = schedule(graph, "search")
    asked.clear()
    joint.solve(graph, start.order, start.lower_bound, calm_first=True)
    cost = sum(n**2 for n in asked[:-1])
    assert asked and cost <= 5_000 < cost + asked[-1] ** 2 * 6


def test_stretches_that_are_alike_are_put_in_order_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of hundreds of rows, each of which is done with before the next, the first few are asked
    about."""
    rows, asked = 300, 0
    number = range(4 * rows)  # a and b of the row before, c of both, d of c
    ahead = ((1,), (2,), (2, 1), (1,))
    before = tuple(tuple(v - k for k in ahead[v % 4] if v >= k) for v in number)
    groups = [Group("x", 8, (), (0,), is_input=True, is_output=True)]
    for v in range(0, 4 * rows, 4):
        groups += [Group("a", 40, (v,), (v + 2,)), Group("b", 8, (v + 1,), (v + 2,))]
        groups += [Group("c", 40, (v + 2,), (v + 3,)), Group("d", 1, (v + 3,))]
    graph = MemoryGraph(("v",) * len(number), before, tuple(groups))
    best = smooth_profile._Stretch.best  # pyright: ignore[reportPrivateUsage]

    def counted(self: Any, level: int, *rest: Any) -> object:
        nonlocal asked
        asked += 1
        return best(self, level, *rest)

    monkeypatch.setattr(smooth_profile._Stretch, "best", counted)  # pyright: ignore[reportPrivateUsage]
    order = tuple(number)
    list(smoother_orders(graph, order, profile(graph, order).peak))
    assert 0 < asked < 12 * len(COSTS) < 4 * rows // LENGTH * len(COSTS)
