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
from memopt.solvers.shared_objects.objects import Objects
from memopt.solvers.shared_objects.profiles import positional_maxima

NEVER = 1 << 62


def solve(items: Sequence[Item]) -> list[int]:
    """The object of every item, in time quadratic in the largest stage."""
    return until(items, None)


def until(items: Sequence[Item], deadline: float | None) -> list[int]:
    """The same. Raises TimeIsOverError at the deadline."""
    objects = Objects(items)
    for stage in stages(items):
        _assign(objects, stage, deadline)
    return [objects.of[item.index] for item in items]


def stages(items: Sequence[Item]) -> list[list[Item]]:
    """Items by falling size: those equal to a positional maximum, those between two, and so on."""
    maxima = sorted(set(positional_maxima(items)))
    found: dict[int, list[Item]] = {}
    for item in items:
        at = bisect_left(maxima, item.size)  # maxima[at] is the least that is not below the size
        found.setdefault(2 * at + (maxima[at] == item.size), []).append(item)
    return [found[key] for key in sorted(found, reverse=True)]


def _assign(objects: Objects, stage: list[Item], deadline: float | None) -> None:
    waiting = {item.index: item for item in stage}
    gaps: dict[int, list[int]] = {}
    for i, item in waiting.items():
        clock.in_time(deadline)
        gaps[i] = [_gap(objects, k, item) for k in range(len(objects.sizes))]
    best = {i: min(row, default=NEVER) for i, row in gaps.items()}
    while waiting:
        clock.in_time(deadline)
        chosen = min(waiting, key=lambda i: (best[i], -waiting[i].size, i))
        item = waiting.pop(chosen)
        known = best[chosen] < NEVER
        k = objects.put(item, gaps[chosen].index(best[chosen]) if known else None)
        for i, other in waiting.items():
            row = gaps[i]
            if k == len(row):
                row.append(NEVER)
            elif row[k] == NEVER:
                continue  # not free before, so not free now
            before, row[k] = row[k], _gap(objects, k, other)
            if row[k] <= best[i]:
                best[i] = row[k]
            elif before == best[i]:
                best[i] = min(row)


def _gap(objects: Objects, k: int, item: Item) -> int:
    gap = objects.gap(k, item)
    return NEVER if gap is None else gap
