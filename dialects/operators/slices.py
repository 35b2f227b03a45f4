"""Tensors joined, split and cut."""

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import I64, IntegerAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    prop_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32
from memopt.dialects.arithmetic.stored import (
    Array,
    finite,
    is_unsigned,
    need_same_numbers,
    per_tensor,
    unknown,
)
from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    channel_axis,
    channels_of,
    elements_of,
    rows_of,
    same_channels,
    shape_of,
)
from memopt.dialects.operators.base import (
    ACTIVATION,
    INTS,
    ROUNDING,
    TYPES,
    ComputeOp,
    OfOneOp,
    OneResultOp,
    Places,
)
from memopt.dialects.operators.reordering import with_axis, with_entries, with_last_axis
from memopt.dialects.operators.traits import (
    Alike,
    ByPixel,
    Concatenates,
    Cuts,
    Folds,
    IgnoresActivation,
    KeepsDimensions,
    Monotone,
    Moves,
)


class JoiningOp(OneResultOp):
    """Base of what puts operands one after the other along `axis`."""

    inputs = var_operand_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    activation = opt_prop_def(ActivationAttr)
    rounding = opt_prop_def(RoundingAttr)
    traits = traits_def(Alike(), Monotone(), KeepsDimensions(), IgnoresActivation())
    assembly_format = "$inputs `axis` $axis" + ACTIVATION + ROUNDING + " " + TYPES

    def verify_(self) -> None:
        axis, out = self.axis.value.data, shape_of(self.result)
        self.require(0 <= axis < len(out), f"axis {axis} out of range")
        shapes = [shape_of(v) for v in self.inputs]
        self.require(bool(shapes), "nothing to join")
        for s in shapes:
            same = len(s) == len(out) and s[:axis] + s[axis + 1 :] == out[:axis] + out[axis + 1 :]
            self.require(same, f"operand {s} does not fit {out}")
        total = sum(s[axis] for s in shapes)
        self.require(
            total == out[axis], f"operands have {total} along axis {axis}, not {out[axis]}"
        )

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return with_axis(self, order)

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        return with_last_axis(self, rank, len(shape_of(self.result)))

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        axis, source = channel_axis(self.result), self.inputs[operand]
        if self.axis.value.data != axis or channel_axis(source) != axis:
            return same_channels(source, self.result)
        first = sum(channels_of(v) for v in self.inputs[:operand])
        after = channels_of(self.result) - first - channels_of(source)
        return (*(-1,) * first, *range(channels_of(source)), *(-1,) * after)

    def rows_read(self, operand: int, r: int) -> range | None:
        if self.axis.value.data != 1:
            return range(r, r + 1)
        row = r - sum(shape_of(v)[1] for v in self.inputs[:operand])
        return range(row, row + 1) if 0 <= row < shape_of(self.inputs[operand])[1] else range(0)


@operation_definition
class ConcatOp(JoiningOp):
    """Operands one after the other along `axis`."""

    name = "memgraph.concat"
    traits = traits_def(Moves(), Concatenates(), Folds())

    def begins_at(self, result: int, operand: int) -> int | None:
        if prod(shape_of(self.result)[: self.axis.value.data]) != 1 or self.activation is not None:
            return None
        return -sum(elements_of(v) for v in self.inputs[:operand])

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if self.activation is not None:
            raise unknown(self, "a concatenation with a fused activation")
        need_same_numbers(self, *self.inputs, self.result)
        return [np.concatenate(operands, axis=self.axis.value.data)]


@operation_definition
class ConcatRequantizedOp(JoiningOp):
    """Operands one after the other along `axis`, each of uint8, brought to the result's
    quantization on the way."""

    name = "memgraph.concat_requantized"

    def rows_read(self, operand: int, r: int) -> range | None:
        """Along the height each row is brought from another quantization: there are no rows."""
        return None if self.axis.value.data == 1 else super().rows_read(operand, r)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        if self.activation is not None:
            raise unknown(self, "a concatenation with a fused activation")
        parts = [self.requantized(a, v) for a, v in zip(operands, self.inputs, strict=True)]
        return [np.concatenate(parts, axis=self.axis.value.data)]

    def requantized(self, values: Array, operand: SSAValue) -> Array:
        """concatenation.h: ConcatenationWithScaling, float32 in each step. Raises MemoptError for
        other types than uint8."""
        if not (is_unsigned(operand) and is_unsigned(self.result)):
            raise unknown(self, "other tensors than of uint8")
        (scale, zero), (out_scale, out_zero) = (per_tensor(self, v) for v in (operand, self.result))
        if (scale, zero) == (out_scale, out_zero):
            return values
        finite(self, float32(255 * scale / out_scale))
        factor = np.float32(scale) * (np.float32(1) / np.float32(out_scale))
        steps = values.astype(np.float32) * factor + np.float32(-zero) * factor
        integers = np.trunc(steps + np.copysign(np.float32(0.5), steps)) + out_zero
        return np.clip(integers, 0, 255).astype(np.uint8)


