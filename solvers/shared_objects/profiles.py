"""Profiles of buffers that are live together: positional maxima, and the bound that they give.

The i-th positional maximum is the largest i-th size over all steps, sizes in falling order; no
assignment has an i-th largest object below it, so their sum is a bound (Pisarchyk & Lee, 4.1).
"""

from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence

import numpy as np

from memopt.solvers.problems.placement import Item
from memopt.solvers.shared_objects.sharing import events_of, spans_of


def cliques(items: Sequence[Item]) -> Iterator[tuple[int, list[int]]]:
    """(step, positions in `items` of what is live there) for every maximal set of live items.

    The list is reused: copy what is to be kept. Ascending by step.
    """
    events = events_of(items)
    live: list[int] = []
    grown = False
    for at, (step, starts, i) in enumerate(events):
        if starts:
            insort(live, i)
            grown = True
            if at + 1 < len(events) and events[at + 1][1] == 0:
                yield step, live
        else:
            del live[bisect_left(live, i)]
    assert not live and (grown or not items)


def positional_maxima(items: Sequence[Item]) -> list[int]:
    """Bytes, falling. The sum bounds every assignment.

    Largest first: the item with which k are live together for the first time is the k-th maximum.
    """
    starts = sorted({lower for item in items for lower, _ in spans_of(item)})
    live = np.zeros(len(starts), np.int64)  # items so far, from each start to the next
    maxima: list[int] = []
    for item in sorted(items, key=lambda i: -i.size):
        for lower, upper in spans_of(item):
            counts = live[bisect_left(starts, lower) : bisect_left(starts, upper)]
            counts += 1
            if counts.max() > len(maxima):
                maxima.append(item.size)
    return maxima
