"""Where the rows of a tensor lie, by their numbers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import refuse
from memopt.backends.c.emit.layout import Address, Layout
from memopt.dialects.rows.operations import RowOp

Places = tuple[Address, ...]
"""Where the rows of a tensor lie."""


def places_of(layout: Layout, values: Sequence[SSAValue], by: int = 0) -> Places:
    """Return where these lie, `by` bytes further on."""
    addresses = (layout.addresses[v] for v in values)
    return tuple(replace(a, offset=a.offset + by) for a in addresses)


def numbered(layout: Layout, values: Mapping[int, SSAValue], by: int) -> Places:
    """Return where rows lie, by their numbers; a row that is not there is not read."""
    if not values:
        return ()
    last = max(values)
    some = next(iter(values.values()))
    return places_of(layout, [values.get(r, some) for r in range(last + 1)], by)


def scratch_of(layout: Layout, rows: Sequence[RowOp], needed_by: Callable[[RowOp], int]) -> Places:
    """The scratch of each row, nothing if none works in any. Refuses a plan with other scratch than
    what it works in."""
    some = None
    for row in rows:
        planned, place = layout.scratch.get(row, (0, None))
        if planned != (needed := needed_by(row)):
            text = f"planned with {planned} B of scratch, it works in {needed} B"
            raise refuse(row, f"{text}; memgraph-model with the target, before rows, says it")
        some = some or place
    if some is None:
        return ()
    last = rows[-1].index.data
    at = {row.index.data: layout.scratch[row][1] for row in rows if row in layout.scratch}
    return tuple(at.get(r, some) for r in range(last + 1))
