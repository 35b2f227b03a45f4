"""Rows with gaps, alignments and fixed offsets: every strategy, judged step by step and byte by
byte; OLLA's program against brute force; perfect packings, and puzzles that are none."""

from dataclasses import replace
from random import Random
from typing import Any

import pytest
from benchmarks.tables.generator import planted
from exact_placements import cases
from random_placements import wrong

from memopt.api.place_csv import solve
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import Gap, Row, read_rows, write_rows
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import METHODS, place, prove
from memopt.solvers.placement.methods.planar import attempt
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.published.placement.ilp import pyramid_of
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.verify.buffers import verify_rows


def random_rows(random: Random, most: int, free: bool = True) -> tuple[Row, ...]:
    """Up to `most` rows over a few steps; with `free`, those with a fixed offset never collide."""
    rows: list[Row] = []
    floor = 0
    for i in range(random.randint(1, most)):
        alignment = random.choice((1, 1, 2, 4))
        size = random.choice((0, 1, 3, 8, random.randint(1, 16)))
        lower = random.randint(-2, 7)
        upper = random.randint(lower + 1, 9)
        gaps: list[Gap] = []
        at = lower
        while random.random() < 0.4 and at < upper:
            start = random.randint(at, upper - 1)
            end = random.randint(start + 1, upper)
            gaps.append(Gap(start, end, random.choice((0, 0, random.randint(0, size)))))
            at = end
        offset = None
        if not free or random.random() < 0.15:
            offset = floor if free else random.randint(0, 12)
            offset = -(-offset // alignment) * alignment
            floor = offset + size
        rows.append(Row(f"b{i}", lower, upper, size, alignment, tuple(gaps), offset))
    return tuple(rows)


def held(row: Row, step: int) -> set[int]:
    """Addresses that a row holds in a step."""
    if not row.lower <= step < row.upper:
        return set()
    size = next((g.size for g in row.gaps if g.lower <= step < g.upper), row.size)
    return set(range(row.offset or 0, (row.offset or 0) + size))


def collides(rows: tuple[Row, ...]) -> bool:
    """Whether two rows hold one address in one step: looked at one by one."""
    return any(
        held(a, step) & held(b, step)
        for i, a in enumerate(rows)
        for b in rows[:i]
        for step in range(-2, 10)
    )


def test_rows_are_written_and_read(fuzz: float) -> None:
    random = Random(0)
    for _ in range(max(50, int(2_000 * fuzz))):
        rows = random_rows(random, 8)
        assert read_rows(write_rows(rows).encode(), "x") == rows


def test_the_check_of_rows_is_exact(fuzz: float) -> None:
    """It accepts and refuses as a look at every byte of every step does."""
    random = Random(1)
    seen = {True: 0, False: 0}
    for _ in range(max(400, int(10_000 * fuzz))):
        rows = random_rows(random, 4, free=False)
        bad = collides(rows)
        seen[bad] += 1
        if bad:
            with pytest.raises(MemoptError, match="overlap"):
                verify_rows(rows)
        else:
            assert verify_rows(rows) == max((r.offset or 0) + r.size for r in rows)
    assert min(seen.values()) > 50


@pytest.mark.deep
def test_every_strategy_on_rows_with_everything(fuzz: float) -> None:
    random = Random(2)
    answered: dict[str, int] = {}
    for case in range(max(8, int(300 * fuzz))):
        rows = random_rows(random, 9)
        fixed = any(r.offset is not None for r in rows)
        for strategy in (*METHODS, *SHARED):
            if strategy == "shared-objects-exact" or (strategy in SHARED and fixed):
                continue
            try:
                answer = solve(rows, strategy, None)
            except ProblemError:
                assert strategy == "planar", (case, strategy)
                continue
            placed = tuple(replace(r, offset=o) for r, o in zip(rows, answer.offsets, strict=True))
            where = (case, strategy)
            assert not collides(placed), where
            for before, after in zip(rows, placed, strict=True):
                assert before.offset in (None, after.offset), where
                assert (after.offset or 0) % after.alignment == 0, where
            assert verify_rows(placed) <= answer.arena, where
            load = max(sum(len(held(r, t)) for r in placed) for t in range(-2, 10))
            assert load <= answer.lower_bound <= answer.arena, where
            answered[strategy] = answered.get(strategy, 0) + 1
    assert answered["ilp"] == answered["auto"] == answered["exact"] > 0


@pytest.mark.deep
@pytest.mark.parametrize("part", range(2))
def test_olla_against_brute_force(fuzz: float, part: int, record_property: Any) -> None:
    """1,000 problems of 5 to 9 buffers, on both solvers, with and without pruning; a pyramid is
    only a placement. In `stated` ones no greedy answer meets the load, so the program decides."""
    above = nested = stated = 0
    given = list(cases(600 + part, max(50, int(500 * fuzz))))
    for case, (problem, best) in enumerate(given):
        above += best > problem.load
        stated += place(problem, "greedy-by-size").arena > problem.load
        found = prove(problem, "ilp")
        assert found.placement.arena == found.lower_bound == best, case
        other = prove(problem, "ilp", solver="highs", pruning=bool(case % 2))
        assert other.placement.arena == best >= other.lower_bound, case
        wide = prove(problem, "ilp", pruning=False)
        assert wide.placement.arena == wide.lower_bound == best, case
        if all(b.fixed is None for b in problem.buffers):
            piled = prove(problem, "ilp", pyramid=True)
            assert not wrong(problem, piled.placement.offsets, piled.placement.arena), case
            assert piled.placement.arena >= best >= piled.lower_bound, case
            nested += len(pyramid_of(problem.items)) > 1
    assert nested and stated and above
    record_property("brute force", ("placement: ilp", len(given), above))


@pytest.mark.parametrize("pruning", [True, False])
def test_without_time_the_program_claims_nothing(pruning: bool) -> None:
    problem = planted(200, 20).problem
    answer = prove(problem, "ilp", 0.0, pruning=pruning)
    assert answer.lower_bound == problem.load < answer.placement.arena


def test_the_pyramid_goes_on_from_the_chosen_buffer() -> None:
    """As printed, Function 5 goes on from the last edge looked at, here `short`: then `middle`,
    which is nested in `long` but not in `short`, would have no address."""
    buffers = (("long", 0, 10), ("middle", 2, 8), ("short", 4, 5))
    problem = PlacementProblem(
        tuple(Buffer(n, 4, lower, upper, i) for i, (n, lower, upper) in enumerate(buffers))
    )
    assert pyramid_of(problem.items) == {0: 0, 1: 4, 2: 8}


def cut(random: Random, count: int, capacity: int, steps: int) -> list[tuple[int, int, int, int]]:
    """Guillotine cuts of steps x capacity: (lower, upper, low, high)."""
    parts = [(0, steps, 0, capacity)]
    for _ in range(count * 4):
        if len(parts) >= count:
            break
        i = random.randrange(len(parts))
        a, b, c, d = parts[i]
        if random.random() < 0.5 and b - a > 1:
            middle = random.randint(a + 1, b - 1)
            parts[i] = (a, middle, c, d)
            parts.append((middle, b, c, d))
        elif d - c > 1:
            middle = random.randint(c + 1, d - 1)
            parts[i] = (a, b, c, middle)
            parts.append((a, b, middle, d))
    return parts


def test_planar_packs_what_was_cut(fuzz: float) -> None:
    """Guillotine cuts with many events in one step, and the generator's, which are not guillotine:
    nearly all are found, and perfect. With a buffer beside it, or one less, answers are valid."""
    random = Random(4)
    packed = tried = 0
    for case in range(max(60, int(2_000 * fuzz))):
        capacity, steps = random.choice(((50, 12), (1_000, 100), (10**9, 10**9)))
        parts = cut(random, random.randint(3, 25), capacity, steps)
        buffers = [Buffer(str(i), d - c, a, b, i) for i, (a, b, c, d) in enumerate(parts)]
        if case % 3 == 1:
            buffers.append(Buffer("after", capacity // 2, steps, steps + 3, len(buffers)))
        problem = PlacementProblem(tuple(buffers))
        answer = attempt(problem, problem.items)
        if not isinstance(answer, str):
            answer.verify(problem)
            assert answer.arena == capacity == problem.load, case
        if len({a for a, _, _, _ in parts}) > 1:
            tried += 1
            packed += not isinstance(answer, str)
        problem = PlacementProblem(tuple(buffers[1:]) or problem.buffers)
        if problem.buffers[0].base == 0:
            less = attempt(problem, problem.items)
            assert isinstance(less, str) or less.arena >= problem.load
    assert packed > 0.9 * tried > 0
    for seed in range(3):
        instance = planted(160, 40, seed=seed)
        instance.planted.verify(instance.problem)
        assert instance.mean_live >= 40
        found = prove(instance.problem, "planar")
        assert found.placement.arena == instance.problem.load == 1 << 20


def test_the_generator_is_seeded_and_refuses_what_it_cannot_cut() -> None:
    first, again, other = (planted(200, 50, seed=s).problem for s in (1, 1, 2))
    assert first == again != other
    end = max(b.upper for b in first.buffers)
    assert len(first.buffers) == 200
    assert not any(b.lower == 0 and b.upper == end for b in first.buffers)
    for wrong_sizes in ((100, 50.0, 1 << 20), (400, 50.0, 100), (10, 1.0, 1 << 20)):
        with pytest.raises(ValueError, match="at least 3 buffers"):
            planted(*wrong_sizes)
