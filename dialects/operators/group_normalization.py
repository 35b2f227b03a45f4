"""Images normalized by channels, each or in groups: what they have in common, and what it makes of
them. So rows pass twice, once to be added up and once in their own place.

%s = memgraph.group_statistics %x groups 4 : (tensor<1x8x8x16xf32>) -> tensor<2x4xf32>
%y = memgraph.group_normalization %x, %s, %scale, %shift epsilon 1.0e-05 : ...
"""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from xdsl.dialects.builtin import I64, Float32Type, FloatAttr, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, traits_def, var_operand_def

from memopt.dialects.arithmetic.even_rounding import dequantized, quantized, rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    element_of,
    is_stored,
    per_tensor,
    stored_bits,
    unknown,
)
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    channel_axis,
    channels_of,
    elements_of,
    rows_of,
    shape_of,
)
from memopt.dialects.operators.base import (
    ACTIVATION,
    ROUNDING,
    TYPES,
    ComputeOp,
    OfOneOp,
    OneResultOp,
)
from memopt.dialects.operators.traits import Alike, ReadsReals, Spatial
from memopt.dialects.operators.window import as_laid_out, channels_last
from memopt.dialects.rows.questions import RowsMode

STATISTICS = 2  # mean, variance


LONGEST = 1 << 15  # stored integers whose squares 32 bits can add up


def need_float32(op: ComputeOp, *values: SSAValue) -> None:
    """Raise MemoptError unless these tensors are of float32, or stored in 8 bits of one scale."""
    for value in (*op.operands, *op.results):
        if value in values and is_stored(value):
            stored_bits(op, value, unsigned=True)
            per_tensor(op, value)
        elif not isinstance(element_of(value), Float32Type):
            raise unknown(op, "other numbers than float32")


