"""Intervals of the values of each channel, stored or real, for the verifier, and the channels that
are left.

Functions and sums of stored integers are tried: all values of one operand, all pairs of two; those
of reals stand in real_intervals.py. What moves values keeps their interval. The channels are those
before any was left out.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, singledispatch
from math import prod

from xdsl.ir import SSAValue

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import multiply, quantized_range
from memopt.dialects.arithmetic.stored import (
    Array,
    dtype_of,
    element_of,
    integer_type,
    is_stored,
    may_round_once,
)
from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import channel_axis, channels_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.constants import TakeOp
from memopt.dialects.operators.mean import MeanOp, divided
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.pooling import AveragePool2DOp, PoolBase
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.resize import ResizeBase, ResizeBilinearOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.unary import UnaryOp
from memopt.verify.real_intervals import clamped, function_of, is_real, mean_of, of_two, unbounded


@dataclass(frozen=True)
class Known:
    """Per channel, as they were: the least and the greatest value, and whether the weights
    are zero or only constants are read; and which channels are left."""

    low: Array
    high: Array
    kept: tuple[int, ...]
    zero: Array
    fed: Array

    @property
    def constant(self) -> Array:
        return self.low == self.high


@dataclass
class Reading:
    """Intervals of tensors that are known, and the constants; `constant` gives None for other
    values."""

    constant: Callable[[SSAValue], Array | None]
    known: dict[SSAValue, Known] = field(default_factory=dict[SSAValue, Known])

    def taken(self, value: SSAValue) -> tuple[SSAValue, dict[int, tuple[int, ...]]]:
        """Return the constant of which a chain of takes chooses channels, and the channels by
        dimension."""
        indices_of: dict[int, tuple[int, ...]] = {}
        while isinstance(value.owner, TakeOp):
            axis = value.owner.axis.value.data
            if axis in indices_of:
                raise MemoptError("channels are taken twice along one dimension", name_of(value))
            indices_of[axis] = value.owner.indices
            value = value.owner.input
        return value, indices_of


def known_of(low: Array, high: Array, kept: Sequence[int], fed: Array | None = None) -> Known:
    """Return what is known of channels between these ends, of which `kept` are left."""
    none = np.zeros(len(low), bool)
    channels = all_channels(len(kept)) if isinstance(kept, range) else tuple(kept)
    return Known(low, high, channels, none, none if fed is None else fed)


@lru_cache(maxsize=16)
def all_channels(count: int) -> tuple[int, ...]:
    """Return the numbers of so many channels, one object for tensors of one width."""
    return tuple(range(count))


def type_limits(value: SSAValue) -> tuple[int, int]:
    """The least and the greatest stored integer; of reals, of which nothing is known, none."""
    if not is_stored(value) or (integer_type(element_of(value)) or (0,))[0] not in (8, 16):
        return 0, 1
    limits = np.iinfo(dtype_of(value))
    return int(limits.min), int(limits.max)


def anything(value: SSAValue) -> Known:
    """Any value of the type, all channels left but those that are claimed."""
    claims = channels_of_result(value)
    width = claims.width.data if claims else channels_of(value)
    if is_real(value):
        return known_of(*unbounded(width), range(width))
    low, high = type_limits(value)
    return known_of(np.full(width, low), np.full(width, high), range(width))


def everywhere(value: SSAValue, ends: Array) -> Array:
    """The tensor that holds one value in all of a channel."""
    shape = shape_of(value)
    behind = (1,) * (len(shape) - 1 - channel_axis(value))
    return np.broadcast_to(ends.astype(dtype_of(value)).reshape(-1, *behind), shape)


def between(value: SSAValue, least: Array, most: Array) -> Known:
    """Elements between those of two tensors."""
    axis = channel_axis(value)
    kind = np.float64 if is_real(value) else np.int64
    low, high = (
        np.moveaxis(v.astype(kind), axis, 0).reshape(v.shape[axis], -1) for v in (least, most)
    )
    return known_of(low.min(1), high.max(1), range(len(low)))


@singledispatch
def after(op: ComputeOp, reading: Reading) -> list[Known] | None:
    """Return the intervals of the results; None for operations that do not work channel by channel.

    Raises MemoptError where operands have lost other channels than each other.
    """
    return None


def moved(op: ComputeOp, reading: Reading) -> Known | None:
    """The only operand, whose channels the result has, in its quantization or another's range."""
    known = reading.known.get(op.operands[0])
    ends = op.operands[0], op.results[0]
    axes = [channel_axis(v) - len(shape_of(v)) for v in ends]
    if known is None or axes[0] != axes[1] or not has_numbers(ends[1]):
        return None
    if not all(map(shape_of, ends)):
        return None
    return known_of(known.low, known.high, known.kept, known.constant)


