"""An answer in no time: slots of powers of two, one behind the other, each used again when free.

Nobody would want it, but it is one, however many buffers there are and however little time: `auto`
starts from it when it has a time limit and thousands of buffers, and what a greedy strategy had no
time for lies so above the rest. At most twice the slots that are in use at once, in time n log n.
"""

from collections.abc import Sequence
from heapq import heappop, heappush

from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem


def solve_items(problem: PlacementProblem, items: tuple[Item, ...]) -> Placement:
    """Return a placement of `items`, those of `problem`, above what is fixed."""
    return placement_of(problem, items, _above(items, _fixed(items)))


def completed(items: Sequence[Item], placed: Sequence[int]) -> list[int]:
    """Return the offsets of all items: as `placed`, or above all that is, where that says -1; but
    all in slots if that is lower."""
    if min(placed, default=0) >= 0:
        return list(placed)
    tried = _above(items, placed), _above(items, _fixed(items))
    return min(tried, key=lambda offsets: _top(items, offsets))


def _fixed(items: Sequence[Item]) -> list[int]:
    """Return the offsets of what is fixed or has no bytes, -1 for all else."""
    return [i.fixed if i.fixed is not None else -1 if i.pieces else 0 for i in items]


def _top(items: Sequence[Item], offsets: Sequence[int]) -> int:
    return max((o + i.size for o, i in zip(offsets, items, strict=True) if o >= 0), default=0)


def _above(items: Sequence[Item], placed: Sequence[int]) -> list[int]:
    """Return the offsets as `placed`, and in slots above all that where it says -1."""
    offsets, top = list(placed), _top(items, placed)
    free: dict[tuple[int, int], list[int]] = {}
    live: list[tuple[int, int, tuple[int, int]]] = []  # (upper, offset, kind)
    moving = [i for i in items if offsets[i.index] < 0]
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
    return offsets
