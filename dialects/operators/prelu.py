"""What is below zero times a slope of its own; squares of differences."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.irdl import irdl_op_definition

from memopt.dialects.arithmetic import quantize_multiplier
from memopt.dialects.fixed_point import need_int32, rescale
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.stored import Array, per_tensor, unknown
from memopt.dialects.tensors import elements_of


class BentOp(BinaryOp):
    """Base of functions of two numbers that turn, so that ends are not those of ends."""

    APPLIES_ACTIVATION: ClassVar[bool] = False

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> None:
        """Nobody asks."""

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if self.activation is not None:
            raise unknown(self, "a fused activation")
        return super().evaluate(operands)

    def macs(self) -> int:
        """One per element."""
        return elements_of(self.result)


@irdl_op_definition
class PreluOp(BentOp):
    """The left operand, below zero times the right one, with numpy's broadcasting."""

    name = "memgraph.prelu"
    COMMUTES: ClassVar[bool] = False
    INTEGERS: ClassVar[bool] = False

    def of_reals(self, a: Array, b: Array) -> Array:
        import numpy as np

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
        import numpy as np

        if bits != 8:
            raise unknown(self, "a prelu of int16")
        a, b = a - per_tensor(self, self.lhs)[1], b - per_tensor(self, self.rhs)[1]
        above, below = self.slopes
        kept = rescale(self, np.maximum(a, 0), *above)
        return kept + rescale(self, np.minimum(a, 0) * b, *below)  # one of them is 0


@irdl_op_definition
class SquaredDifferenceOp(BentOp):
    """The square of the difference, element-wise, with numpy's broadcasting."""

    name = "memgraph.squared_difference"

    def of_reals(self, a: Array, b: Array) -> Array:
        return (a - b) * (a - b)

    LEFT_SHIFT: ClassVar[int] = 7

    def common_scale(self) -> tuple[tuple[int, int], ...]:
        """(multiplier, shift) of the left, the right and the square (squared_difference.cc:
        PrepareQuantized)."""
        a, b, out = (per_tensor(self, v)[0] for v in (self.lhs, self.rhs, self.result))
        twice = 2 * max(a, b)
        reals = (a / twice, b / twice, twice * twice / ((1 << 2 * self.LEFT_SHIFT) * out))
        return tuple(quantize_multiplier(r) for r in reals)

    def of_stored(self, a: Array, b: Array, bits: int) -> Array:
        """squared_difference.cc: SquaredDifference."""
        if bits != 8:
            raise unknown(self, "a squared difference of int16")
        (first, second, last), up = self.common_scale(), self.LEFT_SHIFT
        left = rescale(self, (a - per_tensor(self, self.lhs)[1]) << up, *first)
        right = rescale(self, (b - per_tensor(self, self.rhs)[1]) << up, *second)
        square = (left - right) * (left - right)
        need_int32(self, square)
        found: Array = rescale(self, square, *last)
        return found