def has_integers(value: SSAValue) -> bool:
    return is_stored(value) and (integer_type(element_of(value)) or (0,))[0] == 8


def has_numbers(value: SSAValue) -> bool:
    """Return whether intervals of the elements can be known."""
    return has_integers(value) or is_real(value)


def real(
    op: ComputeOp, ends: tuple[Array, Array] | None, kept: Sequence[int], fed: Array
) -> list[Known]:
    """Real numbers between these, or any, of the channels that are left."""
    low, high = unbounded(len(fed)) if ends is None else ends
    return [known_of(low, high, kept, fed)]


def within(op: ComputeOp, known: Known | None) -> list[Known] | None:
    """Values that an activation clamps."""
    if known is None:
        return None
    if is_real(op.results[0]):
        return real(op, clamped(op, known.low, known.high), known.kept, known.fed)
    encoding, limits = encoding_of(op.results[0]), type_limits(op.results[0])
    low, high = quantized_range(
        op.activation_name, encoding.scales[0], encoding.zero_points[0], *limits
    )
    least, greatest = (np.clip(v, low, high) for v in (known.low, known.high))
    return [known_of(least, greatest, known.kept, known.fed)]


@after.register
def _copy(op: CopyOp, reading: Reading) -> list[Known] | None:
    copied = moved(op, reading)
    return None if copied is None else [copied]


@after.register
def _resize(op: ResizeBase, reading: Reading) -> list[Known] | None:
    """A mean of four values lies between them."""
    resized = moved(op, reading)
    if resized is not None and is_real(op.result) and isinstance(op, ResizeBilinearOp):
        return real(op, mean_of(resized.low, resized.high, 8), resized.kept, resized.fed)
    return None if resized is None else [resized]


@after.register
def _pool(op: PoolBase, reading: Reading) -> list[Known] | None:
    """The largest value, or the mean, of some of a channel."""
    pooled = moved(op, reading)
    if pooled is not None and is_real(op.result) and isinstance(op, AveragePool2DOp):
        low, high = pooled.low, pooled.high
        if op.count_include_pad is not None:
            low, high = low.clip(max=0), high.clip(min=0)
        ends = mean_of(low, high, prod(op.window.sizes[0]))
        (pooled,) = real(op, ends, pooled.kept, pooled.fed)
    return within(op, pooled)


@after.register
def _pad(op: PadOp, reading: Reading) -> list[Known] | None:
    known, axis = moved(op, reading), channel_axis(op.result)
    before, after_ = op.before.get_values(), op.after.get_values()
    if known is None or before[axis] or after_[axis] or op.value.value.data:
        return None
    if not any((*before, *after_)):
        return [known]
    zero = 0 if is_real(op.result) else encoding_of(op.result).zero_points[0]
    low, high = np.minimum(known.low, zero), np.maximum(known.high, zero)
    return [known_of(low, high, known.kept, known.constant)]


@after.register
def _slice(op: SliceOp, reading: Reading) -> list[Known] | None:
    sliced, axis = moved(op, reading), channel_axis(op.input)
    if sliced is None:
        return None
    all_channels_taken = shape_of(op.input)[axis] == shape_of(op.result)[axis]
    plain = int(op.strides.get_values()[axis]) == 1
    return [sliced] if all_channels_taken and plain else None


@after.register
def _transpose(op: TransposeOp, reading: Reading) -> list[Known] | None:
    transposed, axis = moved(op, reading), channel_axis(op.result)
    if transposed is None:
        return None
    stays = int(op.permutation.get_values()[axis]) == channel_axis(op.input)
    return [transposed] if stays else None


@after.register
def _reshape(op: ReshapeOp, reading: Reading) -> list[Known] | None:
    """Elements keep their order: where a row is several places, it has all channels of each."""
    known = moved(op, reading)
    if known is None or encoding_of(op.input).layout.data == "nchw":
        return None
    before, after_width = shape_of(op.input)[-1], shape_of(op.result)[-1]
    if after_width % before:
        return None
    times, width = after_width // before, len(known.low)
    channels = [place * width + c for place in range(times) for c in known.kept]
    low, high, constant = (np.tile(v, times) for v in (known.low, known.high, known.constant))
    return [known_of(low, high, channels, constant)]


