"""Intervals of sums of products with weights for the verifier, and whether their channels may be
left out.

Of each filter the sum that is least and that is greatest is added up product by product, for every
set of taps that a window has in the image; of real numbers as far as kernels may be off
(real_intervals.py). Channels that were left out must add nothing, or a constant that stands in the
bias, wherever the window is.
"""

from itertools import product

from xdsl.ir import SSAValue

from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import float32, quantized_range
from memopt.dialects.arithmetic.stored import Array, may_round_once
from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.constants import FoldIntoBiasOp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.verify.real_intervals import are_finite, clamped, is_real, rounded_sum
from memopt.verify.requantizing import even_range, even_requantizer, requantizers
from memopt.verify.stored_intervals import Known, Reading, has_integers, type_limits

ROOM = 1 << 31  # what a sum must stay below


def after_weighing(op: WeighingOp, reading: Reading) -> list[Known] | None:
    """Return the interval of the result; None where it may be anything and no channel may be
    missing.

    Raises MemoptError where a channel that was left out is missed.
    """
    source, known = op.operands[0], reading.known.get(op.operands[0])
    base, taken = reading.taken(op.operands[1])
    weights = reading.constant(base)
    if known is None or weights is None:
        return None
    reals = [is_real(v) for v in (source, base, op.results[0])]
    if not all(reals) and not all(map(has_integers, (source, base, op.results[0]))):
        return None
    number = np.float64 if reals[0] else np.int64
    letters = encoding_of(base).layout.data or "oi"
    first, deep = letters.index("o"), letters.index("i")
    by_filter = np.moveaxis(weights.astype(number) - _zero_point(base), (first, deep), (0, -1))
    filters, width = by_filter.shape[0], len(known.low)
    by_tap = by_filter.reshape(filters, -1, by_filter.shape[-1])
    groups = _groups(op, by_tap, known)
    if groups is None:
        return None
    if letters == "oi":  # a vector is several places of all channels
        by_tap = by_filter.reshape(filters, -1, width)
    depth = width // groups
    first_read = [f * groups // filters * depth for f in range(int(filters))]
    reads = np.array(first_read)[:, None] + np.arange(depth)
    remaining = taken.get(first, tuple(range(filters)))
    _check_depth(op, taken.get(deep), known, by_tap, groups)
    gone = np.ones(width, bool)
    gone[list(known.kept)] = False
    changing = ~known.constant[reads]
    fed = ~((by_tap != 0).any(1) & changing).any(1)
    if groups > 1:  # what works channel by channel reads the channel, whatever its weights are
        fed = ~changing.any(1)
    masks = _seen(op, by_tap.shape[1])
    if groups > 1 and not (
        _follows(remaining, known, filters // width)
        if groups == width
        else len(remaining) == filters
    ):
        raise MemoptError("filters are left whose channel is not, or none whose is", place_of(op))
    if reals[0]:
        ends = _real_ends(op, reading, known, by_tap, reads, masks, remaining)
        if ends is None:
            return None
        if groups == 1:
            _check_lost_zeros(op, by_tap, known, gone, remaining)
        return [Known(*ends, remaining, ~by_tap.any((1, 2)), fed)]
    zp = encoding_of(source).zero_points[0]
    low, high = (v.astype(np.int64)[reads] - zp for v in (known.low, known.high))
    bias, folded = _biases(op, reading, base, deep, remaining)
    largest = np.maximum(abs(low), abs(high))[:, None]
    before = (abs(by_tap) * largest).sum((1, 2)) + abs(bias)
    if int(before.max()) >= ROOM and len(remaining) == filters and len(known.kept) == width:
        return None  # anything, of a sum that nobody has changed
    _need_room(op, before, "before")
    here = (abs(by_tap) * largest * ~gone[reads][:, None]).sum((1, 2)) + abs(folded)
    _need_room(op, here[list(remaining)], "of what is left")
    if groups == 1:
        _check_folded(op, by_tap, known, gone, masks, remaining, folded - bias)
    least = np.minimum(by_tap * low[:, None], by_tap * high[:, None]).sum(2)
    greatest = np.maximum(by_tap * low[:, None], by_tap * high[:, None]).sum(2)
    ends = ((masks @ least.T).min(0) + bias, (masks @ greatest.T).max(0) + bias)
    stored = _stored(op, base, ends[0].tolist(), ends[1].tolist(), letters == "oi")
    if stored is None:
        return None
    return [Known(*stored, remaining, ~by_tap.any((1, 2)), fed)]


def _zero_point(value: SSAValue) -> int:
    """Return the zero point of stored integers; 0 of real numbers."""
    return (encoding_of(value).zero_points or (0,))[0]


def _real_ends(
    op: WeighingOp,
    reading: Reading,
    known: Known,
    by_tap: Array,
    reads: Array,
    masks: Array,
    left: tuple[int, ...],
) -> tuple[Array, Array] | None:
    """Between what real sums of all filters are; None where one may be infinite."""
    bias: Array = np.zeros(len(by_tap))
    if len(op.operands) > 2:
        value, taken = reading.taken(op.operands[2])
        array = reading.constant(value)
        if array is None or not is_real(value):
            return None
        if len(taken) > 1 or next(iter(taken.values()), tuple(range(len(by_tap)))) != left:
            raise MemoptError("biases are left of other filters than weights", place_of(op))
        bias = array.reshape(-1).astype(np.float64)
    if not are_finite(known.low, known.high, by_tap, bias):
        return None
    low, high = known.low[reads], known.high[reads]
    products = [by_tap * end[:, None] for end in (low, high)]
    least = (masks @ np.minimum(*products).sum(2).T).min(0)
    greatest = (masks @ np.maximum(*products).sum(2).T).max(0)
    size = np.maximum(*map(abs, products)).sum((1, 2))
    count = by_tap.shape[1] * by_tap.shape[2]
    ends = rounded_sum(least + bias, greatest + bias, size + abs(bias) * (size > 0), count)
    return None if ends is None else clamped(op, *ends)


def _check_lost_zeros(
    op: WeighingOp, by_tap: Array, known: Known, gone: Array, left: tuple[int, ...]
) -> None:
    """Check that the channels of real numbers that were left out add zeros, wherever the window
    is."""
    used = (by_tap[list(left)] != 0).any((0, 1))
    if (used & gone & ~((known.low == 0) & (known.high == 0))).any():
        text = f"{name_of(op.operands[0])} has lost a channel that is not zero and is read here"
        raise MemoptError(text, place_of(op))


def _groups(op: WeighingOp, by_tap: Array, known: Known) -> int | None:
    """1 where filters add up all channels, the channels where each reads one, before any was left
    out; None for anything else."""
    depth, width = by_tap.shape[2], len(known.low)
    property_ = op.properties.get("groups")
    if property_ is None:
        return 1 if depth % width == 0 else None
    groups = int(property_.value.data)  # type: ignore[attr-defined]
    if groups == 1 and depth == width:
        return 1
    if depth == 1 and groups == len(known.kept) and by_tap.shape[0] % width == 0:
        return width
    all_left = len(known.kept) == width
    return groups if all_left and depth * groups == width else None


def _check_depth(
    op: WeighingOp, taken: tuple[int, ...] | None, known: Known, by_tap: Array, groups: int
) -> None:
    """Weights are left for the channels that are."""
    width, places = len(known.low), by_tap.shape[1]
    expected: tuple[int, ...] | None = None
    if groups == 1 and len(known.kept) < width:
        vectors = places if "groups" not in op.properties else 1
        expected = tuple(p * width + c for p in range(vectors) for c in known.kept)
    if taken != expected:
        raise MemoptError("weights are left for other channels than the input's", place_of(op))


def _follows(left: tuple[int, ...], known: Known, times: int) -> bool:
    return left == tuple(c * times + k for c in known.kept for k in range(times))


def _biases(
    op: WeighingOp, reading: Reading, base: SSAValue, deep: int, left: tuple[int, ...]
) -> tuple[Array, Array]:
    """The bias of all filters: that of the file, and with what was folded into it."""
    zero, axis = encoding_of(base).zero_points[0], deep
    weights = reading.constant(base)
    assert weights is not None
    filters = weights.shape[(encoding_of(base).layout.data or "oi").index("o")]
    added: Array = np.zeros(filters, np.int64)
    if len(op.operands) < 3:
        return added, added
    value, taken = reading.taken(op.operands[2])
    own_filters = next(iter(taken.values()), tuple(range(filters)))
    if len(taken) > 1 or own_filters != left:
        raise MemoptError("biases are left of other filters than weights", place_of(op))
    maker = value.owner
    if isinstance(maker, FoldIntoBiasOp):
        if maker.weights is not base or maker.axis.value.data != axis:
            raise MemoptError("a bias with other weights folded into it", place_of(op))
        by_channel = np.moveaxis(weights.astype(np.int64) - zero, axis, -1).reshape(
            filters, -1, len(maker.values)
        )
        added = (by_channel * np.array(maker.values.get_values(), np.int64)).sum((1, 2))
        if maker.bias is None:
            return np.zeros(filters, np.int64), added
        value = maker.bias
    bias = reading.constant(value)
    if bias is None:
        raise MemoptError("a bias that is known at run time only", place_of(op))
    before: Array = bias.reshape(-1).astype(np.int64)
    return before, before + added


def _seen(op: WeighingOp, taps: int) -> Array:
    """The taps that are in the image, a row for each such set that a window has somewhere."""
    window = op.properties.get("window")
    if not isinstance(window, WindowAttr):
        return np.ones((1, taps), np.int64)
    kernel, stride, dilation, pad = window.sizes
    nchw = encoding_of(op.operands[0]).layout.data == "nchw"
    sizes, places = (shape_of(v)[2 if nchw else 1 :] for v in (op.operands[0], op.results[0]))
    seen: list[set[tuple[int, ...]]] = []
    for i, k in enumerate(kernel):
        tap_sets: set[tuple[int, ...]] = set()
        for place in range(places[i]):
            at = [place * stride[i] - pad[i] + tap * dilation[i] for tap in range(k)]
            tap_sets.add(tuple(int(0 <= a < sizes[i]) for a in at))
        seen.append(tap_sets)
    rows = [np.ravel(np.multiply.outer(*pair)) for pair in product(*seen)] if len(seen) == 2 else []
    return np.array(rows or [list(s) for s in seen[0]], np.int64)


def _need_room(op: WeighingOp, sums: Array, when: str) -> None:
    """sum(|w| |x|) + |b| of every filter is an int32."""
    if len(sums) and int(sums.max()) >= ROOM:
        text = f"sum(|w| |x|) + |b| {when} may be {int(sums.max()):,}, no int32"
        raise MemoptError(text, place_of(op))


def _check_folded(
    op: WeighingOp,
    by_tap: Array,
    known: Known,
    gone: Array,
    masks: Array,
    left: tuple[int, ...],
    added: Array,
) -> None:
    """Check that the channels that were left out add nothing, or stand in the bias, at every
    place."""
    zp, filters = encoding_of(op.operands[0]).zero_points[0], list(left)
    used = by_tap[filters][:, :, gone]  # filter, tap, channel
    values, constant = (known.low - zp)[gone], known.constant[gone]
    name = name_of(op.operands[0])
    if used[:, :, ~constant].any():
        raise MemoptError(f"{name} has lost a channel that varies and is read here", place_of(op))
    sometimes = masks.min(0) == 0  # taps that a window may have in the padding
    if used[:, sometimes][:, :, constant & (values != 0)].any():
        text = f"{name} has lost a constant that is not the zero point, which padding is"
        raise MemoptError(text, place_of(op))
    expected = (used * np.where(constant, values, 0)).sum((1, 2))
    if (expected != added[filters]).any():
        text = f"the bias has {added[filters].tolist()[:4]} added, not {expected.tolist()[:4]}"
        raise MemoptError(text, place_of(op))


def _stored(
    op: WeighingOp, base: SSAValue, least: list[int], most: list[int], matrix: bool
) -> tuple[Array, Array] | None:
    """Sums between these, as the result stores them; None where they cannot be."""
    source, weights, result = (encoding_of(v) for v in (op.operands[0], base, op.results[0]))
    step, out, zero = source.scales[0], result.scales[0], result.zero_points[0]
    within = even_range if rounds_even(op) else quantized_range
    low, high = within(op.activation_name, out, zero, *type_limits(op.results[0]))
    of_bytes = type_limits(op.operands[0]) == (0, 255)  # their scales are multiplied as floats
    ends: list[tuple[int, int]] = []
    for i, pair in enumerate(zip(least, most, strict=True)):
        scale = weights.scales[i if len(weights.scales) > 1 else 0]
        single = of_bytes or (matrix and len(weights.scales) == 1)
        real = (float32(step * scale) if single else step * scale) / out
        try:
            rules = requantizers(real, may_round_once(op))
            if rounds_even(op):
                rules = [even_requantizer(step, scale, out)]
            rescaled = [[f(v) + zero for v in pair] for f in rules]
        except MemoptError:
            return None
        clamped = [[max(low, min(high, v)) for v in row] for row in rescaled]
        ends.append((min(row[0] for row in clamped), max(row[1] for row in clamped)))
    return np.array([a for a, _ in ends]), np.array([b for _, b in ends])
