"""Rows with live ranges, found by time: buckets of steps, coarser and coarser.

Every row lies in all buckets that its live range touches, on every level, but for one that touches
many: it lies beside the buckets, where every query looks. A query takes the finest level on which
it touches few buckets; it may see a row twice, and rows that it only nearly meets. All live ranges
are known beforehand, so each bucket is a stretch of one array.
"""

from bisect import bisect_right
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Rows = npt.NDArray[np.int64]  # (lower, upper, offset, end), one column per row

SMALL = 16  # rows that start in the smallest bucket
WIDE = 8  # buckets that a query looks at, and by how much a level is coarser
COPIES = 16  # buckets that have a row
MANY, SORTED = 1024, 8  # rows; the part of a stretch that may be out of order
NONE: Rows = np.empty((4, 0), np.int64)


class _Level:
    """Buckets [edges[i], edges[i + 1]) of steps, and behind them what lies beside them."""

    def __init__(self, edges: list[int], first: Rows, last: Rows) -> None:
        self.edges = edges
        count = np.zeros(len(edges) + 1, np.int64)
        few = last - first < COPIES
        np.add.at(count, first[few], 1)
        np.add.at(count, last[few] + 1, -1)
        count = np.cumsum(count)
        count[-1] = np.count_nonzero(~few)
        ends = np.cumsum(count)
        self.start: list[int] = [0, *ends[:-1].tolist()]
        self.free: Rows = np.array(self.start)
        self.sorted = self.start.copy()  # up to where a stretch ascends by offset
        self.rows: Rows = np.empty((4, int(ends[-1])), np.int64)

    def bucket(self, step: int) -> int:
        return max(0, bisect_right(self.edges, step) - 1)

    def stretch(self, bucket: int) -> Rows:
        """The rows of a bucket, so that of many most ascend by offset: who sorts them once more is
        soon done."""
        start, end = self.start[bucket], int(self.free[bucket])
        rows = self.rows[:, start:end]
        if (end - self.sorted[bucket]) * SORTED > max(end - start, MANY):
            rows[:] = rows[:, rows[2].argsort()]
            self.sorted[bucket] = end
        return rows


class TimeIndex:
    """Rows to come have the live ranges `spans`: each [lower, upper), added once, in any order."""

    def __init__(self, spans: Sequence[tuple[int, int]]) -> None:
        self._levels: list[_Level] = []
        lower = np.array([s[0] for s in spans] or [0], np.int64)
        last = np.array([s[1] - 1 for s in spans] or [0], np.int64)
        steps = np.sort(lower)
        size, count = SMALL, 2
        while count > 1:
            edges = np.unique(steps[::size])
            a = np.maximum(np.searchsorted(edges, lower, "right") - 1, 0)
            b = np.maximum(np.searchsorted(edges, last, "right") - 1, 0)
            self._levels.append(_Level(edges.tolist(), a, b))
            size, count = size * WIDE, len(edges)

    def add(self, lower: int, upper: int, offset: int, end: int) -> None:
        """Add one row."""
        row = np.array([[lower], [upper], [offset], [end]])
        for level in self._levels:
            first, last = level.bucket(lower), level.bucket(upper - 1)
            if last - first >= COPIES:
                first = last = len(level.edges)
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
            if last - first < WIDE:
                buckets = *range(first, last + 1), len(level.edges)
                parts = [p for i in buckets if (p := level.stretch(i)).shape[1]] or [NONE]
                return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)
        raise AssertionError("the coarsest level has one bucket")
