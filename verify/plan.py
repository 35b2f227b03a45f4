"""The plan verifier: re-derives everything that a plan claims from the IR alone.

It shares no code with the solvers, nor with the passes that wrote the plan. Overlap is not looked
for between live ranges but by simulating the function: every executing operation writes the
bytes of its results, and no byte that somebody still reads may be overwritten.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from xdsl.dialects.builtin import ModuleOp, UnitAttr
from xdsl.dialects.func import CallOp, FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.foreign import BRANCH, region_kind
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.dialects.memgraph.functions import (
    body_of,
    callee_scratch,
    check_definitions,
    has_kind,
    reached_by,
    run_by,
    runs_of,
)
from memopt.dialects.memgraph.names import name_of, operator_kind, operator_name, place_of
from memopt.dialects.memgraph.old_forms import BANKS, OldMemoriesAttr, old_form
from memopt.dialects.memgraph.plan import (
    AUTOMATIC_PARTITION,
    OFFSET,
    ORDER,
    PARTITION,
    SCHEDULES_TRIED,
    SCRATCH_END,
    argument_offsets,
    is_number,
    model_of,
    order_of,
    plan_of,
    scratch_list,
)
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.dialects.rows.operations import family_of
from memopt.verify.groups import Reading, read_function
from memopt.verify.memories import check_memories, check_turns
from memopt.verify.placement import check_places
from memopt.verify.rows import CUT, check_rows
from memopt.verify.simulate import simulate
from memopt.verify.variables import check_variables


class StalePlanError(MemoptError):
    """The function has changed since it was planned."""


@dataclass(frozen=True)
class Verified:
    """Figures that the verifier recomputed, in bytes; `arena` is None for a plan without
    offsets."""

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
    check_form(func)
    model, block = model_of(func), body_of(func)
    memory = read_function(func, model)
    family = family_of(memory.operations)
    if plan.family.data != family:
        text = f"the plan's bounds range over {plan.family.data}, the function's over {family}"
        raise MemoptError(text, place)
    if fingerprint(func) != plan.fingerprint.data:
        raise StalePlanError("stale plan: the function has changed since it was planned", place)
    _check_order(memory)
    if has_kind(block.ops, VariableOp):
        check_variables(func, memory)
    _check_tried(func, plan)
    _check_parts(func, memory.operations)
    peak = _peak(memory, model)
    if peak != plan.peak.data:
        raise MemoptError(f"the peak is {peak} B, the plan says {plan.peak.data} B", place)
    if not plan.placed:
        if placed:
            raise MemoptError("the plan has no offsets; run --place first", place)
        _check_unplaced(func)
        return Verified(plan, peak, None)
    if interpreter_of(model) and plan.kind != "arena":
        raise MemoptError("the plan has several memories, but TFLM has one arena", place)
    _check_branches(func)
    where = check_places(func, block, memory, model, plan)
    check_turns(plan, memory, where)
    ends = simulate(block, memory, where, model, plan)
    above = func.attributes.get(SCRATCH_END)
    if above is not None:
        if not is_number(above) or plan.kind != "arena" or not runs_of(func):
            raise MemoptError(f"{SCRATCH_END} must be a number, of what runs others", place)
        (name,) = (m.memory.data for m in plan.memories)
        ends = {name: max(ends.get(name, 0), above.value.data)}
    check_memories(plan, memory, where, ends, place)
    return Verified(plan, peak, plan.arena)


def check_form(func: FuncOp) -> None:
    """Raise MemoptError for a function that no plan is true of, whatever it says."""
    place = f"@{func.sym_name.data}"
    if OldMemoriesAttr.name in func.attributes:
        raise MemoptError(old_form(OldMemoriesAttr.name, BANKS), place)
    model_of(func)
    block = body_of(func)
    check_definitions(block)
    if has_kind(block.ops, HyperNode):
        raise MemoptError("the function has hyper-nodes; run --schedule to get a flat one", place)
    if has_kind(block.ops, CUT):
        check_rows(block)


def _check_order(memory: Reading) -> None:
    for op, expected in memory.walk:
        stated = order_of(op)
        if expected is None and ORDER in op.attributes:
            raise MemoptError("memgraph.order on an operation that does not execute", place_of(op))
        if expected is not None and stated != expected:
            raise MemoptError(f"memgraph.order is {stated}, block order {expected}", place_of(op))


def _peak(memory: Reading, model: ModelAttr) -> int:
    """The peak of block order in bytes, from the groups' first and last steps."""
    a = model.alignment.data
    steps = max(len(memory.operations), 1)
    change = [0] * (steps + 1)  # bytes that come to life, minus those that die, per step
    start_level = 0
    for g in memory.groups:
        if not g.in_arena:
            continue
        start_level += g.held if g.is_input else 0
        change[g.first] += g.held
        change[g.last + 1] -= g.held
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
        load[t] -= inner.held
    return max(start_level, *load)


