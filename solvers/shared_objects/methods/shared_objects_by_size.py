"""Greedy by Size for Shared Objects (Pisarchyk & Lee, section 4.3, Algorithm 2).

Largest first, so that no object ever grows; each into the smallest object that is free. The paper
leaves ties open: the longer-lived first, then the earlier.
"""

from collections.abc import Sequence

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.objects import Objects


def solve(items: Sequence[Item]) -> list[int]:
    """The object of every item."""
    objects = Objects(items)
    for item in sorted(items, key=lambda i: (-i.size, i.lower - i.upper, i.index)):
        # sizes fall, so the last one is the smallest, as in the loop of Algorithm 2
        free = objects.free(item)
        objects.put(item, free.bit_length() - 1 if free else None)
    return [objects.of[item.index] for item in items]
