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
        free = objects.suitable(item)
        nearest = min(
            free,
            key=lambda k: (abs(objects.sizes[k] - item.size), objects.sizes[k] < item.size, k),
            default=None,
        )
        objects.put(item, nearest)
    return [objects.of[item.index] for item in items]