@after.register
def _mean(op: MeanOp, reading: Reading) -> list[Known] | None:
    """The sum of equal values, and its mean as TensorFlow Lite Micro divides."""
    known, shape = reading.known.get(op.input), shape_of(op.input)
    axes, last = {int(a) for a in op.axes.get_values()}, len(shape) - 1
    if known is None or last in axes or channel_axis(op.input) != last:
        return None
    if not has_numbers(op.result) or channel_axis(op.result) != len(shape_of(op.result)) - 1:
        return None
    count = int(np.prod([shape[a] for a in axes], dtype=np.int64))
    if is_real(op.result):
        return real(op, mean_of(known.low, known.high, count), known.kept, known.constant)
    source, result = encoding_of(op.input), encoding_of(op.result)
    how = divided(source.scales[0] / result.scales[0], count)
    low, high = type_limits(op.result)

    def mean(value: int) -> int:
        total = count * (value - source.zero_points[0])
        return max(low, min(high, multiply(total, *how) + result.zero_points[0]))

    least, greatest = (np.array([mean(int(v)) for v in ends]) for ends in (known.low, known.high))
    return [known_of(least, greatest, known.kept, known.constant)]


@after.register
def _concat(op: ConcatOp, reading: Reading) -> list[Known] | None:
    parts = [reading.known.get(v) for v in op.inputs]
    known = [p for p in parts if p is not None]
    if len(known) != len(parts) or not has_numbers(op.result):
        return None
    if op.axis.value.data == channel_axis(op.result):
        starts = np.cumsum([0, *(len(p.low) for p in known)])
        channels = [int(s) + c for s, p in zip(starts, known, strict=False) for c in p.kept]
        low, high = (np.concatenate([f(p) for p in known]) for f in (_low, _high))
        return [known_of(low, high, channels, low == high)]
    if len({p.kept for p in known}) > 1:
        raise MemoptError("parts have lost other channels than each other", name_of(op.result))
    low = np.minimum.reduce([p.low for p in known])
    high = np.maximum.reduce([p.high for p in known])
    fed = np.logical_and.reduce([p.constant for p in known])
    return [known_of(low, high, known[0].kept, fed)]


def _low(known: Known) -> Array:
    return known.low


def _high(known: Known) -> Array:
    return known.high


@after.register
def _split(op: SplitOp, reading: Reading) -> list[Known] | None:
    known = reading.known.get(op.input)
    if known is None or not has_numbers(op.input):
        return None
    if op.axis.value.data != channel_axis(op.input):
        return [known_of(known.low, known.high, known.kept, known.constant) for _ in op.parts]
    results: list[Known] = []
    start = 0
    for part in op.parts:
        claims = channels_of_result(part)
        width = claims.width.data if claims else channels_of(part)
        ends = (v[start : start + width] for v in (known.low, known.high, known.constant))
        low, high, constant = ends
        channels = [c - start for c in known.kept if start <= c < start + width]
        results.append(known_of(low, high, channels, constant))
        start += width
    return results


@after.register
def _unary(op: UnaryOp, reading: Reading) -> list[Known] | None:
    """All values of the operand, tried."""
    known = reading.known.get(op.input)
    if known is not None and is_real(op.input) and is_real(op.result):
        return real(op, function_of(op, known.low, known.high), known.kept, known.constant)
    if known is None or not has_integers(op.input) or not has_integers(op.result):
        return None
    first, last = int(known.low.min()), int(known.high.max())
    try:
        (table,) = op.evaluate([np.arange(first, last + 1).astype(dtype_of(op.input))])
    except MemoptError:
        return None
    pairs = list(zip((known.low - first).tolist(), (known.high - first + 1).tolist(), strict=True))
    low, high = (np.array([int(f(table[a:b])) for a, b in pairs]) for f in (np.min, np.max))
    return [known_of(low, high, known.kept, known.constant)]


@after.register
def _quantized(op: QuantizeOp, reading: Reading) -> list[Known] | None:
    return _unary(op, reading) if has_integers(op.input) else _between_types(op, reading)


@after.register
def _dequantized(op: DequantizeOp, reading: Reading) -> list[Known] | None:
    return _between_types(op, reading)


def _between_types(op: UnaryOp, reading: Reading) -> list[Known] | None:
    """From real to stored numbers or back, which never falls and rounds in one way."""
    known, pair = reading.known.get(op.input), (op.input, op.result)
    if known is None or not all(map(has_numbers, pair)):
        return None
    if any(len(encoding_of(v).scales) > 1 for v in pair) or is_real(op.input) == is_real(op.result):
        return None
    if not np.isfinite([known.low, known.high]).all():
        return None
    kind = np.float64 if is_real(op.result) else np.int64
    try:
        ends = (op.evaluate([v.astype(dtype_of(op.input))])[0] for v in (known.low, known.high))
        low, high = (v.reshape(-1).astype(kind) for v in ends)
    except MemoptError:
        return None
    return [known_of(low, high, known.kept, known.constant)]


