"""Best fit of `methods/best_fit.py` in the native library: the same offsets."""

from array import array
from collections.abc import Sequence

from memopt.solvers.native.library import Stream, library, numbers_of
from memopt.solvers.problems.placement import Item


def offsets_of(items: Sequence[Item]) -> "array[int] | None":
    """Return the offset of each item, of which none is fixed or without a piece; None where there
    is no library, or it refuses what would overflow."""
    native = library()
    if native is None:
        return None
    try:
        values = problem_of(items)
    except OverflowError:
        return None
    offsets = array("q", bytes(8 * len(items)))
    refused = native.memopt_best_fit(numbers_of(values), len(values), numbers_of(offsets))
    return None if refused else offsets


def problem_of(items: Sequence[Item]) -> "array[int]":
    """Return the items as `best_fit.cpp` reads them. Raises OverflowError."""
    stream = Stream()
    stream.add(len(items))
    for item in items:
        tops = item.tops
        stream.add(item.lower, item.upper, item.size, item.alignment, len(tops))
        for top in tops:
            stream.add(*top)
    return stream.values
