"""Between which values each channel of each tensor stays, whatever the inputs are.

    found = intervals(func, constants)
    found.of[value].low        # an integer per channel, stored, or a real number
    found.of[value].constant   # the channels that hold one value everywhere

Operations say it themselves (`ComputeOp.extremes`). For the channels' intervals that it reads the
ends that an operation gives are reached, since requantizing is monotone; what it does not know may
be anything of its type. What TensorFlow Lite rounds once or twice, by the kernel (uint8), is
between the ends of both.

Of float32 anything includes infinities and NaN. Something is known of an operation where all that
it reads is finite: since the function declares the range of an input (`#memgraph.range`), or real
numbers are made of stored integers. Its ends are wide enough for whatever kernels round
(dialects/operators/real_bounds.py).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.dialects.builtin import Float32Type, TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, SSAValue

from memopt.analysis.constants import Constants
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    integer_type,
    is_stored,
    may_round_once,
)
from memopt.dialects.attributes.input_range import declared_ranges
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import AnyTensor, channel_axis, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, Range
from memopt.dialects.operators.real_bounds import outwards

ROUNDINGS = ("tflite_single", "tflm_double")


@dataclass(frozen=True)
class Interval:
    """The least and the greatest value of each channel: stored ones as int64, real ones as
    float64, infinite where nothing is known."""

    low: Array
    high: Array

    @property
    def constant(self) -> Array:
        return self.low == self.high

    @property
    def is_bounded(self) -> bool:
        """Return whether every value is a finite number."""
        return bool(np.isfinite(self.low).all() and np.isfinite(self.high).all())


@dataclass(frozen=True)
class Intervals:
    """`of` each stored or real tensor that is known at run time only; `known`: the operations that
    said it of their results, of which so no sum leaves an int32, and no real number is infinite."""

    of: dict[SSAValue, Interval]
    known: frozenset[Operation]


def intervals(func: FuncOp, constants: Constants) -> Intervals:
    """Return the interval of each channel of all tensors of a function.

    Raises MemoptError where constants cannot be read.
    """
    block = body_of(func)
    interval_of: dict[SSAValue, Interval] = {
        value: whole_type(value) if ends is None else _declared(value, *ends)
        for value, ends in zip(block.args, declared_ranges(func), strict=True)
        if has_intervals(value)
    }
    known: set[Operation] = set()
    for op in block.ops:
        results = [v for v in op.results if has_intervals(v)]
        if not results or constants(op.results[0]) is not None:
            continue
        ends = _ends(op, interval_of, constants)
        if ends is not None:
            known.add(op)
        for value in results:
            interval_of[value] = (
                whole_type(value) if ends is None else per_channel(value, ends[value.index])
            )
    return Intervals(interval_of, frozenset(known))


def has_intervals(value: SSAValue) -> bool:
    """Return whether a tensor has channels of stored integers of 8 bits, of one scale, or of
    float32."""
    type_: Attribute = value.type
    if not isinstance(type_, TensorType):
        return False
    shape, element = shape_of(value), cast("AnyTensor", type_).element_type
    if not shape or 0 in shape:
        return False
    if scales := len(encoding_of(value).scale):
        return scales == 1 and (integer_type(element) or (0,))[0] == 8
    return isinstance(element, Float32Type)


def whole_type(value: SSAValue) -> Interval:
    """Anything that the tensor's type can store."""
    count = shape_of(value)[channel_axis(value)]
    if not is_stored(value):
        return Interval(np.full(count, -np.inf), np.full(count, np.inf))
    limits = np.iinfo(dtype_of(value))
    return Interval(*(np.full(count, end, np.int64) for end in (limits.min, limits.max)))


def _declared(value: SSAValue, low: float, high: float) -> Interval:
    """Anything in a declared range, whose ends stand for float32 numbers."""
    count = shape_of(value)[channel_axis(value)]
    least, greatest = outwards(np.full(count, float(low)), np.full(count, float(high)))
    return Interval(least.astype(np.float64), greatest.astype(np.float64))


def per_channel(value: SSAValue, ends: Range) -> Interval:
    """The ends of the elements of each channel."""
    low, high = (
        np.moveaxis(e, channel_axis(value), 0).reshape(shape_of(value)[channel_axis(value)], -1)
        for e in ends
    )
    kind = np.int64 if is_stored(value) else np.float64
    # adding 0 leaves one zero only
    return Interval(low.min(1).astype(kind) + 0, high.max(1).astype(kind) + 0)


def everywhere(value: SSAValue, ends: Array) -> Array:
    """An array of the tensor's type and shape that holds each channel's end everywhere."""
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
    greatest: list[Array] = []
    for value in op.operands:
        interval = found.get(value)
        if interval is not None and not interval.is_bounded:
            return None
        if interval is not None:
            least.append(everywhere(value, interval.low))
            greatest.append(everywhere(value, interval.high))
        elif (array := constants(value)) is not None:
            least.append(array)
            greatest.append(array)
        else:
            return None
    try:
        ends = _extremes(op, least, greatest)
    except MemoptError:  # it has no meaning, or none that is known here
        return None
    return ends if ends is None or all(map(_are_bounded, ends)) else None


def _are_bounded(ends: Range) -> bool:
    return all(bool(np.isfinite(end).all()) for end in ends)


def _extremes(op: ComputeOp, least: Sequence[Array], most: Sequence[Array]) -> list[Range] | None:
    """`extremes`, for each way in which the operation may be rounded."""
    if not may_round_once(op):
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
