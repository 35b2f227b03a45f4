"""What a plan looks like over time: the one thing that picture, table and page are drawn from.

    timeline = timeline_of(func)
    timeline.steps[3].bytes                # bytes in RAM while the fourth operator runs
    timeline.buffers[0].offset             # where the first buffer lies

Bytes throughout; steps count from 0, and a buffer is live in steps [lower, upper).
"""

import re
from bisect import bisect_left, insort
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from xdsl.dialects.builtin import StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, Operation

from memopt.analysis.liveness import live_ranges, rounded
from memopt.analysis.storage_groups import BlockMemory, Storage
from memopt.analysis.work import work_of
from memopt.backends.checked import Checked, checked
from memopt.dialects.attributes import SourceAttr
from memopt.dialects.names import name_of, operator_kind
from memopt.dialects.plan import (
    Place,
    arena_offset,
    argument_offsets,
    model_of,
    offsets_of,
    scratch_list,
)
from memopt.dialects.plan_attributes import PlanAttr

Kind = Literal["input", "output", "activation", "scratch"]


INPUT = "in"  # label of what no operator makes


@dataclass(frozen=True)
class Rect:
    """A buffer: `bytes` rounded up to the alignment, at `offset` (None: not placed by the plan).

    `label` is short: the number of the operator that makes it, from 0 (`in`: an input); in Liberis'
    Appendix A these are one more. `used` is bytes without padding, `over` the buffer whose place it
    takes (in place), `also` the names of views of it.
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


@dataclass(frozen=True)
class Step:
    """One operator: `name` of what it makes, its kind `op`, the bytes in RAM while it runs, and its
    `number` in the source's order, from 0. Its multiplications and the bytes of its constants, None
    where nobody knows."""

    name: str
    op: str
    bytes: int
    number: int
    macs: int | None = None
    weights: int | None = None


@dataclass(frozen=True)
class Lane:
    """One of several memories, or one shared object: its name, where it begins in the buffers'
    offsets, the bytes in use, and what it holds (None: just these)."""

    name: str
    start: int
    bytes: int
    capacity: int | None = None


@dataclass(frozen=True)
class Timeline:
    """A scheduled function. `arena` is -1 while it is not placed; with shared objects it is their
    sum, and `objects` says how many there are. `lanes` are the memories of a plan with several,
    each of which is drawn by itself."""

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

    @property
    def optimal(self) -> bool:
        """Whether no order has a smaller peak, proven."""
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
    def peak_steps(self) -> tuple[int, ...]:
        """The steps with the most bytes."""
        most = max((s.bytes for s in self.steps), default=0)
        return tuple(i for i, s in enumerate(self.steps) if s.bytes == most and most)


def timeline_of(func: FuncOp, known: Checked | None = None) -> Timeline:
    """The timeline of a planned function, with or without offsets; `known` as its planner knows it.

    Raises MemoptError for a missing, wrong or stale plan.
    """
    known = known or checked(func)
    plan, memory, model = known.plan, known.memory, model_of(func)
    rects = _rects(func, memory, model.alignment.data)
    totals = _totals(rects, len(memory.operations))
    numbers = numbers_of(memory.operations)
    steps: list[Step] = []
    for t, op in enumerate(memory.operations):
        work = work_of(op, model)
        found = _title(op), operator_kind(op), totals[t], numbers[t]
        steps.append(Step(*found, work.macs, work.weights))
    return Timeline(
        func.sym_name.data,
        tuple(steps),
        tuple(rects),
        plan.peak.data,
        plan.lower_bound.data,
        plan.proof.data,
        plan.arena if plan.placed else -1,
        model.alignment.data,
        len(plan.memories) if plan.kind == "object" else 0,
        lanes=_lanes(plan),
        family=plan.family.data,
    )


def bytes_held(rects: Sequence[Rect], steps: int) -> list[int]:
    """The bytes of all buffers live in each step, also of one that takes another's place there."""
    change = [0] * (steps + 1)
    for r in rects:
        if r.lower < steps:
            change[r.lower] += r.bytes
            change[min(r.upper, steps)] -= r.bytes
    return list(accumulate(change[:-1]))


