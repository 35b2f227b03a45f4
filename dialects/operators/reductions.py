"""Sums, products, largest and smallest numbers over axes, and where these stand."""

from abc import abstractmethod
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.even_rounding import quantized, rounds_even
from memopt.dialects.arithmetic.fixed_point import rescale
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import quantize_multiplier
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    is_stored,
    is_unsigned,
    need_double_rounding,
    need_same_numbers,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import rows_of, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp, OfOneOp
from memopt.dialects.operators.over_axes import OverAxesOp
from memopt.dialects.operators.traits import Alike, Monotone, RealsOnly


class ReductionOp(OverAxesOp):
    """Base of these. Over rows others than sums are computed as a whole."""

    traits = traits_def(Alike())

    def rows_read(self, operand: int, r: int) -> range | None:
        is_whole = 1 in self.numbers and not self.accumulates
        return None if is_whole else super().rows_read(operand, r)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if self.accumulates:
            return self.finished(operands, self.over_rows(operands))
        reduced = np.asarray(self.reduced(operands[0]))
        return [reduced.astype(dtype_of(self.result)).reshape(shape_of(self.result))]

    @abstractmethod
    def reduced(self, values: Array) -> Array:
        """The numbers over the axes. Raises MemoptError as `evaluate`."""


@operation_definition
class ReduceSumOp(ReductionOp):
    """The sum over `axes`; with `keep_dims` these stay as 1."""

    name = "memgraph.reduce_sum"

    @property
    def accumulates(self) -> bool:
        return 1 in self.numbers and bool(rows_of(self.input))

    def reduced(self, values: Array) -> Array:
        return self._rounded(self.summed(values))

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        rounded = self._rounded(total)
        return [rounded.astype(dtype_of(self.result)).reshape(shape_of(self.result))]

    def summed(self, values: Array) -> Array:
        """Over the axes, stored integers without their zero point left out."""
        if not is_stored(self.input) and not is_stored(self.result):
            need_plain(self, values)
        return values.astype(np.float64 if values.dtype.kind == "f" else np.int64).sum(self.numbers)

    def _rounded(self, total: Array) -> Array:
        """The sum as the result stores it."""
        if not is_stored(self.input) and not is_stored(self.result):
            return total
        (in_scale, in_zero) = per_tensor(self, self.input)
        total = total - self.count * in_zero
        if rounds_even(self):
            return quantized(self, total * in_scale, self.result)
        need_scales(self)
        return self.stored(rescale(self, total, *quantize_multiplier(self.ratio)))

    @property
    def ratio(self) -> float:
        """Return the number with which a sum of stored integers is multiplied
        (QuantizedMeanOrSum)."""
        return per_tensor(self, self.input)[0] / per_tensor(self, self.result)[0]


def need_scales(op: ReduceSumOp) -> None:
    """Raise MemoptError unless stored integers are summed as runtimes do: LiteRT adds those of
    uint8 as they are where both scales are equal."""
    need_double_rounding(op)
    stored_bits(op, op.input, op.result, unsigned=True)
    if is_unsigned(op.input) and op.ratio == 1:
        raise unknown(op, "a sum of uint8 of the scale of its result")


def need_plain(op: ComputeOp, values: Array) -> None:
    """Raise MemoptError for other numbers than reals and int32."""
    if str(values.dtype) not in ("float32", "float64", "int32"):
        raise unknown(op, f"numbers of {values.dtype}")


@operation_definition
class ReduceProdOp(ReductionOp):
    """The product over `axes`; with `keep_dims` these stay as 1."""

    name = "memgraph.reduce_prod"
    traits = traits_def(RealsOnly())

    def reduced(self, values: Array) -> Array:
        if is_stored(self.input) or is_stored(self.result):
            raise unknown(self, "stored integers")
        need_plain(self, values)
        with np.errstate(over="ignore"):
            return values.prod(self.numbers, dtype=values.dtype)


class ExtremeOp(ReductionOp):
    """Base of largest and smallest numbers: stored ones as they are."""

    traits = traits_def(Monotone())

    @property
    def takes_stored(self) -> bool:
        """Return True: the extreme of what is stored in one quantization stands for the extreme of
        the numbers."""
        return True

    @property
    def goes_in_turn(self) -> bool:
        return True

    def reduced(self, values: Array) -> Array:
        need_same_numbers(self, self.input, self.result)
        if 0 in shape_of(self.input):
            raise unknown(self, "of no numbers")
        return self.chosen(values)

    @abstractmethod
    def chosen(self, values: Array) -> Array:
        """Return the extreme of the values over the axes."""


@operation_definition
class ReduceMaxOp(ExtremeOp):
    """The largest number over `axes`; with `keep_dims` these stay as 1."""

    name = "memgraph.reduce_max"

    def chosen(self, values: Array) -> Array:
        return values.max(self.numbers)


@operation_definition
class ReduceMinOp(ExtremeOp):
    """The smallest number over `axes`; with `keep_dims` these stay as 1."""

    name = "memgraph.reduce_min"

    def chosen(self, values: Array) -> Array:
        return values.min(self.numbers)


class ArgOp(OfOneOp):
    """Base of where along `axis`, which goes, the number stands, the first of equal ones."""

    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Alike())
    assembly_format = "$input `axis` $axis " + TYPES

    def verify_(self) -> None:
        axis, shape = self.axis.value.data, shape_of(self.input)
        self.require(0 <= axis < len(shape) and shape[axis] > 0, f"axis {axis} out of range")
        expected = shape[:axis] + shape[axis + 1 :]
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    def rows_read(self, operand: int, r: int) -> range | None:
        return None if self.axis.value.data < 2 else range(r, r + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if is_stored(self.result):
            raise unknown(self, "quantized indices")
        places = self.places(operands[0], self.axis.value.data)
        return [places.astype(dtype_of(self.result))]

    @abstractmethod
    def places(self, values: Array, axis: int) -> Array:
        """The indices along an axis."""


@operation_definition
class ArgMaxOp(ArgOp):
    """The index of the largest number along `axis`, the first of equal ones."""

    name = "memgraph.arg_max"

    def places(self, values: Array, axis: int) -> Array:
        return values.argmax(axis)


@operation_definition
class ArgMinOp(ArgOp):
    """The index of the smallest number along `axis`, the first of equal ones."""

    name = "memgraph.arg_min"

    def places(self, values: Array, axis: int) -> Array:
        return values.argmin(axis)
