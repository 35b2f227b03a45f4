"""Checks the placed buffers of a CSV from the file alone; shares no code with the solvers."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.dimension import Family
from memopt.formats.minimalloc import Row

Span = tuple[int, int, int]  # steps [lower, upper), bytes held


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
    """Return the arena in bytes at 1 and at the most of the dimension. Raises MemoptError as
    `verify_rows`, and for two buffers of which not the same is below at both ends.

    Bytes and offsets are lines, so where the end of one is not above the start of the other at both
    ends of the dimension it is not in between; offsets that are aligned at 1 and 2 always are.
    """
    ends = family.rows(1), family.rows(family.most)
    arenas = [verify_rows(rows) for rows in (ends[0], family.rows(2), ends[1])]
    pieces = [
        [(i, *stretch, row.offset or 0) for i, row in enumerate(rows) for stretch in stretches(row)]
        for rows in ends
    ]
    starting = sorted(range(len(pieces[0])), key=lambda p: pieces[0][p][1])
    live: list[int] = []
    for p in starting:
        i, lower = pieces[0][p][:2]
        live = [q for q in live if pieces[0][q][2] > lower]
        for q in live:
            if pieces[0][q][0] != i and not (_is_below(pieces, p, q) or _is_below(pieces, q, p)):
                names = " and ".join(repr(ends[0][pieces[0][k][0]].name) for k in (q, p))
                raise MemoptError(f"buffers {names} change sides, or overlap")
        live.append(p)
    return arenas[0], arenas[2]


def _is_below(pieces: Sequence[Sequence[tuple[int, int, int, int, int]]], p: int, q: int) -> bool:
    """Return whether piece `p` ends where `q` starts or before, at both ends of the dimension; what
    holds nothing at both is in nobody's way."""
    if not any(end[p][3] for end in pieces) or not any(end[q][3] for end in pieces):
        return True
    return all(end[p][4] + end[p][3] <= end[q][4] for end in pieces)


def spans(row: Row) -> Iterator[Span]:
    """When a buffer holds how many bytes; steps without any are left out."""
    return (span for span in stretches(row) if span[2])


def stretches(row: Row) -> Iterator[Span]:
    """When a buffer holds how many bytes, if any."""
    at = row.lower
    for gap in row.gaps:
        if at < gap.lower:
            yield at, gap.lower, row.size
        yield gap.lower, gap.upper, gap.size
        at = gap.upper
    if at < row.upper:
        yield at, row.upper, row.size
