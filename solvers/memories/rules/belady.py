"""`belady`: give up what is used again last (Belady, 1966), as SERENITY counts its traffic.

Optimal for pages of one size that are only read, one per step, and an upper bound here.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf

from memopt.solvers.memories.traffic import Traffic, TrafficProblem, moved_bytes


def solve(problem: TrafficProblem) -> Traffic:
    """Keep everything; where that does not fit, give up what is used again last.

    Of what an operator touches nothing is given up while anything else is there. If its own tensors
    alone do not fit, it takes from outside, or to it, first operands that come from outside anyway,
    then results, then operands that are on the chip; of each those that are used again last. Equal
    ones: the larger, then the earlier.
    """
    tensors, gaps = problem.tensors, problem.gaps
    on_chip = [[False] * len(g) for g in gaps]
    reads, makes = _by_step(problem)
    chip = _Chip(problem, [0] * len(tensors))
    for i, x in enumerate(tensors):
        if x.born < 0 and gaps[i]:
            chip.put(i)
            chip.settle(i)
    chip.give_up(problem.on_chip, ())
    for t in range(problem.steps):
        before = chip.inside.intersection(reads[t])
        for i in reads[t]:
            chip.gap_at[i] += 1
        dead = [i for i in makes[t] if chip.next_use(i) == t]
        touched = (*reads[t], *makes[t])
        for i in touched:
            chip.put(i)
        results = set(makes[t])
        fetched = {i for i in reads[t] if i not in before and i not in results}
        rest = {i for i in reads[t] if i in before and i not in results}
        chip.give_up(problem.on_chip - problem.workspace[t], (fetched, results, rest))
        for i in reads[t]:
            on_chip[i][chip.gap_at[i] - 1] = i in before and i in chip.inside
        for i in dead:
            on_chip[i][0] = i in chip.inside
            chip.gap_at[i] += 1
        for i in touched:
            chip.settle(i)
    for i in chip.inside:
        on_chip[i][-1] = True
    answer = tuple(map(tuple, on_chip))
    return Traffic(moved_bytes(problem, answer), 0, answer)


def _by_step(problem: TrafficProblem) -> tuple[list[list[int]], list[list[int]]]:
    """Per step the tensors that it reads, and those that it makes."""
    reads: list[list[int]] = [[] for _ in range(problem.steps)]
    makes: list[list[int]] = [[] for _ in range(problem.steps)]
    for i, x in enumerate(problem.tensors):
        for t in x.reads:
            reads[t].append(i)
        if x.born >= 0:
            makes[x.born].append(i)
    return reads, makes


@dataclass
class _Chip:
    """Tensors on the chip (`inside`), and their bytes.

    `gap_at` is the gap that each tensor is in, or comes to next; `waiting` is a heap of tensors
    that no operator touches, the one whose next use is last first, with the gap that each had then:
    it has left the heap if it is in another by now.
    """

    problem: TrafficProblem
    gap_at: list[int]
    inside: set[int] = field(default_factory=set[int])
    load: int = 0
    waiting: list[tuple[float, int, int, int]] = field(
        default_factory=list[tuple[float, int, int, int]]
    )

    def next_use(self, i: int) -> float:
        gaps = self.problem.gaps[i]
        return gaps[self.gap_at[i]].last if self.gap_at[i] < len(gaps) else inf

    def put(self, i: int) -> None:
        if i not in self.inside:
            self.inside.add(i)
            self.load += self.problem.tensors[i].size

    def drop(self, i: int) -> None:
        if i in self.inside:
            self.inside.discard(i)
            self.load -= self.problem.tensors[i].size

    def settle(self, i: int) -> None:
        """After a step that touched it: it waits for its next use, or is gone."""
        if self.gap_at[i] == len(self.problem.gaps[i]):
            self.drop(i)
        elif i in self.inside and (size := self.problem.tensors[i].size):
            heappush(self.waiting, (-self.next_use(i), -size, i, self.gap_at[i]))

    def give_up(self, room: int, classes: Sequence[set[int]]) -> None:
        """Take tensors off the chip until the rest fits into `room` bytes: first what waits, then
        class by class."""
        while self.load > room and self.waiting:
            *_, i, gap = heappop(self.waiting)
            if gap == self.gap_at[i]:
                self.drop(i)
        for members in classes:
            if self.load <= room:
                return
            sizes = self.problem.tensors
            for i in sorted(members, key=lambda i: (-self.next_use(i), -sizes[i].size, i)):
                if self.load <= room:
                    return
                if sizes[i].size:
                    self.drop(i)
