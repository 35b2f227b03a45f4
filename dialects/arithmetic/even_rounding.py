"""ONNX's arithmetic of stored integers, where `rounding<onnx_even>` says so.

An operator between `DequantizeLinear` and `QuantizeLinear` computes real numbers of what integers
stand for, and rounds them to the nearest integer, halves to the even one. Sums of products are of
the integers: onnxruntime multiplies them by `input scale * weight scale / result scale`, all in
float32 (MlasRequantizeOutput).
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    limits_of,
    rounding_of,
    scales_of,
    unknown,
)
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.tensors import encoding_of, shape_of


def rounds_even(op: Operation) -> bool:
    """Return whether the operation's integers are rounded as ONNX's."""
    return rounding_of(op) == "onnx_even"


def _steps(op: Operation, value: SSAValue) -> tuple[Array, Array]:
    """(scale, zero point), those of a whole tensor for arrays of any shape."""
    scale, zero_point = scales_of(op, value)
    one = scale.size == 1
    return (scale.reshape(()), zero_point.reshape(())) if one else (scale, zero_point)


def dequantized(op: Operation, values: Array, value: SSAValue) -> Array:
    """Return the real numbers that the integers of a tensor stand for, as float32. Raises
    MemoptError where they stand for none."""
    scale, zero_point = _steps(op, value)
    return (values.astype(np.int32) - zero_point).astype(np.float32) * scale


def quantized(op: Operation, values: Array, value: SSAValue) -> Array:
    """Real numbers as the integers of a tensor: round(x / scale) + zero point, clamped."""
    if not np.isfinite(values).all():
        raise unknown(op, "an infinite value or a NaN to quantize")
    scale, zero_point = _steps(op, value)
    steps = (values.astype(np.float32) / scale).astype(np.float64)
    stored = np.rint(steps) + zero_point
    return np.clip(stored, *limits_of(op, value)).astype(dtype_of(value))


def rescaled(sums: Array, reals: Sequence[float]) -> Array:
    """Sums (channel last) times a real number or one per channel, rounded."""
    product = sums.astype(np.float32) * np.asarray(reals, np.float32)
    return np.rint(product.astype(np.float64)).astype(np.int64)


def multiplier(source: float, weights: float, result: float) -> float:
    """`source * weights / result`, each step a float32."""
    return float(np.float32(source) * np.float32(weights) / np.float32(result))


def real_type(value: SSAValue) -> Attribute:
    """The tensor's type if it held float32."""
    return TensorType(f32, shape_of(value), EncodingAttr(encoding_of(value).layout.data))
