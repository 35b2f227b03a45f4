"""Between which stored values each channel of each tensor stays, whatever the inputs are.

    found = intervals(func, constants)
    found.of[value].low        # an integer per channel
    found.of[value].constant   # the channels that hold one value everywhere

Operations say it themselves (`ComputeOp.extremes`). For the channels' intervals that it reads the
ends that an operation gives are reached, since requantizing is monotone; what it does not know may
be anything of its type. What TensorFlow Lite rounds once or twice, by the kernel (uint8), is
between the ends of both.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.constants import Constants
from memopt.dialects.attributes import RoundingAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of
from memopt.dialects.operators.base import ComputeOp, Range
from memopt.dialects.stored import Array, dtype_of, element_of, integer_type, is_stored, rounds_once
from memopt.dialects.tensors import channel_axis, elements_of, is_buffer, shape_of

ROUNDINGS = ("tflite_single", "tflm_double")


@dataclass(frozen=True)
class Interval:
    """The least and the greatest stored value of each channel, as int64."""

    low: Array
    high: Array

    @property
    def constant(self) -> Array:
        return self.low == self.high


@dataclass(frozen=True)
class Intervals:
    """`of` each stored tensor that is known at run time only; `known`: the operations that said it
    of their results, of which so no sum leaves an int32."""

    of: dict[SSAValue, Interval]
    known: frozenset[Operation]


def intervals(func: FuncOp, constants: Constants) -> Intervals:
    """Of all tensors of a function. Raises MemoptError where constants cannot be read."""
    block = body_of(func)
    found: dict[SSAValue, Interval] = {a: whole_type(a) for a in block.args if has_intervals(a)}
    known: set[Operation] = set()
    for op in block.ops:
        made = [v for v in op.results if has_intervals(v)]
        if not made or constants(op.results[0]) is not None:
            continue
        ends = _ends(op, found, constants)
        if ends is not None:
            known.add(op)
        for value in made:
            found[value] = (
                whole_type(value) if ends is None else per_channel(value, ends[value.index])
            )
    return Intervals(found, frozenset(known))


def has_intervals(value: SSAValue) -> bool:
    """Whether a tensor has channels of stored integers of 8 bits."""
    if not is_buffer(value.type) or not shape_of(value) or not elements_of(value):
        return False
    return is_stored(value) and (integer_type(element_of(value)) or (0,))[0] == 8


def whole_type(value: SSAValue) -> Interval:
    """Anything that the tensor's type can store."""
    import numpy as np

    limits, count = np.iinfo(dtype_of(value)), shape_of(value)[channel_axis(value)]
    return Interval(*(np.full(count, end, np.int64) for end in (limits.min, limits.max)))


def per_channel(value: SSAValue, ends: Range) -> Interval:
    """The ends of the elements of each channel."""
    import numpy as np

    low, high = (
        np.moveaxis(e, channel_axis(value), 0).reshape(shape_of(value)[channel_axis(value)], -1)
        for e in ends
    )
    return Interval(low.min(1).astype(np.int64), high.max(1).astype(np.int64))


def everywhere(value: SSAValue, ends: Array) -> Array:
    """An array of the tensor's type and shape that holds each channel's end everywhere."""
    import numpy as np

    wide = [1] * len(shape_of(value))
    wide[channel_axis(value)] = -1
    return np.broadcast_to(ends.astype(dtype_of(value)).reshape(wide), shape_of(value))


def _ends(
    op: Operation, found: dict[SSAValue, Interval], constants: Constants
) -> list[Range] | None:
    """The ends of each result of an operation, None where nobody knows them."""
    if not isinstance(op, ComputeOp):
        return None
    least: list[Array] = []
    most: list[Array] = []
    for value in op.operands:
        interval = found.get(value)
        if interval is not None:
            least.append(everywhere(value, interval.low))
            most.append(everywhere(value, interval.high))
        elif (array := constants(value)) is not None:
            least.append(array)
            most.append(array)
        else:
            return None
    try:
        return _extremes(op, least, most)
    except MemoptError:  # it has no meaning, or none that is known here
        return None


def _extremes(op: ComputeOp, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
    """`extremes`, for each way in which the operation may be rounded."""
    import numpy as np

    if not rounds_once(op):
        return op.extremes(least, most)
    ends: list[list[Range] | None] = []
    for name in ROUNDINGS:
        twin = type(op).create(
            operands=op.operands,
            result_types=op.result_types,
            properties={**op.properties, "rounding": RoundingAttr(name)},
        )
        try:
            ends.append(twin.extremes(least, most))
        finally:
            twin.drop_all_references()
    one, two = ends
    if one is None or two is None:
        return None
    return [(np.minimum(a[0], b[0]), np.maximum(a[1], b[1])) for a, b in zip(one, two, strict=True)]