def _totals(rects: Sequence[Rect], steps: int) -> list[int]:
    """Bytes in RAM in each step; what takes the place of another buffer costs none in its first."""
    totals = bytes_held(rects, steps)
    for r in rects:
        if r.lower < steps and r.over is not None:
            totals[r.lower] -= r.bytes
    return totals


def _lanes(plan: PlanAttr) -> tuple[Lane, ...]:
    """The memories of a plan with several, none where there is one arena."""
    if plan.kind in (None, "arena"):
        return ()
    starts = accumulate((m.bytes.data for m in plan.memories), initial=0)
    return tuple(
        Lane(m.memory.data, start, m.bytes.data, m.capacity.data)
        if m.kind.data == "bank"
        else Lane(f"object {k}", start, m.bytes.data)
        for k, (m, start) in enumerate(zip(plan.memories, starts, strict=False))
    )


def numbers_of(operations: list[Operation]) -> list[int]:
    """The operators' numbers in the source, from 0; places in the order if not all are known and
    different."""
    found = [op.attributes.get("memgraph.source") for op in operations]
    numbers = [s.operator.data for s in found if isinstance(s, SourceAttr)]
    if len(set(numbers)) < len(operations):
        return list(range(len(operations)))
    return numbers


def _title(op: Operation) -> str:
    name = op.attributes.get("memgraph.operator")
    if isinstance(name, StringAttr):
        return name.data
    return name_of(op.results[0]) if op.results else operator_kind(op)


def _rects(func: FuncOp, memory: BlockMemory, alignment: int) -> list[Rect]:
    lives = live_ranges(memory)
    places = _places(func, memory)
    labels = _labels(memory)
    index: dict[int, int] = {}
    rects: list[Rect] = []
    over = {result: operand for _, result, operand in memory.overwrites}
    for g, storage in enumerate(memory.groups):
        if not storage.in_arena:
            continue
        index[g] = len(rects)
        rects.append(
            Rect(
                storage.name,
                rounded(storage.size, alignment),
                lives[g].start,
                lives[g].stop,
                places.get(g),
                "output" if storage.is_output and not storage.is_input else
                "input" if storage.is_input else "activation",
                labels[g],
                storage.size,
                index.get(over[g]) if g in over else None,
                tuple(dict.fromkeys(name_of(v) for v, _ in storage.members[1:])),
            )
        )  # fmt: skip
    numbers = numbers_of(memory.operations)
    for t, (op, m) in enumerate(zip(memory.operations, memory.memory, strict=True)):
        offsets = [arena_offset(s.place, func) for s in scratch_list(op) or ()]
        for k, size in enumerate(m.workspace):
            offset = offsets[k] if k < len(offsets) else None
            name = f"scratch of {_title(op)}"
            label = f"{numbers[t]}w"
            rects.append(
                Rect(name, rounded(size, alignment), t, t + 1, offset, "scratch", label, size)
            )
    return rects


def _places(func: FuncOp, memory: BlockMemory) -> dict[int, int | None]:
    """The offset of each group: that of a member less the member's place in the group. Shared
    objects, and several memories, are drawn one on top of the other."""
    found: dict[int, int | None] = {}

    def put(group: tuple[int, int] | None, place: Place | None) -> None:
        offset = arena_offset(place, func)
        if group is not None and offset is not None:
            found[group[0]] = offset - group[1]

    block = func.body.block
    for argument, place in zip(block.args, argument_offsets(func), strict=True):
        put(memory.of_value.get(argument), place)
    for op in block.ops:
        for result, place in zip(op.results, offsets_of(op) or (), strict=False):
            put(memory.of_value.get(result), place)
    return found


def _labels(memory: BlockMemory) -> list[str]:
    """Per group the number of its first writer, with .1, .2 for further results; inputs are `in`,
    or in.1, in.2 if there are several."""
    numbers = numbers_of(memory.operations)
    inputs = sum(g.is_input for g in memory.groups)
    seen: Counter[str] = Counter()

    def label(storage: Storage) -> str:
        first = isinstance(storage.members[0][0], BlockArgument) or storage.is_input
        name = INPUT if first or not storage.writers else str(numbers[storage.writers[0]])
        seen[name] += 1
        count = seen[name] if name == INPUT and inputs > 1 else seen[name] - 1
        return f"{name}.{count}" if count else name

    return [label(g) for g in memory.groups]
