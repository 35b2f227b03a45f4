"""Greedy by Size Improved for Shared Objects (Pisarchyk & Lee, section 4.4).

Greedy by size goes wrong where sizes are almost equal; so the sizes are cut into stages by the
positional maxima (equal to one of them, or between two), and inside a stage that pair of a buffer
and a free object goes first that leaves the object unused for the fewest steps. The paper does not
say what comes first when no object is free, nor who wins a tie: the larger buffer, then the
earlier, and the object made first (as in its authors' code in TensorFlow Lite's GPU delegate).
"""

from bisect import bisect_left
from collections.abc import Sequence

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.methods import shared_objects_by_size as by_size
from memopt.solvers.shared_objects.nearest import Inside, Waiting
from memopt.solvers.shared_objects.profiles import positional_maxima
from memopt.solvers.shared_objects.sharing import spans_of


def solve(items: Sequence[Item], time_limit: float | None = None) -> list[int]:
    """Return the object of every item, in time quadratic in the largest stage, but of plain
    numbers; after `time_limit` seconds as greedy by size has them, which takes about as long as
    reading the items."""
    try:
        return until(items, clock.deadline(time_limit))
    except clock.TimeIsOverError:
        return by_size.solve(items, by_size.USUAL)


def until(items: Sequence[Item], deadline: float | None) -> list[int]:
    """Return the object of every item, as `solve`. Raises TimeIsOverError at the deadline."""
    inside = Inside(sum(len(spans_of(item)) for item in items))
    object_of: dict[int, int] = {}
    for stage in stages(items):
        waiting = Waiting(sorted(stage, key=lambda i: (-i.size, i.index)), inside)
        for _ in stage:
            clock.raise_if_late(deadline)
            item, k = waiting.next_pair()
            object_of[item.index] = k
    return [object_of[item.index] for item in items]


def stages(items: Sequence[Item]) -> list[list[Item]]:
    """Items by falling size: those equal to a positional maximum, those between two, and so on."""
    maxima = sorted(set(positional_maxima(items)))
    stage_items: dict[int, list[Item]] = {}
    for item in items:
        at = bisect_left(maxima, item.size)  # maxima[at] is the least that is not below the size
        stage_items.setdefault(2 * at + (maxima[at] == item.size), []).append(item)
    return [stage_items[key] for key in sorted(stage_items, reverse=True)]
