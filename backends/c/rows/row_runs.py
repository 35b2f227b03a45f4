"""Rows of an operator that run one after the other, computed in one call.

calls[] = {0, 0, 0, 1, 0, 1}    ->    {8, 1, 0, 1}      with MORE = 4: three rows, then one of each

Where rows are one pixel, kernels make two pixels at once, and a call takes as long as some of a
row. The plan ran the rows in turn, each in scratch of its own, of which a call has only the first
one's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memopt.backends.c.emit.header import bytes_in
from memopt.backends.c.emit.layout import Address, Layout
from memopt.backends.c.inline.sums import sum_row_of
from memopt.backends.c.rows.row_program import RowOperator
from memopt.dialects.rows.operations import RowOp

MOST = 8  # rows of a call: what they read is on the stack as pointers


@dataclass(frozen=True)
class RowsCalled:
    """A number of calls[]: of an operator, with the `rows` that are made, or of what comes above
    operators; and the steps of the plan that it runs."""

    number: int
    steps: tuple[int, ...]
    rows: tuple[RowOp, ...] = ()

    @property
    def more(self) -> int:
        """Return how many rows are made besides the first."""
        return max(0, len(self.rows) - 1)

    def joined(self, later: "RowsCalled") -> "RowsCalled":
        """Return the call with the row of the call behind it."""
        return replace(self, steps=self.steps + later.steps, rows=self.rows + later.rows)

    def split(self) -> tuple["RowsCalled", "RowsCalled"]:
        """Return the call without its last row, and that of its last row alone."""
        rows, steps = self.rows, self.steps
        return (
            replace(self, steps=steps[:-1], rows=rows[:-1]),
            replace(self, steps=steps[-1:], rows=rows[-1:]),
        )


def more_of(above: int) -> int:
    """Return what is added to a number of calls[] for each row behind the first, where numbers go
    up to `above`."""
    return 1 << above.bit_length()


def in_runs(
    layout: Layout, operators: Sequence[RowOperator], calls: Sequence[RowsCalled], above: int
) -> list[RowsCalled]:
    """Return the calls, those that one call may do as one; `above` is the largest number of calls,
    which have a byte if they had one without that."""
    in_a_byte = (255 - above) // more_of(above) + 1
    limit = min(MOST, in_a_byte) if in_a_byte > 1 else MOST

    def may_join(run: RowsCalled, call: RowsCalled) -> bool:
        return (
            run.number == call.number
            and 0 < len(run.rows) < limit
            and is_run(layout, operators[call.number], (*run.rows, *call.rows))
        )

    runs: list[RowsCalled] = []
    for call in calls:
        if runs and may_join(runs[-1], call):
            runs[-1] = runs[-1].joined(call)
            continue
        if runs and runs[-1].more >= 2 and runs[-1].more % 2 == 0:
            shorter, single = runs[-1].split()
            if may_join(single, call):  # kernels make two rows at once
                runs[-1:] = [shorter, single.joined(call)]
                continue
        runs.append(call)
    return runs


def is_run(layout: Layout, o: RowOperator, rows: Sequence[RowOp]) -> bool:
    """Return whether a call may compute the last of these rows, between which nothing runs, after
    the others, which it may compute."""
    *earlier, last = rows
    follows = last.index.data == earlier[-1].index.data + 1
    if not (follows and o.call.in_runs and o.inlined is None and sum_row_of(rows[0]) is None):
        return False
    addresses = layout.addresses
    results = {addresses[v].base for r in rows for v in r.outputs}
    read = {addresses[v].base for r in rows for v in r.inputs}
    if len(results) > 1 or len(read) > 1:
        return False  # kernels take distances
    ends = (*rows[:2], *rows[-2:])
    first, second, third, fourth = (addresses[r.outputs[o.call.call.result]].offset for r in ends)
    if second - first != fourth - third:
        return False
    return not _overwrites(layout, o, rows)


def _overwrites(layout: Layout, o: RowOperator, rows: Sequence[RowOp]) -> bool:
    """Return whether the last row lies where a call of all writes, works or still reads others."""
    addresses = layout.addresses
    *earlier, last = rows
    places = [(addresses[v], bytes_in(v)) for r in earlier for v in r.outputs]
    if rows[0] in layout.scratch:
        size, place = layout.scratch[rows[0]]
        places.append((place, size))
    written = [(addresses[v], bytes_in(v)) for v in last.outputs]
    if o.call.in_runs == "by_twos" and len(earlier) % 2:
        begins = {addresses[v] for v in last.outputs}  # channel on channel, each is read by then
        read_at = [(addresses[v], bytes_in(v)) for v in earlier[-1].inputs]
        places += [place for place in read_at if place[0] not in begins]
    return any(_overlap(*a, *b) for a in places for b in written)


def _overlap(a: Address, size_a: int, b: Address, size_b: int) -> bool:
    before = a.offset + size_a <= b.offset or b.offset + size_b <= a.offset
    return a.base == b.base and not before
