"""Weights packed for two pixels times four channels, and what has to be true for that.

    packed = pack(op, matrix, bias, reals)      # the fields of memopt_packed
    packed = pack(op, matrix, bias, reals, 7)   # of weights whose zero point is 7
    column_bytes(taps, pixels)                  # of scratch

`kernels/memopt_packed_s8.h` says what stands in the stream. A block of four channels is FUSED where
the proofs hold for each of them, FLOAT where they are rounded as ONNX does, PACKED where only two
channels may share a halfword, else PLAIN.
"""

from collections.abc import Sequence
from typing import NamedTuple

from xdsl.ir import Operation

from memopt.backends.c.emit.call import Array, Table, per_tensor
from memopt.backends.c.emit.int8 import EVEN, WIDE, Fields, codes, int8_range
from memopt.dialects.arithmetic.even_rounding import rescaled
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.scalars import multiply, saturate

BLOCK = 4  # channels: MEMOPT_BLOCK
FUSED, PACKED, PLAIN, FLOAT = range(4)  # memopt_block_kind, MEMOPT_FLOAT
LARGEST = 128  # |x| of an int8
SUMMED = 252  # taps whose sum, of any sign, is an int16: MEMOPT_SUMMED
BYTES = (1, 1 << 8, 1 << 16, 1 << 24)  # of a word


