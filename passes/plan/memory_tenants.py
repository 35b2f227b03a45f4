"""From a scheduled function to the tenants of its memories: who lies there, how long, how used.

Tenant k is base k of the placement problem (buffers that share a base lie in one bank), with its
uses in bytes as operators read and write its values. Every scratch of an operator is a buffer of
its own here, in whatever memory suits it: only one arena takes them as one block.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

from xdsl.ir import Block, BlockArgument, Operation, SSAValue

from memopt.analysis.storage_groups import Storage
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.passes.plan.extract import Extracted
from memopt.solvers.memories import Bank, Height, MemoryProblem, Tenant, Use, moment
from memopt.solvers.problems.memory_graph import (
    Buffer,
    Group,
    PlacementProblem,
    live_ranges,
    round_up,
)
from memopt.solvers.problems.placement import Piece
from memopt.verify.memories import operator_traffic, scratch_traffic

ScratchBuffers = Mapping[tuple[int, int], int]


@dataclass(frozen=True)
class Tenants:
    """The problem, and for every buffer of the placement problem its tenant.

    `scratch_of[step, k]` is the buffer of scratch k of the operator of `step`; one of no bytes has
    none.
    """

    problem: MemoryProblem
    buffers: PlacementProblem
    tenant_of: tuple[int, ...]
    scratch_of: ScratchBuffers


def tenants_of(
    extracted: Extracted,
    banks: tuple[Bank, ...],
    spill: bool,
    order: Sequence[int] | None = None,
) -> Tenants:
    """Tenants of a function in `order`, by default that of the block; with `spill`, those that can
    be moved may move."""
    graph, memory = extracted.graph, extracted.memory
    steps = len(graph)
    order = range(steps) if order is None else order
    buffers, scratch_of = _buffers(extracted, order)
    bases = sorted(buffers.members)
    number = {base: k for k, base in enumerate(bases)}
    tenant_of = tuple(number[b.base] for b in buffers.buffers)
    uses = _uses(extracted, buffers, scratch_of, order)
    block = body_of(extracted.func)
    whole_operations = {op for op in block.ops if _is_whole(op)} if spill else set[Operation]()
    tied = {g for _, *pair in memory.overwrites for g in pair}
    tenants: list[Tenant] = []
    for base in bases:
        members = buffers.members[base]
        groups = [graph.groups[i] for i in members if i < len(graph.groups)]
        first, last = _caller_has(groups)
        in_pieces = any(g.piece is not None for g in groups)
        touched = _together(map(uses.__getitem__, members), [-1] * first + [steps] * last)
        b = buffers.buffers[base]
        copied: int | None = None
        if spill and groups and len(members) == 1 and b.size > 0:
            copied = _copied(extracted, extracted.block_groups[base], tied, whole_operations)
        heights = _heights(buffers, base, first, last, steps)
        tenants.append(
            Tenant(
                b.name,
                heights,
                tuple([Use(s, touched[s]) for s in sorted(touched)]),
                copied is not None,
                copied or 0,
                b.alignment,
                in_pieces or any(h.at for h in heights),  # a row in place of a part of it, too
            )
        )
    return Tenants(MemoryProblem(banks, tuple(tenants), steps), buffers, tenant_of, scratch_of)


def _caller_has(groups: Sequence[Group]) -> tuple[bool, bool]:
    """Return whether the caller fills a base, and reads it; one in place without bytes does
    not make its operand live longer."""
    held = [g for g in groups if g.size] or groups
    return any(g.is_input for g in held), any(g.is_output for g in held)


def _together(uses: Iterable[Mapping[int, int]], ends: Iterable[int]) -> dict[int, int]:
    """The steps that touch any of several buffers, with the bytes of all; of `ends` also those that
    touch none."""
    touched = dict.fromkeys(ends, 0)
    for each in uses:
        for step, size in each.items():
            touched[step] = touched.get(step, 0) + size
    return touched


def _copied(extracted: Extracted, group: int, tied: Set[int], whole: Set[Operation]) -> int | None:
    """The bytes of a group that each move copies; None where it cannot move."""
    storage = extracted.memory.groups[group]
    if group in tied or not _can_move(extracted, storage, whole):
        return None
    return bytes_of(storage.members[0][0].type) or 0


def _buffers(extracted: Extracted, order: Sequence[int]) -> tuple[PlacementProblem, ScratchBuffers]:
    """The buffers of all groups, then one for each scratch, live in its operator's step alone."""
    graph, memory = extracted.graph, extracted.memory
    alignment = extracted.model.alignment.data
    groups = live_ranges(graph, order).buffers[: len(graph.groups)]
    buffers, scratch_of = list(groups), dict[tuple[int, int], int]()
    for step, v in enumerate(order):
        workspace = memory.memory[v].workspace
        for k, size in enumerate(workspace):
            if not size:
                continue
            which = f" {k}" if len(workspace) > 1 else ""
            name = f"workspace{which} of {graph.names[v]}"
            at = scratch_of[step, k] = len(buffers)
            rounded = round_up(size, alignment)
            buffers.append(Buffer(name, rounded, step, step + 1, at, None, alignment))
    return PlacementProblem(tuple(buffers)), scratch_of


