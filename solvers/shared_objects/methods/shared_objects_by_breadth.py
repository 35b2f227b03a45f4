"""Greedy by Breadth for Shared Objects (Pisarchyk & Lee, section 4.2, Algorithm 1).

Steps by the bytes live in them, most first, as these decide the result; in each step the buffers
that have no object yet, largest first, each into the object that wastes least. Ties, which the
paper leaves open, go to the earlier step and the earlier buffer.
"""

from bisect import bisect_left
from collections.abc import Sequence

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.objects import Objects
from memopt.solvers.shared_objects.profiles import cliques


def solve(items: Sequence[Item]) -> list[int]:
    """The object of every item."""
    objects = Objects(items)
    for i in by_breadth(items):
        objects.put(items[i], best_object(objects, items[i]))
    return [objects.of[item.index] for item in items]


def best_object(objects: Objects, item: Item) -> int | None:
    """The smallest free object that is large enough, else the largest free one, else None."""
    free = objects.free(item)
    if not free:
        return None
    at = bisect_left(objects.different, item.size)
    for size in (*objects.different[at:], *reversed(objects.different[:at])):
        found = free & objects.of_size[size]
        if found:
            return (found & -found).bit_length() - 1  # the one that was made first
    return None


def by_breadth(items: Sequence[Item]) -> list[int]:
    """Positions in the order in which the broadest steps meet them.

    Maximal sets of live items are enough: a step whose buffers are all live in another one is less
    broad, or has the same ones.
    """
    breadths: list[tuple[int, int]] = []  # (-bytes, number of the set)
    first: list[int] = [0] * len(items)
    last: list[int] = [0] * len(items)
    seen = [False] * len(items)
    for number, (_, live) in enumerate(cliques(items)):
        breadths.append((-sum(items[i].size for i in live), number))
        for i in live:
            if not seen[i]:
                first[i], seen[i] = number, True
            last[i] = number
    rank = [0] * len(breadths)
    for position, (_, number) in enumerate(sorted(breadths)):
        rank[number] = position
    return sorted(
        range(len(items)),
        key=lambda i: (min(rank[first[i] : last[i] + 1]), -items[i].size, items[i].index),
    )
