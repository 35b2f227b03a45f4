"""Constant expressions, evaluated with numpy when code is written.

An operation all of whose operands are constants is itself one (it is never scheduled); what a
rewrite did to weights (slice, concat, transpose, ...) is computed here, in the stored type.
What a kernel would refuse is refused here too.
"""

from typing import cast

from xdsl.ir import Operation, OpResult, SSAValue

from memopt.analysis.weights import Weights, numpy_dtype
from memopt.backends.c.call import Array, Constants, refuse
from memopt.backends.c.quantization import dequantized, quantized
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp
from memopt.dialects.plan_attributes import ModelAttr
from memopt.dialects.structure import ConstantOp
from memopt.dialects.tensors import encoding_of, shape_of


def _ints(attribute: object) -> list[int]:
    return [int(v) for v in attribute.get_values()]  # type: ignore[attr-defined]


def _evaluate(op: Operation, operands: list[Array]) -> Array:
    import numpy as np

    if isinstance(op, ReshapeOp):
        return operands[0].reshape(shape_of(op.result))
    if isinstance(op, TransposeOp):
        return np.ascontiguousarray(operands[0].transpose(_ints(op.permutation)))
    if isinstance(op, ConcatOp):
        if "activation" in op.properties:
            raise refuse(op, "a concatenation with a fused activation")
        if any(_numbers(v) != _numbers(op.result) for v in op.operands):
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
        encoding, value = encoding_of(op.result), float(op.value.value.data)
        if encoding.quantized:
            if _numbers(op.input) != _numbers(op.result) or value != 0.0:
                raise refuse(op, "a pad with another value than zero, or another quantization")
            value = encoding.zero_points[0]
        widths = list(zip(_ints(op.before), _ints(op.after), strict=True))
        return np.pad(operands[0], widths, constant_values=value)
    if isinstance(op, QuantizeOp):
        return quantized(op, operands[0])
    if isinstance(op, DequantizeOp):
        return dequantized(op, operands[0])
    if isinstance(op, CastOp):
        return _cast(op, operands[0])
    raise refuse(op, "not a constant expression that can be evaluated")


def _numbers(value: SSAValue) -> tuple[tuple[float, ...], tuple[int, ...]]:
    encoding = encoding_of(value)
    return encoding.scales, encoding.zero_points


def _cast(op: CastOp, values: Array) -> Array:
    """C's conversion. Refuses what an integer cannot hold: there it is not defined."""
    import numpy as np

    dtype = numpy_dtype(op.result.type.element_type)[0]
    if values.dtype.kind == "f" and dtype.kind in "iu":
        limits, whole = np.iinfo(dtype), np.trunc(values.astype(np.float64))
        if not ((whole >= limits.min) & (whole <= limits.max)).all():
            raise refuse(op, f"a constant with values that {dtype} does not hold")
    return values.astype(dtype)


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
