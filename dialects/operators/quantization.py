"""From real to stored numbers, back, and from one type to another."""

from collections.abc import Callable, Sequence

from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.even_rounding import dequantized, quantized, rounds_even
from memopt.dialects.arithmetic.fixed_point import by_table
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    INT32_MIN,
    high_mul,
    quantize_multiplier,
    round_shift,
    saturate,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    limits_of,
    need_double_rounding,
    per_tensor,
    rounding_of,
    scales_of,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.traits import Converts, Folds, Monotone
from memopt.dialects.operators.unary import UnaryOp, requantizer


@operation_definition
class QuantizeOp(UnaryOp):
    """Real to stored, or one quantization to another; the types say which."""

    name = "memgraph.quantize"
    traits = traits_def(Converts(), Monotone(), Folds())

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        values = operands[0]
        if rounds_even(self):
            real = dequantized(self, values, self.input) if is_stored(self.input) else values
            return [quantized(self, real, self.result)]
        if str(values.dtype) == "float32":
            return [self._from_real(values)]
        if values.dtype.kind not in "iu":
            raise unknown(self, f"{values.dtype} to quantize")
        limits = limits_of(self, self.result)
        ends = (int(values.min()), int(values.max())) if values.size else (0, 0)
        narrows = str(values.dtype) == "int32" and limits[1] < 1 << 15
        function = narrower(self) if narrows else requantizer(self, ends, *limits)
        return [by_table(values, function).astype(dtype_of(self.result))]

    def _from_real(self, values: Array) -> Array:
        """round(x / scale) + zero point in float32; halves away from zero."""
        if not np.isfinite(values).all():
            raise unknown(self, "an infinite value or a NaN to quantize")
        rounding = rounding_of(self)
        if rounding not in ("", "tflm_double"):
            text = f"float32 is quantized as tflm_double or onnx_even, not as {rounding}"
            raise unknown(self, text)
        scale, zero_point = scales_of(self, self.result)
        steps = (values / scale).astype(
            np.float64
        )  # the quotient is a float32's, as in the kernels
        away = np.copysign(np.floor(np.abs(steps) + 0.5), steps)
        low, high = limits_of(self, self.result)
        return np.clip(away + zero_point, low, high).astype(dtype_of(self.result))


def narrower(op: QuantizeOp) -> Callable[[int], int]:
    """Convert one stored int32 to fewer bits (requantize.h). Where the runtime's arithmetic leaves
    an int32, as C leaves open, it stays at the end: that is beyond what the result holds anyway."""
    need_double_rounding(op)
    (in_scale, in_zero), (out_scale, out_zero) = per_tensor(op, op.input), per_tensor(op, op.result)
    if in_zero:
        raise unknown(op, "32 bits with a zero point")
    multiplier, shift = quantize_multiplier(in_scale / out_scale)
    limits = limits_of(op, op.result)

    def function(x: int) -> int:
        moved = saturate(x << max(shift, 0), INT32_MIN, INT32_MAX)
        steps = round_shift(high_mul(moved, multiplier), max(-shift, 0))
        return saturate(steps + out_zero, *limits)

    return function


@operation_definition
class DequantizeOp(UnaryOp):
    """Stored to real (also float16 to float32)."""

    name = "memgraph.dequantize"
    traits = traits_def(Converts(), Monotone(), Folds())

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if str(dtype_of(self.result)) != "float32":
            raise unknown(self, f"real numbers as {dtype_of(self.result)}")
        if str(operands[0].dtype) == "float16":
            return [operands[0].astype(np.float32)]
        return [dequantized(self, operands[0], self.input)]


@operation_definition
class CastOp(UnaryOp):
    """Another element type, same values."""

    name = "memgraph.cast"
    traits = traits_def(Converts(), Folds())

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """C's conversion. Refuses what an integer cannot hold: there it is not defined."""
        values, dtype = operands[0], dtype_of(self.result)
        if values.dtype.kind == "f" and dtype.kind in "iu":
            limits, integers = np.iinfo(dtype), np.trunc(values.astype(np.float64))
            if not ((integers >= limits.min) & (integers <= limits.max)).all():
                raise unknown(self, f"numbers with values that {dtype} does not hold")
        return [values.astype(dtype)]
