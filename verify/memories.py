"""The plan verifier on the memories of a plan: kinds, bytes, capacities and traffic, from the IR
alone.

#memgraph.plan<..., memories = [#memgraph.memory<dtcm, kind = bank, ...>], ...>
memgraph.offset = [#memgraph.slot<dtcm, 1024>]

The simulation (simulate.py) sees to it that no byte is overwritten that somebody reads. Shared
objects promise more: a buffer has its object to itself from its first write to its last read, and
begins where the object begins, or, in place of another one, where the operand is.
"""

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.memories import MemoryAttr
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import read_values
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import Place, memory_at, scratch_list
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.verify.groups import Reading

SCRATCH = -1  # stands for all scratch of one operator, where groups have numbers

Where = Mapping[SSAValue, tuple[str, int]]  # memory, and bytes from its start


def named_memories(plan: PlanAttr) -> frozenset[str]:
    """The memories that places have to name; none where there is one arena."""
    return frozenset(m.memory.data for m in plan.memories if plan.kind != "arena")


def check_memory(
    place: Place | int, named: frozenset[str], value: SSAValue | None, op: Operation
) -> None:
    """Raise MemoptError unless a value, or scratch without one, is in a memory of the plan: in the
    only arena, or in one of those that are `named`."""
    memory = place.memory.data if isinstance(place, SlotAttr) else None
    if memory in named if named else memory is None:
        return
    name = name_of(value) if value else "scratch"
    if memory is None:
        count = "1 memory" if len(named) == 1 else f"{len(named)} memories"
        text = f"{name} has an offset in an arena, but the plan has {count}"
    elif named:
        text = f"{name} is in {memory}, which is none of the plan's memories"
    else:
        text = f"{name} is in {memory}, but the plan has one arena"
    raise MemoptError(text, place_of(op))


def check_memories(
    plan: PlanAttr, memory: Reading, where: Where, ends: Mapping[str, int], place: str
) -> None:
    """Raise MemoptError unless every memory of the plan has the bytes that its buffers need, within
    its capacity, and the traffic is as stated; `ends` are the bytes that each needs."""
    # only banks say what is moved in them
    moved = _moved(memory, where) if plan.kind == "bank" else {}
    for m in plan.memories:
        name, end = m.memory.data, ends.get(m.memory.data, 0)
        if m.kind.data == "bank" and end > m.capacity.data:
            raise MemoptError(f"{name} overflows: {end} B of {m.capacity.data} B", place)
        if end != m.bytes.data:
            called = "the arena" if m.kind.data == "arena" else name
            raise MemoptError(f"{called} needs {end} B, the plan says {m.bytes.data} B", place)
        if m.kind.data == "bank" and moved.get(name, 0) != m.moved.data:
            text = f"{moved.get(name, 0)} B are moved in {name}, the plan says {m.moved.data} B"
            raise MemoptError(text, place)
    if plan.costs is not None:
        cost = sum(m.moved.data * m.cost.data for m in plan.memories)
        if cost != plan.costs.cost.data:
            text = f"the traffic costs {cost}, the plan says {plan.costs.cost.data}"
            raise MemoptError(text, place)


def operator_traffic(op: Operation) -> tuple[dict[SSAValue, int], dict[SSAValue, int]]:
    """Bytes that an operator reads, and writes, per value. What it reads twice it reads once."""
    reads = {v: bytes_of(v.type) or 0 for v in read_values(op)}
    return reads, {r: bytes_of(r.type) or 0 for r in op.results}


def scratch_traffic(size: int) -> int:
    """Bytes moved in a scratch buffer of `size` bytes: written once and read once."""
    return 2 * size


def _moved(memory: Reading, where: Where) -> dict[str, int]:
    """Bytes read and written in each memory in one run."""
    moved: dict[str, int] = {}

    def add(name: str, size: int) -> None:
        moved[name] = moved.get(name, 0) + size

    for op in memory.operations:
        for part in operator_traffic(op):
            for value, size in part.items():
                if value in where:
                    add(where[value][0], size)
        for scratch in scratch_list(op) or ():
            add(memory_at(scratch.place), scratch_traffic(scratch.bytes.data))
    return moved


def check_turns(plan: PlanAttr, memory: Reading, where: Where) -> None:
    """Raise MemoptError unless every object holds one buffer at a time, from its start."""
    objects = [m for m in plan.memories if m.kind.data == "object"]
    if not objects:
        return
    lives = _lives(objects, memory, where)
    heirs = {(t, result, operand) for t, result, operand in memory.overwrites}
    for name, members in lives.items():
        held, until = SCRATCH, 0
        for lower, upper, index in sorted(members):
            in_place = lower == until - 1 and (lower, index, held) in heirs
            if lower < until and not in_place:
                both = " and ".join(_called(memory, i) for i in (held, index))
                op = memory.operations[lower] if memory.operations else None
                raise MemoptError(f"{name}: {both} are live together", place_of(op) if op else "")
            held, until = index, max(until, upper)


def _lives(
    objects: list[MemoryAttr], memory: Reading, where: Where
) -> dict[str, list[tuple[int, int, int]]]:
    """(first step, behind the last, group) of all buffers of each object, which each begin it."""
    lives: dict[str, list[tuple[int, int, int]]] = {m.memory.data: [] for m in objects}
    begins = _begins(memory)
    for index, g in enumerate(memory.groups):
        for value, inside in g.places.items():
            name, offset = where.get(value, ("", 0))
            if name in lives and bytes_of(value.type) and offset != begins.get(index, 0) + inside:
                owner = value.owner
                raise MemoptError(
                    f"{name}: {name_of(value)} is at {offset}, and {inside} B into its buffer",
                    place_of(owner) if isinstance(owner, Operation) else "",
                )
        name = where.get(next(iter(g.places)), ("", 0))[0]
        if name in lives and g.size:
            lives[name].append((g.first, g.last + 1, index))
    for t, op in enumerate(memory.operations):
        for name in {memory_at(s.place) for s in scratch_list(op) or () if s.bytes.data}:
            if name in lives:
                lives[name].append((t, t + 1, SCRATCH))
    return lives


def _begins(memory: Reading) -> dict[int, int]:
    """The bytes from the start of an object at which a group in place of another one begins."""
    starts: dict[int, int] = {}
    for t, result, operand in memory.overwrites:
        places = [memory.of_value[v] for v in memory.reads[t] if v in memory.of_value]
        inside = next(b for g, b in places if g == operand)
        starts[result] = starts.get(operand, 0) + inside
    return starts


def _called(memory: Reading, index: int) -> str:
    return "scratch" if index == SCRATCH else memory.groups[index].name
