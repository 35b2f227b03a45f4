"""`belady`: give up what is used again last (Belady, 1966), as SERENITY counts its traffic.

Optimal for pages of one size that are only read, one per step, and an upper bound here.
"""

from collections.abc import Callable, Sequence
from math import inf

from memopt.solvers.memories.traffic import Traffic, TrafficProblem, moved_bytes


def solve(problem: TrafficProblem) -> Traffic:
    """Keep everything; where that does not fit, give up what is used again last.

    Of what an operator touches nothing is given up while anything else is there. If its own tensors
    alone do not fit, it takes from outside, or to it, first operands that come from outside anyway,
    then results, then operands that are on the chip; of each those that are used again last. Equal
    ones: the larger, then the earlier.
    """
    tensors = range(len(problem.tensors))
    kept = [[False] * len(g) for g in problem.gaps]
    reads: list[list[int]] = [[] for _ in range(problem.steps)]
    makes: list[list[int]] = [[] for _ in range(problem.steps)]
    for i in tensors:
        for t in problem.tensors[i].reads:
            reads[t].append(i)
        if problem.tensors[i].born >= 0:
            makes[problem.tensors[i].born].append(i)
    gap_at = [0] * len(problem.tensors)  # the gap that each tensor is in, or comes to next

    def next_use(i: int) -> float:
        gaps = problem.gaps[i]
        return gaps[gap_at[i]].last if gap_at[i] < len(gaps) else inf

    def last_used(i: int) -> tuple[float, int, int]:
        return next_use(i), problem.tensors[i].size, -i

    inside = {i for i in tensors if problem.tensors[i].born < 0 and problem.gaps[i]}
    _give_up(problem, inside, problem.on_chip, [(inside, last_used)])
    for t in range(problem.steps):
        before = set(inside)
        for i in reads[t]:
            gap_at[i] += 1
        dead = [i for i in makes[t] if next_use(i) == t]
        inside.update(reads[t], makes[t])
        touched = {*reads[t], *makes[t]}
        fetched = {i for i in reads[t] if i not in before}
        made = set(makes[t])
        classes = [
            (inside - touched, last_used),
            (fetched, last_used),
            (made, last_used),
            (touched - fetched - made, last_used),
        ]
        _give_up(problem, inside, problem.on_chip - problem.workspace[t], classes)
        for i in reads[t]:
            kept[i][gap_at[i] - 1] = i in before and i in inside
        for i in dead:
            kept[i][0] = i in inside
            gap_at[i] += 1
        inside = {i for i in inside if gap_at[i] < len(problem.gaps[i])}
    for i in inside:
        kept[i][-1] = True
    answer = tuple(map(tuple, kept))
    return Traffic(moved_bytes(problem, answer), 0, answer)


def _give_up(
    problem: TrafficProblem,
    inside: set[int],
    room: int,
    classes: Sequence[tuple[set[int], Callable[[int], tuple[float, int, int]]]],
) -> None:
    """Take tensors off the chip, class by class, until the rest fits into `room` bytes."""
    load = sum(problem.tensors[i].size for i in inside)
    for members, key in classes:
        for i in sorted(members, key=key, reverse=True):
            if load <= room:
                return
            if problem.tensors[i].size:
                inside.discard(i)
                load -= problem.tensors[i].size
