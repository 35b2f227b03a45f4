"""Buffers of a CSV, or of a program that calls `memopt.place`, placed by any strategy."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import accumulate
from math import lcm
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError, nearest
from memopt.formats.minimalloc import LARGEST, Row
from memopt.solvers.placement import METHODS, prove
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.shared_objects import METHODS as SHARED
from memopt.solvers.shared_objects import share
from memopt.text.usage import UsageError
from memopt.verify.buffers import spans, verify_rows

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
    rows: Sequence[Row],
    strategy: str,
    time_limit: float | None,
    capacity: int | None,
    name: str,
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
