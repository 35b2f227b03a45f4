"""Traffic off the chip: the exact method against all choices, Belady's rule where it is optimal."""

from functools import lru_cache
from itertools import combinations, pairwise, product
from random import Random

import pytest

from memopt.solvers.errors import ProblemError
from memopt.solvers.memories.traffic import (
    RULES,
    Kept,
    Tensor,
    TrafficProblem,
    least_moved,
    least_traffic,
    moved_bytes,
)

CASES = 5_000


def random_problem(random: Random) -> TrafficProblem:
    steps = random.randint(1, 6)
    tensors: list[Tensor] = []
    for i in range(random.randint(1, 6)):
        born = random.randint(-1, steps - 1)
        later = range(born + 1, steps)
        reads = tuple(sorted(random.sample(later, random.randint(0, min(3, len(later))))))
        size = random.randint(0, 9)
        moved = max(0, size - random.randint(0, 1))
        tensors.append(Tensor(f"t{i}", size, moved, born, reads, random.random() < 0.2))
    workspace = tuple(random.choice((0, 0, 1, 3)) for _ in range(steps))
    room = random.randint(max(workspace), 24)
    return TrafficProblem(tuple(tensors), steps, workspace, room)


def by_hand(problem: TrafficProblem, kept: Kept) -> int | None:
    """Bytes moved, step by step with what is on the chip and outside; None if it does not fit."""
    moved = 0
    outside = {x.name for x in problem.tensors if x.born < 0}
    for t in range(problem.steps):
        load = problem.workspace[t]
        for x, keep in zip(problem.tensors, kept, strict=True):
            points = [x.born, *x.reads] + ([problem.steps] if x.is_output else [])
            pairs = list(pairwise(points))
            if len(points) == 1 and x.born >= 0:
                pairs = [(x.born, x.born)]
            load += x.size * any(k and a <= t <= b for k, (a, b) in zip(keep, pairs, strict=True))
        if load > problem.on_chip:
            return None
    for x, keep in zip(problem.tensors, kept, strict=True):
        for k, step in zip(keep, [*x.reads, None], strict=False):
            if not k:
                if x.name not in outside:
                    moved += x.moved  # written out, once
                    outside.add(x.name)
                if step is not None:
                    moved += x.moved  # read again
    return moved


def peak(problem: TrafficProblem) -> int:
    loads = [0]
    for t in range(problem.steps):
        live = 0
        for x in problem.tensors:
            last = problem.steps if x.is_output else max((x.born, *x.reads))
            exists = x.born >= 0 or x.reads or x.is_output
            live += x.size * bool(exists and x.born <= t <= last)
        loads.append(live + problem.workspace[t])
    return max(loads)


def test_exact_equals_brute_force(fuzz: float) -> None:
    random = Random(5)
    worse = nothing = 0
    count = max(60, int(CASES * fuzz))
    while count:
        problem = random_problem(random)
        flags = [len(g) for g in problem.gaps]
        if sum(flags) > 9:
            continue
        count -= 1
        best: int | None = None
        for bits in product((False, True), repeat=sum(flags)):
            it = iter(bits)
            kept = tuple(tuple(next(it) for _ in range(n)) for n in flags)
            moved = by_hand(problem, kept)
            if moved is None:
                with pytest.raises(ProblemError):
                    moved_bytes(problem, kept)
                continue
            assert moved == moved_bytes(problem, kept)
            best = moved if best is None else min(best, moved)
        assert best is not None
        answer, rule = least_traffic(problem, "exact"), least_traffic(problem, "belady")
        answer.verify(problem)
        rule.verify(problem)
        assert answer.moved == answer.lower_bound == best
        assert rule.moved >= best >= least_moved(problem)
        assert by_hand(problem, rule.kept) == rule.moved
        worse += rule.moved > best
        fits = peak(problem) <= problem.on_chip
        sized = all(x.moved for x in problem.tensors if x.size)
        if fits:
            assert answer.moved == rule.moved == 0
            nothing += 1
        elif sized and all(x.born >= 0 for x in problem.tensors):
            assert answer.moved > 0
    assert worse and nothing


def paging(requests: list[int], pages: int, frames: int) -> int:
    """The fewest faults of paging with `frames` frames; at the start the frames hold what they
    like. By dynamic programming over all sets."""

    @lru_cache(None)
    def best(t: int, inside: frozenset[int]) -> int:
        if t == len(requests):
            return 0
        page = requests[t]
        if page in inside:
            return best(t + 1, inside)
        if len(inside) < frames:
            return 1 + best(t + 1, inside | {page})
        return 1 + min(best(t + 1, inside - {q} | {page}) for q in inside)

    starts = combinations(range(pages), min(pages, frames))
    return min(best(0, frozenset(start)) for start in starts)


def test_belady_is_optimal_paging(fuzz: float) -> None:
    """Pages of one size, one read per step: his theorem, and so a test of the rule as written."""
    random = Random(6)
    for _ in range(max(50, int(1_000 * fuzz))):
        pages, frames = random.randint(1, 5), random.randint(1, 4)
        requests = [random.randrange(pages) for _ in range(random.randint(1, 12))]
        tensors = tuple(
            Tensor(f"p{p}", 1, 1, -1, tuple(t for t, q in enumerate(requests) if q == p), False)
            for p in range(pages)
            if p in requests
        )
        problem = TrafficProblem(tensors, len(requests), (0,) * len(requests), frames)
        used = sorted(set(requests))
        renamed = [used.index(q) for q in requests]
        assert least_traffic(problem, "belady").moved == paging(renamed, len(used), frames)


def test_an_operator_larger_than_the_chip_reads_and_writes_outside() -> None:
    """12 B in, 12 B out and 8 B on the chip: the operand is read from where it is, the result
    written out and read again."""
    x = Tensor("x", 12, 12, -1, (0,), False)
    y = Tensor("y", 12, 12, 0, (1,), False)
    problem = TrafficProblem((x, y), 2, (0, 0), 8)
    assert {least_traffic(problem, rule).moved for rule in RULES} == {36}
    with pytest.raises(ProblemError, match="workspace of step 1, 9 B"):
        least_traffic(TrafficProblem((x, y), 2, (0, 9), 8))
