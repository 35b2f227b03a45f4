"""Hyper-nodes made: which operations and views go into a region, and what crosses its border.

A storage group crosses a border as one value that shows all of it. Where a module sees the group
under one value only, that is the one. Where it sees more (a tensor and its views), the tensor
crosses and the views go inside:

    %a = "conv"(%x)              %a = memgraph.fused (%x_1 = %x) {
    %v = "view"(%a)                %a_1 = "conv"(%x_1)
    %b = "conv"(%v)         ->     %v_1 = "view"(%a_1) {memgraph.repeated}
    ...  "other"(%v)               ...
                                 %v = "view"(%a)

A view or constant that is needed outside as well stays there, and the one inside is marked as its
repetition. When scheduling opens the region, they become one again (reorder.py).
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from itertools import chain

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue

from memopt.analysis.storage_groups import BlockMemory, Storage
from memopt.dialects.attributes.operators import ChainType
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.structure import ConstantOp, FusedOp, HyperNode, SegmentOp, YieldOp
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.reorder import REPEATED


def inner_views(
    extracted: Extracted, members: Sequence[int], views: Set[Operation]
) -> frozenset[Operation] | None:
    """The views that a region of these operators holds; None if no region can say what they do.

    `views` are all of the function.

    That is so for operators with effects, for given in-place aliases, and where a group crosses the
    border that is written in several places (a zero-copy concat), or is the caller's and neither an
    argument nor returned.
    """
    memory, inside = extracted.memory, set(members)
    for v in members:
        facts = memory.memory[v]
        if facts.effects or memory.operations[v].regions:
            return None
        if any(a.kind != "inplace" for a in facts.aliases):
            return None  # it copies where it is because of the caller's buffers
    if any(v in inside for v, _, _ in memory.overwrites):
        return None
    inner: set[Operation] = set()
    for group, seen in _seen(memory, members).items():
        needed = _needed_views(memory, memory.groups[group], seen, inside, views)
        if needed is None:
            return None
        inner |= needed
    return frozenset(inner)


def _seen(memory: BlockMemory, members: Sequence[int]) -> dict[int, set[SSAValue]]:
    """Per group the values under which the operators read or write it."""
    seen: dict[int, set[SSAValue]] = {}
    for v in members:
        op = memory.operations[v]
        for value in (*op.operands, *op.results):
            if value in memory.of_value:
                seen.setdefault(memory.of_value[value][0], set()).add(value)
    return seen


def _needed_views(
    memory: BlockMemory,
    group: Storage,
    seen: set[SSAValue],
    inside: set[int],
    views: Set[Operation],
) -> set[Operation] | None:
    """The views inside through which one group is seen; None if it cannot cross the border."""
    touchers = chain(group.writers, group.readers)
    crosses = group.is_input or group.is_output or any(v not in inside for v in touchers)
    if not crosses and len(group.members) == 1 and not _is_view(group.members[0][0], views):
        return set()
    if crosses and len(seen) == 1 and all(bytes_of(v.type) == group.size for v in seen):
        return set() if group.in_arena or _at_the_caller(*seen) else None
    roots = {v for v, _ in group.members if not _is_view(v, views)}
    if crosses and (len(roots) > 1 or any(bytes_of(v.type) != group.size for v in roots)):
        return None
    if crosses and not group.in_arena and not all(_at_the_caller(v) for v in roots):
        return None
    values = seen if crosses else {v for v, _ in group.members}  # also views that nobody reads
    return _views_of(memory, group, values, views)


def _views_of(
    memory: BlockMemory, group: Storage, values: Iterable[SSAValue], views: Set[Operation]
) -> set[Operation] | None:
    """The views by which these values of a group are made; None if one is of several groups."""
    needed: set[Operation] = set()
    waiting = [v for v in values if _is_view(v, views)]
    while waiting:
        value = waiting.pop()
        assert isinstance(value, OpResult)
        if value.op in needed:
            continue
        needed.add(value.op)
        for operand in value.op.operands:
            if operand not in memory.of_value:
                continue
            if memory.groups[memory.of_value[operand][0]] is not group:
                return None
            if _is_view(operand, views):
                waiting.append(operand)
    return needed


def _is_view(value: SSAValue, views: Set[Operation]) -> bool:
    return isinstance(value, OpResult) and value.op in views


def _at_the_caller(value: SSAValue) -> bool:
    """Return whether the value itself is an argument or returned: then a node sees whose it is."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    last = block.last_op if block is not None else None
    return isinstance(value, BlockArgument) or (last is not None and value in last.operands)


