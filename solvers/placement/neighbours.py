"""Pairs of items that are live together, for the searches, which place the same items often.

If pieces p of item i and q of item j are live together, i at o_j - size(p) < o_i < o_j + size(q)
overlaps. Each such range holds o_j, so over all pairs of pieces the forbidden range is one.
"""

from bisect import bisect_left, bisect_right
from typing import NamedTuple

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item


class Neighbour(NamedTuple):
    """Seen from i: offsets strictly between o_item - below and o_item + above are forbidden."""

    item: int
    below: int
    above: int


PAIRS = 3_000_000  # that are listed at all, 200 B each


def crowded(items: tuple[Item, ...]) -> bool:
    """Whether there are more than `PAIRS` of pieces that are live together."""
    pieces = [p for i in items for p in i.pieces]
    starts = sorted(p.lower for p in pieces)
    pairs = sum(bisect_left(starts, p.upper) - bisect_right(starts, p.lower) for p in pieces)
    return pairs > PAIRS


def neighbours_of(items: tuple[Item, ...], deadline: float | None = None) -> list[list[Neighbour]]:
    """For each item all that conflict with it. Raises TimeIsOverError at the deadline."""
    pieces = sorted(((p, i.index) for i in items for p in i.pieces), key=lambda e: e[0].lower)
    reach: list[dict[int, tuple[int, int]]] = [{} for _ in items]
    live: list[tuple[int, int, int]] = []
    for p, i in pieces:
        clock.in_time(deadline)
        live = [entry for entry in live if entry[0] > p.lower]
        for _, size, j in live:
            if j != i:
                below, above = reach[i].get(j, (0, 0))
                below, above = max(below, p.size), max(above, size)
                reach[i][j], reach[j][i] = (below, above), (above, below)
        live.append((p.upper, p.size, i))
    result: list[list[Neighbour]] = []
    for found in reach:
        clock.in_time(deadline)
        result.append([Neighbour(j, *span) for j, span in sorted(found.items())])
    return result


def fits_lowest(
    item: int, items: tuple[Item, ...], near: list[list[Neighbour]], offsets: list[int]
) -> int:
    """The lowest free offset of `item` among its neighbours that have one (not -1)."""
    forbidden = sorted(
        (o - n.below, o + n.above) for n in near[item] if (o := offsets[n.item]) >= 0
    )
    alignment = items[item].alignment
    offset = 0
    for start, end in forbidden:
        if start >= offset:
            break
        if end > offset:
            offset = -(-end // alignment) * alignment
    return offset
