# pyright: basic
"""Moves within an arena against brute force: every sequence of moves, with no search by cost."""

from functools import cache
from itertools import count
from random import Random

import pytest

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories.compaction import compact, exact, slide
from memopt.solvers.problems.compaction import Block, Compaction, CompactionProblem, Move

CASES = 2_000
Lying = frozenset[tuple[int, int]]


# (size, lower, upper): no places without a move fit into 8 bytes, the load; found at random
ROWS = (
    "4 0 1, 4 0 3, 2 2 4, 1 2 4, 1 3 5, 2 3 7, 2 4 7, 3 8 9, 1 2 9, 1 3 9, 2 6 9",
    "3 0 1, 2 0 1, 3 0 2, 4 1 3, 1 1 4, 1 2 4, 2 3 5, 1 2 5, 3 3 5, 2 4 5",
)


def tight(rows: str) -> CompactionProblem:
    blocks = [Block(*map(int, row.split()), movable=True) for row in rows.split(",")]
    return CompactionProblem(tuple(blocks), 8)


def random_problem(rng: Random) -> CompactionProblem:
    """Up to five blocks in the fewest bytes that any arena has, or one of `ROWS` of which some may
    not move."""
    if rng.random() < 0.04:
        problem = tight(rng.choice(ROWS))
        stay = rng.sample(range(len(problem.blocks)), rng.randint(0, len(problem.blocks)))
        fewer = [b._replace(movable=k not in stay) for k, b in enumerate(problem.blocks)]
        return CompactionProblem(tuple(fewer), 8)
    steps = rng.randint(2, 5)
    blocks: list[Block] = []
    for _ in range(rng.randint(3, 6)):
        lower = rng.randrange(steps)
        upper = rng.randint(lower + 1, min(steps, lower + 3))
        blocks.append(Block(rng.randint(1, 3), lower, upper, rng.random() < 0.7))
    load = max(sum(b.size for b in blocks if b.lower <= t < b.upper) for t in range(steps))
    return CompactionProblem(tuple(blocks), load)


def fits(problem: CompactionProblem, budget: int) -> bool:
    """Return whether moves of so many bytes suffice, by all of them and all places, in turn."""
    blocks = problem.blocks

    def free(k: int, lying: Lying) -> list[int]:
        taken = {c for j, o in lying if j != k for c in range(o, o + blocks[j].size)}
        size = blocks[k].size
        starts = range(problem.arena - size + 1)
        return [at for at in starts if taken.isdisjoint(range(at, at + size))]

    @cache
    def before(step: int, lying: Lying, budget: int) -> bool:
        if step == problem.steps or made(step, 0, lying, budget):
            return True
        return step > 0 and any(
            before(step, lying - {(k, o)} | {(k, at)}, budget - blocks[k].size)
            for k, o in lying
            if blocks[k].movable and blocks[k].size <= budget
            for at in free(k, lying)
        )

    def made(step: int, k: int, lying: Lying, budget: int) -> bool:
        if k == len(blocks):
            lasting = frozenset(x for x in lying if blocks[x[0]].upper > step + 1)
            return before(step + 1, lasting, budget)
        if blocks[k].lower != step:
            return made(step, k + 1, lying, budget)
        return any(made(step, k + 1, lying | {(k, at)}, budget) for at in free(k, lying))

    return before(0, frozenset(), budget)


EXAMPLE = CompactionProblem((Block(4, 0, 2), Block(4, 0, 3, movable=True), Block(8, 2, 3)), 12)


def test_the_example_of_the_module() -> None:
    Compaction((0, 4, 4), (Move(2, 1, 0),), 4).verify(EXAMPLE)
    answer = compact(EXAMPLE, (), needed=False)
    assert answer is not None and not answer.moves  # it is made where it may stay


@pytest.mark.parametrize("rows", ROWS)
def test_one_byte_has_to_move(rows: str) -> None:
    problem = tight(rows)
    answer, quick = compact(problem, (), needed=True), slide(problem)
    assert answer is not None and answer.moved(problem) == 1
    assert quick is not None and quick.moved(problem) >= 1
    stay = tuple(b._replace(movable=False) for b in problem.blocks)
    assert compact(CompactionProblem(stay, 8), (), needed=True) is None


def test_exact_equals_brute_force(fuzz: float) -> None:
    rng = Random(4)
    moved = same = 0
    for case in range(max(150, int(CASES * fuzz))):
        problem = random_problem(rng)
        answer, quick = exact(problem), slide(problem)
        if answer is None:
            assert quick is None and not fits(problem, 2), case
            continue
        answer.verify(problem)
        least = answer.moved(problem)
        assert least == answer.lower_bound and not (least and fits(problem, least - 1)), case
        moved += bool(least)
        if quick is not None:
            quick.verify(problem)
            assert quick.moved(problem) >= least, case
            same += bool(least) and quick.moved(problem) == least
    assert moved and same <= moved


def test_limits_hold_within_a_step() -> None:
    ticks = count()
    with clock.reading(lambda: float(next(ticks))):
        assert exact(CompactionProblem((Block(1, 0, 1),) * 3, 48), 10.0) is None
        assert slide(tight(ROWS[0]), (), 16.0) is None
    assert exact(CompactionProblem((Block(1, 0, 1),) * 9, 48)) is not None  # 48 ** 9 places


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (Compaction((0, 4, 4), (), 0), "step 2: block 2 at 4 lies over 1"),
        (Compaction((0, 2, 4), (), 0), "step 0: block 1 at 2 lies over 0"),
        (Compaction((0, 9, 0), (), 0), "block 1 at 9 is not in the arena"),
        (Compaction((0, 4, 4), (Move(1, 0, 8),), 0), "step 1: block 0 cannot move"),
        (Compaction((0, 4, 4), (Move(1, 1, 2),), 0), "step 1: block 1 at 2 lies over 0"),
        (Compaction((0, 4, 4), (Move(3, 1, 0),), 0), "step 2: block 2 at 4 lies over 1"),
        (Compaction((0, 4, 4), (Move(2, 1, 0), Move(1, 1, 4)), 0), "out of turn"),
        (Compaction((0, 4, 4), (Move(2, 1, 0),), 5), "bound 5 B above"),
    ],
)
def test_the_verifier_refuses(answer: Compaction, message: str) -> None:
    with pytest.raises(ProblemError, match=message):
        answer.verify(EXAMPLE)
