"""`memgraph-fuse`: contract modules of operators that may run in one piece without loss.

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

Which modules: solvers/fusion.py (theory.md T3). Scheduling opens them again. A module is left as it
is when a buffer that crosses its border is seen under several values there (views), or when one of
its operators has effects: then the region could not say what is shared.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.memory import name_of
from memopt.dialects.plan import MODEL, drop_plan, functions, model_of
from memopt.dialects.structure import ConstantOp, FusedOp, HyperNode, YieldOp
from memopt.passes.extract import Extracted, extract
from memopt.solvers.fusion import modules
from memopt.solvers.problem import MemoryGraph


@dataclass(frozen=True)
class MemgraphFusePass(ModulePass):
    """Contract modules of operators that may run in one piece without loss."""

    name = "memgraph-fuse"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            fuse_function(func)


def fuse_function(func: FuncOp) -> int:
    """Contract what is safe in one function; returns the number of hyper-nodes made."""
    model = model_of(func)
    drop_plan(func, inplace=model.has_inplace)
    func.attributes[MODEL] = model
    extracted = extract(func)
    if any(isinstance(op, HyperNode) for op in extracted.memory.operations):
        return 0
    ancestors = ancestor_masks(extracted.graph)
    made = 0
    for module in modules(extracted.graph):
        members = module.operators
        if len(members) > 1 and _expressible(extracted, members):
            _build(extracted, members, ancestors)
            made += 1
    return made


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
    for group in memory.groups:
        touchers = {*group.writers, *group.readers}
        crossing = group.is_input or group.is_output or not touchers <= inside
        if touchers & inside and crossing and len(group.members) > 1:
            return False
    return not any(v in inside for v, _, _ in memory.overwrites)


def _build(extracted: Extracted, members: Sequence[int], ancestors: Sequence[int]) -> None:
    memory = extracted.memory
    inside = {memory.operations[v] for v in members}
    views = {op for op in memory.views if _only_inside(op, inside, memory.views)}
    block = memory.operations[members[0]].parent
    assert block is not None
    place = max(members, key=lambda v: v)
    anchor = memory.operations[place]
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
        r for op in sequence for r in op.results if any(u.operation not in moved for u in r.uses)
    ]
    dead = [r for op in sequence for r in op.results if not list(r.uses)]
    results = [r for op in sequence for r in op.results if r in results or r in dead]

    before = 0
    for v in members:
        before |= ancestors[v]
    kept = [i for i, v in enumerate(operands) if _is_kept(extracted, v, set(members), before)]
    body = Block(arg_types=[v.type for v in operands])
    node = FusedOp.create_node(list(operands), [r.type for r in results], kept, Region(body))
    node.attributes["memgraph.names"] = ArrayAttr([StringAttr(name_of(r)) for r in results])
    Rewriter.insert_op(node, InsertPoint.after(anchor))
    for result, outer in zip(results, node.outputs, strict=True):
        outer.name_hint = result.name_hint
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


def _only_inside(op: Operation, inside: set[Operation], views: Sequence[Operation]) -> bool:
    """Whether a view shows only what the module makes, to the module alone."""
    made = all(
        not isinstance(v, OpResult)
        or v.op in inside
        or isinstance(v.op, ConstantOp)
        or (v.op in views and _only_inside(v.op, inside, views))
        for v in op.operands
    ) and any(isinstance(v, OpResult) and not isinstance(v.op, ConstantOp) for v in op.operands)
    used = all(
        u.operation in inside
        or (u.operation in views and _only_inside_down(u.operation, inside, views))
        for r in op.results
        for u in r.uses
    )
    return made and used


def _only_inside_down(op: Operation, inside: set[Operation], views: Sequence[Operation]) -> bool:
    return all(
        u.operation in inside
        or (u.operation in views and _only_inside_down(u.operation, inside, views))
        for r in op.results
        for u in r.uses
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


def _is_kept(extracted: Extracted, value: SSAValue, members: set[int], before: int) -> bool:
    """Whether the operand is still needed after the module: by the result, or by a later reader."""
    at = extracted.memory.of_value.get(value)
    if at is None:
        return False
    group = extracted.memory.groups[at[0]]
    others = {*group.writers, *group.readers} - members
    return group.is_output or any(not before >> v & 1 for v in others)
