"""Items: what is given one offset. Buffers that share a base are one item with several pieces."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import lcm

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Piece, Placement, PlacementProblem


@dataclass(frozen=True)
class Item:
    """The buffers `members` of one base: live in [lower, upper), at most `size` bytes high.

    `pieces` say how high in which steps; `alignment` suits every member. Without a piece (0 bytes)
    it conflicts with nothing.
    """

    index: int
    members: tuple[int, ...]
    pieces: tuple[Piece, ...]
    lower: int
    upper: int
    size: int
    alignment: int
    fixed: int | None

    @property
    def area(self) -> int:
        """Byte-steps."""
        return sum(p.size * (p.upper - p.lower) for p in self.pieces)


def items_of(problem: PlacementProblem) -> tuple[Item, ...]:
    """All items, by base; `Item.index` is the position here.

    Raises ProblemError where a fixed offset does not suit the alignment of its whole base.
    """
    members: dict[int, list[int]] = {}
    for i, b in enumerate(problem.buffers):
        members.setdefault(b.base, []).append(i)
    items: list[Item] = []
    for base in sorted(members):
        group = [problem.buffers[i] for i in members[base]]
        alignment = lcm(*(b.alignment for b in group))
        fixed = next((b.fixed for b in group if b.fixed is not None), None)
        if fixed is not None and fixed % alignment:
            raise ProblemError(f"buffer {group[0].name!r}: bad fixed offset {fixed}")
        items.append(
            Item(
                len(items),
                tuple(members[base]),
                problem.pieces[base],
                min(b.lower for b in group),
                max(b.upper for b in group),
                max(b.size for b in group),
                alignment,
                fixed,
            )
        )
    return tuple(items)


def floor_of(problem: PlacementProblem, items: Iterable[Item]) -> int:
    """Bytes that every arena has: the load, and the end of what is fixed."""
    return max([problem.load, *(i.fixed + i.size for i in items if i.fixed is not None)])


def placement_of(
    problem: PlacementProblem, items: Iterable[Item], offsets: Sequence[int]
) -> Placement:
    """The answer in terms of buffers; `offsets` has one entry per item."""
    result = [0] * len(problem.buffers)
    for item in items:
        for i in item.members:
            result[i] = offsets[item.index]
    arena = max(o + b.size for o, b in zip(result, problem.buffers, strict=True))
    return Placement(tuple(result), arena)


def fixed_first(items: Iterable[Item], order: Iterable[Item]) -> list[Item]:
    """`order` with the fixed items before all others."""
    return [i for i in items if i.fixed is not None] + [i for i in order if i.fixed is None]


def cliques_of(items: Sequence[Item]) -> list[list[tuple[int, Piece]]]:
    """The maximal sets of pieces that are live together, by time, each as (item, piece)."""
    events = sorted(
        (
            (step, starts, i.index, n)
            for i in items
            for n, p in enumerate(i.pieces)
            for step, starts in ((p.lower, True), (p.upper, False))
        ),
    )
    pieces = {(i.index, n): p for i in items for n, p in enumerate(i.pieces)}
    live: dict[tuple[int, int], Piece] = {}
    result: list[list[tuple[int, Piece]]] = []
    grown = False
    for _, starts, i, n in events:
        if starts:
            live[i, n], grown = pieces[i, n], True
            continue
        if grown:
            result.append([(j, p) for (j, _), p in live.items()])
            grown = False
        del live[i, n]
    return result
