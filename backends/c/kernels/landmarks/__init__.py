"""Kernels of landmarks, and of parts of images around them."""

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse, tensor_or_table
from memopt.backends.c.emit.registry import kernel
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.landmarks import (
    LandmarksToMatrixOp,
    TransformBilinearOp,
    TransformLandmarksOp,
)


@kernel(LandmarksToMatrixOp, "f32")
def landmarks_to_matrix(op: LandmarksToMatrixOp, constants: Constants) -> KernelCall:
    names = ("left", "right", "height", "width", "target", "scale_x", "scale_y")
    fields = (
        ("count", len(op.numbers)),
        *((name, getattr(op, name).value.data) for name in names),
        ("subset", Table("int32_t", np.array(op.numbers, np.int32))),
    )
    return KernelCall("landmarks_to_matrix_f32", fields, (op.input,), Rows(1, 0, 0))


@kernel(TransformBilinearOp, "f32")
def transform_bilinear(op: TransformBilinearOp, constants: Constants) -> KernelCall:
    (_, in_h, in_w, channels), (_, out_h, out_w, _) = shape_of(op.input), shape_of(op.result)
    fields = (("in_h", in_h), ("in_w", in_w), ("out_h", out_h), ("out_w", out_w))
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    each = (*fields, ("channels", channels))
    return KernelCall("transform_bilinear_f32", each, operands, Rows(1, 0, 0))


@kernel(TransformLandmarksOp, "f32")
def transform_landmarks(op: TransformLandmarksOp, constants: Constants) -> KernelCall:
    size = shape_of(op.input)[-1]
    if not elements_of(op.input):
        raise refuse(op, "a tensor without elements")
    operands = tuple(tensor_or_table(op, v, constants) for v in op.operands)
    fields = (("count", elements_of(op.input) // size), ("size", size))
    return KernelCall("transform_landmarks_f32", fields, operands, Rows(1, 0, 0))
