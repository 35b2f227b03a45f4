"""The plan verifier: re-derives everything that a plan claims from the IR alone.

It shares no code with the solvers, nor with the passes that wrote the plan. Overlap is not looked
for between live ranges but by running the function on paper: every executing operation writes the
bytes of its results, and no byte that somebody still reads may be overwritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.errors import MemoptError
from memopt.dialects.fingerprint import fingerprint
from memopt.dialects.functions import body_of, read_values
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.names import name_of, place_of
from memopt.dialects.old_forms import old_attribute
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.place_attributes import SlotAttr, UnplacedAttr
from memopt.dialects.plan import (
    ORDER,
    Place,
    argument_offsets,
    bytes_offset,
    memory_at,
    model_of,
    offsets_of,
    order_of,
    plan_of,
    scratch_list,
)
from memopt.dialects.plan_attributes import PlanAttr
from memopt.dialects.structure import HyperNode
from memopt.dialects.tensors import bytes_of, is_buffer
from memopt.verify.contents import Content, Contents
from memopt.verify.groups import Reading, read_function
from memopt.verify.memories import Where, check_memories, check_memory, check_turns, named_memories
from memopt.verify.partition import check_parts
from memopt.verify.unplaced import check_tried, check_unplaced

TFLM_LARGEST = (1 << 31) - 1  # bytes


class StalePlanError(MemoptError):
    """The function has changed since it was planned."""


@dataclass(frozen=True)
class Verified:
    """What the verifier recomputed, in bytes; `arena` is None for a plan without offsets."""

    plan: PlanAttr
    peak: int
    arena: int | None


def verify_plan(func: FuncOp, placed: bool = False) -> Verified:
    """Check the plan of `func`; with `placed`, offsets are required.

    Raises MemoptError (StalePlanError if the function has changed since) with the first fault.
    """
    place = f"@{func.sym_name.data}"
    plan = plan_of(func)
    if plan is None:
        raise MemoptError("the function has no plan; run --schedule and --place first", place)
    if old := old_attribute(func):
        raise MemoptError(old, place)
    model = model_of(func)
    block = body_of(func)
    check_definitions(block)
    if any(isinstance(op, HyperNode) for op in block.ops):
        raise MemoptError("the function has hyper-nodes; run --schedule to get a flat one", place)
    memory = read_function(func, model)
    if fingerprint(func) != plan.fingerprint.data:
        raise StalePlanError("stale plan: the function has changed since it was planned", place)
    _check_order(block, memory)
    check_tried(func, plan)
    check_parts(memory.operations)
    peak = _peak(memory, model)
    if peak != plan.peak.data:
        raise MemoptError(f"the peak is {peak} B, the plan says {plan.peak.data} B", place)
    if not plan.placed:
        if placed:
            raise MemoptError("the plan has no offsets; run --place first", place)
        check_unplaced(func)
        return Verified(plan, peak, None)
    if model.target.data == "tflm" and plan.kind != "arena":
        raise MemoptError("the plan has several memories, but TFLM has one arena", place)
    where = _check_places(func, block, memory, model, plan)
    check_turns(plan, memory, where)
    ends = _run_on_paper(block, memory, where, model, plan)
    check_memories(plan, memory, where, ends, place)
    return Verified(plan, peak, plan.arena)


def check_definitions(block: Block) -> None:
    """Raise MemoptError if a value is used before it is made (xDSL does not look)."""
    defined: set[SSAValue] = set(block.args)
    for op in block.ops:
        for v in read_values(op):
            inside = isinstance(v, OpResult) and v.op.parent is block
            if (inside or isinstance(v, BlockArgument)) and v not in defined:
                raise MemoptError(f"{name_of(v)} is used before it is made", place_of(op))
        defined.update(op.results)


def _check_order(block: Block, memory: Reading) -> None:
    position = {op: i for i, op in enumerate(memory.operations)}
    for op in block.ops:
        expected, found = position.get(op), order_of(op)
        if expected is None and ORDER in op.attributes:
            raise MemoptError("memgraph.order on an operation that does not execute", place_of(op))
        if expected is not None and found != expected:
            raise MemoptError(f"memgraph.order is {found}, block order {expected}", place_of(op))


def _peak(memory: Reading, model: ModelAttr) -> int:
    """The peak of block order in bytes, from the groups' first and last steps."""
    a = model.alignment.data
    steps = max(len(memory.operations), 1)
    change = [0] * (steps + 1)  # bytes that come to life, minus those that die, per step
    start_level = 0
    for g in memory.groups:
        if not g.in_arena:
            continue
        size = (g.size + a - 1) // a * a
        start_level += size if g.is_input else 0
        change[g.first] += size
        change[g.last + 1] -= size
    load = list(accumulate(change[:-1]))
    for t, m in enumerate(memory.memory):
        load[t] += sum((w + a - 1) // a * a for w in m.workspace)
    for t, result, operand in memory.overwrites:
        inner, outer = memory.groups[result], memory.groups[operand]
        dies = not outer.is_output and outer.last <= t
        if not dies or not (inner.in_arena and outer.in_arena) or inner.size > outer.size:
            raise MemoptError(
                f"{inner.name} cannot take the place of {outer.name}",
                place_of(memory.operations[t]),
            )
        load[t] -= (inner.size + a - 1) // a * a
    return max(start_level, *load)


def _check_places(
    func: FuncOp, block: Block, memory: Reading, model: ModelAttr, plan: PlanAttr
) -> dict[SSAValue, tuple[str, int]]:
    """The memory and the offset of every value that is placed, each legal by itself."""
    where: dict[SSAValue, tuple[str, int]] = {}
    a, named = model.alignment.data, named_memories(plan)

    def check(value: SSAValue, place: Place | None, op: Operation) -> None:
        group = memory.of_value.get(value)
        if place is None:
            raise MemoptError(f"{name_of(value)} has no place", place_of(op))
        offset = bytes_offset(place)
        if offset is None:
            _check_unplaced(value, place, memory, model, op)
            return
        check_memory(place, named, value, op)
        if group is None or not memory.groups[group[0]].in_arena:
            raise MemoptError(
                f"{name_of(value)} has an offset but is not in the arena", place_of(op)
            )
        if offset < 0 or (offset - group[1]) % a:
            raise MemoptError(f"{name_of(value)}: offset {offset} is not aligned", place_of(op))
        where[value] = (memory_at(place), offset)
        if bytes_of(value.type):
            _check_reach(_end(value, offset, memory, a), model, value, op)

    for argument, place in zip(block.args, argument_offsets(func), strict=True):
        check(argument, place, func)
    for op in block.ops:
        places = offsets_of(op)
        if not op.results:
            continue
        if places is None:
            if not any(r in memory.of_value for r in op.results):
                continue  # `tensor.empty` and its like do not even print attributes
            raise MemoptError("memgraph.offset is missing", place_of(op))
        for value, place in zip(op.results, places, strict=True):
            check(value, place, op)
    return where


def _end(value: SSAValue, offset: int, memory: Reading, alignment: int) -> int:
    """The end of the buffer of a value that lies at `offset`, rounded up."""
    index, inside = memory.of_value[value]
    return offset - inside + (memory.groups[index].size + alignment - 1) // alignment * alignment


def _check_reach(end: int, model: ModelAttr, value: SSAValue | None, op: Operation) -> None:
    """Raise MemoptError if TFLM, whose planner counts bytes in 32 bits with a sign, cannot say
    where the buffer ends; without a value it is scratch."""
    if model.target.data == "tflm" and end > TFLM_LARGEST:
        name = name_of(value) if value else "scratch"
        text = f"{name} ends at {end} B, beyond the {TFLM_LARGEST} B that TFLM's int32 can say"
        raise MemoptError(text, place_of(op))


def _check_unplaced(
    value: SSAValue, place: Place, memory: Reading, model: ModelAttr, op: Operation
) -> None:
    if not isinstance(place, UnplacedAttr):
        raise MemoptError(f"{name_of(value)}: {place} is no place", place_of(op))
    group = memory.of_value.get(value)
    if group is None:
        constant = is_buffer(value.type) and is_constant_expression(value, model)
        expected = "constant" if constant else "runtime"
        if place.data != expected:
            raise MemoptError(f"{name_of(value)} is {expected}, not {place}", place_of(op))
    elif not memory.groups[group[0]].in_arena:
        if place.data != "caller":
            raise MemoptError(f"{name_of(value)} is the caller's, not {place}", place_of(op))
    elif bytes_of(value.type) and not (
        place.data == "runtime" and model.target.data == "tflm"  # which has a planner of its own
    ):
        raise MemoptError(f"{name_of(value)} is a buffer of the arena, not {place}", place_of(op))


def _run_on_paper(
    block: Block, memory: Reading, where: Where, model: ModelAttr, plan: PlanAttr
) -> dict[str, int]:
    """Every write against every content that is still read. Returns the bytes that the buffers and
    the scratch need of every memory."""
    ends: dict[str, int] = {}
    alignment, named = model.alignment.data, named_memories(plan)
    for value, (name, offset) in where.items():
        if bytes_of(value.type):
            ends[name] = max(ends.get(name, 0), _end(value, offset, memory, alignment))
    position = {op: i for i, op in enumerate(memory.operations)}
    holds: dict[SSAValue, frozenset[SSAValue]] = {}  # of views; all else holds itself
    for op in memory.views:
        holds.update(_view_sources(op, memory))
    last: dict[SSAValue, int] = {}
    for op in block.ops:
        step = len(position) if op is block.last_op else position.get(op)
        for v in read_values(op) if step is not None else ():
            for content in _flatten(v, holds):
                last[content] = max(last.get(content, 0), step or 0)
    if memory.groups and any(g.is_input and g.is_output for g in memory.groups):
        for v in block.args:  # kept inputs
            if v in memory.of_value and memory.groups[memory.of_value[v][0]].is_output:
                last[v] = len(position)

    live = Contents()
    overwrites: dict[int, list[tuple[int, int]]] = {}
    for at, result, operand in memory.overwrites:
        overwrites.setdefault(at, []).append((result, operand))
    for v in block.args:
        _write(v, last.get(v, 0), where, live, (), func_op(block))
    for op in block.ops:
        step = position.get(op)
        if step is None:
            if op in memory.views:
                _check_view(op, where, memory)
            continue
        live.expire(step)
        allowed = _overwritten(op, overwrites.get(step, ()), memory, holds, where)
        for r in op.results:
            _write(r, max(last.get(r, step), step), where, live, allowed, op)
        for place, start, size in _scratch_places(op, memory.memory[step].workspace, model):
            check_memory(place, named, None, op)
            if not size:
                continue
            end = start + (size + alignment - 1) // alignment * alignment
            name = memory_at(place)
            content = Content(None, name, start, end, step)
            _check_reach(end, model, None, op)
            _check_free(content, live, (), op)
            live.add(content)
            ends[name] = max(ends.get(name, 0), end)
    return ends


def _scratch_places(
    op: Operation, workspace: Sequence[int], model: ModelAttr
) -> list[tuple[int | SlotAttr, int, int]]:
    """(place, offset, bytes) of each scratch buffer. TFLM alone may be left to place some."""
    scratch = scratch_list(op)
    own_planner = model.scratch.data == "tflm"
    if (scratch is None or any(s.offset.data < 0 for s in scratch)) and not own_planner:
        if any(workspace):
            raise MemoptError("scratch has no offset", place_of(op))
        return []
    found = [s for s in scratch or () if s.offset.data >= 0]
    places = [(s.place, s.offset.data, s.bytes.data) for s in found]
    if any(offset % model.alignment.data for _, offset, _ in places):
        raise MemoptError("scratch is not aligned", place_of(op))
    return places


def func_op(block: Block) -> Operation:
    op = block.parent_op()
    assert op is not None
    return op


def _view_sources(op: Operation, memory: Reading) -> dict[SSAValue, frozenset[SSAValue]]:
    """For a view, the operands whose bytes each result shows."""
    found: dict[SSAValue, set[SSAValue]] = {}
    for alias in memory.views.get(op, ()):
        found.setdefault(op.results[alias.result], set()).add(op.operands[alias.operand])
    return {r: frozenset(v) for r, v in found.items()}


def _flatten(value: SSAValue, holds: dict[SSAValue, frozenset[SSAValue]]) -> list[SSAValue]:
    """The written values whose bytes `value` shows."""
    found: list[SSAValue] = []
    waiting = [value]
    while waiting:
        v = waiting.pop()
        sources = holds.get(v)
        if sources is None:
            found.append(v)
        else:
            waiting.extend(sources)
    return found


def _check_view(op: Operation, where: Where, memory: Reading) -> None:
    """A view lies where its alias says."""
    for r in op.results:
        for v in op.operands:
            if v in where and r in where and memory.of_value[v][0] == memory.of_value[r][0]:
                shift = memory.of_value[r][1] - memory.of_value[v][1]
                if where[r] != (where[v][0], where[v][1] + shift):
                    raise MemoptError(
                        f"{name_of(r)} is a view of {name_of(v)} but lies elsewhere", place_of(op)
                    )


def _overwritten(
    op: Operation,
    overwrites: Sequence[tuple[int, int]],
    memory: Reading,
    holds: dict[SSAValue, frozenset[SSAValue]],
    where: Where,
) -> tuple[SSAValue, ...]:
    """Contents that `op` may write over: its in-place operands, which must be at the same place."""
    allowed: list[SSAValue] = []
    for result, operand in overwrites:
        for r in op.results:
            for v in op.operands:
                groups = memory.of_value.get(r), memory.of_value.get(v)
                if groups[0] is None or groups[1] is None:
                    continue
                if groups[0][0] == result and groups[1][0] == operand:
                    if where.get(r) != where.get(v):
                        raise MemoptError(
                            f"{name_of(r)} is in place of {name_of(v)} but lies elsewhere",
                            place_of(op),
                        )
                    allowed.extend(_flatten(v, holds))
    return tuple(allowed)


def _write(
    value: SSAValue,
    last: int,
    where: Where,
    live: Contents,
    allowed: Sequence[SSAValue],
    op: Operation,
) -> None:
    size = bytes_of(value.type) if value in where else 0
    if size:
        name, start = where[value]
        content = Content(value, name, start, start + size, last)
        _check_free(content, live, allowed, op)
        live.add(content)


def _check_free(new: Content, live: Contents, allowed: Sequence[SSAValue], op: Operation) -> None:
    for old in live.in_the_way(new):
        if old.value not in allowed:
            name, held = (name_of(c.value) if c.value else "scratch" for c in (new, old))
            raise MemoptError(
                f"{name} at [{new.start}, {new.end}) overwrites {held} at "
                f"[{old.start}, {old.end}), which is live until step {old.last}",
                place_of(op),
            )
