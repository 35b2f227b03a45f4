"""The timeline of a planned function, read from its IR."""

from collections.abc import Sequence
from itertools import accumulate

from xdsl.dialects.func import FuncOp

from memopt.analysis.function_memory import group_offsets
from memopt.analysis.liveness import live_ranges, rounded
from memopt.analysis.storage_groups import BlockMemory
from memopt.analysis.work import work_of
from memopt.backends.checked import Checked, checked
from memopt.backends.report.numbering import numbered, numbers_of, title
from memopt.backends.report.operators import in_rows
from memopt.backends.report.timeline import INPUT, Lane, Rect, Step, Timeline, bytes_held
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.names import name_of, operator_kind
from memopt.dialects.memgraph.plan import arena_offset, is_move, model_of, scratch_list


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
        called = title(op), operator_kind(op), totals[t], numbers[t]
        steps.append(Step(*called, work.macs, work.weights))
    timeline = Timeline(
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
    return in_rows(timeline, memory, model) if timeline.family == "rows" else timeline


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


def _rects(func: FuncOp, memory: BlockMemory, alignment: int) -> list[Rect]:
    lives = live_ranges(memory)
    places = group_offsets(func, memory)
    labels = _labels(memory)
    index: dict[int, int] = {}
    rects: list[Rect] = []
    over = {
        result: operand
        for t, result, operand in memory.overwrites
        if not is_move(memory.operations[t])
    }
    for g, storage in enumerate(memory.groups):
        if not storage.in_arena:
            continue
        index[g] = len(rects)
        rects.append(
            Rect(
                storage.name,
                storage.taken,
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
            name = f"scratch of {title(op)}"
            label = f"{numbers[t]}w"
            rects.append(
                Rect(name, rounded(size, alignment), t, t + 1, offset, "scratch", label, size)
            )
    return rects


def _labels(memory: BlockMemory) -> list[str]:
    """Per group its label: the number of its first writer, or that it is an input."""
    numbers = numbers_of(memory.operations)
    return numbered([INPUT if g.is_input else str(numbers[g.writers[0]]) for g in memory.groups])
