"""Operators that make one number of all that lie along some axes."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute
from xdsl.irdl import opt_prop_def, prop_def

from memopt.dialects.arithmetic.stored import Array, is_stored, unknown
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.tensors import channel_axis, channels_of, shape_of
from memopt.dialects.operators.base import INTS, ROUNDING, TYPES, OfOneOp
from memopt.dialects.operators.reordering import NEW


class OverAxesOp(OfOneOp):
    """Base of these: over `axes`, which stay as 1 with `keep_dims`."""

    axes = prop_def(INTS)
    keep_dims = opt_prop_def(UnitAttr)
    rounding = opt_prop_def(RoundingAttr)
    assembly_format = "$input `axes` $axes (`keep_dims` $keep_dims^)?" + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        axes, shape = [int(v) for v in self.axes.get_values()], shape_of(self.input)
        self.require(all(0 <= a < len(shape) for a in axes), f"axes {axes} out of range")
        keep = self.keep_dims is not None
        expected = tuple(
            1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes
        )
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    @property
    def numbers(self) -> tuple[int, ...]:
        """The axes, each once."""
        return tuple({int(v) for v in self.axes.get_values()})

    @property
    def count(self) -> int:
        """Elements that each one of the result is made of."""
        return prod(shape_of(self.input)[a] for a in self.numbers)

    @property
    def goes_in_turn(self) -> bool:
        """Return whether the result is the same if some axes go first, and then the others: of
        stored integers it is not, which are rounded."""
        return not is_stored(self.input) and not is_stored(self.result)

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute] | None:
        """Dimensions that are left over must stay in their order; a new one goes with the axes."""
        axes = {int(a) for a in self.axes.get_values()}
        if self.keep_dims is None and NEW in order:
            axes.add(NEW)
        remaining = [dimension for dimension in order if dimension not in axes]
        if self.keep_dims is None and remaining != sorted(remaining):
            return None
        new_axes = sorted(order.index(a) for a in axes)
        return {**self.properties, "axes": numbers(new_axes)}

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        last = self.numbers == (len(shape_of(self.input)) - 1,)
        return {**self.properties, "axes": numbers([rank - 1])} if last and self.keep_dims else None

    def rows_read(self, operand: int, r: int) -> range | None:
        """Without the images' dimension the rows of the result are others."""
        drops_images = 0 in self.axes.get_values() and self.keep_dims is None
        if drops_images and not self.accumulates:
            return None
        return range(r, r + 1)

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        total = self.summed(operands[0]).reshape(shape_of(self.result))
        return total if before is None else before + total

    def summed(self, values: Array) -> Array:
        """The sum over the axes, of those of which rows are summed. Raises MemoptError as
        `evaluate`."""
        raise unknown(self, "its rows are not summed")

    def reads_stack(self, operand: int, axis: int) -> bool:
        """Elements are taken together, wherever they lie."""
        return axis in self.axes.get_values()

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        axes, axis = {int(a) for a in self.axes.get_values()}, channel_axis(self.input)
        gone = 0 if self.keep_dims is not None else sum(a < axis for a in axes)
        if axis < 0 or axis in axes or axis - gone != channel_axis(self.result):
            return None
        return tuple(range(channels_of(self.result)))
