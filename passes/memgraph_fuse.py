"""`memgraph-fuse{rule=auto}`: contract modules that may run in one piece, or in segments, freely.

Before:
    %a = memgraph.opaque "conv"(%x) : (tensor<8xi8>) -> tensor<16xi8>
    %b = memgraph.opaque "conv"(%a) : (tensor<16xi8>) -> tensor<8xi8>
    %c = memgraph.opaque "other"(%x) : ...
After:
    %b = memgraph.fused (%0 = %x : tensor<8xi8>) kept [0] -> tensor<8xi8> {
      %a = memgraph.opaque "conv"(%0) : (tensor<8xi8>) -> tensor<16xi8>
      %1 = memgraph.opaque "conv"(%a) : (tensor<16xi8>) -> tensor<8xi8>
      memgraph.yield %1 : tensor<8xi8>
    }
    %c = memgraph.opaque "other"(%x) : ...

A module with a valley inside becomes a chain of `memgraph.segment`, held together by tokens of type
`!memgraph.chain`; others may run between two segments.

Which modules: solvers/chains.py (theory.md T2). Scheduling opens them again. A module is left as it
is when a buffer that crosses its border is seen under several values there (views) or is the
caller's, or when one of its operators has effects: then the region could not say what is shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.attributes import ChainType
from memopt.dialects.groups import body_of, read_values
from memopt.dialects.memory import name_of
from memopt.dialects.plan import MODEL, drop_plan, functions, model_of
from memopt.dialects.structure import ConstantOp, FusedOp, HyperNode, SegmentOp, YieldOp
from memopt.passes.extract import Extracted, extract
from memopt.passes.inplace import write_inplace
from memopt.solvers import zhong_fusion
from memopt.solvers.chains import Chain, chains
from memopt.solvers.fusion import modules
from memopt.solvers.fusion_check import is_safe_chain
from memopt.solvers.problem import InPlace, MemoryGraph
from memopt.solvers.segments import linked

Rule = Literal["auto", "t3", "zhong"]


@dataclass(frozen=True)
class MemgraphFusePass(ModulePass):
    """Contract modules of operators that may run in one piece, or in segments, without loss.

    `rule` says which: `auto` all that is found, as canonical segment chains (theory.md T2, T3, T4);
    `t3` only what becomes one node by a cheap test; `zhong` the paper's Algorithm 1 with its
    conditions corrected.
    """

    name = "memgraph-fuse"

    rule: Rule = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            fuse_function(func, self.rule)


def fuse_function(func: FuncOp, rule: Rule = "auto") -> int:
    """Contract what is safe in one function; returns the number of hyper-nodes made."""
    model = model_of(func)
    drop_plan(func, inplace=model.has_inplace)
    func.attributes[MODEL] = model
    extracted = extract(func)
    if any(isinstance(op, HyperNode) for op in extracted.memory.operations):
        return 0
    graph = extracted.graph
    chosen = [c for c in _found(graph, rule) if all(_expressible(extracted, s) for s in c)]
    strict = linked(graph, [[v for s in chain for v in s] for chain in chosen])
    builder = Builder(extracted, ancestor_masks(strict))
    for chain in chosen:
        order = [v for segment in chain for v in segment]
        write_inplace(extracted, _inplace(strict, order))
        anchor = extracted.memory.operations[max(order)]
        token: SSAValue | None = None
        for segment in chain:
            node = builder.build(segment, anchor, token, len(chain) > 1, segment is not chain[-1])
            anchor, token = node, node.tokens[1]
    if chosen:
        _delay_views(body_of(func))
    return sum(map(len, chosen))


def _delay_views(block: Block) -> None:
    """Move what stands before an operand of it, now made by a hyper-node, right behind that."""
    made: set[Operation] = set()
    waiting: list[Operation] = []
    sequence: list[Operation] = []

    def ready(op: Operation) -> bool:
        return all(not isinstance(v, OpResult) or v.op in made for v in read_values(op))

    for op in list(block.ops):
        waiting.append(op)
        while found := next((w for w in waiting if ready(w)), None):
            waiting.remove(found)
            made.add(found)
            sequence.append(found)
    for op in sequence:
        op.detach()
    block.add_ops(sequence)


def _found(graph: MemoryGraph, rule: Rule) -> list[Chain]:
    if rule == "zhong":
        return [(m.operators,) for m in zhong_fusion.modules(graph)]
    if rule == "t3":
        return [(m.operators,) for m in modules(graph)]
    return [c for c in chains(graph) if is_safe_chain(graph, c)]


def _inplace(graph: MemoryGraph, order: Sequence[int]) -> list[InPlace]:
    """What a module's operators overwrite in their order; nobody outside decides that."""
    done = 0
    masks = ancestor_masks(graph)
    for v in order:
        done |= masks[v]
    done &= ~sum(1 << v for v in order)
    result: list[InPlace] = []
    for v in order:
        choice = graph.taken_over(done, v)
        if choice is not None:
            result.append(choice)
        done |= 1 << v
    return result


def ancestor_masks(graph: MemoryGraph) -> list[int]:
    """For each operator the bit mask of all operators before it."""
    from memopt.solvers.problem import topological_order

    masks = [0] * len(graph)
    for v in topological_order(graph):
        for p in graph.predecessors[v]:
            masks[v] |= masks[p] | 1 << p
    return masks


