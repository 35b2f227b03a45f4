"""Checks the placed buffers of a CSV from the file alone; shares no code with the solvers."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

from memopt.dialects.memgraph.errors import MemoptError
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


def spans(row: Row) -> Iterator[Span]:
    """When a buffer holds how many bytes; steps without any are left out."""
    at = row.lower
    for gap in row.gaps:
        if at < gap.lower and row.size:
            yield at, gap.lower, row.size
        if gap.size:
            yield gap.lower, gap.upper, gap.size
        at = gap.upper
    if at < row.upper and row.size:
        yield at, row.upper, row.size
