"""Means over axes."""

from collections.abc import Sequence

from xdsl.dialects.builtin import AnyFloat
from xdsl.irdl import traits_def

from memopt.dialects.arithmetic.even_rounding import quantized, rounds_even
from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    is_stored,
    need_double_rounding,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.operators.base import Range
from memopt.dialects.operators.over_axes import OverAxesOp
from memopt.dialects.operators.real_bounds import means_between
from memopt.dialects.operators.traits import Alike, ByPixel, Monotone


@operation_definition
class MeanOp(OverAxesOp):
    """The mean over `axes`; with `keep_dims` these stay as 1."""

    traits = traits_def(Alike(), ByPixel(), Monotone())
    name = "memgraph.mean"

    @property
    def accumulates(self) -> bool:
        return 1 in self.axes.get_values() and bool(rows_of(self.input))

    @property
    def goes_in_turn(self) -> bool:
        """Return whether it is one of reals."""
        return super().goes_in_turn and isinstance(element_of(self.input), AnyFloat)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        total = self.over_rows(operands) if self.accumulates else self.summed(operands[0])
        return self.finished(operands, total)

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Return the ends of the result; of reals with a margin for the sum."""
        if is_stored(self.input) or is_stored(self.result):
            return super().extremes(least, most)
        return means_between(self, least[0], most[0], self.count)

    def summed(self, values: Array) -> Array:
        """Over the axes, integers without their zero point left out."""
        axes, stored = self.numbers, is_stored(self.input) or is_stored(self.result)
        if not stored and values.dtype.kind != "f":
            raise unknown(self, f"a mean of {values.dtype}")
        if self.count == 0:
            raise unknown(self, "of no numbers")
        return values.astype(np.int64 if stored else np.float64).sum(axes)

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        shape = shape_of(self.result)
        count = self.count
        if not is_stored(self.input) and not is_stored(self.result):
            return [(total / count).astype(dtype_of(self.result)).reshape(shape)]
        (in_scale, in_zero), (out_scale, _) = (
            per_tensor(self, self.input),
            per_tensor(self, self.result),
        )
        total = total - count * in_zero
        if rounds_even(self):
            return [quantized(self, total * in_scale / count, self.result).reshape(shape)]
        stored_bits(self, self.input, self.result, unsigned=True)
        need_double_rounding(self)
        return [
            self.stored(rescale(self, total, *divided(in_scale / out_scale, count))).reshape(shape)
        ]


def divided(real: float, count: int) -> tuple[int, int]:
    """The multiplier and shift of `real` / `count` (QuantizedMeanOrSum)."""
    multiplier, shift = quantize_multiplier(real)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << extra) // count, shift - extra
