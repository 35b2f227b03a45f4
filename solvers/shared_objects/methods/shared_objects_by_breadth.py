"""Greedy by Breadth for Shared Objects (Pisarchyk & Lee, section 4.2, Algorithm 1).

Steps by the bytes live in them, most first, as these decide the result; in each step the buffers
that have no object yet, largest first, each into the object that wastes least. Ties, which the
paper leaves open, are settled in several orders (`ties.py`), usually the earlier buffer first; of
equally broad steps the earlier is first, with `latest` the later.
"""

from collections.abc import Sequence

import numpy as np

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.objects import Objects
from memopt.solvers.shared_objects.sharing import events_of
from memopt.solvers.shared_objects.ties import BEST, TIES, settled

OPTIONS = {"ties": "which of equally large buffers is first: longest, earliest, latest, shortest"}
USUAL = "earliest"


def solve(items: Sequence[Item], ties: str = BEST) -> list[int]:
    """Return the object of every item. Raises ProblemError for ties that there are not."""
    return settled(items, ties, USUAL, _by_breadth)


def _by_breadth(items: Sequence[Item], ties: str) -> list[int]:
    objects = Objects(items)
    for i in by_breadth(items, ties):
        objects.put(items[i], best_object(objects, items[i]))
    return [objects.of[item.index] for item in items]


def best_object(objects: Objects, item: Item) -> int | None:
    """The smallest free object that is large enough, else the largest free one, else None."""
    free = objects.free(item)
    smallest = objects.least(free, item.size)
    return smallest if smallest is not None else objects.largest(free, item.size)


def by_breadth(items: Sequence[Item], ties: str) -> list[int]:
    """Positions in the order in which the broadest steps meet them.

    Maximal sets of live items are enough: a step whose buffers are all live in another one is less
    broad, or has the same ones.
    """
    breadths, met = _breadths(items)
    step, key = -1 if ties == "latest" else 1, TIES[ties]
    order = sorted(range(len(breadths)), key=lambda number: (-breadths[number], step * number))
    rank = np.empty(len(breadths), np.int64)
    rank[order] = np.arange(len(breadths))
    return sorted(
        range(len(items)),
        key=lambda i: (rank[met[i].start : met[i].stop].min(), -items[i].size, *key(items[i])),
    )


def _breadths(items: Sequence[Item]) -> tuple[list[int], list[range]]:
    """Bytes of every maximal set of live items, ascending by step, and for each item the sets from
    the first that it is in to the last."""
    breadths: list[int] = []
    first: dict[int, int] = {}
    last = [0] * len(items)
    level, grown = 0, False
    for _, starts, i in events_of(items):
        if starts:
            level, grown = level + items[i].size, True
            first.setdefault(i, len(breadths))
            continue
        if grown:
            breadths.append(level)
            grown = False
        level -= items[i].size
        last[i] = len(breadths)
    return breadths, [range(first[i], last[i]) for i in range(len(items))]
