"""The plan verifier on the places: every value has one, and each is legal by itself."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.placement import UnplacedAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import (
    Place,
    argument_offsets,
    bytes_offset,
    memory_at,
    offsets_of,
)
from memopt.dialects.memgraph.tensors import bytes_of, is_buffer
from memopt.dialects.operators.base import is_constant_expression
from memopt.verify.groups import Reading
from memopt.verify.memories import check_memory, named_memories

TFLM_LARGEST = (1 << 31) - 1  # bytes


def check_places(
    func: FuncOp, block: Block, memory: Reading, model: ModelAttr, plan: PlanAttr
) -> dict[SSAValue, tuple[str, int]]:
    """The memory and the offset of every value that is placed, each legal by itself."""
    where: dict[SSAValue, tuple[str, int]] = {}
    named = named_memories(plan)

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
        base = offset - group[1]
        aligned = value in memory.parts or base % memory.groups[group[0]].alignment == 0
        if offset < 0 or not aligned:
            raise MemoptError(f"{name_of(value)}: offset {offset} is not aligned", place_of(op))
        where[value] = (memory_at(place), offset)
        if bytes_of(value.type):
            check_reach(end_of(value, offset, memory), model, value, op)

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


def end_of(value: SSAValue, offset: int, memory: Reading) -> int:
    """The end of the buffer of a value that lies at `offset`, rounded up."""
    if value in memory.parts:  # its tensor is rounded up, if at all
        return offset + memory.groups[memory.of_value[value][0]].held
    index, inside = memory.of_value[value]
    group = memory.groups[index]
    if not group.size:  # a tensor in parts has only them, and they are not rounded up
        return offset - inside + (bytes_of(value.type) or 0)
    return offset - inside + group.held


def content_end(value: SSAValue, offset: int, memory: Reading) -> int:
    """Return where the bytes end that nothing else may hold while `value` lives: its own, and the
    rest of the line of a cache that it owns."""
    index, inside = memory.of_value[value]
    group, end = memory.groups[index], offset + (bytes_of(value.type) or 0)
    ends_group = end == offset - inside + group.size
    return offset - inside + group.held if group.lines and ends_group else end


def check_reach(end: int, model: ModelAttr, value: SSAValue | None, op: Operation) -> None:
    """Raise MemoptError if TFLM, whose planner counts bytes in 32 bits with a sign, cannot say
    where the buffer ends; without a value it is scratch."""
    if interpreter_of(model) and end > TFLM_LARGEST:
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
        if value in memory.virtual:
            expected = "virtual"
        if place.data != expected:
            raise MemoptError(f"{name_of(value)} is {expected}, not {place}", place_of(op))
    elif not memory.groups[group[0]].in_arena:
        if place.data != "caller":
            raise MemoptError(f"{name_of(value)} is the caller's, not {place}", place_of(op))
    elif bytes_of(value.type) and not (
        place.data == "runtime" and interpreter_of(model)  # which has a planner of its own
    ):
        raise MemoptError(f"{name_of(value)} is a buffer of the arena, not {place}", place_of(op))
