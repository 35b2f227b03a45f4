"""Greedy by Size for Shared Objects (Pisarchyk & Lee, section 4.3, Algorithm 2).

Largest first, so that no object ever grows; each into the smallest object that is free. The paper
leaves ties open: several orders are tried (`ties.py`), usually the longer-lived first.
"""

from collections.abc import Sequence

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.objects import Objects
from memopt.solvers.shared_objects.ties import BEST, TIES, settled

OPTIONS = {"ties": "which of equally large buffers is first: longest, earliest, latest, shortest"}
USUAL = "longest"


def solve(items: Sequence[Item], ties: str = BEST) -> list[int]:
    """Return the object of every item. Raises ProblemError for ties that there are not."""
    return settled(items, ties, USUAL, _by_size)


def _by_size(items: Sequence[Item], ties: str) -> list[int]:
    objects, key = Objects(items), TIES[ties]
    for item in sorted(items, key=lambda i: (-i.size, *key(i))):
        # sizes fall, so the last one is the smallest, as in the loop of Algorithm 2
        free = objects.free(item)
        objects.put(item, free.bit_length() - 1 if free else None)
    return [objects.of[item.index] for item in items]
