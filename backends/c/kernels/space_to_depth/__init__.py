"""SPACE_TO_DEPTH."""

from memopt.backends.c.emit.call import Constants, KernelCall, bytes_per_element, refuse
from memopt.backends.c.emit.registry import ANY, kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.rows.row_calls import Lowered, RowCall, Window
from memopt.dialects.arithmetic.stored import need_same_numbers
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.space_to_depth import SpaceToDepthOp


def _blocks(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """A row is made of those of its blocks."""
    assert isinstance(op, SpaceToDepthOp)
    block = op.block.value.data
    return [RowCall(call, (0,), Window(block, 0, block)) for call in lowered(op, constants)]


@kernel(SpaceToDepthOp, ANY, "nhwc", rows=_blocks)
def space_to_depth(op: SpaceToDepthOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, op.input, op.result)
    width, channels = shape_of(op.result)[2], shape_of(op.input)[3]
    if 0 in shape_of(op.input):
        raise refuse(op, "a tensor without elements")
    size = channels * bytes_per_element(op, op.input)
    fields = (("out_w", width), ("bytes", size), ("block", op.block.value.data))
    return image_call(op, "space_to_depth", fields)
