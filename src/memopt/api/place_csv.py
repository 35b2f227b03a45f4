"""Buffers of a CSV, or of a program that calls `memopt.place`, placed by any strategy."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import lcm
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.formats.dimension import Family, Line, at, read_family
from memopt.formats.minimalloc import LARGEST, Row
from memopt.solvers.placement import METHODS, prove
from memopt.solvers.placement.dimension import Growing, grown
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.solvers.shared_objects import share
from memopt.text.usage import UsageError
from memopt.verify.buffers import spans, stretches, verify_family, verify_rows

STRATEGIES: tuple[str, ...] = (*METHODS, *SHARED)


@dataclass(frozen=True)
class Answer:
    """Offsets per row; bytes throughout. No answer of the kind is below `lower_bound`, and no arena
    at all below `floor`: shared objects need more than one arena does."""

    offsets: tuple[int, ...]
    arena: int
    lower_bound: int
    floor: int


def problem_of(rows: Sequence[Row]) -> tuple[PlacementProblem, tuple[int, ...]]:
    """The placement problem, and for every row the buffer that has its offset.

    A row with gaps is several buffers that share one base.
    """
    buffers: list[Buffer] = []
    first: list[int] = []
    for row in rows:
        base = len(buffers)
        first.append(base)
        for lower, upper, size in list(spans(row)) or [(row.lower, row.upper, 0)]:
            buffers.append(Buffer(row.name, size, lower, upper, base, row.offset, row.alignment))
    return PlacementProblem(tuple(buffers)), tuple(first)


def solve(
    rows: Sequence[Row], strategy: str, time_limit: float | None, capacity: int | None = None
) -> Answer:
    """Place the rows by a placement strategy, or by shared objects laid one behind the other.

    Raises ProblemError, and UsageError for an unknown strategy.
    """
    problem, first = problem_of(rows)
    if strategy in SHARED:
        return _shared(problem, first, strategy, time_limit)
    if strategy not in METHODS:
        close = nearest(strategy, STRATEGIES)
        raise UsageError(f"--strategy={strategy}{close}: one of {', '.join(STRATEGIES)}")
    # nobody waits for a compiler here, so there is more work than --place=auto does
    more = {"nodes": exact_nodes()} if strategy == "auto" and time_limit is None else {}
    proven = prove(problem, strategy, time_limit, capacity, **more)
    offsets = tuple(proven.placement.offsets[i] for i in first)
    bound = proven.lower_bound
    return Answer(offsets, proven.placement.arena, bound, bound)


def placed(
    rows: Sequence[Row], strategy: str, time_limit: float | None, capacity: int | None, name: str
) -> tuple[Answer, tuple[Row, ...]]:
    """`solve`, and the rows with their offsets, checked from these rows alone.

    Raises as `solve`, and MemoptError that says `name` for an arena that no file can say.
    """
    answer = solve(rows, strategy, time_limit, capacity)
    if answer.arena > LARGEST:  # as an offset nobody could read it back
        raise MemoptError(f"the arena of {answer.arena} B is too large", name)
    placed_rows = tuple(replace(r, offset=o) for r, o in zip(rows, answer.offsets, strict=True))
    arena = verify_rows(placed_rows)
    if arena > answer.arena:
        raise MemoptError(f"the rows end at {arena} B, the strategy said {answer.arena} B", name)
    return answer, placed_rows


@dataclass(frozen=True)
class FamilyAnswer:
    """Placed buffers of every value of a dimension, as `text`. `arena` and `lower_bound` are bytes
    at 1 and at the largest of the dimension, `lines` the arena from each n on."""

    text: str
    arena: tuple[int, int]
    lower_bound: tuple[int, int]
    lines: tuple[tuple[int, Line], ...]


def placed_family(
    family: Family, strategy: str, time_limit: float | None, name: str
) -> FamilyAnswer:
    """Place the buffers once for all values, checked from what is written.

    Raises as `placed`, and MemoptError for fixed offsets and for shared objects.
    """
    ends = family.rows(1), family.rows(family.largest)
    if any(row.offset is not None for row in ends[0]):
        raise MemoptError("fixed offsets are not placed together with a dimension", name)
    if strategy in SHARED:
        raise MemoptError(f"--strategy={strategy} has sizes and no offsets, so no dimension", name)
    half = None if time_limit is None else time_limit / 2
    first, last = (solve(rows, strategy, half) for rows in ends)
    growing = [
        Growing(
            tuple((*a, b[2]) for a, b in zip(stretches(one), stretches(other), strict=True)),
            one.alignment,
        )
        for one, other in zip(*ends, strict=True)
    ]
    orders = [
        sorted(range(len(growing)), key=answer.offsets.__getitem__) for answer in (last, first)
    ]
    growth = grown(growing, family.largest, orders)
    text = family.placed(growth.offsets)
    written = read_family(text.encode(), name)
    assert written is not None
    arena = verify_family(written)
    if max(arena) > LARGEST:
        raise MemoptError(f"the arena of {max(arena)} B is too large", name)
    sizes = [(b.size - a.size) // (family.largest - 1) for a, b in zip(*ends, strict=True)]
    tops = {
        (offset[0] + size, offset[1] + row.size - size)
        for offset, size, row in zip(growth.offsets, sizes, ends[0], strict=True)
        if size or row.size
    }
    lines = tuple(_highest(tops or {(0, 0)}, family.largest))
    return FamilyAnswer(text, arena, (first.lower_bound, last.lower_bound), lines)


def _highest(tops: set[Line], largest: int) -> Iterator[tuple[int, Line]]:
    """Yield the highest of lines, each from the n on from which it is."""
    n = 1
    while n <= largest:
        highest = max(tops, key=lambda line: (at(line, n), line))
        yield n, highest
        steeper = [line for line in tops if line[0] > highest[0]]
        above = ((highest[1] - line[1]) // (line[0] - highest[0]) + 1 for line in steeper)
        n = min(above, default=largest + 1)


def exact_nodes() -> int:
    """Return the number of nodes that `--strategy=exact` may look at without a time limit."""
    from memopt.solvers.placement.methods.exact import NODES  # needs numpy, start-up does not

    return NODES


def _shared(
    problem: PlacementProblem, first: Sequence[int], strategy: Any, time_limit: float | None
) -> Answer:
    """The objects one behind the other, each aligned for all buffers; the last ends the arena."""
    sharing = share(problem, strategy, time_limit)
    step = lcm(*(b.alignment for b in problem.buffers))
    starts = list(accumulate((-(-s // step) * step for s in sharing.sizes), initial=0))
    offsets = tuple(starts[max(0, sharing.objects[i])] for i in first)
    end = starts[-2] + sharing.sizes[-1] if sharing.sizes else 0
    return Answer(offsets, end, sharing.lower_bound, problem.load)
