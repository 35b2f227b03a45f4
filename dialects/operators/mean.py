"""Means over axes."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, UnitAttr, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from memopt.dialects.arithmetic import quantize_multiplier
from memopt.dialects.attributes import RoundingAttr
from memopt.dialects.even_rounding import quantized, rounds_even
from memopt.dialects.fixed_point import rescale
from memopt.dialects.operators.base import INTS, ROUNDING, TYPES, ComputeOp, Kernels, Range
from memopt.dialects.operators.real_bounds import means_between
from memopt.dialects.stored import (
    Array,
    dtype_of,
    is_small_integer,
    is_stored,
    need_double_rounding,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.tensors import (
    AnyTensor,
    channel_axis,
    channels_of,
    elements_of,
    rows_of,
    shape_of,
)


@irdl_op_definition
class MeanOp(ComputeOp):
    """The mean over `axes`; with `keep_dims` these stay as 1."""

    ALIKE: ClassVar[bool] = True
    MONOTONE: ClassVar[bool] = True
    BY_PIXEL: ClassVar[bool] = True
    name = "memgraph.mean"
    input = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    axes = prop_def(INTS)
    keep_dims = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Pure())
    assembly_format = "$input `axes` $axes (`keep_dims` $keep_dims^)?" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        axes, shape = [int(v) for v in self.axes.get_values()], shape_of(self.input)
        self.require(all(0 <= a < len(shape) for a in axes), f"axes {axes} out of range")
        keep = self.keep_dims is not None
        expected = tuple(
            1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes
        )
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """Dimensions that are left over must stay in their order."""
        axes = {int(a) for a in self.axes.get_values()}
        left = [dimension for dimension in order if dimension not in axes]
        if self.keep_dims is None and left != sorted(left):
            return None
        found = sorted(order.index(a) for a in axes)
        return {**self.properties, "axes": DenseArrayBase.from_list(i64, found)}

    @property
    def accumulates(self) -> bool:
        return 1 in self.axes.get_values() and rows_of(self.input) is not None

    def rows_read(self, operand: int, r: int) -> range | None:
        """Without the images' dimension the rows of the result are others."""
        drops_images = 0 in self.axes.get_values() and self.keep_dims is None
        if drops_images and not self.accumulates:
            return None
        return range(r, r + 1)

    def reads_stack(self, operand: int, axis: int) -> bool:
        """Elements are added up, wherever they lie."""
        return axis in self.axes.get_values()

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        axes, axis = {int(a) for a in self.axes.get_values()}, channel_axis(self.input)
        gone = 0 if self.keep_dims is not None else sum(a < axis for a in axes)
        if axis < 0 or axis in axes or axis - gone != channel_axis(self.result):
            return None
        return tuple(range(channels_of(self.result)))

    def scratch(self, kernels: Kernels) -> tuple[int, ...]:
        return sum_scratch(self.input, self.result, len(self.axes))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        total = self.over_rows(operands) if self.accumulates else self._sum(operands[0])
        return self.finished(operands, total)

    def extremes(self, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
        """Of reals with a margin for the sum."""
        if is_stored(self.input) or is_stored(self.result):
            return super().extremes(least, most)
        count = prod(shape_of(self.input)[int(a)] for a in {*self.axes.get_values()})
        return means_between(self, least[0], most[0], count)

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        total = self._sum(operands[0]).reshape(shape_of(self.result))
        return total if before is None else before + total

    def _sum(self, values: Array) -> Array:
        """Over the axes, integers without their zero point left out."""
        import numpy as np

        axes = tuple({int(v) for v in self.axes.get_values()})
        stored = is_stored(self.input) or is_stored(self.result)
        if not stored and values.dtype.kind != "f":
            raise unknown(self, f"a mean of {values.dtype}")
        return values.astype(np.int64 if stored else np.float64).sum(axes)

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        shape = shape_of(self.result)
        count = prod(shape_of(self.input)[int(a)] for a in {*self.axes.get_values()})
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


def sum_scratch(source: SSAValue, result: SSAValue, axes: int) -> tuple[int, ...]:
    """reduce_common.cc, PrepareMeanOrSumHelper: sums, an index, the resolved axes."""
    sums = (4 * elements_of(result),) if is_small_integer(source) else ()
    return (*sums, 4 * len(shape_of(source)), 4 * axes)


def divided(real: float, count: int) -> tuple[int, int]:
    """The multiplier and shift of `real` / `count` (QuantizedMeanOrSum)."""
    multiplier, shift = quantize_multiplier(real)
    extra = min(count.bit_length() - 1, 32, 31 + shift)
    return (multiplier << extra) // count, shift - extra
