"""Timeline of a plan: the one thing that picture, table and page are drawn from.

    timeline = timeline_of(func)
    timeline.steps[3].bytes                # bytes in RAM while the fourth operator runs
    timeline.buffers[0].offset             # where the first buffer lies

Bytes throughout; steps count from 0, and a buffer is live in steps [lower, upper).
"""

import re
from bisect import bisect_left, insort
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

Kind = Literal["input", "output", "activation", "scratch"]


INPUT = "in"  # label of what no operator makes


@dataclass(frozen=True)
class Rect:
    """A buffer: `bytes` rounded up to the alignment, at `offset` (None: not placed by the plan).

    `label` is short: the number of the operator that makes it, from 0 (`in`: an input); in Liberis'
    Appendix A these are one more. `used` is bytes without padding, `over` the buffer whose place it
    takes (in place), `also` the names of views of it. In a plan in rows `tensor` is the place of
    what it belongs to in `Timeline.tensors`, and `row` which row of that it is (None: all of it).
    """

    name: str
    bytes: int
    lower: int
    upper: int
    offset: int | None
    kind: Kind
    label: str = ""
    used: int = -1
    over: int | None = None
    also: tuple[str, ...] = ()
    tensor: int = -1
    row: int | None = None


@dataclass(frozen=True)
class Step:
    """One operator: `name` of what it makes, its kind `op`, the bytes in RAM while it runs, and its
    `number` in the source's order, from 0. Its multiplications and the bytes of its constants, None
    where nobody knows.

    In a plan in rows it is a call of `operator`, the place in `Timeline.operators`, which computes
    `row` (None: the whole).
    """

    name: str
    op: str
    bytes: int
    number: int
    macs: int | None = None
    weights: int | None = None
    operator: int = -1
    row: int | None = None


@dataclass(frozen=True)
class Operator:
    """Operator of which calls of a plan in rows are rows.

    `name` of its result, its kind `op`, its number in the source as `label` (`in`: rows of an
    input, received one by one). Multiplications and bytes of constants, None where nobody knows.
    """

    name: str
    op: str
    label: str
    macs: int | None = None
    weights: int | None = None


@dataclass(frozen=True)
class Tensor:
    """Tensor of which buffers of a plan in rows are rows.

    `label` as in `Rect`, `operator` that makes it (None: an input). `is_sum`: its rows are sums,
    each of which takes in one more.
    """

    name: str
    label: str
    kind: Kind
    operator: int | None = None
    is_sum: bool = False


@dataclass(frozen=True)
class Lane:
    """One of several memories, or one shared object: its name, where it begins in the buffers'
    offsets, the bytes in use, and what it holds (None: just these)."""

    name: str
    start: int
    bytes: int
    capacity: int | None = None

    def holds(self, offset: int) -> bool:
        """Return whether a buffer that begins there lies in it."""
        return self.start <= offset < self.start + self.bytes


@dataclass(frozen=True)
class Timeline:
    """A scheduled function. `arena` is -1 while it is not placed; with shared objects it is their
    sum, and `objects` says how many there are. `lanes` are the memories of a plan with several,
    each of which is drawn by itself.

    Of a plan in rows `operators` are in the order of their first calls, and `tensors` all that is
    in RAM; both are empty where each step is an operator, and each buffer a tensor.
    """

    name: str
    steps: tuple[Step, ...]
    buffers: tuple[Rect, ...]
    peak: int
    lower_bound: int
    proof: str
    arena: int
    alignment: int
    objects: int = 0
    claimed: bool = False  # read from a file: bound and proof are what it says
    lanes: tuple[Lane, ...] = ()
    family: str = "order"  # what the bound ranges over
    operators: tuple[Operator, ...] = ()
    tensors: tuple[Tensor, ...] = ()

    @property
    def optimal(self) -> bool:
        """Return whether no order has a smaller peak, proven."""
        return not self.claimed and self.proof != "none" and self.peak == self.lower_bound

    @property
    def fragmentation(self) -> float:
        """(arena - peak) / arena; 0 for an empty arena."""
        return (self.arena - self.peak) / self.arena if self.arena > 0 else 0.0

    @cached_property
    def by_label(self) -> tuple[int, ...]:
        """Per buffer its place in the order of the numbers in the labels, inputs first; equal
        labels have one place."""

        def key(label: str) -> tuple[bool, list[int], str]:
            is_input = label.startswith(INPUT)
            return not is_input, [int(n) for n in re.findall(r"\d+", label)], label

        place = {
            label: i for i, label in enumerate(sorted({b.label for b in self.buffers}, key=key))
        }
        return tuple(place[b.label] for b in self.buffers)

    def live_at(self, step: int) -> tuple[int, ...]:
        """The buffers in RAM while operator `step` runs."""
        return tuple(i for i, b in enumerate(self.buffers) if b.lower <= step < b.upper)

    def live_in_order(self, key: Sequence[int]) -> Iterator[list[tuple[int, int]]]:
        """For each step the buffers in RAM as (`key` of the buffer, buffer), ascending. It is one
        list, which changes from step to step: what all steps together have is far more than there
        are buffers."""
        starts: list[list[int]] = [[] for _ in self.steps]
        ends: list[list[int]] = [[] for _ in self.steps]
        for i, b in enumerate(self.buffers):
            if b.lower < min(b.upper, len(starts)):
                starts[b.lower].append(i)
                if b.upper < len(ends):
                    ends[b.upper].append(i)
        live: list[tuple[int, int]] = []
        for begin, end in zip(starts, ends, strict=True):
            for i in end:
                del live[bisect_left(live, (key[i], i))]
            for i in begin:
                insort(live, (key[i], i))
            yield live

    @cached_property
    def of_tensor(self) -> tuple[tuple[int, ...], ...]:
        """Per tensor of a plan in rows its buffers."""
        buffers: list[list[int]] = [[] for _ in self.tensors]
        for i, b in enumerate(self.buffers):
            if b.tensor >= 0:
                buffers[b.tensor].append(i)
        return tuple(map(tuple, buffers))

    @cached_property
    def ends(self) -> tuple[int, ...]:
        """Per buffer the step in which it is gone for the eye: where its place is taken, its heir
        begins."""
        taken = {b.over: b.lower for b in self.buffers if b.over is not None}
        return tuple(
            max(min(b.upper, taken.get(i, b.upper)), b.lower + 1)
            for i, b in enumerate(self.buffers)
        )

    @cached_property
    def at_peak(self) -> tuple[bool, ...]:
        """Per buffer whether it is in RAM at a peak."""
        peaks = self.peak_steps
        nexts = (bisect_left(peaks, b.lower) for b in self.buffers)
        return tuple(
            n < len(peaks) and peaks[n] < b.upper for n, b in zip(nexts, self.buffers, strict=True)
        )

    @cached_property
    def peak_steps(self) -> tuple[int, ...]:
        """The steps with the most bytes."""
        largest = max((s.bytes for s in self.steps), default=0)
        return tuple(i for i, s in enumerate(self.steps) if s.bytes == largest and largest)


def bytes_held(rects: Sequence[Rect], steps: int) -> list[int]:
    """The bytes of all buffers live in each step, also of one that takes another's place there."""
    change = [0] * (steps + 1)
    for r in rects:
        if r.lower < steps:
            change[r.lower] += r.bytes
            change[min(r.upper, steps)] -= r.bytes
    return list(accumulate(change[:-1]))
