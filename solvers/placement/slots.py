"""An answer in no time: slots of powers of two, one behind the other, each used again when free.

Nobody would want it, but it is one, however many buffers there are and however little time: `auto`
starts from it when it has a time limit and thousands of buffers. At most twice the slots that are
in use at once, and in time n log n.
"""

from heapq import heappop, heappush

from memopt.solvers.placement.items import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem


def solve_items(problem: PlacementProblem, items: tuple[Item, ...]) -> Placement:
    """A placement of `items`, those of `problem`, above what is fixed."""
    top = max((i.fixed + i.size for i in items if i.fixed is not None), default=0)
    offsets = [i.fixed or 0 for i in items]
    free: dict[tuple[int, int], list[int]] = {}
    live: list[tuple[int, int, tuple[int, int]]] = []  # (upper, offset, kind)
    moving = [i for i in items if i.fixed is None and i.pieces]
    for item in sorted(moving, key=lambda i: (i.lower, i.index)):
        while live and live[0][0] <= item.lower:
            _, offset, kind = heappop(live)
            free[kind].append(offset)
        kind = item.size.bit_length(), item.alignment
        slots = free.setdefault(kind, [])
        if slots:
            offset = slots.pop()
        else:
            offset = -(-top // item.alignment) * item.alignment
            top = offset + (1 << kind[0])
        offsets[item.index] = offset
        heappush(live, (item.upper, offset, kind))
    return placement_of(problem, items, offsets)
