"""Live ranges: in which steps a buffer is in memory, and how many bytes that makes in each step.

The one place that derives them from first writes and last reads, but for `verify/`, which does so
for itself and trusts nobody.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any

from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of

Array = Any  # numpy.ndarray: numpy is imported only where somebody asks for bytes of steps


def live_range(
    writes: Iterable[int],
    reads: Iterable[int],
    steps: int,
    from_start: bool = False,
    to_end: bool = False,
) -> range:
    """The steps from the first write to the last use; what nobody uses exists through one step."""
    writes = tuple(writes)
    lower = 0 if from_start else min(writes)
    return range(lower, steps if to_end else max((*writes, *reads), default=lower) + 1)


def live_ranges(memory: BlockMemory) -> list[range]:
    """The steps in which each storage group of a block is live; step i is operation i.

    A block without operations has one step, in which its arguments exist.
    """
    steps = max(len(memory.operations), 1)
    return [live_range(g.writers, g.readers, steps, g.is_input, g.is_output) for g in memory.groups]


def levels(
    memory: BlockMemory, lives: Sequence[range], sizes: Sequence[int], alignment: int
) -> list[int]:
    """Bytes in memory in each step, scratch included, where group i takes `sizes[i]` bytes.

    The result of an operation that runs in place costs nothing in its step.
    """
    steps = max(len(memory.operations), 1)
    change = [0] * (steps + 1)  # bytes that come to life, minus those that die, per step
    for live, size in zip(lives, sizes, strict=True):
        change[live.start] += size
        change[live.stop] -= size
    load = list(accumulate(change[:-1]))
    for t, m in enumerate(memory.memory):
        load[t] += sum(rounded(w, alignment) for w in m.workspace)
    for t, result, _ in memory.overwrites:
        load[t] -= sizes[result]
    return load


def peak_of(memory: BlockMemory, model: ModelAttr) -> int:
    """The peak of a block's order in bytes. Raises MemoptError for a result that cannot take the
    place of its operand."""
    start, load = _loads(memory, model)
    return max(start, *load)


def peak_scratch(memory: BlockMemory, model: ModelAttr) -> int:
    """Bytes by which scratch of kernels raises the peak of a block's order. Raises as `peak_of`."""
    start, load = _loads(memory, model)
    without = list(load)
    for t, m in enumerate(memory.memory):
        without[t] -= sum(rounded(w, model.alignment.data) for w in m.workspace)
    return max(start, *load) - max(start, *without)


def _loads(memory: BlockMemory, model: ModelAttr) -> tuple[int, list[int]]:
    """Bytes in memory at the start, and in each step."""
    alignment, lives = model.alignment.data, live_ranges(memory)
    sizes = [g.taken if g.in_arena else 0 for g in memory.groups]
    for t, result, operand in memory.overwrites:
        inner, outer = memory.groups[result], memory.groups[operand]
        dies = not outer.is_output and lives[operand].stop <= t + 1
        if not dies or not (inner.in_arena and outer.in_arena) or inner.size > outer.size:
            text = f"{inner.name} cannot take the place of {outer.name}"
            raise MemoptError(text, place_of(memory.operations[t]))
    load = levels(memory, lives, sizes, alignment)
    for t, m in enumerate(memory.memory):
        if m.hill >= 0:  # a hyper-node: its hill stands for what it writes
            results = memory.operations[t].results
            written = {memory.of_value[r][0] for r in results if r in memory.of_value}
            load[t] += m.hill - sum(sizes[g] for g in written)
    start = sum(size for size, g in zip(sizes, memory.groups, strict=True) if g.is_input)
    return start, load


def rounded(size: int, alignment: int) -> int:
    """Bytes rounded up to the alignment."""
    return -(-size // alignment) * alignment


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
