"""Constant expressions, evaluated with numpy when code is written.

An operation all of whose operands are constants is itself one (it is never scheduled); what a
rewrite did to weights (slice, concat, transpose, ...) is computed here, in the stored type.
"""

from typing import cast

from xdsl.ir import Operation, OpResult, SSAValue

from memopt.backends.c.call import Array, Constants, refuse
from memopt.dialects.compute import encoding_of, is_constant_expression, shape_of
from memopt.dialects.operations import (
    CastOp,
    ConcatOp,
    DequantizeOp,
    PadOp,
    ReshapeOp,
    SliceOp,
    TransposeOp,
)
from memopt.dialects.plan_attributes import ModelAttr
from memopt.dialects.structure import ConstantOp
from memopt.dialects.weights import Weights, numpy_dtype


def _ints(attribute: object) -> list[int]:
    return [int(v) for v in attribute.get_values()]  # type: ignore[attr-defined]


def _scales(op: Operation, value: SSAValue) -> tuple[Array, Array]:
    """(scale, zero point), broadcastable over the tensor."""
    import numpy as np

    encoding = encoding_of(value)
    if not encoding.quantized:
        raise refuse(op, "a constant to dequantize that is not quantized")
    shape = [1] * len(shape_of(value))
    if encoding.axis.data >= 0:
        shape[encoding.axis.data] = len(encoding.scales)
    return (
        np.array(encoding.scales, dtype=np.float32).reshape(shape),
        np.array(encoding.zero_points, dtype=np.int32).reshape(shape),
    )


def _evaluate(op: Operation, operands: list[Array]) -> Array:
    import numpy as np

    if isinstance(op, ReshapeOp):
        return operands[0].reshape(shape_of(op.result))
    if isinstance(op, TransposeOp):
        return np.ascontiguousarray(operands[0].transpose(_ints(op.permutation)))
    if isinstance(op, ConcatOp):
        if len({(encoding_of(v).scales, encoding_of(v).zero_points) for v in op.operands}) > 1:
            raise refuse(op, "constants of different quantization joined")
        return np.concatenate(operands, axis=op.axis.value.data)
    if isinstance(op, SliceOp):
        index = tuple(
            start + stride * np.arange(count)
            for start, stride, count in zip(
                _ints(op.starts), _ints(op.strides), shape_of(op.result), strict=True
            )
        )
        return operands[0][np.ix_(*index)]
    if isinstance(op, PadOp):
        encoding = encoding_of(op.result)
        value = encoding.zero_points[0] if encoding.quantized else float(op.value.value.data)
        widths = list(zip(_ints(op.before), _ints(op.after), strict=True))
        return np.pad(operands[0], widths, constant_values=value)
    if isinstance(op, DequantizeOp):
        if str(operands[0].dtype) == "float16":
            return operands[0].astype(np.float32)
        scale, zero_point = _scales(op, op.input)
        return (operands[0].astype(np.int32) - zero_point).astype(np.float32) * scale
    if isinstance(op, CastOp):
        return operands[0].astype(numpy_dtype(op.result.type.element_type)[0])
    raise refuse(op, "not a constant expression that can be evaluated")


def constants_of(weights: Weights, model: ModelAttr) -> Constants:
    """A function from a value to its array (row-major, stored type), None for run-time values.

    Weights are read on first use. Raises MemoptError where they cannot be, or where a constant
    expression has no rule here.
    """
    known: dict[SSAValue, Array] = {}

    def look_up(value: SSAValue) -> Array | None:
        if value in known:
            return known[value]
        if not isinstance(value, OpResult) or not is_constant_expression(value, model):
            return None
        op = value.op
        if isinstance(op, ConstantOp):
            array = weights.array(op)
        else:
            array = _evaluate(op, [cast("Array", look_up(v)) for v in op.operands])
        known[value] = array
        return array

    return look_up
