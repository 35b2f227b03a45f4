"""Padding."""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import Float32Type, FloatAttr
from xdsl.ir import Attribute
from xdsl.irdl import prop_def, traits_def

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, is_stored, numbers_of, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import channel_axis, encoding_of, same_channels, shape_of
from memopt.dialects.operators.base import INTS, TYPES, OfOneOp
from memopt.dialects.operators.reordering import with_entries
from memopt.dialects.operators.traits import Alike, ByPixel, Folds, KeepsDimensions, Monotone


@operation_definition
class PadOp(OfOneOp):
    """`before` and `after` elements of the real `value` around each dimension."""

    name = "memgraph.pad"
    before = prop_def(INTS)
    after = prop_def(INTS)
    value = prop_def(FloatAttr[Float32Type])
    traits = traits_def(Alike(), ByPixel(), Monotone(), KeepsDimensions(), Folds())
    assembly_format = "$input `before` $before `after` $after `value` $value " + TYPES

    @property
    def takes_stored(self) -> bool:
        """Return whether the padding is the zero point."""
        return self.value.value.data == 0.0

    def verify_(self) -> None:
        before = [int(v) for v in self.before.get_values()]
        after = [int(v) for v in self.after.get_values()]
        shape, out = shape_of(self.input), shape_of(self.result)
        self.require(len(before) == len(after) == len(shape) == len(out), "ranks differ")
        self.require(min((*before, *after), default=0) >= 0, "negative padding")
        expected = tuple(b + s + a for b, s, a in zip(before, shape, after, strict=True))
        self.require(out == expected, f"the result's shape must be {expected}")

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return with_entries(self, {"before": 0, "after": 0}, order)

    def rows_read(self, operand: int, r: int) -> range | None:
        row = r - int(self.before.get_values()[1])
        return range(row, row + 1) if 0 <= row < shape_of(self.input)[1] else range(0)

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        axis = channel_axis(self.input)
        if axis < 0 or self.before.get_values()[axis] or self.after.get_values()[axis]:
            return None
        return same_channels(self.input, self.result)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        value = float(self.value.value.data)
        if is_stored(self.input) or is_stored(self.result):
            if numbers_of(self.input) != numbers_of(self.result) or value != 0.0:
                text = "a pad with another value than zero, or another quantization"
                raise unknown(self, text)
            value = encoding_of(self.result).zero_points[0]
        widths = list(zip(self.before.get_values(), self.after.get_values(), strict=True))
        return [np.pad(operands[0], widths, constant_values=value)]