@operation_definition
class GroupStatisticsOp(OfOneOp):
    """Mean and variance of each of equal `groups` of channels of an image, in float32: those of a
    row at a time, each brought together with that of the rows before (Chan, Golub, LeVeque 1979).
    So a mean far from 0 costs digits once, not squared as in a mean of squares. Sums of a row of
    stored integers are exact."""

    name = "memgraph.group_statistics"
    groups = prop_def(IntegerAttr[I64])
    traits = traits_def(Alike())
    assembly_format = "$input `groups` $groups " + TYPES

    def verify_(self) -> None:
        shape, groups = shape_of(self.input), self.groups.value.data
        self.require(len(shape) == 4 and shape[0] == 1, f"{shape} is no image")
        self.require(0 not in shape, "an image without elements")
        channels = channels_of(self.input)
        divides = groups > 0 and channels % groups == 0
        self.require(divides, f"{channels} channels in {groups} groups")
        expected = (STATISTICS, groups)
        self.require(shape_of(self.result) == expected, f"the result's shape must be {expected}")

    @property
    def accumulates(self) -> bool:
        return rows_of(self.input) is not None

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return self.properties

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1)

    def macs(self) -> int:
        """Return one per element."""
        return elements_of(self.input)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        image = channels_last(operands[0], self.input)
        total: Array | None = None
        for r in range(image.shape[1]):
            total = self.part([image[:, r : r + 1]], r, total)
        assert total is not None
        return self.finished([], total)

    def part(self, operands: Sequence[Array], r: int, before: Array | None) -> Array:
        """Return means, and sums of the squares of what is left."""
        self.need_numbers()
        groups = self.groups.value.data
        *_, width, channels = operands[0].shape
        pixels = operands[0].reshape(width, groups, channels // groups)
        x = pixels.transpose(1, 0, 2).reshape(groups, -1)
        count, share = np.float32(x.shape[1]), np.float32(1) / np.float32(r + 1)
        with np.errstate(all="ignore"):
            if is_stored(self.input):
                centre, squares = self._of_stored(x)
            else:
                centre = np.add.accumulate(x, -1)[:, -1] / count
                rest = x - centre[:, None]
                squares = np.add.accumulate(rest * rest, -1)[:, -1]
            mean, spread = np.zeros((STATISTICS, groups), np.float32) if before is None else before
            apart = centre - mean
            spread = spread + (squares + apart * apart * (count * np.float32(r) * share))
            return np.stack([mean + apart * share, spread])

    def need_numbers(self) -> None:
        """Raise MemoptError for types that have no statistics, and for sums beyond 32 bits."""
        need_float32(self, self.input)
        if is_stored(self.input) and self.row_length > LONGEST:
            raise unknown(self, f"more than {LONGEST} stored integers of a group in a row")

    @property
    def row_length(self) -> int:
        """Return how many elements of a group are in a row."""
        shape, axis = shape_of(self.input), channel_axis(self.input)
        height = shape[1 if axis == len(shape) - 1 else 2]
        return elements_of(self.input) // (height * self.groups.value.data)

    @property
    def spread_scale(self) -> float:
        """Return the sum of squares of what is left of stored integers of a row per count * sum of
        squares - square of sum."""
        return float(np.float32(per_tensor(self, self.input)[0] ** 2 / self.row_length))

    def _of_stored(self, x: Array) -> tuple[Array, Array]:
        """Return mean and sum of squares of what is left of rows of stored integers."""
        scale, zero_point = per_tensor(self, self.input)
        steps = x.astype(np.int64) - zero_point
        total, squares = steps.sum(-1), (steps * steps).sum(-1)
        spread = (x.shape[1] * squares - total * total).astype(np.float32)
        mean = np.float32(scale) * total.astype(np.float32) / np.float32(x.shape[1])
        return mean, spread * np.float32(self.spread_scale)

    def finished(self, operands: Sequence[Array], total: Array) -> list[Array]:
        count = elements_of(self.input) // self.groups.value.data
        return [np.stack([total[0], total[1] / np.float32(count)])]


@operation_definition
class GroupNormalizationOp(OneResultOp):
    """(x - mean) / sqrt(variance + `epsilon`) * scale + shift, of an image whose groups of channels
    have these statistics; with a scale and a shift of each channel, where they are given. Each step
    in float32, times one over the root; of stored integers, between what they stand for and the
    result's."""

    name = "memgraph.group_normalization"
    input = operand_def(AnyTensor)
    statistics = operand_def(AnyTensor)
    terms = var_operand_def(AnyTensor)
    epsilon = prop_def(FloatAttr[Float32Type])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Alike(), Spatial(), ReadsReals(1))
    assembly_format = "$input `,` $statistics (`,` $terms^)? `epsilon` $epsilon" + (
        ACTIVATION + ROUNDING + " " + TYPES
    )
    TERMS: ClassVar[int] = 2  # scale, shift

    def verify_(self) -> None:
        shape, channels = shape_of(self.input), channels_of(self.input)
        self.require(len(shape) == 4 and shape[0] == 1, f"{shape} is no image")
        self.require(shape_of(self.result) == shape, f"the result's shape must be {shape}")
        self.require(channel_axis(self.input) == channel_axis(self.result), "layouts differ")
        counts = shape_of(self.statistics)
        is_known = len(counts) == STATISTICS == counts[0] and counts[1] > 0
        self.require(is_known, f"{counts} are no statistics")
        self.require(channels % self.groups == 0, f"{channels} channels in {self.groups} groups")
        self.require(len(self.terms) <= self.TERMS, "a scale and a shift at most")
        for value in self.terms:
            numbers = shape_of(value)
            text = f"scale and shift of shape {(channels,)}, not {numbers}"
            self.require(numbers == (channels,), text)

    @property
    def groups(self) -> int:
        """Return how many groups of channels have statistics."""
        return shape_of(self.statistics)[1]

    def may_overwrite(self, operand: int) -> bool:
        return operand == 0

    @property
    def rows_mode(self) -> RowsMode | None:
        """Rows lie in those of the image where there are any."""
        return "inplace" if super().rows_mode == "fresh" else None

    def rows_read(self, operand: int, r: int) -> range | None:
        return range(r, r + 1) if operand == 0 else None

    def macs(self) -> int:
        """Return one per element for the root, and for scales."""
        return elements_of(self.result) * (1 + (len(self.terms) > 0))

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        self.need_numbers()
        real = operands[0]
        if is_stored(self.input):
            real = dequantized(self, real, self.input)
        x, (mean, variance) = channels_last(real, self.input), operands[1]
        one, each = np.float32(1), x.shape[-1] // self.groups
        with np.errstate(all="ignore"):
            factor = one / np.sqrt(variance + np.float32(self.epsilon.value.data))
            y = (x - np.repeat(mean, each)) * np.repeat(factor, each)
            for term, number in zip(self.terms, operands[2:], strict=True):
                y = y * number if term is self.terms[0] else y + number
            y = self.activated(y).astype(np.float32)
            if is_stored(self.result):
                y = quantized(self, y, self.result)
            return [as_laid_out(y, self.result)]

    def need_numbers(self) -> None:
        """Raise MemoptError unless images are of reals, or stored in 8 bits and rounded as ONNX's,
        both alike."""
        need_float32(self, self.input, self.result)
        stored = [is_stored(v) for v in (self.input, self.result)]
        if any(stored) and not (all(stored) and rounds_even(self)):
            raise unknown(self, "stored integers beside reals, or rounded as TensorFlow Lite does")
        if any(stored) and element_of(self.input) != element_of(self.result):
            raise unknown(self, "bytes with and without sign")
        if any(stored) and not self.epsilon.value.data > 0:
            raise unknown(self, "stored integers with an epsilon that is not above 0")
