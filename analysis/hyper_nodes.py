"""Hyper-nodes: hill and levels, which follow from the region."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from memopt.analysis.behaviour import behaviour_of
from memopt.analysis.storage_groups import block_memory
from memopt.dialects.plan_attributes import ModelAttr
from memopt.dialects.structure import HyperNode


def inner_profile(node: HyperNode, model: ModelAttr) -> tuple[int, int, int]:
    """(hill, level_in, level_out) of a hyper-node in bytes, each buffer rounded up.

    Operands die at their last inner reader unless the node lists them in `kept`; results live to
    the node's end. The hill is the largest step (at least the first level), relative to level_in.
    """
    block = node.body.block
    last = block.last_op
    returned = list(last.operands) if last is not None else []
    kept = [block.args[k] for k in node.kept_operands]
    inner = block_memory(block, model, returned, kept, behaviour_of)
    alignment = model.alignment.data

    def rounded(size: int) -> int:
        return -(-size // alignment) * alignment

    crossing = (
        *zip(block.args, node.inputs, strict=True),
        *zip(returned, node.outputs, strict=True),
    )
    outside = {
        inner.of_value[a][0]
        for a, v in crossing
        if a in inner.of_value and _outside_arena(v, model)
    }
    left = [len({*g.writers, *g.readers}) for g in inner.groups]
    seen = [g.is_input for g in inner.groups]
    size = [0 if i in outside else rounded(g.size) for i, g in enumerate(inner.groups)]
    level = level_in = sum(s for s, g in zip(size, inner.groups, strict=True) if g.is_input)
    hill = level
    touched: list[list[int]] = [[] for _ in inner.operations]
    for i, g in enumerate(inner.groups):
        for v in {*g.writers, *g.readers}:
            touched[v].append(i)
    over = {v: (result, operand) for v, result, operand in inner.overwrites}
    for v, memory in enumerate(inner.memory):
        for i in touched[v]:
            left[i] -= 1
            if not seen[i]:
                seen[i] = True
                level += size[i]
        saved = size[over[v][0]] if v in over else 0
        hill = max(hill, level + sum(map(rounded, memory.workspace)) - saved)
        level -= sum(size[i] for i in touched[v] if left[i] == 0 and not inner.groups[i].is_output)
    return hill - level_in, level_in, level


def _outside_arena(value: SSAValue, model: ModelAttr) -> bool:
    """Whether a value that crosses a hyper-node's border is a constant, or the caller's buffer."""
    block = value.owner if isinstance(value.owner, Block) else value.owner.parent
    if model.io.data == "caller" and block is not None and isinstance(block.parent_op(), FuncOp):
        last = block.last_op
        if isinstance(value, BlockArgument) or (last is not None and value in last.operands):
            return True
    if not isinstance(value, OpResult) or isinstance(value.op, HyperNode):
        return False  # never a constant; and no node asks the one before it
    return behaviour_of(value.op, model).results[value.index] is None
