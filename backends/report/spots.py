"""Where the name of a tensor goes that lies in rows: the widest place that its rows cover."""

from bisect import bisect_right
from collections.abc import Iterable
from typing import NamedTuple

from memopt.backends.report.timeline import Timeline

NEARLY = 0.95  # of the widest: among so wide places the one in the middle


class Spot(NamedTuple):
    """Steps [lower, upper) and bytes [start, end) of the plot, covered by what is in RAM at a peak
    or by what is not, so that text on it has one background."""

    lower: int
    upper: int
    start: int
    end: int
    at_peak: bool


def widest_spot(t: Timeline, rows: Iterable[int], height: float) -> Spot | None:
    """The widest place at least `height` bytes high that these buffers cover, rows of one tensor;
    None if they cover none."""
    lines: dict[tuple[bool, int, int], list[tuple[int, int]]] = {}
    for i in sorted(rows, key=lambda i: t.buffers[i].lower):
        b = t.buffers[i]
        assert b.offset is not None
        line = lines.setdefault((t.at_peak[i], b.offset, b.bytes), [])
        if line and line[-1][1] >= b.lower:  # one row after the other in one place
            line[-1] = line[-1][0], max(line[-1][1], t.ends[i])
        else:
            line.append((b.lower, t.ends[i]))
    spots = [
        spot
        for at, line in lines.items()
        for lower, upper in line
        if (spot := _stacked(lines, at, lower, upper, height)) is not None
    ]
    if not spots:
        return None
    widest = max(s.upper - s.lower for s in spots)
    wide = sorted(s for s in spots if s.upper - s.lower >= NEARLY * widest)
    return wide[len(wide) // 2]


def _stacked(
    lines: dict[tuple[bool, int, int], list[tuple[int, int]]],
    at: tuple[bool, int, int],
    lower: int,
    upper: int,
    height: float,
) -> Spot | None:
    """Return the spot that is covered from one row upwards, as far as the height asks for."""
    at_peak, start, size = at
    end = start + size
    while end - start < height:
        above = lines.get((at_peak, end, size), [])
        first = max(bisect_right(above, (lower, lower)) - 1, 0)
        covered = [
            (max(lower, a), min(upper, z)) for a, z in above[first:] if a < upper and z > lower
        ]
        if not covered:
            return None
        lower, upper = max(covered, key=lambda steps: steps[1] - steps[0])
        end += size
    return Spot(lower, upper, start, end, at_peak)