@dataclass
class Builder:
    """Makes the hyper-nodes of one function; who reads their results is told of it by `finish`.

    `views` gives each view its place among all of them, `ancestors` is a mask per operator.
    `origin` gives the value that a node's result stands for, `outer` the other way round.
    """

    extracted: Extracted
    views: Mapping[Operation, int]
    ancestors: Sequence[int]
    origin: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    outer: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def build(
        self,
        members: Sequence[int],
        views: frozenset[Operation],
        anchor: Operation,
        after: SSAValue | None,
        chained: bool,
        goes_on: bool,
    ) -> HyperNode:
        """A node of these operators and `inner_views`, behind `anchor`: a segment if `chained`.

        `after` is the token of the segment before; `goes_on` asks for one for the segment behind.
        """
        sequence, moved = self._inside(members, views)
        inside = set(sequence)
        operands = dict.fromkeys(
            [
                self.outer.get(v, v)
                for op in sequence
                for v in op.operands
                if not (isinstance(v, OpResult) and v.op in inside)
            ]
        )
        results = [
            r
            for op in sequence
            if op in moved
            for r in op.results
            if any(u.operation not in moved for u in r.uses)
        ]
        done = set(members)
        before = 0
        for v in members:
            before |= self.ancestors[v]
        kept_operands = [i for i, v in enumerate(operands) if self._is_kept(v, done, before)]
        body = Block(arg_types=[v.type for v in operands])
        types = [*(r.type for r in results), *([ChainType()] if goes_on else [])]
        kind = SegmentOp if chained else FusedOp
        node = kind.create_node(list(operands), types, kept_operands, Region(body), after)
        node.attributes["memgraph.names"] = ArrayAttr([StringAttr(name_of(r)) for r in results])
        _block_of(anchor).insert_op_after(node, anchor)
        for result, outer in zip(results, node.outputs, strict=True):
            outer.name_hint = result.name_hint
            self.origin[outer] = result
        inner: dict[SSAValue, SSAValue] = dict(zip(operands, body.args, strict=True))
        for value, argument in zip(operands, body.args, strict=True):
            argument.name_hint = value.name_hint
        for op in sequence:
            if op in moved:
                op.detach()
                op.operands = self._within(op, inner)
                body.add_op(op)
            else:
                body.add_op(_repetition(op, inner, self._within(op, inner)))
        self.outer.update(zip(results, node.outputs, strict=True))
        body.add_op(YieldOp(results))
        return node

    def _inside(
        self, members: Sequence[int], views: frozenset[Operation]
    ) -> tuple[list[Operation], set[Operation]]:
        """The operations of a node of these operators and inner views, with the constants that they
        read, in their order; those of them that move into it, of which the others are repeated."""
        operations = [self.extracted.memory.operations[v] for v in members]
        free = views | {
            v.op
            for op in (*operations, *views)
            for v in op.operands
            if isinstance(v, OpResult) and isinstance(v.op, ConstantOp)
        }
        unused = sorted(views, key=self.views.__getitem__)  # for those that nobody reads
        sequence = _with_free([*operations, *unused], free)
        return sequence, _moved(sequence, free)

    def _within(self, op: Operation, inner: Mapping[SSAValue, SSAValue]) -> list[SSAValue]:
        """The operands of an operation in a node."""
        outside = [self.outer.get(v, v) for v in op.operands]
        return [inner.get(v, v) for v in outside]

    def finish(self) -> None:
        """Let whoever reads what is made in a node now read the node's result. Each operation is
        changed once: one operand of thousands takes as long to change as all of them."""
        readers = dict.fromkeys(
            [
                use.operation
                for outer, v in self.origin.items()
                for use in v.uses
                if _node_of(use.operation) is not outer.owner
            ]
        )
        for op in readers:
            op.operands = [self.outer.get(v, v) for v in op.operands]

    def _is_kept(self, value: SSAValue, members: set[int], before: int) -> bool:
        """Return whether the operand is still needed behind: by the result, or by an operator that
        reads it later than `members`, whose ancestors are `before`, or may."""
        memory = self.extracted.memory
        at = memory.of_value.get(self.origin.get(value, value))
        if at is None:
            return False
        group = memory.groups[at[0]]
        return group.is_output or any(
            v not in members and not before >> v & 1 for v in chain(group.writers, group.readers)
        )


def _node_of(op: Operation) -> Operation | None:
    return op.parent.parent_op() if op.parent is not None else None


def _block_of(op: Operation) -> Block:
    assert op.parent is not None
    return op.parent


def _repetition(
    op: Operation, inner: dict[SSAValue, SSAValue], operands: Sequence[SSAValue]
) -> Operation:
    """A copy of a view or constant that stays outside, of the `operands` inside."""
    copy = op.clone()
    copy.operands = operands
    copy.attributes[REPEATED] = UnitAttr()
    for old, new in zip(op.results, copy.results, strict=True):
        new.name_hint = old.name_hint
        inner[old] = new
    return copy


def _moved(sequence: Sequence[Operation], free: Set[Operation]) -> set[Operation]:
    """The operators, and of what is `free` (views, constants) all that nobody outside needs."""
    moved = {op for op in sequence if op not in free}
    for op in reversed(sequence):  # a view stands before what uses it
        if op in free and all(u.operation in moved for r in op.results for u in r.uses):
            moved.add(op)
    return moved


def _with_free(operations: Sequence[Operation], free: Set[Operation]) -> list[Operation]:
    """The operations in their order, each `free` one right before its first user."""
    sequence: list[Operation] = []
    done: set[Operation] = set()

    def emit(op: Operation) -> None:
        for v in op.operands:
            if isinstance(v, OpResult) and v.op in free and v.op not in done:
                emit(v.op)
        done.add(op)
        sequence.append(op)

    for op in operations:
        if op not in done:
            emit(op)
    return sequence