def _heights(
    buffers: PlacementProblem, base: int, first: bool, last: bool, steps: int
) -> tuple[Height, ...]:
    """The outline of a base in moments, of each of its parts that die alone."""
    pieces = buffers.pieces[base]
    if not pieces:
        b = buffers.buffers[base]
        return (Height(moment(-1), moment(max(b.upper, steps)) + 1, 0),)
    if len(pieces) == 1:  # as most have
        (p,) = pieces
        lower = -1 if first and p.lower == 0 else p.lower
        upper = steps if last and p.upper >= steps else p.upper - 1
        return (Height(moment(lower), moment(upper) + 1, p.size, p.at),)
    columns: dict[int, list[Piece]] = {}
    for p in pieces:
        columns.setdefault(p.at, []).append(p)
    outline: list[Height] = []
    for column in columns.values():
        heights = _column(column)
        if first and column[0].lower == 0:
            heights[0] = heights[0]._replace(lower=moment(-1))
        if last and column[-1].upper >= steps:
            heights[-1] = heights[-1]._replace(upper=moment(steps) + 1)
        outline += heights
    return tuple(outline)


def _column(pieces: list[Piece]) -> list[Height]:
    """Pieces of the same bytes, by time, in moments. Where it goes on, it does so through the
    moves."""
    heights: list[Height] = []
    for k, p in enumerate(pieces):
        goes_on = k + 1 < len(pieces) and pieces[k + 1].lower == p.upper
        upper = moment(p.upper if goes_on else p.upper - 1) + (not goes_on)
        heights.append(Height(moment(p.lower), upper, p.size, p.at))
    return heights


def _uses(
    extracted: Extracted,
    buffers: PlacementProblem,
    scratch_of: ScratchBuffers,
    order: Sequence[int],
) -> list[dict[int, int]]:
    """For each buffer the steps that touch it, with the bytes that they read and write."""
    graph, memory = extracted.graph, extracted.memory
    uses: list[dict[int, int]] = [{} for _ in buffers.buffers]

    for step, v in enumerate(order):
        for part in operator_traffic(memory.operations[v]):
            for value, size in part.items():
                at = memory.of_value.get(value)
                group = extracted.group_of[at[0]] if at else None
                if group is not None:
                    used = uses[group]
                    used[step] = used.get(step, 0) + size
    if graph.unread_inputs:
        for g, group in enumerate(graph.groups):
            if group.is_input and not uses[g] and not group.is_output:
                uses[g][0] = 0  # it exists through step 0
    for (step, k), buffer in scratch_of.items():
        uses[buffer][step] = scratch_traffic(memory.memory[order[step]].workspace[k])
    return uses


def _can_move(extracted: Extracted, storage: Storage, whole: Set[Operation]) -> bool:
    """Return whether a group is one value that our own operations make and read, each as a `whole`.
    Rows stay: an operator in rows has one place for each."""
    if len(storage.members) != 1:
        return False
    value = storage.members[0][0]
    if isinstance(value, BlockArgument):
        owned_by_caller = extracted.model.io.data == "kept"
        return not owned_by_caller and all(use.operation in whole for use in value.uses)
    owner = value.owner
    assert not isinstance(owner, Block)
    return owner in whole and all(use.operation in whole for use in value.uses)


def movable_values(extracted: Extracted) -> dict[int, SSAValue]:
    """Return the groups of the graph that are one value of our own operations, none in place or in
    a virtual tensor, with that value; no inputs and outputs in lines of a cache, which a copy that
    is neither does not fill."""
    memory, lines = extracted.memory, extracted.model.align_io.data
    last = body_of(extracted.func).last_op
    operations = {op for op in (*memory.operations, last) if op is not None and _is_whole(op)}
    tied = {g for _, *pair in memory.overwrites for g in pair}
    tied |= {k for k, g in enumerate(memory.groups) if lines and (g.is_input or g.is_output)}
    return {
        group: storage.members[0][0]
        for k, (group, storage) in enumerate(zip(extracted.group_of, memory.groups, strict=True))
        if group is not None and k not in tied and _can_move(extracted, storage, operations)
    }


def _is_whole(op: Operation) -> bool:
    if op.regions or isinstance(op, (RowOp, ReceiveOp)):
        return False
    return op.name.startswith("memgraph.") or op.name == "func.return"


def value_of(extracted: Extracted, tenants: Tenants, tenant: int) -> SSAValue:
    """The value of a tenant that moves."""
    buffer = tenants.tenant_of.index(tenant)
    group = extracted.block_groups[buffer]
    return extracted.memory.groups[group].members[0][0]


def keys_of(extracted: Extracted, tenants: Tenants, order: Sequence[int]) -> list[object]:
    """Return of each tenant in `order` what it is in any other: the values that lie there, or
    the operator and the number of its scratch, or of scratch that operators share the name."""
    owners = {at: (order[step], k) for (step, k), at in tenants.scratch_of.items()}
    keys: list[object] = []
    for base in sorted(tenants.buffers.members):
        if base in owners:
            v, k = owners[base]
            keys.append((extracted.memory.operations[v], k))
            continue
        group = extracted.block_groups.get(base)
        if group is None:
            keys.append(tenants.buffers.buffers[base].name)
        else:
            members = extracted.memory.groups[group].members
            keys.append(frozenset(value for value, _ in members))
    return keys