def padded(taps: int) -> int:
    """Taps of a column: a multiple of four, those that are missing have weights of zero."""
    return -(-taps // 4) * 4


def sum_taps(taps: int) -> int:
    """Return the taps of the sums of a column, of each two."""
    return padded(2 * -(-padded(taps) // SUMMED))


def column_bytes(taps: int, pixels: int) -> int:
    """Return the bytes of as many pixels widened to int16."""
    return 2 * pixels * padded(taps)


class Channel(NamedTuple):
    """Numbers that make one channel of the result: sums of `weights` times int8, and `bias`, times
    `multiplier` * 2**(code - 31), by the rules of memopt_requantize."""

    weights: Array  # int64, padded
    bias: int
    multiplier: int
    code: int
    reach: int  # the largest |sum| without the bias


class Rounding(NamedTuple):
    """Numbers that all channels share."""

    zero_point: int
    low: int
    high: int


def pack(
    op: Operation, matrix: Array, bias: Array, reals: Sequence[float], zero_point: int = 0
) -> Fields:
    """The fields of memopt_packed. `matrix` are the int8 weights, channels by taps, `bias` what is
    folded with the input's zero point, in 64 bits, `reals` a multiplier or one per channel. Weights
    of another zero point than 0 stand before those of the sums of a column.
    Raises MemoptError where a sum could overflow."""
    rounding = rounding_of(op)
    channels = channel_list(op, matrix, bias, reals, rounding, zero_point)
    taps = channels[0].weights.size
    channels += [Channel(np.zeros(taps, np.int64), 0, 0, -1, 0)] * (-len(channels) % BLOCK)
    blocks = [channels[at : at + BLOCK] for at in range(0, len(channels), BLOCK)]
    kinds = [_kind(block, rounding) for block in blocks]
    words = [block_words(kind, block) for kind, block in zip(kinds, blocks, strict=True)]
    return _fields(taps, rounding, kinds, np.concatenate(words))


def pack_columns(op: Operation, matrix: Array, bias: Array, reals: Sequence[float]) -> Fields:
    """Return the fields of `pack` for `kernels/convolution/memopt_columns_3x3_s8.h`, nine taps a
    channel."""
    rounding = rounding_of(op)
    channels = channel_list(op, matrix, bias, reals, rounding)
    kinds = [_column_kind(channel, rounding) for channel in channels]
    words = [_column_words(k, c, rounding) for k, c in zip(kinds, channels, strict=True)]
    return _fields(matrix.shape[1], rounding, kinds, np.concatenate(words))


def _column_kind(channel: Channel, rounding: Rounding) -> int:
    if channel.code == EVEN:
        return FLOAT
    return FUSED if _fuses(channel, rounding) else PACKED


def rounding_of(op: Operation) -> Rounding:
    """Return the rounding of the result."""
    (_, low), (_, high) = int8_range(op, op.results[0])
    return Rounding(per_tensor(op, op.results[0])[1], low, high)


def channel_list(
    op: Operation,
    matrix: Array,
    bias: Array,
    reals: Sequence[float],
    rounding: Rounding,
    zero_point: int = 0,
) -> list[Channel]:
    """Return the channels of an operator, as `pack` takes it."""
    count, taps = matrix.shape
    wide = np.zeros((count, padded(taps)), np.int64)
    wide[:, :taps] = matrix
    if zero_point:
        wide = _beside_sums(wide, zero_point, sum_taps(taps))
    reach = LARGEST * np.abs(matrix.astype(np.int64) - zero_point).sum(axis=1)
    largest = np.abs(bias) + reach
    multipliers, shifts = codes(op, largest, list(reals) * (count if len(reals) == 1 else 1))
    return [
        _constant(Channel(w, int(b), int(m), int(s), int(r)), rounding)
        for w, b, m, s, r in zip(wide, bias, multipliers, shifts, reach, strict=True)
    ]


def _beside_sums(weights: Array, zero_point: int, taps: int) -> Array:
    """Return the weights of channels, and behind them their zero point for each tap of a sum. A
    channel moves both up where a weight is -128, which shares no halfword with a negative one."""
    least, largest = (ends(weights, axis=1, keepdims=True) for ends in (np.min, np.max))
    up = (least == -LARGEST) & (np.maximum(largest, zero_point) < LARGEST - 1)
    return np.hstack([weights + up, np.repeat(zero_point + up, taps, axis=1)])


def _fields(taps: int, rounding: Rounding, kinds: Sequence[int], stream: Array) -> Fields:
    mixed = Table("uint8_t", np.array(kinds, np.uint8), ("OTHER_BLOCKS",))
    alike = {*kinds} in ({FUSED}, {FLOAT})
    return (
        ("packed.taps", taps),
        ("packed.zero_point", rounding.zero_point),
        ("packed.act_min", rounding.low),
        ("packed.act_max", rounding.high),
        ("packed.full", int((rounding.low, rounding.high) == (-128, 127))),
        ("packed.stream", Table("uint32_t", stream)),
        ("packed.kinds", "NULL" if alike else mixed),
        *((("packed.kind", FLOAT),) if alike and FLOAT in kinds else ()),
    )


def _kind(block: Sequence[Channel], rounding: Rounding) -> int:
    """The best kind that is proven for a block."""
    if not all(
        _shares(first, second) for first, second in zip(block[::2], block[1::2], strict=True)
    ):
        return PLAIN
    if any(channel.code == EVEN for channel in block):
        return FLOAT if all(_holds_bias(channel) for channel in block[1::2]) else PACKED
    return FUSED if all(_fuses(channel, rounding) for channel in block) else PACKED


def _shares(low: Channel, high: Channel) -> bool:
    """Return whether two channels can share halfwords: 256 * high + low is an int16, and what is
    left of the sums' 32 bits holds the second."""
    shared = _shared(low, high)
    fits = shared.min() >= -(1 << 15) and shared.max() < 1 << 15
    return bool(fits) and high.reach < 1 << 23


def _holds_bias(high: Channel) -> bool:
    """Return whether a channel that shares another's sum can begin with its bias there."""
    return abs(high.bias) + high.reach < 1 << 23


def _fuses(channel: Channel, rounding: Rounding) -> bool:
    """Return whether the rounding can be one, see MEMOPT_FUSED: the sum is small, the shift is to
    the right, and nothing overflows."""
    shift = -channel.code
    largest = abs(channel.bias) + channel.reach
    if shift < 1 or largest >= 1 << 30:
        return False
    return (largest * channel.multiplier >> 31) + 1 + (
        abs(2 * rounding.zero_point + 1) << (shift - 1)
    ) < 1 << 31


def _constant(channel: Channel, rounding: Rounding) -> Channel:
    """A channel whose result is the same for all inputs as one without weights, so that it fuses:
    the rules leave some of them with sums that reach far. Results rise with sums."""
    if _fuses(channel, rounding) or (channel.code == EVEN and _holds_bias(channel)):
        return channel
    ends = {_result(channel, by, rounding) for by in (-channel.reach, channel.reach)}
    if len(ends) > 1:
        return channel
    value, weights = ends.pop() - rounding.zero_point, 0 * channel.weights
    if channel.code == EVEN:
        return Channel(weights, value, _bits(1.0), EVEN, 0)
    return Channel(weights, 4 * value, 1 << 30, -1, 0)  # halved twice, exactly


def _result(channel: Channel, by: int, rounding: Rounding) -> int:
    """Return the result of a channel whose sum without its bias is `by`."""
    shift = channel.code - WIDE if channel.code >= 0 else channel.code
    total = channel.bias + by
    if channel.code == EVEN:
        multiplied = int(rescaled(np.array(total), [_real(channel)]).item())
    else:
        multiplied = multiply(total, channel.multiplier, shift)
    return saturate(multiplied + rounding.zero_point, rounding.low, rounding.high)


def _real(channel: Channel) -> float:
    """Return the float whose bits are the multiplier."""
    return float(np.array(channel.multiplier, np.int32).view(np.float32))


def _bits(real: float) -> int:
    return int(np.array(real, np.float32).view(np.int32))


def _shared(low: Channel, high: Channel) -> Array:
    return 256 * high.weights + low.weights


def block_words(kind: int, block: Sequence[Channel]) -> Array:
    """Return the words of a block in the stream, as uint32."""
    if kind == PLAIN:
        taps = np.array([c.weights for c in block]).reshape(BLOCK, -1, 4).transpose(1, 0, 2)
        weights = taps.astype(np.uint8).astype(np.uint32) @ np.array(BYTES, np.uint32)
    else:
        pairs = [_shared(a, b) for a, b in zip(block[::2], block[1::2], strict=True)]
        halves = np.array(pairs).astype(np.uint16).astype(np.uint32).reshape(BLOCK // 2, -1, 2, 2)
        weights = (halves[:, :, 0] | halves[:, :, 1] << 16).transpose(1, 2, 0)
    if kind == FLOAT:
        return _float_words(weights.reshape(-1), block)
    last = [(2 * c.bias if kind == FUSED else c.bias, c.multiplier) for c in block]
    shifts = np.array([_shift(kind, c) for c in block]).astype(np.uint8).astype(np.uint32)
    return np.concatenate(
        [
            weights.reshape(-1),
            np.array(last, np.int64).astype(np.uint32).reshape(-1),
            [shifts @ np.array(BYTES, np.uint32)],
        ]
    )


def _float_words(weights: Array, block: Sequence[Channel]) -> Array:
    """Return the words of a block of floats."""
    pairs = list(zip(block[::2], block[1::2], strict=True))
    begin = [bias for a, b in pairs for bias in (a.bias, 256 * b.bias + a.bias)]
    last = [_bits(real) for a, b in pairs for real in (_real(a), _real(b) / 256)]
    words = np.array([*begin, *last, 0], np.int64).astype(np.uint32)
    return np.concatenate([words[:BLOCK], weights, words[BLOCK:]])


def _shift(kind: int, channel: Channel) -> int:
    """The byte that says how far sums are shifted."""
    return -channel.code - 1 if kind == FUSED else channel.code


def _column_words(kind: int, channel: Channel, rounding: Rounding) -> Array:
    """Return the words of a channel in the stream of columns, as uint32."""
    taps = channel.weights[:9].reshape(3, 3)
    bytes_ = [
        (taps[0, 0], taps[0, 1], taps[1, 0], taps[1, 1]),
        (taps[0, 2], taps[2, 0], taps[1, 2], taps[2, 1]),
        (taps[2, 1], _shift(kind, channel), taps[2, 2], 0),
    ]
    weights = np.array(bytes_).astype(np.uint8).astype(np.uint32) @ np.array(BYTES, np.uint32)
    base = 2 * rounding.zero_point + 1
    last = (
        (2 * channel.bias, channel.multiplier, base << _shift(kind, channel))
        if kind == FUSED
        else (channel.bias, channel.multiplier, rounding.zero_point if kind == FLOAT else 0)
    )
    return np.concatenate([weights, np.array(last, np.int64).astype(np.uint32)])
