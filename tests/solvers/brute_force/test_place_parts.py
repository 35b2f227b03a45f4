"""Parts of one base that die alone: every strategy byte by byte, the exact ones against brute
force, and the checks against what is wrong."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from placed_parts import load, random_parts, smallest_arena, wrong

from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import METHODS, place, prove
from memopt.solvers.placement.address_space import AddressBits, AddressRows
from memopt.solvers.problems.placement import Buffer, Placement, PlacementProblem
from memopt.solvers.shared_objects import share

FAST = (
    "greedy-by-size",
    "greedy-by-breadth",
    "best-fit",
    "tflite",
    "tflm",
    "hill-climb",
    "ejection",
    "auto",
)


def test_every_strategy_on_parts(fuzz: float) -> None:
    """Valid, never below the load; what has no form for parts says so."""
    random = Random(0)
    refused: set[str] = set()
    for case in range(max(60, int(4_000 * fuzz))):
        problem = random_parts(random, 7)
        assert problem.load == load(problem), case
        for method in FAST if case % 10 else METHODS:
            try:
                answer = place(problem, method)
            except ProblemError as error:
                assert method in ("ilp", "planar"), (case, method, str(error))
                refused.add(method)
                continue
            assert not wrong(problem, answer.offsets, answer.arena), (case, method)
            assert answer.arena >= problem.load, (case, method)
    assert refused == {"ilp", "planar"}


def test_exact_equals_brute_force_on_parts(fuzz: float, record_property: Any) -> None:
    """Of up to five bases the least arena is found and proven; CP-SAT finds the same."""
    random = Random(1)
    above = parted = 0
    count = max(60, int(20_000 * fuzz))
    for case in range(count):
        problem = random_parts(random, 5)
        found = prove(problem, "exact")
        best = smallest_arena(problem, found.placement.arena)
        assert found.placement.arena == found.lower_bound == best, case
        assert not wrong(problem, found.placement.offsets, best), case
        if case % 8 == 0:
            other = prove(problem, "cp-sat")
            assert other.placement.arena == other.lower_bound == best, case
        capacity = prove(problem, "exact", capacity=best + random.randint(-1, 2))
        assert capacity.lower_bound <= best <= capacity.placement.arena, case
        above += best > problem.load
        parted += any(i.in_parts for i in problem.items)
    assert above and parted > count // 2
    record_property("brute force", ("placement: parts", count, above))


def test_the_check_of_parts_is_exact(fuzz: float) -> None:
    """Random offsets: refused where a look at every byte of every step refuses."""
    random = Random(2)
    seen = {True: 0, False: 0}
    for _ in range(max(300, int(10_000 * fuzz))):
        problem = random_parts(random, 3, fixed=False)
        where = {b: random.randint(0, 5) * 2 for b in problem.members}
        offsets = [where[b.base] + b.at for b in problem.buffers]
        if random.random() < 0.1:
            offsets[random.randrange(len(offsets))] += 1
        arena = max(o + b.size for b, o in zip(problem.buffers, offsets, strict=True))
        bad = wrong(problem, tuple(offsets), arena)
        seen[bad] += 1
        if bad:
            with pytest.raises(ProblemError):
                Placement(tuple(offsets), arena).verify(problem)
        else:
            Placement(tuple(offsets), arena).verify(problem)
    assert min(seen.values()) > 30


def test_both_address_spaces_see_the_same_gaps(fuzz: float) -> None:
    random = Random(3)
    for case in range(max(100, int(4_000 * fuzz))):
        problem = random_parts(random, 6)
        rows, bits = AddressRows(problem.items), AddressBits(problem.items)
        for item in problem.items:
            if not item.pieces:
                continue
            least = random.randint(0, 4)
            assert rows.first_fit(item, least) == bits.first_fit(item, least), case
            assert rows.smallest_gap(item) == bits.smallest_gap(item), case
            offset = rows.first_fit(item, least)
            rows.put(item, offset)
            bits.put(item, offset)


def test_a_part_may_lie_between_the_parts_of_another_base() -> None:
    """A U in which something lies: at 1, between two parts of which both live on."""
    u = (Buffer("u", 0, 0, 3, 0), Buffer("low", 1, 0, 3, 0), Buffer("high", 1, 0, 3, 0, at=2))
    problem = PlacementProblem((*u, Buffer("in", 1, 1, 2, 3)))
    found = prove(problem, "exact")
    assert found.placement == Placement((0, 0, 2, 1), 3) and found.optimal


def test_parts_that_are_wrong_are_refused() -> None:
    good = (Buffer("t", 0, 0, 2, 0), Buffer("row", 2, 0, 2, 0, at=2))
    PlacementProblem(good).check()
    for bad in (
        (replace(good[0], at=2), good[1]),
        (good[0], replace(good[1], at=-2)),
        (good[0], replace(good[1], at=3, alignment=2)),
        (replace(good[0], fixed=4), replace(good[1], fixed=4)),
        (good[0], replace(good[1], fixed=1)),
    ):
        with pytest.raises(ProblemError):
            PlacementProblem(bad).check()
    with pytest.raises(ProblemError, match="a part that dies alone is no shared object"):
        share(PlacementProblem(good), "shared-objects")
