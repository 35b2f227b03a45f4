"""Rows with live ranges, found by time: buckets of steps, coarser and coarser.

Every row lies in all buckets that its live range touches, on every level. A query takes the finest
level on which it touches few buckets; it may see a row twice, and rows that it only nearly meets.
All live ranges are known beforehand, so each bucket is a stretch of one array.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]  # (lower, upper, offset, end), one column per row

SMALL = 16  # rows that start in the smallest bucket
WIDE = 8  # buckets that a query looks at, and by how much a level is coarser
COPIES = 8  # of a row on one level, on average


class _Level:
    """Buckets [edges[i], edges[i + 1]) of steps."""

    def __init__(self, edges: list[int], first: Rows, last: Rows) -> None:
        self.edges = edges
        count = np.zeros(len(edges) + 1, np.int64)
        np.add.at(count, first, 1)
        np.add.at(count, last + 1, -1)
        ends = np.cumsum(np.cumsum(count)[:-1])
        self.start: list[int] = [0, *ends[:-1].tolist()]
        self.free: Rows = np.array(self.start)
        self.rows: Rows = np.empty((4, int(ends[-1])), np.int64)

    def bucket(self, step: int) -> int:
        return max(0, bisect_right(self.edges, step) - 1)


class TimeIndex:
    """Rows to come have the live ranges `spans`: each [lower, upper), added once, in any order."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._levels: list[_Level] = []
        lower = np.array([s[0] for s in spans] or [0], np.int64)
        last = np.array([s[1] - 1 for s in spans] or [0], np.int64)
        steps = np.sort(lower)
        size = SMALL
        while True:
            edges = np.unique(steps[::size])
            a = np.maximum(np.searchsorted(edges, lower, "right") - 1, 0)
            b = np.maximum(np.searchsorted(edges, last, "right") - 1, 0)
            if len(edges) == 1 or int((b - a + 1).sum()) <= COPIES * len(lower):
                self._levels.append(_Level(edges.tolist(), a, b))
                size *= WIDE
            else:
                size *= 2
            if len(edges) == 1:
                return

    def add(self, lower: int, upper: int, offset: int, end: int) -> None:
        """Add one row."""
        row = np.array([[lower], [upper], [offset], [end]])
        for level in self._levels:
            first, last = level.bucket(lower), level.bucket(upper - 1)
            if first == last:  # as most are, on most levels
                at = int(level.free[first])
                level.rows[:, at : at + 1] = row
                level.free[first] = at + 1
            else:
                free = level.free[first : last + 1]
                level.rows[:, free] = row
                free += 1

    def near(self, lower: int, upper: int) -> Rows:
        """All rows that are live in [lower, upper), and others."""
        for level in self._levels:
            first, last = level.bucket(lower), level.bucket(upper - 1)
            if first == last:
                return level.rows[:, level.start[first] : int(level.free[first])]
            if last - first < WIDE:
                free: list[int] = level.free[first : last + 1].tolist()
                spans = zip(level.start[first : last + 1], free, strict=True)
                return np.concatenate([level.rows[:, a:b] for a, b in spans], axis=1)
        raise AssertionError("the coarsest level has one bucket")
