"""The plan verifier on several memories: capacities, arenas and traffic, from the IR alone.

memgraph.memories = #memgraph.memories<banks = [#memgraph.bank<dtcm, ...>], ...>
memgraph.offset = [#memgraph.slot<dtcm, 1024>]

The run on paper (verify_plan.py) sees to it that nothing is overwritten within a bank.
"""

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.bank_attributes import MemoriesAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import read_values
from memopt.dialects.plan import MEMORIES, Memory, memory_at, scratch_list
from memopt.dialects.tensors import bytes_of
from memopt.verify.groups import Reading


def memories_of(func: FuncOp) -> MemoriesAttr | None:
    """The memories that the function is placed in, None for one arena. Raises MemoptError."""
    found = func.attributes.get(MEMORIES)
    if found is not None and not isinstance(found, MemoriesAttr):
        raise MemoptError(
            "memgraph.memories must be a #memgraph.memories", f"@{func.sym_name.data}"
        )
    return found


def operator_traffic(op: Operation) -> tuple[dict[SSAValue, int], dict[SSAValue, int]]:
    """Bytes that an operator reads, and writes, per value. What it reads twice it reads once."""
    reads = {v: bytes_of(v.type) or 0 for v in read_values(op)}
    return reads, {r: bytes_of(r.type) or 0 for r in op.results}


def scratch_traffic(size: int) -> int:
    """Bytes moved in a scratch buffer of `size` bytes: written once and read once."""
    return 2 * size


def check_memories(
    func: FuncOp,
    memory: Reading,
    where: Mapping[SSAValue, tuple[Memory, int]],
    ends: Mapping[Memory, int],
) -> None:
    """Raise MemoptError unless the memories are as the function says: every slot in one of them,
    none beyond its capacity, arenas, traffic and cost as stated."""
    place = f"@{func.sym_name.data}"
    memories = memories_of(func)
    used = sorted({m for m in (*ends, *(m for m, _ in where.values())) if isinstance(m, str)})
    if memories is None:
        named = [m for m in used if m]
        if named:
            raise MemoptError(f"a slot in {named[0]}, but the function names no memories", place)
        return
    for name in used:
        if memories.bank(name) is None:
            text = f"in {name}, which is none of its memories" if name else "in no memory"
            raise MemoptError(f"a buffer is {text}", place)
    moved = _moved(memory, where)
    for bank in memories.banks:
        name, capacity = bank.bank.data, bank.capacity.data
        end = ends.get(name, 0)
        if end > capacity:
            raise MemoptError(f"{name} overflows: {end} B of {capacity} B", place)
        if end != bank.arena.data:
            raise MemoptError(f"{name} needs {end} B, the plan says {bank.arena.data} B", place)
        if moved.get(name, 0) != bank.moved.data:
            raise MemoptError(
                f"{moved.get(name, 0)} B are moved in {name}, the plan says {bank.moved.data} B",
                place,
            )
    cost = sum(b.moved.data * b.cost.data for b in memories.banks)
    if cost != memories.cost.data:
        raise MemoptError(f"the traffic costs {cost}, the plan says {memories.cost.data}", place)


def _moved(memory: Reading, where: Mapping[SSAValue, tuple[Memory, int]]) -> dict[Memory, int]:
    """Bytes read and written in each bank in one run."""
    moved: dict[Memory, int] = {}

    def add(bank: Memory, size: int) -> None:
        moved[bank] = moved.get(bank, 0) + size

    for op in memory.operations:
        for part in operator_traffic(op):
            for value, size in part.items():
                if value in where:
                    add(where[value][0], size)
        for scratch in scratch_list(op) or ():
            add(memory_at(scratch.place), scratch_traffic(scratch.bytes.data))
    return moved
