"""Groups of the arena that are live while operations run, which comments in C name."""

from dataclasses import dataclass
from functools import cached_property

from memopt.analysis.liveness import live_ranges
from memopt.analysis.storage_groups import BlockMemory
from memopt.backends.c.emit.call import Array
from memopt.dialects.arithmetic.lazy_numpy import np


@dataclass(frozen=True)
class LiveGroups:
    """Groups by number, the steps from `starts` to before `stops` in which each is live, and its
    bytes. Bytes of all steps are added up at once, groups are listed where somebody asks."""

    numbers: Array
    starts: Array
    stops: Array
    sizes: Array

    @staticmethod
    def of(memory: BlockMemory) -> "LiveGroups":
        """Return the groups of the arena."""
        lives = enumerate(zip(memory.groups, live_ranges(memory), strict=True))
        rows = [(i, r.start, r.stop, g.size) for i, (g, r) in lives if g.in_arena]
        return LiveGroups(*np.array(rows, np.int64).reshape(-1, 4).T)

    @cached_property
    def bytes_by_step(self) -> Array:
        """Return the bytes that are live in each step."""
        change = np.zeros(max(self.stops, default=0) + 1, np.int64)
        np.add.at(change, self.starts, self.sizes)
        np.subtract.at(change, self.stops, self.sizes)
        return np.cumsum(change)

    def in_bytes(self, steps: tuple[int, ...]) -> int:
        """Return the bytes of the groups that are live in any of the steps."""
        (first, *more) = steps
        if more:
            return int(self.sizes[np.any([self._in(step) for step in steps], axis=0)].sum())
        return int(self.bytes_by_step[first]) if first < len(self.bytes_by_step) else 0

    def at(self, steps: tuple[int, ...]) -> list[int]:
        """Return the groups that are live in any of the steps, those of the first one first."""
        return list(dict.fromkeys(i for s in steps for i in self.numbers[self._in(s)].tolist()))

    def _in(self, step: int) -> Array:
        return (self.starts <= step) & (step < self.stops)
