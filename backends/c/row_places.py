"""Where the rows of a tensor lie, by their numbers."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from memopt.backends.c.layout import Address, Layout

Places = tuple[Address, ...]
"""Where the rows of a tensor lie."""


def places_of(layout: Layout, values: Sequence[SSAValue], by: int = 0) -> Places:
    """Where these lie, `by` bytes further on."""
    addresses = (layout.addresses[v] for v in values)
    return tuple(replace(a, offset=a.offset + by) for a in addresses)


def numbered(layout: Layout, values: Mapping[int, SSAValue], by: int) -> Places:
    """Where rows lie, by their numbers; of a row that is not there nobody asks."""
    if not values:
        return ()
    last = max(values)
    some = next(iter(values.values()))
    return places_of(layout, [values.get(r, some) for r in range(last + 1)], by)
