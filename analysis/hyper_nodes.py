"""Hyper-nodes: hill and levels, which follow from the region."""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, BlockArgument, OpResult, SSAValue

from memopt.analysis.liveness import levels, live_range
from memopt.analysis.storage_groups import block_memory
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.structure import HyperNode


def inner_profile(node: HyperNode, model: ModelAttr) -> tuple[int, int, int]:
    """(hill, level_in, level_out) of a hyper-node in bytes, each buffer rounded up.

    Operands die at their last inner reader unless the node lists them in `kept`; results live to
    the node's end. The hill is the largest step (at least the first level), relative to level_in.
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
