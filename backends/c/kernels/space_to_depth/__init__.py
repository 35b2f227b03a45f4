"""SPACE_TO_DEPTH."""

from memopt.backends.c.call import Constants, KernelCall, bytes_per_element, refuse
from memopt.backends.c.registry import ANY, kernel
from memopt.backends.c.rowwise import image_call
from memopt.dialects.operators.space_to_depth import SpaceToDepthOp
from memopt.dialects.stored import need_same_numbers
from memopt.dialects.tensors import shape_of


@kernel(SpaceToDepthOp, ANY, "nhwc")
def space_to_depth(op: SpaceToDepthOp, constants: Constants) -> KernelCall:
    need_same_numbers(op, op.input, op.result)
    width, channels = shape_of(op.result)[2], shape_of(op.input)[3]
    if 0 in shape_of(op.input):
        raise refuse(op, "a tensor without elements")
    size = channels * bytes_per_element(op, op.input)
    fields = (("out_w", width), ("bytes", size), ("block", op.block.value.data))
    return image_call(op, "space_to_depth", fields)
