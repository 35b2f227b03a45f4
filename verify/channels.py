"""The verifier of channels that were left out (`#memgraph.channels`).

A narrowed function still says what it was: how many channels each tensor had, and of which weights
and biases some are taken. From that alone the intervals of all channels are derived again, in other
ways than in analysis/ (verify/stored_intervals.py), and every claim and every reader is held to
them. What comes out: the function computes, of the channels that are left, what the one before
would have computed, and no sum of either can leave an int32, or be infinite where it is real.
"""

from collections.abc import Callable
from math import prod

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.traits import IsTerminator

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.channels import channels_of_result, has_claims
from memopt.dialects.attributes.input_range import LARGEST, declared_ranges
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import channels_of, elements_of, is_buffer, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.constants import TakeOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.traits import ByChannel, Monotone
from memopt.dialects.operators.weighing import WeighingOp
from memopt.verify.real_intervals import are_finite, as_float32, is_real, rounded_sum
from memopt.verify.stored_intervals import (
    Known,
    Reading,
    after,
    anything,
    between,
    everywhere,
    has_integers,
    known_of,
)
from memopt.verify.weighted_sums import after_weighing
from memopt.verify.whole_operators import whole_operators

MOST_CHANNELS = 1 << 24  # of all tensors together, each of which has an interval
MOST_ELEMENTS = 1 << 26  # of a tensor, of which the ends are evaluated

Read = Callable[[Operation], Array]
"""The elements of a constant."""


def check_channels(func: FuncOp, read: Read) -> int:
    """Return how many claims a function makes of channels, all of which hold; 0 if none was left
    out. Raises MemoptError."""
    return verify_channels(func, read) if has_claims(func) else 0


def verify_channels(func: FuncOp, read: Read) -> int:
    """Return how many claims a function makes of channels, of whole operators or of rows. Raises
    MemoptError with the first that is not so, and for channels that are missing without one."""
    _check_sizes(func)
    reading = Reading(lambda value: _constant(value, read))
    block, count = body_of(func), 0
    declared = dict(zip(block.args, declared_ranges(func), strict=True))
    for value in block.args:
        if is_buffer(value.type):
            known = reading.known[value] = anything(value)
            if (ends := declared.get(value)) is not None:
                low, high = (np.full(len(known.low), float(end)) for end in ends)
                reading.known[value] = known_of(*as_float32(low, high), known.kept)
    for operator in whole_operators(block):
        op = operator.operation
        for value, tensor in operator.tensors:
            if tensor in reading.known:
                reading.known[value] = reading.known[tensor]
        if op.has_trait(IsTerminator):
            _need_all(op, reading)
        elif not op.results or not is_constant_expression(op.results[0], GENERIC):
            count += _check(op, reading)
    return count


def _check_sizes(func: FuncOp) -> None:
    """Raise MemoptError for tensors without a fixed shape, and for more channels, or elements of a
    tensor, than intervals are derived of: a short text may say any number."""
    channels = 0
    for op in func.walk():
        arguments = [v for region in op.regions for block in region.blocks for v in block.args]
        for value in (*arguments, *op.results):
            if not is_buffer(value.type):
                continue
            shape = shape_of(value)
            if min(shape, default=0) < 0:
                text = f"{name_of(value)} has a dynamic dimension; fix it with --shape"
                raise MemoptError(text, place_of(op))
            claims = channels_of_result(value)
            width = claims.width.data if claims is not None else 0
            channels += max(width, channels_of(value))
            if channels > MOST_CHANNELS or prod(shape) > MOST_ELEMENTS:
                text = f"{name_of(value)} has too many channels or elements to verify claims"
                raise MemoptError(text, place_of(op))


def _constant(value: SSAValue, read: Read) -> Array | None:
    """The elements of a constant expression as they are in the IR, None for any other value."""
    if not isinstance(value, OpResult) or not is_constant_expression(value, GENERIC):
        return None
    if is_constant_like(value.op):
        return read(value.op)
    if not isinstance(value.op, ComputeOp) or isinstance(value.op, TakeOp):
        raise MemoptError("a constant that is read as one of a narrowed operation", name_of(value))
    operands = [_constant(v, read) for v in value.op.operands]
    return value.op.evaluate(operands)[value.index]


def _need_all(op: Operation, reading: Reading) -> None:
    """Raise MemoptError if an operation that needs all channels of its operands has not."""
    for value in op.operands:
        known = reading.known.get(value)
        if known is not None and len(known.kept) != len(known.low):
            text = f"{name_of(value)} has channels left out, but all of them are needed here"
            raise MemoptError(text, place_of(op))


