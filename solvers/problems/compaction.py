"""Buffers of one arena that may move between two steps, so that it needs fewer bytes.

    a, b, c = Block(4, 0, 2), Block(4, 0, 3, movable=True), Block(8, 2, 3)
    problem = CompactionProblem((a, b, c), arena=12)
    answer = Compaction((0, 4, 4), (Move(2, 1, 0),), lower_bound=4)   # b to where a was, then c
    answer.verify(problem)

Liberis & Lane defragment at run time; here it is decided before. In front of a step, one after the
other, a block that lives in the step before and in this one may be copied to any bytes that no
other such block holds at that moment; its own it may overlap. Order and live ranges stay.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from memopt.solvers.errors import ProblemError


class Block(NamedTuple):
    """`size` bytes that live in steps [lower, upper), at multiples of `alignment`."""

    size: int
    lower: int
    upper: int
    movable: bool = False
    alignment: int = 1


class Move(NamedTuple):
    """Block `block` goes to `offset` in front of `step`."""

    step: int
    block: int
    offset: int


@dataclass(frozen=True)
class CompactionProblem:
    """Blocks for an arena of so many bytes."""

    blocks: tuple[Block, ...]
    arena: int

    @cached_property
    def steps(self) -> int:
        """Return how many steps there are."""
        return max((b.upper for b in self.blocks), default=0)

    @cached_property
    def fresh(self) -> tuple[tuple[int, ...], ...]:
        """Return for each step the blocks with bytes that live from it on."""
        sized = [(k, b.lower) for k, b in enumerate(self.blocks) if b.size]
        return tuple(tuple(k for k, lower in sized if lower == t) for t in range(self.steps))


@dataclass(frozen=True)
class Compaction:
    """Where each block is made, and the moves in their order. No answer copies fewer bytes than
    `lower_bound`."""

    offsets: tuple[int, ...]
    moves: tuple[Move, ...]
    lower_bound: int

    def moved(self, problem: CompactionProblem) -> int:
        """Return the bytes that moves copy."""
        return sum(problem.blocks[m.block].size for m in self.moves)

    def verify(self, problem: CompactionProblem) -> None:
        """Raise ProblemError unless the moves, one after the other, lead to places in the arena
        where nothing overlaps."""
        at: dict[int, int] = {}
        waiting = list(self.moves)

        def put(k: int, offset: int, step: int) -> None:
            block = problem.blocks[k]
            if offset < 0 or offset + block.size > problem.arena or offset % block.alignment:
                raise ProblemError(f"block {k} at {offset} is not in the arena, or not aligned")
            for other, place in at.items():
                end = place + problem.blocks[other].size
                if other != k and offset < end and place < offset + block.size:
                    raise ProblemError(f"step {step}: block {k} at {offset} lies over {other}")
            at[k] = offset

        for step in range(problem.steps):
            at = {k: place for k, place in at.items() if problem.blocks[k].upper > step}
            while waiting and waiting[0].step == step:
                move = waiting.pop(0)
                if move.block not in at or not problem.blocks[move.block].movable:
                    raise ProblemError(f"step {step}: block {move.block} cannot move")
                put(move.block, move.offset, step)
            for k, block in enumerate(problem.blocks):
                if block.lower == step and block.size:
                    put(k, self.offsets[k], step)
        if waiting:
            raise ProblemError(f"a move in front of step {waiting[0].step}, out of turn")
        if self.lower_bound > self.moved(problem):
            raise ProblemError(f"bound {self.lower_bound} B above what is moved")