@operation_definition
class SplitOp(ComputeOp):
    """Parts of the operand along `axis`."""

    name = "memgraph.split"
    input = operand_def(AnyTensor)
    parts = var_result_def(AnyTensor)
    axis = prop_def(IntegerAttr[I64])
    traits = traits_def(Pure(), Alike(), ByPixel(), Monotone(), Moves(), Cuts(), KeepsDimensions())
    assembly_format = "$input `axis` $axis " + TYPES

    def verify_(self) -> None:
        axis, shape = self.axis.value.data, shape_of(self.input)
        self.require(0 <= axis < len(shape) and bool(self.parts), f"axis {axis} out of range")
        shapes = [shape_of(p) for p in self.parts]
        for s in shapes:
            same = s[:axis] + s[axis + 1 :] == shape[:axis] + shape[axis + 1 :]
            self.require(same and len(s) == len(shape), f"part {s} does not fit {shape}")
        total = sum(s[axis] for s in shapes)
        self.require(total == shape[axis], f"parts have {total} along axis {axis}")

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return with_axis(self, order)

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        return with_last_axis(self, rank, len(shape_of(self.input)))

    def begins_at(self, result: int, operand: int) -> int | None:
        if prod(shape_of(self.input)[: self.axis.value.data]) != 1:
            return None
        return sum(elements_of(v) for v in self.parts[:result])

    def lies_at(self, result: int, operand: int) -> Places | None:
        axis, steps = self.axis.value.data, element_steps(self.input)
        return steps[axis] * sum(shape_of(v)[axis] for v in self.parts[:result]), steps

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        axis, part = channel_axis(self.input), self.parts[result]
        if self.axis.value.data != axis or channel_axis(part) != axis:
            return same_channels(self.input, part)
        first = sum(channels_of(v) for v in self.parts[:result])
        return tuple(range(first, first + channels_of(part)))

    def one_by_one(self) -> Sequence[ComputeOp]:
        """Parts along the height are slices: they have not as many rows as each other."""
        if self.axis.value.data != 1 or rows_of(self.input) is None:
            return ()
        slices: list[SliceOp] = []
        start, rest = 0, [0] * (len(shape_of(self.input)) - 2)
        for part in self.parts:
            properties = {
                "starts": numbers([0, start, *rest]),
                "strides": numbers([1] * (len(rest) + 2)),
            }
            slices.append(
                SliceOp(operands=[self.input], result_types=[part.type], properties=properties)
            )
            start += shape_of(part)[1]
        return slices

    def rows_read(self, operand: int, r: int) -> range | None:
        return None if self.axis.value.data == 1 else range(r, r + 1)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        axis = self.axis.value.data
        ends = np.cumsum([shape_of(p)[axis] for p in self.parts])[:-1]
        return [np.ascontiguousarray(part) for part in np.split(operands[0], ends, axis)]


@operation_definition
class SliceOp(OfOneOp):
    """`sizes` elements from `starts`, every `strides`-th."""

    name = "memgraph.slice"
    starts = prop_def(INTS)
    strides = prop_def(INTS)
    traits = traits_def(Alike(), ByPixel(), Monotone(), Moves(), Cuts(), KeepsDimensions(), Folds())
    assembly_format = "$input `starts` $starts `strides` $strides " + TYPES

    def verify_(self) -> None:
        shape, out = shape_of(self.input), shape_of(self.result)
        starts = [int(v) for v in self.starts.get_values()]
        strides = [int(v) for v in self.strides.get_values()]
        self.require(len(starts) == len(strides) == len(shape) == len(out), "ranks differ")
        for size, start, stride, count in zip(shape, starts, strides, out, strict=True):
            last = start + (count - 1) * stride
            self.require(
                stride != 0 and (count == 0 or (0 <= start < size and 0 <= last < size)),
                f"slice {start}:{last}:{stride} leaves the operand",
            )

    def reordered(self, order: Sequence[int]) -> Mapping[str, Attribute]:
        return with_entries(self, {"starts": 0, "strides": 1}, order)

    def over_vectors(self, rank: int) -> Mapping[str, Attribute] | None:
        """Return one that takes parts of all vectors."""
        starts, strides = (list(v.get_values()) for v in (self.starts, self.strides))
        is_whole = shape_of(self.input)[:-1] == shape_of(self.result)[:-1] and not any(starts[:-1])
        if not starts or not is_whole:
            return None
        first, steps = [0] * (rank - 1), [1] * (rank - 1)
        return {
            "starts": numbers([*first, *starts[-1:]]),
            "strides": numbers([*steps, *strides[-1:]]),
        }

    def channels_read(self, operand: int, result: int) -> tuple[int, ...] | None:
        """Return the channels where all are taken, in their order."""
        axis = channel_axis(self.input)
        if axis < 0 or self.starts.get_values()[axis] or self.strides.get_values()[axis] != 1:
            return None
        return same_channels(self.input, self.result)

    def begins_at(self, result: int, operand: int) -> int | None:
        shape, out = shape_of(self.input), shape_of(self.result)
        starts, strides = self.starts.get_values(), self.strides.get_values()
        is_complete = True  # all dimensions after this one are complete
        start, step = 0, 1
        for i in reversed(range(len(shape))):
            if out[i] > 1 and (strides[i] != 1 or not is_complete):
                return None
            is_complete = is_complete and out[i] == shape[i]
            start += starts[i] * step
            step *= shape[i]
        return start

    def lies_at(self, result: int, operand: int) -> Places | None:
        starts, strides = self.starts.get_values(), self.strides.get_values()
        steps = element_steps(self.input)
        first = sum(int(start) * step for start, step in zip(starts, steps, strict=True))
        return first, tuple(int(by) * step for by, step in zip(strides, steps, strict=True))

    def rows_read(self, operand: int, r: int) -> range | None:
        row = int(self.starts.get_values()[1]) + r * int(self.strides.get_values()[1])
        return range(row, row + 1)

    @property
    def along(self) -> list[range]:
        pairs = zip(self.starts.get_values(), self.strides.get_values(), strict=True)
        counts = zip(pairs, shape_of(self.result), strict=True)
        return [range(start, start + by * count, by) for (start, by), count in counts]

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return [operands[0][np.ix_(*self.along)]]


def element_steps(value: SSAValue) -> tuple[int, ...]:
    """Return how many elements there are from one index of each dimension to the next."""
    shape = shape_of(value)
    return tuple(prod(shape[i + 1 :]) for i in range(len(shape)))
