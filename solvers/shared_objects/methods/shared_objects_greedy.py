"""Greedy in the order of execution (Lee et al. 2019, TensorFlow Lite's GPU delegate).

What a memory manager at run time would do, and the baseline of Pisarchyk & Lee's Table 1: each
buffer, when it is made, takes the free object whose size is nearest, which grows if need be; a new
one only if none is free. Of two equally near the larger is taken, as there.
"""

from collections.abc import Sequence

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.objects import Objects


def solve(items: Sequence[Item]) -> list[int]:
    """The object of every item."""
    objects = Objects(items)
    for item in sorted(items, key=lambda i: (i.lower, i.index)):
        objects.put(item, nearest_object(objects, item))
    return [objects.of[item.index] for item in items]


def nearest_object(objects: Objects, item: Item) -> int | None:
    """The free object whose size is nearest, of two the larger, None if there is no free one."""
    free = objects.free(item)
    above, below = objects.least(free, item.size), objects.largest(free, item.size)
    if above is None or below is None:
        return below if above is None else above
    nearer = item.size - objects.sizes[below] < objects.sizes[above] - item.size
    return below if nearer else above
