"""The plan verifier on shared objects: one buffer at a time in each, as large as the largest.

#memgraph.plan<..., arena = 96, objects = [64, 32], ...>   memgraph.offset = [#memgraph.object<1>]

The run on paper (verify_plan.py) sees to it that no byte is overwritten that somebody reads. Shared
objects promise more: a buffer has its object to itself from its first write to its last read, and
begins where the object begins.
"""

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from memopt.dialects.errors import MemoptError
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.names import name_of, place_of
from memopt.dialects.plan import Memory, memory_at, scratch_list
from memopt.dialects.plan_attributes import PlanAttr
from memopt.dialects.tensors import bytes_of
from memopt.verify.groups import Reading

SCRATCH = -1  # stands for all scratch of one operator, where groups have numbers


def check_kind_of_memory(
    memory: Memory, plan: PlanAttr, model: ModelAttr, name: str, op: Operation
) -> None:
    """Raise MemoptError unless `name` is in the kind of memory that the plan is made for."""
    count = len(plan.object_sizes)
    if isinstance(memory, str):
        if count:
            text = f"{name} is in no shared object, but the plan has {count}"
            raise MemoptError(text, place_of(op))
    elif model.target.data == "tflm":
        raise MemoptError(f"{name} is in a shared object, but TFLM has one arena", place_of(op))
    elif memory >= count:
        raise MemoptError(f"{name} is in object {memory}, the plan has {count}", place_of(op))


def check_turns(memory: Reading, where: Mapping[SSAValue, tuple[Memory, int]]) -> None:
    """Raise MemoptError unless every object holds one buffer at a time, from its start."""
    lives: dict[int, list[tuple[int, int, int]]] = {}
    for index, g in enumerate(memory.groups):
        for value, inside in g.places.items():
            k, offset = where.get(value, ("", 0))
            if isinstance(k, int) and bytes_of(value.type) and offset != inside:
                owner = value.owner
                raise MemoptError(
                    f"object {k}: {name_of(value)} is at {offset}, and {inside} B into its buffer",
                    place_of(owner) if isinstance(owner, Operation) else "",
                )
        k = where.get(next(iter(g.places)), ("", 0))[0]
        if isinstance(k, int) and g.size:
            lives.setdefault(k, []).append((g.first, g.last + 1, index))
    for t, op in enumerate(memory.operations):
        for k in {memory_at(s.place) for s in scratch_list(op) or () if s.bytes.data}:
            if isinstance(k, int):
                lives.setdefault(k, []).append((t, t + 1, SCRATCH))
    heirs = {(t, result, operand) for t, result, operand in memory.overwrites}
    for k, members in sorted(lives.items()):
        held, until = SCRATCH, 0
        for lower, upper, index in sorted(members):
            in_place = lower == until - 1 and (lower, index, held) in heirs
            if lower < until and not in_place:
                names = " and ".join(_name(memory, i) for i in (held, index))
                op = memory.operations[lower] if memory.operations else None
                raise MemoptError(
                    f"object {k}: {names} are live together", place_of(op) if op else ""
                )
            held, until = index, max(until, upper)


def _name(memory: Reading, index: int) -> str:
    return "scratch" if index == SCRATCH else memory.groups[index].name


def check_sizes(plan: PlanAttr, ends: Mapping[Memory, int], place: str) -> None:
    """Raise MemoptError unless every object of the plan has the bytes that its buffers need."""
    for k, size in enumerate(plan.object_sizes):
        if ends.get(k, 0) != size:
            raise MemoptError(f"object {k} needs {ends.get(k, 0)} B, the plan says {size} B", place)