def _check(op: Operation, reading: Reading) -> int:
    """Derive what an operation makes, and hold its claims to it; how many there are."""
    if op.regions or not isinstance(op, ComputeOp):
        intervals = None
    elif isinstance(op, WeighingOp):
        intervals = after_weighing(op, reading)
    else:
        intervals = after(op, reading)
    if intervals is None:
        _need_all(op, reading)
        intervals = _of_ends(op, reading)
    count = 0
    for value, known in zip(op.results, intervals, strict=True):
        if known is not None:
            count += _check_claims(op, value, known)
            reading.known[value] = known
    return count


def _of_ends(op: Operation, reading: Reading) -> list[Known | None]:
    """Return the intervals of the results of an operation that has lost no channel: for a monotone
    one, between its results for the least and for the greatest values; else anything."""
    unknown: list[Known | None] = [anything(v) if is_buffer(v.type) else None for v in op.results]
    known = [reading.known.get(v) for v in op.operands]
    if not isinstance(op, ComputeOp) or not op.has_trait(Monotone) or None in known:
        return unknown
    values = (*op.operands, *op.results)
    if not all(map(_elements_by_channel, values)):  # a scalar, or a tensor of no elements
        return unknown
    if not all(map(has_integers, values)):
        ends = [end for k in known if k is not None for end in (k.low, k.high)]
        if not all(map(is_real, values)) or not are_finite(*ends):
            return unknown
        if isinstance(op, MeanOp):
            return [_real_mean(op, ends[0], ends[1])]
        if op.has_trait(ByChannel):  # or it has other channels than it reads
            return unknown
        # what else never falls chooses
    pairs = [(v, k) for v, k in zip(op.operands, known, strict=True) if k is not None]
    try:
        least = op.evaluate([everywhere(v, k.low) for v, k in pairs])
        greatest = op.evaluate([everywhere(v, k.high) for v, k in pairs])
    except MemoptError:
        return unknown
    ends = zip(op.results, least, greatest, strict=True)
    return [between(v, low, high) for v, low, high in ends]


def _elements_by_channel(value: SSAValue) -> int:
    """Return how many elements a channel has, 0 for a scalar, whose channel is no dimension."""
    return elements_of(value) // channels_of(value) if elements_of(value) and shape_of(value) else 0


def _real_mean(op: MeanOp, low: Array, high: Array) -> Known:
    """A mean of real numbers, over whatever dimensions."""
    shape = shape_of(op.input)
    count = int(np.prod([shape[int(a)] for a in op.axes.get_values()], dtype=np.int64))
    size = np.maximum(abs(low), abs(high))
    if float(size.max()) * count >= LARGEST:
        return anything(op.result)
    ends = (op.evaluate([everywhere(op.input, v)])[0].astype(np.float64) for v in (low, high, size))
    least, greatest, without_signs = ends
    sums = rounded_sum(least, greatest, 3 * without_signs, count)
    return anything(op.result) if sums is None else between(op.result, *sums)


def _check_claims(op: Operation, value: OpResult, known: Known) -> int:
    """Hold the claims of a result to what is known of it."""
    claims = channels_of_result(value)
    width = claims.width.data if claims is not None else channels_of(value)
    claimed = claims.kept if claims is not None else tuple(range(width))

    def fail(text: str) -> None:
        raise MemoptError(f"{name_of(value)}: {text}", place_of(op))

    if width != len(known.low) or claimed != known.kept:
        fail(f"channels {_short(claimed)} of {width} are left, not {_short(known.kept)}")
    if channels_of(value) != len(claimed):
        fail(f"{len(claimed)} channels are left of {shape_of(value)}")
    for c in claims.left_out if claims is not None else ():
        low, high = known.low[c.index].item(), known.high[c.index].item()
        if low < c.low or high > c.high:
            fail(f"channel {c.index} is in [{low}, {high}], not in [{c.low}, {c.high}]")
        if c.reason != "unread" and not c.is_constant:
            fail(f"channel {c.index} is said to be constant, in [{c.low}, {c.high}]")
        if c.reason == "zero_weights" and not known.zero[c.index]:
            fail(f"channel {c.index} has weights that are not zero")
        if c.reason == "constant_inputs" and not known.fed[c.index]:
            fail(f"channel {c.index} reads channels that are not constant")
    return len(claims.left_out) if claims is not None else 0


def _short(kept: tuple[int, ...]) -> str:
    text = str(list(kept))
    return text if len(text) < 60 else f"{text[:50]}...] ({len(kept)})"
