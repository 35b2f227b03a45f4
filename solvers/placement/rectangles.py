"""Items: what is given one offset. Buffers that share a base are one item with several pieces."""

from collections.abc import Iterable, Iterator, Sequence
from math import gcd

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Item, Piece, Placement, PlacementProblem


def unit_of(items: Iterable[Item]) -> int:
    """Bytes that divide all sizes, alignments and fixed offsets, and where parts begin."""
    numbers: set[int] = set()  # most stand there many times
    for item in items:
        numbers.add(item.alignment)
        if item.fixed:
            numbers.add(item.fixed)
        for p in item.pieces:
            numbers.add(p.size)
            numbers.add(p.at)
    return gcd(*numbers) or 1


def arena_unit(items: Iterable[Item]) -> int:
    """Bytes of which every arena in which nothing can sink is a multiple."""
    items = tuple(items)
    sizes = gcd(*(i.fixed or 0 for i in items))
    sizes = gcd(sizes, *(n for i in items for p in i.pieces for n in (p.size, p.at)))
    return gcd(sizes, *(i.alignment for i in items if sizes % i.alignment)) or 1


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
            result[i] = offsets[item.index] + problem.buffers[i].at
    arena = max((o + b.size for o, b in zip(result, problem.buffers, strict=True)), default=0)
    return Placement(tuple(result), arena)


def offsets_of(problem: PlacementProblem, items: Iterable[Item], placement: Placement) -> list[int]:
    """Return the offset of each item, from which `placement_of` derives those of the buffers."""
    return [placement.offsets[i.members[0]] - problem.buffers[i.members[0]].at for i in items]


def fixed_first(items: Iterable[Item], order: Iterable[Item]) -> list[Item]:
    """`order` with the fixed items before all others."""
    return [i for i in items if i.fixed is not None] + [i for i in order if i.fixed is None]


def refuse_parts(items: Iterable[Item], who: str) -> None:
    """Raise ProblemError for what is in parts that die alone."""
    if any(i.in_parts for i in items):
        raise ProblemError(f"{who}: takes no buffers in parts that die alone")


def cliques_of(items: Sequence[Item]) -> Iterator[list[tuple[int, Piece]]]:
    """The maximal sets of pieces that are live together, by time, each as (item, piece)."""
    events = sorted(
        (
            (step, starts, i.index, n)
            for i in items
            for n, p in enumerate(i.pieces)
            for step, starts in ((p.lower, True), (p.upper, False))
        )
    )
    pieces = {(i.index, n): p for i in items for n, p in enumerate(i.pieces)}
    live: dict[tuple[int, int], Piece] = {}
    grown = False
    for _, starts, i, n in events:
        if starts:
            live[i, n], grown = pieces[i, n], True
            continue
        if grown:
            yield [(j, p) for (j, _), p in live.items()]
            grown = False
        del live[i, n]
