"""Functions of one number that leave what is above zero as it is."""

from collections.abc import Callable, Mapping
from math import copysign, floor, isfinite
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.irdl import prop_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import (
    INT32_MAX,
    float32,
    multiply,
    quantize_multiplier,
    saturate,
)
from memopt.dialects.arithmetic.stored import (
    Array,
    element_of,
    finite,
    integer_type,
    limits_of,
    per_tensor,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.operators.base import ROUNDING, TYPES
from memopt.dialects.operators.unary import FunctionOp


@operation_definition
class EluOp(FunctionOp):
    """x, below zero exp(x) - 1, element-wise."""

    name = "memgraph.elu"
    C: ClassVar[str] = "x < 0.0f ? expf(x) - 1.0f : x"
    TFLITE: ClassVar[str] = "ELU"
    ONNX: ClassVar[str] = "Elu"
    ONNX_NUMBERS: ClassVar[Mapping[str, float]] = {"alpha": 1.0}

    def of_reals(self, x: Array) -> Array:
        wide = x.astype(np.float64)
        return np.maximum(wide, 0) + np.expm1(np.minimum(wide, 0))

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """elu.cc: reals, rounded to float32 in each step, half away from zero at last."""
        if bits != 8:
            raise unknown(self, "an elu of int16")
        (in_scale, in_zero), (out_scale, out_zero) = (
            per_tensor(self, v) for v in (self.input, self.result)
        )
        finite(self, *(float32((v - in_zero) * in_scale) for v in values))
        finite(self, *(float32((v - in_zero) * in_scale / out_scale) for v in values))
        scale, inverse = np.float32(in_scale), np.float32(1) / np.float32(out_scale)

        def function(x: int) -> int:
            real = scale * np.float32(x - in_zero)
            if real < 0:
                real = np.float32(np.exp(np.float64(real))) - np.float32(1)
            wanted = float(real * inverse)
            return saturate(int(copysign(floor(abs(wanted) + 0.5), wanted)) + out_zero)

        return function


@operation_definition
class LeakyReluOp(FunctionOp):
    """x, below zero times `alpha`, element-wise."""

    name = "memgraph.leaky_relu"
    TAKES_BYTES: ClassVar[bool] = True
    alpha = prop_def(FloatAttr[Float32Type])
    assembly_format = "$input `alpha` $alpha" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        super().verify_()
        alpha = self.alpha.value.data
        self.require(isfinite(alpha) and alpha >= 0, f"alpha {alpha} is no slope from 0 on")

    def of_reals(self, x: Array) -> Array:
        return np.maximum(x, 0) + np.minimum(x, 0) * x.dtype.type(self.alpha.value.data)

    @property
    def slopes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(multiplier, shift) of what is below zero and of what is above: of doubles; of uint8 of
        floats."""
        real = float32 if integer_type(element_of(self.input)) == (8, True) else float
        in_scale, out_scale = (per_tensor(self, v)[0] for v in (self.input, self.result))
        slopes = real(in_scale * float32(self.alpha.value.data)), in_scale
        reals = finite(self, *(real(slope / out_scale) for slope in slopes))
        below, above = map(quantize_multiplier, reals)
        return below, above

    def of_stored(self, bits: int, values: tuple[int, int]) -> Callable[[int], int]:
        """leaky_relu.h: QuantizeLeakyRelu, one multiplier for each sign."""
        (_, in_zero), (_, out_zero) = (per_tensor(self, v) for v in (self.input, self.result))
        low, high = limits_of(self, self.result)
        below, above = self.slopes
        largest = max(abs(v - in_zero) for v in values)
        if largest << max(below[1], above[1], 0) > INT32_MAX:
            raise unknown(self, "an output scale so small that the product could overflow")

        def function(x: int) -> int:
            value = x - in_zero
            return saturate(
                multiply(value, *(above if value >= 0 else below)) + out_zero, low, high
            )

        return function
