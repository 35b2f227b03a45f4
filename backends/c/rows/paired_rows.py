"""Two rows of an operator that run one after the other, computed in one call.

calls[] = {0, 0, 1, 0, 1}    ->    {4, 1, 0, 1}         with PAIR = 4: two rows, then one of each

Where rows are one pixel, kernels make two pixels at once. The plan ran the rows in turn, each in
scratch of its own, of which a call has only the first one's: where the second row's result is
planned to lie there, both stay alone.
"""

from dataclasses import dataclass, replace

from memopt.backends.c.emit.header import bytes_in
from memopt.backends.c.emit.layout import Address, Layout
from memopt.backends.c.inline.sums import sum_row_of
from memopt.backends.c.rows.row_program import RowOperator
from memopt.dialects.rows.operations import RowOp


@dataclass(frozen=True)
class RowsCalled:
    """A number of calls[]: of an operator, with the one or two of its `rows` that are made, or of
    what comes above operators; and the steps of the plan that it runs."""

    number: int
    steps: tuple[int, ...]
    rows: tuple[RowOp, ...] = ()

    @property
    def is_pair(self) -> bool:
        return len(self.rows) == 2

    def paired(self, later: "RowsCalled") -> "RowsCalled":
        """Return the call with the row of the call behind it."""
        return replace(self, steps=self.steps + later.steps, rows=self.rows + later.rows)


def are_pair(layout: Layout, o: RowOperator, first: RowOp, second: RowOp) -> bool:
    """Return whether a call may compute both rows of an operator, between which nothing runs."""
    follows = second.index.data == first.index.data + 1
    if not (follows and o.call.by_twos and o.inlined is None and sum_row_of(first) is None):
        return False
    results = {layout.addresses[v].base for r in (first, second) for v in r.outputs}
    read = {layout.addresses[v].base for r in (first, second) for v in r.inputs}
    if len(results) > 1 or len(read) > 1:
        return False  # kernels take distances
    first_places = [(layout.addresses[v], bytes_in(v)) for v in first.outputs]
    if first in layout.scratch:
        size, place = layout.scratch[first]
        first_places.append((place, size))
    second_places = [(layout.addresses[v], bytes_in(v)) for v in second.outputs]
    return not any(_overlap(*a, *b) for a in first_places for b in second_places)


def _overlap(a: Address, size_a: int, b: Address, size_b: int) -> bool:
    before = a.offset + size_a <= b.offset or b.offset + size_b <= a.offset
    return a.base == b.base and not before
