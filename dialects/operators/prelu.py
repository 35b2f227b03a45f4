"""Operators with a slope of their own below zero; squares of differences."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.fixed_point import need_int32, rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import Array, need_zero_points_of_zero, per_tensor, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import elements_of
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.traits import IgnoresActivation, RealsOnly


class BentOp(BinaryOp):
    """Base of functions of two numbers that turn, so that ends are not those of ends."""

    traits = traits_def(IgnoresActivation())

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> None:
        """Nobody asks."""

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if self.activation is not None:
            raise unknown(self, "a fused activation")
        return super().evaluate(operands)

    def macs(self) -> int:
        """Return one per element."""
        return elements_of(self.result)


@operation_definition
class PreluOp(BentOp):
    """The left operand, below zero times the right one, with numpy's broadcasting."""

    name = "memgraph.prelu"
    C: ClassVar[Mapping[str, str]] = {"f32": "x >= 0.0f ? x : x * y"}
    TFLITE: ClassVar[str] = "PRELU"
    ONNX: ClassVar[str] = "PRelu"
    COMMUTES: ClassVar[bool] = False
    traits = traits_def(RealsOnly())

    def of_reals(self, a: Array, b: Array) -> Array:
        if a.dtype.kind != "f":
            raise unknown(self, "integers")
        return np.maximum(a, 0) + np.minimum(a, 0) * b

    @property
    def slopes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """(multiplier, shift) of what is above zero, and of the product of what is below
        (prelu_common.cc: CalculatePreluParams)."""
        scale, slope, out = (per_tensor(self, v)[0] for v in (self.lhs, self.rhs, self.result))
        return quantize_multiplier(scale / out), quantize_multiplier(scale * slope / out)

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """prelu.h: BroadcastPrelu4DSlow."""
        if bits != 8:
            raise unknown(self, "a prelu of int16")
        a, b = a - per_tensor(self, self.lhs)[1], b - per_tensor(self, self.rhs)[1]
        above, below = self.slopes
        positive = rescale(self, np.maximum(a, 0), *above)
        return positive + rescale(self, np.minimum(a, 0) * b, *below)  # one of them is 0


@operation_definition
class SquaredDifferenceOp(BentOp):
    """The square of the difference, element-wise, with numpy's broadcasting."""

    name = "memgraph.squared_difference"
    C: ClassVar[Mapping[str, str]] = {
        "f32": "(x - y) * (x - y)",
        "i32": "((uint32_t)x - (uint32_t)y) * ((uint32_t)x - (uint32_t)y)",
    }
    TFLITE: ClassVar[str] = "SQUARED_DIFFERENCE"

    def of_reals(self, a: Array, b: Array) -> Array:
        return (a - b) * (a - b)

    def common_scale(self, bits: int) -> tuple[int, tuple[tuple[int, int], ...]]:
        """Return how many bits finer both operands are brought to one scale, and (multiplier,
        shift) of the left, the right and the square (squared_difference.cc: PrepareQuantized).
        Raises MemoptError for int16 that the runtime has not."""
        values = self.lhs, self.rhs, self.result
        need_zero_points_of_zero(self, bits, *values)
        (a, b, out), left_shift = (per_tensor(self, v)[0] for v in values), 7 if bits == 8 else 0
        twice = 2 * max(a, b)
        reals = (a / twice, b / twice, twice * twice / ((1 << 2 * left_shift) * out))
        return left_shift, tuple(quantize_multiplier(r) for r in reals)

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """squared_difference.cc: SquaredDifference."""
        up, (first, second, last) = self.common_scale(bits)
        first_term = rescale(self, (a - per_tensor(self, self.lhs)[1]) << up, *first)
        right = rescale(self, (b - per_tensor(self, self.rhs)[1]) << up, *second)
        square = (first_term - right) * (first_term - right)
        need_int32(self, square)
        result: Array = rescale(self, square, *last)
        return result