def _check_branches(func: FuncOp) -> None:
    """Raise MemoptError unless operators work in at least as many bytes as the arena of each
    function that they run, and those that run the same one there in the same bytes."""
    places: dict[FuncOp, int] = {}
    bodies: dict[str, FuncOp] = {}
    for op in func.body.walk():
        blocks, scratch = callee_scratch(op), scratch_list(op) or ()
        for callee in run_by(op):
            plan = plan_of(callee)
            if plan is None or not plan.placed:
                text = f"{operator_kind(op)} runs @{callee.sym_name.data}, which has no places"
                raise MemoptError(text, place_of(op))
        for k, block in enumerate(blocks):
            for callee in block.functions:
                if reached_by(callee) & {*block.functions}:
                    text = f"{operator_kind(op)} runs two functions in the same bytes at a time"
                    raise MemoptError(text, place_of(op))
                _check_counted(op, callee, scratch[k] if len(scratch) == len(blocks) else None)
                place = scratch[k].offset.data
                if block.level is None and _callees(op, bodies):
                    continue  # its tensors are in each of its callers
                if places.setdefault(callee, place) != place:
                    name = f"{operator_kind(op)} runs @{callee.sym_name.data}"
                    text = f"{name} at {place}, another operator elsewhere"
                    raise MemoptError(text, place_of(op))
        if op.parent_op() is func:
            for callee in _callees(op, bodies):
                _check_counted(op, callee, scratch[0] if scratch else None)
            if op.regions:
                _check_regions(op, bodies)


def _check_regions(op: Operation, bodies: dict[str, FuncOp]) -> None:
    """Raise MemoptError unless what calls in the regions of an operation make has bytes of its own
    behind those of the functions: of a loop all of it, of a branch what is not its result."""
    needed: list[SSAValue] = []
    for block in (block for region in op.regions for block in region.blocks):
        ended = block.last_op.operands if block.last_op is not None else ()
        for value in (r for call in block.ops if isinstance(call, CallOp) for r in call.results):
            is_result = region_kind(op) == BRANCH and any(value is v for v in ended)
            if not is_result and bytes_of(value.type) is not None:
                needed.append(value)
    own = (scratch_list(op) or ())[1:]
    if (needed or _callees(op, bodies)) and len(own) != len(needed):
        text = f"{len(needed)} tensors are made in its regions, {len(own)} are counted"
        raise MemoptError(f"{operator_kind(op)}: {text}; run memgraph-branches", place_of(op))
    for value, scratch in zip(needed, own, strict=False):
        if scratch.bytes.data < (bytes_of(value.type) or 0):
            text = f"the {bytes_of(value.type)} B of {name_of(value)} are not counted"
            raise MemoptError(f"{text}; run memgraph-branches", place_of(op))


def _callees(op: Operation, bodies: dict[str, FuncOp]) -> list[FuncOp]:
    """Return the functions with a body whose names an operation, or one in its regions, calls;
    found here, and not by whom the plan asks. `bodies` has those of the module by name, and is
    filled by who first calls one."""
    names = {inner.callee.string_value() for inner in op.walk() if isinstance(inner, CallOp)}
    module: Operation | None = op if names and not bodies else None
    while module is not None and not isinstance(module, ModuleOp):
        module = module.parent_op()
    for each in module.body.block.ops if module is not None else ():
        if isinstance(each, FuncOp) and not each.is_declaration:
            bodies[each.sym_name.data] = each
    return [bodies[name] for name in sorted(names & bodies.keys())]


def _check_counted(op: Operation, callee: FuncOp, scratch: ScratchAttr | None) -> None:
    """Raise MemoptError unless a scratch has room for the arena of a function."""
    plan = plan_of(callee)
    arena = plan.arena if plan is not None and plan.placed else 0
    if scratch is None or scratch.bytes.data < arena:
        name = f"{operator_kind(op)} runs @{callee.sym_name.data}"
        text = f"{name}, whose arena of {arena} B is not counted; run memgraph-branches"
        raise MemoptError(text, place_of(op))


def _check_parts(func: FuncOp, operations: Sequence[Operation]) -> None:
    """Raise MemoptError unless the parts of executing operations never decrease along their order.

    Either all of them have a part or none has. A part that nobody is in is no fault: dead code may
    have gone.
    """
    if not isinstance(func.attributes.get(AUTOMATIC_PARTITION, UnitAttr()), UnitAttr):
        raise MemoptError(f"{AUTOMATIC_PARTITION} has no value", f"@{func.sym_name.data}")
    if all(PARTITION not in op.attributes for op in operations):
        return
    reached = 0
    for op in operations:
        attr = op.attributes.get(PARTITION)
        name = operator_name(op)
        if attr is None:
            raise MemoptError(f"{name!r} has no {PARTITION}, other operations have", place_of(op))
        if not is_number(attr) or attr.value.data < 0:
            raise MemoptError(f"{PARTITION} must be a number from 0 on", place_of(op))
        if attr.value.data < reached:
            raise MemoptError(
                f"{name!r} of part {attr.value.data} runs after part {reached} has begun",
                place_of(op),
            )
        reached = attr.value.data


def _check_unplaced(func: FuncOp) -> None:
    """Raise MemoptError if a function whose plan has no arena has a place."""

    def fail(what: str, op: Operation | None = None) -> None:
        place = f"@{func.sym_name.data}" if op is None else place_of(op)
        raise MemoptError(f"the plan says no arena, but there {what}", place)

    if any(place is not None for place in argument_offsets(func)):
        fail("are offsets of arguments")
    for op in func.body.walk():
        if op is not func and OFFSET in op.attributes:
            fail("is an offset", op)
        if any(not isinstance(s.place, int) or s.place >= 0 for s in scratch_list(op) or ()):
            fail("is placed scratch", op)


def _check_tried(func: FuncOp, plan: PlanAttr) -> None:
    """Raise MemoptError unless the number of schedules tried is one, of a plan with places."""
    tried = func.attributes.get(SCHEDULES_TRIED)
    if tried is None:
        return
    if not is_number(tried) or tried.value.data < 1 or not plan.placed:
        text = f"{SCHEDULES_TRIED} must be a number from 1 on, of a plan with offsets"
        raise MemoptError(text, f"@{func.sym_name.data}")
