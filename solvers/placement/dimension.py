"""Offsets for every value of one bounded dimension: lines a*n+b for 1 <= n <= N.

What is below what is taken from placements at N and at 1, and kept for every n. Each buffer, the
lowest first, then gets the lowest line that is, at 1 and at N, above all that it is to be above:
between them that are lines or, where a buffer holds several sizes, the greatest of lines, which is
convex, so that the line through the ends is above it. Its slope is a whole multiple of the
alignment; where it has to be rounded it is exact at N, where the arena is largest.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import round_up

Line = tuple[int, int]


@dataclass(frozen=True)
class Growing:
    """A buffer: steps [lower, upper) with the bytes held at 1 and at N, ascending in time."""

    pieces: tuple[tuple[int, int, int, int], ...]
    alignment: int = 1


@dataclass(frozen=True)
class Growth:
    """An offset a*n+b for each buffer, as (a, b), and the arena at 1 and at N, in bytes."""

    offsets: tuple[Line, ...]
    arena: tuple[int, int]


def grown(buffers: Sequence[Growing], most: int, orders: Sequence[Sequence[int]]) -> Growth:
    """Return the offsets of the order (the lowest first) that needs least at `most`, then at 1.

    Raises ProblemError for a dimension below 2, and for no order.
    """
    if most < 2 or not orders:
        raise ProblemError(f"a dimension up to {most} with {len(orders)} orders")
    beside = _needs(buffers)
    answers = [_lowest(buffers, most, order, beside) for order in orders]
    return min(answers, key=lambda a: (a.arena[1], a.arena[0]))


def _needs(buffers: Sequence[Growing]) -> list[dict[int, Line]]:
    """Return for each buffer those that are live with it, with the bytes that these hold then, at
    1 and at N."""
    result: list[dict[int, Line]] = [{} for _ in buffers]
    events = sorted((p[0], p[1], i, p[2], p[3]) for i, b in enumerate(buffers) for p in b.pieces)
    live: list[tuple[int, int, int, int]] = []  # one after the last step, buffer, bytes
    for lower, upper, i, first, last in events:
        live = [entry for entry in live if entry[0] > lower]
        for _, j, *held in live:
            if i != j and (first or last) and any(held):
                for one, other, size in ((i, j, held), (j, i, (first, last))):
                    known = result[one].get(other, (0, 0))
                    result[one][other] = max(known[0], size[0]), max(known[1], size[1])
        live.append((upper, i, first, last))
    return result


def _lowest(
    buffers: Sequence[Growing], most: int, order: Sequence[int], beside: Sequence[dict[int, Line]]
) -> Growth:
    offsets: dict[int, Line] = {}
    ends = [0, 0]
    for i in order:
        below = [(offsets[j], need) for j, need in beside[i].items() if j in offsets]
        first = max((a + b + need[0] for (a, b), need in below), default=0)
        last = max((a * most + b + need[1] for (a, b), need in below), default=0)
        alignment = buffers[i].alignment
        last = round_up(last, alignment)
        slope = (last - first) // (most - 1) // alignment * alignment
        offsets[i] = slope, last - slope * most
        held = [max((p[k] for p in buffers[i].pieces), default=0) for k in (2, 3)]
        places = slope + offsets[i][1], last
        ends = [max(e, o + h) if h else e for e, o, h in zip(ends, places, held, strict=True)]
    return Growth(tuple(offsets[i] for i in range(len(buffers))), (ends[0], ends[1]))
