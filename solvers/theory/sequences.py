"""The canonical chain of a module whose operators can run in one order only (theory.md T2).

Its ideals are the prefixes of that order, so the search of `segments.canonical` is a walk along the
levels and steps, in time linear in their number.
"""

from collections.abc import Sequence

Shape = tuple[int, int, int]  # (hill, level before, level after) of a segment in bytes


def shape_along(levels: Sequence[int], steps: Sequence[int]) -> list[Shape]:
    """Return the shape of the canonical chain that others see; step i lies between levels i and i +
    1."""
    last = len(steps)
    low, high = 0, last
    falling: list[tuple[int, int]] = []  # (first step, first step behind) of each segment
    while (end := _falls(levels, steps, low)) is not None:
        falling.append((low, end))
        low = end
    rising: list[tuple[int, int]] = []
    while (start := _rises(levels, steps, low, high)) is not None:
        rising.append((start, high))
        high = start
    rising.reverse()
    if low != high:  # the flat middle joins a neighbour whose hill is not lower
        hill = max(steps[low:high])
        if falling and max(steps[slice(*falling[-1])]) >= hill:
            falling[-1] = falling[-1][0], high
        elif rising and max(steps[slice(*rising[0])]) >= hill:
            rising[0] = low, rising[0][1]
        else:
            falling.append((low, high))
    return [(max(steps[a:b]), levels[a], levels[b]) for a, b in (*falling, *rising)]


def _falls(levels: Sequence[int], steps: Sequence[int], start: int) -> int | None:
    """The end of the segment from `start` over the lowest hill to a strictly lower level, at the
    lowest level behind that hill; None if none is lower."""
    best: int | None = None
    hill = top = steps[start] if start < len(steps) else 0
    for i in range(start, len(steps)):
        top = max(top, steps[i])
        if best is not None and top > hill:
            break
        if levels[i + 1] < levels[start if best is None else best]:
            best, hill = i + 1, top
    return best


def _rises(levels: Sequence[int], steps: Sequence[int], low: int, end: int) -> int | None:
    """Return the start of a rising segment that ends at `end`, not below `low`; of equal levels the
    first.

    It is `_falls` backwards; None if no segment rises.
    """
    best: int | None = None
    hill = top = steps[end - 1] if end > low else 0
    for i in range(end - 1, low - 1, -1):
        top = max(top, steps[i])
        if best is not None and top > hill:
            break
        here = levels[i]
        if here < levels[end] and (best is None or here <= levels[best]):
            best, hill = i, top
    return best
