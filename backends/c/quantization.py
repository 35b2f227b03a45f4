"""Constants quantized and dequantized when code is written, as the kernels do it at run time.

    quantized(op, x)     # QUANTIZE of floats, or of integers to another scale
    dequantized(op, x)   # DEQUANTIZE

Bit for bit TensorFlow Lite Micro's arithmetic (quantize_common.cc, dequantize_common.cc), or
onnxruntime's where the operation says `onnx_even`.
"""

from collections.abc import Callable
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.weights import integer_type, numpy_dtype
from memopt.backends.c.arithmetic import INT32_MAX, multiply, quantize_multiplier, saturate
from memopt.backends.c.call import Array, need_tflm_rounding, per_tensor, refuse
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.unary import ReluOp
from memopt.dialects.tensors import encoding_of, shape_of


def dequantized(op: DequantizeOp, stored: Array) -> Array:
    """The float32 values of a quantized constant, or of a float16 one. Raises MemoptError."""
    import numpy as np

    if str(stored.dtype) == "float16":
        return stored.astype(np.float32)
    scale, zero_point = _scales(op, op.input)
    return (stored.astype(np.int32) - zero_point).astype(np.float32) * scale


def quantized(op: QuantizeOp, values: Array) -> Array:
    """A constant as its result's type stores it. Raises MemoptError where no runtime defines it."""
    if str(values.dtype) == "float32":
        return _from_real(op, values)
    if values.dtype.kind not in "iu":
        raise refuse(op, f"a constant of {values.dtype} to quantize")
    return _requantized(op, values)


def requantizer(
    op: QuantizeOp | ReluOp, values: tuple[int, int], low: int, high: int
) -> Callable[[int], int]:
    """One stored integer to another scale, clamped to low .. high; both tensors have one scale.

    Refuses scales with which TFLM's product leaves an int32 for one of `values`, the least and
    the largest.
    """
    need_tflm_rounding(op)
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    if max(abs(v - in_zero) for v in values) << max(shift, 0) > INT32_MAX:
        raise refuse(op, "an output scale so small that the product could overflow")

    def function(x: int) -> int:
        return saturate(multiply(x - in_zero, multiplier, shift) + out_zero, low, high)

    return function


def _from_real(op: QuantizeOp, values: Array) -> Array:
    """round(x / scale) + zero point in float32; halves away from zero, for ONNX to even."""
    import numpy as np

    if not np.isfinite(values).all():
        raise refuse(op, "an infinite value or a NaN to quantize")
    rounding = op.rounding.data if op.rounding is not None else ""
    if rounding not in ("", "tflm_double", "onnx_even"):
        raise refuse(op, f"float32 is quantized as tflm_double or onnx_even, not as {rounding}")
    scale, zero_point = _scales(op, op.result)
    steps = (values / scale).astype(np.float64)  # the quotient is a float32's, as in the kernels
    away = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
    low, high = _limits(op, op.result)
    whole = (np.rint(steps) if rounding == "onnx_even" else away) + zero_point
    return np.clip(whole, low, high).astype(_dtype(op.result))


def _requantized(op: QuantizeOp, values: Array) -> Array:
    import numpy as np

    if not values.size:
        return values.astype(_dtype(op.result))
    different, where = np.unique(values, return_inverse=True)
    ends = int(different[0]), int(different[-1])
    function = requantizer(op, ends, *_limits(op, op.result))
    table = np.array([function(int(v)) for v in different], dtype=_dtype(op.result))
    return table[where].reshape(values.shape)


def _scales(op: Operation, value: SSAValue) -> tuple[Array, Array]:
    """(scale, zero point), broadcastable over the tensor."""
    import numpy as np

    encoding = encoding_of(value)
    if not encoding.quantized:
        raise refuse(op, "a constant between quantizations, of which one is none")
    shape = [1] * len(shape_of(value))
    if encoding.axis.data >= 0:
        shape[encoding.axis.data] = len(encoding.scales)
    return (
        np.array(encoding.scales, dtype=np.float32).reshape(shape),
        np.array(encoding.zero_points, dtype=np.int32).reshape(shape),
    )


def _element(value: SSAValue) -> Attribute:
    return cast("TensorType[Attribute]", value.type).element_type


def _dtype(value: SSAValue) -> Array:
    return numpy_dtype(_element(value))[0]


def _limits(op: Operation, value: SSAValue) -> tuple[int, int]:
    """The least and the largest integer of the tensor's type."""
    found = integer_type(_element(value))
    if found is None or found[0] not in (8, 16, 32):
        raise refuse(op, f"a constant quantized as {_element(value)}")
    bits, unsigned = found
    return (0, (1 << bits) - 1) if unsigned else (-(1 << bits - 1), (1 << bits - 1) - 1)
