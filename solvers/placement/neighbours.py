"""Pairs of items that are live together, for the searches, which place the same items often.

If pieces p of item i and q of item j are live together, i at o_j - size(p) < o_i < o_j + size(q)
overlaps. Each such range holds o_j, so over all pairs of pieces the forbidden range is one. Pieces
that lie above their offsets shift it by at(q) - at(p): an item may lie between the parts of another
one, so then there are several, each a `Neighbour`.
"""

from bisect import bisect_left
from typing import NamedTuple

from memopt.solvers import clock
from memopt.solvers.problems.placement import Item


class Neighbour(NamedTuple):
    """Seen from i: offsets strictly between o_item - below and o_item + above are forbidden. One of
    the two may be negative, if an item is in parts."""

    item: int
    below: int
    above: int


PAIRS = 3_000_000  # that are listed at all, 200 B each


def crowded(items: tuple[Item, ...]) -> bool:
    """Return whether there are more than `PAIRS` of pieces that are live together."""
    return pairs_of(items) > PAIRS


def pairs_of(items: tuple[Item, ...]) -> int:
    """Return the number of pairs of pieces that are live together, without listing them."""
    pieces = sorted([(p.lower, p.upper) for i in items for p in i.pieces])
    starts = [lower for lower, _ in pieces]
    return sum(bisect_left(starts, upper) - at for at, (_, upper) in enumerate(pieces, 1))


def neighbours_of(items: tuple[Item, ...], deadline: float | None = None) -> list[list[Neighbour]]:
    """For each item all that conflict with it. Raises TimeIsOverError at the deadline."""
    pieces = sorted(((p, i.index) for i in items for p in i.pieces), key=lambda e: e[0].lower)
    reach: list[dict[int, tuple[int, int]]] = [{} for _ in items]
    parts: list[dict[int, list[tuple[int, int]]]] = [{} for _ in items]  # several for one pair
    live: list[tuple[int, int, int, int]] = []
    for p, i in pieces:
        clock.raise_if_late(deadline)
        live = [entry for entry in live if entry[0] > p.lower]
        for _, size, at, j in live:
            if j == i:
                continue
            if items[i].in_parts or items[j].in_parts:
                below, above = p.size + p.at - at, size + at - p.at
                parts[i].setdefault(j, []).append((below, above))
                parts[j].setdefault(i, []).append((above, below))
                continue
            below, above = reach[i].get(j, (0, 0))
            below, above = max(below, p.size), max(above, size)
            reach[i][j], reach[j][i] = (below, above), (above, below)
        live.append((p.upper, p.size, p.at, i))
    result: list[list[Neighbour]] = []
    for conflicts, several in zip(reach, parts, strict=True):
        clock.raise_if_late(deadline)
        spans = [(j, *span) for j, span in conflicts.items()]
        spans += [(j, *span) for j, ranges in several.items() for span in _joined(ranges)]
        result.append([Neighbour(*span) for span in sorted(spans)])
    return result


def _joined(ranges: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """(below, above), those that overlap as one: an offset on the border of two is free."""
    result: list[tuple[int, int]] = []
    for below, above in sorted(ranges, reverse=True):
        if result and -below < result[-1][1]:
            result[-1] = result[-1][0], max(result[-1][1], above)
        else:
            result.append((below, above))
    return result


def fits_lowest(
    item: int,
    items: tuple[Item, ...],
    near: list[list[Neighbour]],
    offsets: list[int],
    at_least: int = 0,
) -> int:
    """The lowest free offset of `item` among its neighbours that have one (not -1); `at_least` is
    aligned."""
    forbidden = [(o - below, o + above) for j, below, above in near[item] if (o := offsets[j]) >= 0]
    forbidden.sort()
    alignment = items[item].alignment
    offset = at_least
    for start, end in forbidden:
        if start >= offset:
            break
        if end > offset:
            offset = -(-end // alignment) * alignment
    return offset