@after.register
def _softmax(op: SoftmaxOp, reading: Reading) -> list[Known] | None:
    """Return parts of 1, whatever real numbers are read; all channels are needed."""
    known = reading.known.get(op.input)
    if known is None or not is_real(op.input) or not is_real(op.result):
        return None
    if len(known.kept) != len(known.low) or not op.beta.value.data > 0:
        return None
    if not np.isfinite([known.low, known.high]).all():
        return None
    none = np.zeros(len(known.low), bool)
    return [known_of(none * 0.0, none + (1 + 2.0**-20), known.kept, none)]


@after.register
def _binary(op: BinaryOp, reading: Reading) -> list[Known] | None:
    """All pairs of values of both operands, tried."""
    if not has_numbers(op.result):
        return None
    sides = [_side(v, op.result, reading) for v in (op.lhs, op.rhs)]
    if sides[0] is None or sides[1] is None:
        return None
    wide = [s for s in sides if s is not None]
    width = max(len(s.low) for s in wide)
    channels = {s.kept for s in wide if len(s.low) == width}
    if len(channels) > 1 or any(len(s.low) not in (1, width) for s in wide):
        raise MemoptError("operands have lost other channels than each other", name_of(op.result))
    fed = np.logical_and(*(np.broadcast_to(s.fed, width) for s in wide))
    if is_real(op.result):
        first, second = (
            (np.broadcast_to(s.low, width), np.broadcast_to(s.high, width)) for s in wide
        )
        return real(op, of_two(op, first, second), next(iter(channels)), fed)
    values = [np.arange(int(s.low.min()), int(s.high.max()) + 1) for s in wide]
    grid = np.meshgrid(*values, indexing="ij")
    arrays = [g.astype(dtype_of(v)) for g, v in zip(grid, (op.lhs, op.rhs), strict=True)]
    tables = evaluated(op, arrays)
    if tables is None:
        return None
    low, high = _extremes(tables, wide, width)
    return [known_of(low, high, next(iter(channels)), fed)]


def _extremes(tables: Sequence[Array], sides: Sequence[Known], width: int) -> tuple[Array, Array]:
    """Per channel the least and the greatest result, of tables over the values of both sides."""
    spread = [
        [np.broadcast_to(v, width) - int(s.low.min()) for v in (s.low, s.high)] for s in sides
    ]
    low, high = np.zeros(width, np.int64), np.zeros(width, np.int64)
    for c in range(width):
        (a, b), (d, e) = ((int(least[c]), int(greatest[c]) + 1) for least, greatest in spread)
        parts = [t[a:b, d:e] for t in tables]
        low[c], high[c] = min(int(p.min()) for p in parts), max(int(p.max()) for p in parts)
    return low, high


def evaluated(op: ComputeOp, arrays: Sequence[Array]) -> list[Array] | None:
    """The result of arrays; that of uint8 as it is rounded once and twice. None: nobody knows."""
    kinds = ("tflite_single", "tflm_double") if may_round_once(op) else ("",)
    arrays_made: list[Array] = []
    for kind in kinds:
        properties = {**op.properties, **({"rounding": RoundingAttr(kind)} if kind else {})}
        results = [v.type for v in op.results]
        twin = type(op).create(operands=op.operands, result_types=results, properties=properties)
        try:
            arrays_made.append(twin.evaluate(arrays)[0])
        except MemoptError:
            return None
        finally:
            twin.drop_all_references()
    return arrays_made


def _side(value: SSAValue, result: SSAValue, reading: Reading) -> Known | None:
    """An operand of two: a tensor, or a constant whose channels are taken."""
    if value in reading.known:
        known = reading.known[value]
        fed = known_of(known.low, known.high, known.kept, known.constant)
        return fed if has_integers(value) == has_integers(result) else None
    base, taken = reading.taken(value)
    array = reading.constant(base)
    same = has_numbers(value) and is_real(value) == is_real(result)
    if array is None or not same or channel_axis(result) < 0:
        return None
    behind = len(shape_of(result)) - channel_axis(result)
    axis = array.ndim - behind
    if axis < 0:
        array, axis = array.reshape(1, *array.shape), 0
    kind = "float64" if is_real(value) else "int64"
    by_channel = array.astype(kind).swapaxes(axis, 0).reshape(array.shape[axis], -1)
    if any(a != axis for a in taken):
        raise MemoptError("a constant has lost more than channels", name_of(value))
    channels = taken.get(axis, tuple(range(array.shape[axis])))
    low, high = by_channel.min(1), by_channel.max(1)
    return known_of(low, high, channels, np.ones(len(low), bool))