def _expressible(extracted: Extracted, members: Sequence[int]) -> bool:
    """Whether a region can hold the module: no effects, and one value per crossing buffer."""
    memory, inside = extracted.memory, set(members)
    for v in members:
        if memory.memory[v].effects or memory.operations[v].regions:
            return False
    moved = {memory.operations[v] for v in members}
    outside = {
        r for op in memory.views if not _only_inside(op, moved, memory.views) for r in op.results
    }
    for group in memory.groups:
        touchers = {*group.writers, *group.readers}
        crossing = group.is_input or group.is_output or not touchers <= inside
        crossing |= any(v in outside for v, _ in group.members)
        if touchers & inside and crossing and (len(group.members) > 1 or not group.in_arena):
            return False
    return not any(v in inside for v, _, _ in memory.overwrites)


@dataclass
class Builder:
    """Makes the hyper-nodes of one function. `origin` gives the value that a result stands for."""

    extracted: Extracted
    ancestors: Sequence[int]
    origin: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def build(
        self,
        members: Sequence[int],
        anchor: Operation,
        after: SSAValue | None,
        chained: bool,
        goes_on: bool,
    ) -> HyperNode:
        """A node of these operators, behind `anchor`: one segment of a chain if `chained`.

        `after` is the token of the segment before; `goes_on` asks for one for the segment behind.
        """
        memory = self.extracted.memory
        inside = {memory.operations[v] for v in members}
        views = {op for op in memory.views if _only_inside(op, inside, memory.views)}
        sequence = _with_views([memory.operations[v] for v in members], views)
        moved = set(sequence)

        operands: dict[SSAValue, None] = {}
        constants: dict[SSAValue, ConstantOp] = {}
        for op in sequence:
            for v in op.operands:
                if isinstance(v, OpResult) and isinstance(v.op, ConstantOp):
                    constants[v] = v.op
                elif not (isinstance(v, OpResult) and v.op in moved):
                    operands[v] = None
        results = [
            r
            for op in sequence
            for r in op.results
            if any(u.operation not in moved for u in r.uses)
        ]
        kept = [i for i, v in enumerate(operands) if self._is_kept(v, members)]
        body = Block(arg_types=[v.type for v in operands])
        types = [*(r.type for r in results), *([ChainType()] if goes_on else [])]
        kind = SegmentOp if chained else FusedOp
        node = kind.create_node(list(operands), types, kept, Region(body), after)
        node.attributes["memgraph.names"] = ArrayAttr([StringAttr(name_of(r)) for r in results])
        Rewriter.insert_op(node, InsertPoint.after(anchor))
        for result, outer in zip(results, node.outputs, strict=True):
            outer.name_hint = result.name_hint
            self.origin[outer] = result
            result.replace_uses_with_if(outer, lambda use: use.operation not in moved)
        inner: dict[SSAValue, SSAValue] = dict(zip(operands, body.args, strict=True))
        for value, argument in zip(operands, body.args, strict=True):
            argument.name_hint = value.name_hint
        for value, constant in constants.items():
            copy = constant.clone()
            copy.result.name_hint = value.name_hint
            body.add_op(copy)
            inner[value] = copy.result
        for op in sequence:
            op.detach()
            op.operands = [inner.get(v, v) for v in op.operands]
            body.add_op(op)
        body.add_op(YieldOp(results))
        return node

    def _is_kept(self, value: SSAValue, members: Sequence[int]) -> bool:
        """Whether the operand is still needed behind: by the result, or by a later reader."""
        memory = self.extracted.memory
        at = memory.of_value.get(self.origin.get(value, value))
        if at is None:
            return False
        before = 0
        for v in members:
            before |= self.ancestors[v]
        group = memory.groups[at[0]]
        others = {*group.writers, *group.readers} - set(members)
        return group.is_output or any(not before >> v & 1 for v in others)


def _only_inside(op: Operation, inside: set[Operation], views: Sequence[Operation]) -> bool:
    """Whether a view shows only what the module makes, to the module alone."""
    made = all(
        not isinstance(v, OpResult)
        or v.op in inside
        or isinstance(v.op, ConstantOp)
        or (v.op in views and _only_inside(v.op, inside, views))
        for v in op.operands
    ) and any(isinstance(v, OpResult) and not isinstance(v.op, ConstantOp) for v in op.operands)
    return made and _only_inside_down(op, inside, views)


def _only_inside_down(op: Operation, inside: set[Operation], views: Sequence[Operation]) -> bool:
    users = [u.operation for r in op.results for u in r.uses]
    return bool(users) and all(
        u in inside or (u in views and _only_inside_down(u, inside, views)) for u in users
    )


def _with_views(operations: Sequence[Operation], views: set[Operation]) -> list[Operation]:
    """The operations in their order, each view right before its first user."""
    sequence: list[Operation] = []
    done: set[Operation] = set()

    def emit(op: Operation) -> None:
        for v in op.operands:
            if isinstance(v, OpResult) and v.op in views and v.op not in done:
                emit(v.op)
        done.add(op)
        sequence.append(op)

    for op in operations:
        emit(op)
    return sequence
