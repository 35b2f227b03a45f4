"""Functions as operators and storage groups, hyper-nodes included."""

from collections.abc import Callable

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.analysis.liveness import levels, live_range
from memopt.analysis.storage_groups import Behaviour, BlockMemory, block_memory
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.runtimes import scratch_requests
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.functions import body_of, has_kind
from memopt.dialects.memgraph.interface import OperatorMemory
from memopt.dialects.memgraph.plan import ALIAS, SCRATCH, arena_offset, places_of
from memopt.dialects.memgraph.structure import ConstantOp, HyperNode
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.rows.operations import RowOp


def function_memory(
    func: FuncOp, model: ModelAttr, look: Callable[[], None] | None = None
) -> BlockMemory:
    """Return the storage groups of a one-block function.

    `look`, if given, is called at each operation, to end this by an exception. Raises MemoptError
    if the function has another form.
    """
    block = body_of(func)
    last = block.last_op
    returned = list(last.operands) if last is not None else []
    held_to_end = list(block.args) if model.io.data == "kept" else []
    effect_of = memory_of if has_kind(block.ops, HyperNode) else behaviour_of
    if has_kind(block.ops, RowOp):
        effect_of = _asked_once(effect_of, model)

    def looked(op: Operation, model: ModelAttr) -> OperatorMemory:
        assert look is not None
        look()
        return effect_of(op, model)

    return block_memory(block, model, returned, held_to_end, looked if look else effect_of)


def _asked_once(effect_of: Behaviour, model: ModelAttr) -> Behaviour:
    """Return `effect_of` that is asked once of all rows of an operator that read and make the same
    types, where nothing else tells them apart."""
    if scratch_requests(model) is not None:
        return effect_of
    known: dict[tuple[object, ...], OperatorMemory] = {}
    alike: dict[SSAValue, bool] = {}

    def effect(op: Operation, model: ModelAttr) -> OperatorMemory:
        if not isinstance(op, RowOp) or op.attributes.keys() & (ALIAS, SCRATCH):
            return effect_of(op, model)
        operator = op.operands[0]
        if operator not in alike:
            alike[operator] = op.is_alike
        if not alike[operator]:
            return effect_of(op, model)
        types = [id(v.type) for v in op.operands]  # which the operations hold
        kind = operator, *types, *map(id, op.result_types)
        if kind not in known:
            known[kind] = effect_of(op, model)
        return known[kind]

    return effect


def memory_of(op: Operation, model: ModelAttr) -> OperatorMemory:
    """Return the effect of `op` on memory; for a hyper-node, that of the operations inside it."""
    if not isinstance(op, HyperNode):
        return behaviour_of(op, model)
    hill, level_in, level_out = _inner_profile(op, model)
    results = tuple(bytes_of(r.type) for r in op.results)
    return OperatorMemory(results, hill=hill, level_in=level_in, level_out=level_out)


def _inner_profile(node: HyperNode, model: ModelAttr) -> tuple[int, int, int]:
    """(hill, level_in, level_out) of a hyper-node in bytes, each buffer rounded up.

    They follow from the region. Operands die at their last inner reader unless the node lists them
    in `kept`; results live to the node's end. The hill is the largest step (at least the first
    level), relative to level_in.
    """
    block = node.body.block
    last = block.last_op
    returned = list(last.operands) if last is not None else []
    held_to_end = [block.args[k] for k in node.kept_operands]
    inner = block_memory(block, model, returned, held_to_end, behaviour_of)
    alignment, steps = model.alignment.data, len(inner.operations)
    crossing = (
        *zip(block.args, node.inputs, strict=True),
        *zip(returned, node.outputs, strict=True),
    )
    outside = {
        inner.of_value[a][0]
        for a, v in crossing
        if a in inner.of_value and _outside_arena(v, model)
    }
    sizes = [0 if i in outside else g.taken for i, g in enumerate(inner.groups)]
    # an operand that nobody reads inside is not the node's to free
    stays = [g.is_output or not (g.writers or g.readers) for g in inner.groups]
    lives = [
        live_range(g.writers, g.readers, max(steps, 1), g.is_input, to_end)
        for g, to_end in zip(inner.groups, stays, strict=True)
    ]
    level_in = sum(s for s, g in zip(sizes, inner.groups, strict=True) if g.is_input)
    level_out = sum(s for s, to_end in zip(sizes, stays, strict=True) if to_end)
    hill = max(level_in, *levels(inner, lives, sizes, alignment))
    return hill - level_in, level_in, level_out


def _outside_arena(value: SSAValue, model: ModelAttr) -> bool:
    """Return whether a value that crosses a hyper-node's border is a constant, or the caller's
    buffer."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if model.io.data == "caller" and block is not None and isinstance(block.parent_op(), FuncOp):
        last = block.last_op
        if isinstance(value, BlockArgument) or (last is not None and value in last.operands):
            return True
    if not isinstance(value, OpResult) or isinstance(value.op, HyperNode):
        return False  # never a constant; and no node asks the one before it
    return behaviour_of(value.op, model).results[value.index] is None


def executing(block: Block, model: ModelAttr) -> list[tuple[Operation, OperatorMemory]]:
    """The operations of a block that execute, in block order, with their memory behaviour.

    Constants, constant expressions, views and terminators do not execute.
    """
    operations = [op for op in block.ops if not isinstance(op, ConstantOp)]
    return [(op, m) for op in operations if (m := memory_of(op, model)).executes]


def group_offsets(func: FuncOp, memory: BlockMemory) -> dict[int, int]:
    """Return the offset of each group that is placed: that of a member less the member's place in
    the group. Shared objects, and several memories, lie one behind the other."""
    offsets: dict[int, int] = {}
    for value, place in places_of(func).items():
        group, offset = memory.of_value.get(value), arena_offset(place, func)
        if group is not None and offset is not None:
            offsets[group[0]] = offset - group[1]
    return offsets
