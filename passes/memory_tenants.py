"""From a scheduled function to the tenants of its memories: who lies there, how long, how used.

Tenant k is base k of the placement problem (buffers that share a base lie in one bank), with its
uses in bytes as operators read and write its values.
"""

from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from memopt.dialects.groups import BlockMemory
from memopt.dialects.memory import bytes_of
from memopt.dialects.verify_memories import operator_traffic, scratch_traffic
from memopt.passes.extract import Extracted
from memopt.solvers.memories import Bank, MemoryProblem, Tenant, Use, moment
from memopt.solvers.problem import PlacementProblem, live_ranges


@dataclass(frozen=True)
class Tenants:
    """The problem, and for every buffer of the placement problem its tenant."""

    problem: MemoryProblem
    buffers: PlacementProblem
    tenant_of: tuple[int, ...]


def tenants_of(extracted: Extracted, banks: tuple[Bank, ...], spill: bool) -> Tenants:
    """Tenants of a function in block order; with `spill`, those that can be moved may move."""
    graph, memory = extracted.graph, extracted.memory
    steps = len(graph)
    buffers = live_ranges(graph, range(steps))
    bases = sorted({b.base for b in buffers.buffers})
    number = {base: k for k, base in enumerate(bases)}
    tenant_of = tuple(number[b.base] for b in buffers.buffers)
    uses = _uses(extracted, buffers)
    block_group = {g: k for k, g in enumerate(extracted.group_of) if g is not None}
    tenants: list[Tenant] = []
    for base in bases:
        members = [i for i, b in enumerate(buffers.buffers) if b.base == base]
        touched: dict[int, int] = {}
        first, last = False, False
        for i in members:
            for step, size in uses[i].items():
                touched[step] = touched.get(step, 0) + size
            if i < len(graph.groups):
                first |= graph.groups[i].is_input
                last |= graph.groups[i].is_output
        if first:
            touched.setdefault(-1, 0)
        if last:
            touched.setdefault(steps, 0)
        b = buffers.buffers[base]
        movable = (
            spill
            and len(members) == 1
            and base < len(graph.groups)
            and b.size > 0
            and _can_move(extracted, memory, block_group[base])
        )
        heights = _heights(buffers, base, first, last, steps)
        copied = bytes_of(memory.groups[block_group[base]].members[0][0].type) if movable else 0
        tenants.append(
            Tenant(
                b.name,
                heights,
                tuple(Use(s, touched[s]) for s in sorted(touched)),
                movable,
                copied or 0,
                b.alignment,
            )
        )
    return Tenants(MemoryProblem(banks, tuple(tenants), steps), buffers, tenant_of)


def _heights(
    buffers: PlacementProblem, base: int, first: bool, last: bool, steps: int
) -> tuple[tuple[int, int, int], ...]:
    """The outline of a base in moments. Where it goes on, it does so through the moves."""
    pieces = buffers.pieces[base]
    if not pieces:
        b = buffers.buffers[base]
        return ((moment(-1), moment(max(b.upper, steps)) + 1, 0),)
    found: list[tuple[int, int, int]] = []
    for k, p in enumerate(pieces):
        goes_on = k + 1 < len(pieces) and pieces[k + 1].lower == p.upper
        found.append(
            (moment(p.lower), moment(p.upper if goes_on else p.upper - 1) + (not goes_on), p.size)
        )
    if first:
        found[0] = (moment(-1), *found[0][1:])
    if last:
        found[-1] = (found[-1][0], moment(steps) + 1, found[-1][2])
    return tuple(found)


def _uses(extracted: Extracted, buffers: PlacementProblem) -> list[dict[int, int]]:
    """For each buffer the steps that touch it, with the bytes that they read and write."""
    graph, memory = extracted.graph, extracted.memory
    uses: list[dict[int, int]] = [{} for _ in buffers.buffers]

    def add(buffer: int, step: int, size: int) -> None:
        uses[buffer][step] = uses[buffer].get(step, 0) + size

    for step, op in enumerate(memory.operations):
        for part in operator_traffic(op):
            for value, size in part.items():
                at = memory.of_value.get(value)
                group = extracted.group_of[at[0]] if at else None
                if group is not None:
                    add(group, step, size)
    if graph.unread_inputs:
        for g, group in enumerate(graph.groups):
            if group.is_input and not uses[g] and not group.is_output:
                add(g, 0, 0)  # it exists through step 0
    scratch = len(graph.groups)
    for step in range(len(graph)):
        if graph.extra[step] > 0:
            add(scratch, step, sum(map(scratch_traffic, memory.memory[step].workspace)))
            scratch += 1
    return uses


def _can_move(extracted: Extracted, memory: BlockMemory, group: int) -> bool:
    """Whether a group is one value that our own operations make and read, each as a whole."""
    storage = memory.groups[group]
    if len(storage.members) != 1 or any(group in pair[1:] for pair in memory.overwrites):
        return False
    value = storage.members[0][0]
    if isinstance(value, BlockArgument):
        kept = extracted.model.io.data == "kept"
        return not kept and all(_is_ours(use.operation) for use in value.uses)
    owner = value.owner
    assert not isinstance(owner, Block)
    return all(map(_is_ours, (owner, *(use.operation for use in value.uses))))


def _is_ours(op: Operation) -> bool:
    return not op.regions and (op.name.startswith("memgraph.") or op.name == "func.return")


def value_of(extracted: Extracted, tenants: Tenants, tenant: int) -> SSAValue:
    """The value of a tenant that moves."""
    buffer = tenants.tenant_of.index(tenant)
    group = extracted.group_of.index(buffer)
    return extracted.memory.groups[group].members[0][0]
