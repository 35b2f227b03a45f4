"""Checks the placed buffers of a CSV from the file alone; shares no code with the solvers."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from itertools import pairwise

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.dimension import Family
from memopt.formats.minimalloc import Row

Span = tuple[int, int, int]  # steps [lower, upper), bytes held
Sides = tuple[int, int, int, int, int]  # start and end at 1, start and end at the largest, row


def verify_rows(rows: Sequence[Row]) -> int:
    """The arena in bytes. Raises MemoptError for the first buffer that is not placed, not aligned,
    or over another one that is live in the same step."""
    for row in rows:
        if row.offset is None:
            raise MemoptError(f"buffer {row.name!r} has no offset")
        if row.offset < 0 or row.offset % row.alignment:
            raise MemoptError(f"buffer {row.name!r}: offset {row.offset} is not aligned")
    events: list[tuple[int, bool, int, int]] = []  # step, starts, row, bytes
    for index, row in enumerate(rows):
        for lower, upper, size in spans(row):
            events += [(lower, True, index, size), (upper, False, index, size)]
    live: list[tuple[int, int, int]] = []  # offset, end, row: disjoint, so ascending in both
    for _, starts, index, size in sorted(events):
        offset = rows[index].offset or 0
        entry = (offset, offset + size, index)
        if not starts:
            del live[bisect_left(live, entry)]
            continue
        at = bisect_left(live, entry)
        for other in (*live[max(0, at - 1) : at], *live[at : at + 1]):
            if other[0] < entry[1] and entry[0] < other[1]:
                names = f"{rows[other[2]].name!r} and {rows[index].name!r}"
                raise MemoptError(f"buffers {names} overlap")
        insort(live, entry)
    return max((r.offset + r.size for r in rows if r.offset is not None), default=0)


def verify_family(family: Family) -> tuple[int, int]:
    """Return the arena in bytes at 1 and at the largest of the dimension. Raises MemoptError as
    `verify_rows`, and for two buffers of which not the same is below at both ends.

    Bytes and offsets are lines, so where the end of one is not above the start of the other at both
    ends of the dimension it is not in between; offsets that are aligned at 1 and 2 always are. Who
    is below whom is transitive, so of all that is live in a step only neighbours are compared.
    """
    ends = family.rows(1), family.rows(family.largest)
    arenas = [verify_rows(rows) for rows in (ends[0], family.rows(2), ends[1])]
    events: list[tuple[int, bool, Sides]] = []  # step, starts, what
    for index, (one, other) in enumerate(zip(*ends, strict=True)):
        low, high = one.offset or 0, other.offset or 0
        for (lower, upper, p), (*_, q) in zip(stretches(one), stretches(other), strict=True):
            if p or q:  # else it is in nobody's way
                sides = low, low + p, high, high + q, index
                events += [(lower, True, sides), (upper, False, sides)]
    live: list[Sides] = []  # each below the next, so ascending
    for _, starts, sides in sorted(events):
        at = bisect_left(live, sides)
        if not starts:
            del live[at]
            continue
        live.insert(at, sides)
        for below, above in pairwise(live[max(0, at - 1) : at + 2]):
            if below[1] > above[0] or below[3] > above[2]:
                neighbour = above if below is sides else below
                names = " and ".join(repr(ends[0][s[4]].name) for s in (neighbour, sides))
                raise MemoptError(f"buffers {names} change sides, or overlap")
    return arenas[0], arenas[2]


def spans(row: Row) -> Iterator[Span]:
    """Yield when a buffer holds how many bytes; steps without any are left out."""
    return (span for span in stretches(row) if span[2])


def stretches(row: Row) -> Iterator[Span]:
    """Yield when a buffer holds how many bytes, also none."""
    at = row.lower
    for gap in row.gaps:
        if at < gap.lower:
            yield at, gap.lower, row.size
        yield gap.lower, gap.upper, gap.size
        at = gap.upper
    if at < row.upper:
        yield at, row.upper, row.size
