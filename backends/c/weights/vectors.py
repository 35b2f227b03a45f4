"""Weights as Helium's kernels read them, and what has to be true for that.

    fields = blocks_of(channels, steps)    # of memopt_conv_2d_blocks_s8
    fields = strips_of(channels, taps)     # of memopt_depthwise_strips_s8

The kernels say what stands in a stream.
"""

from collections.abc import Sequence

from memopt.backends.c.emit.call import Array, Table
from memopt.backends.c.emit.int8 import EVEN, Fields
from memopt.backends.c.weights.packing import BLOCK, LARGEST, Channel
from memopt.dialects.arithmetic.lazy_numpy import np

STEP = 16  # taps: a vector of bytes
LANES = 16  # channels of a strip
HALF = 8  # channels: a vector of int16
PAIRS, SINGLE, WIDE, FLOAT, FLOAT_PAIRS = range(5)  # of memopt_depthwise_strips_s8
WIDE_BLOCK, FLOAT_BLOCK = 1, 2  # in `wide` of memopt_conv_2d_blocks_s8


def blocks_of(channels: Sequence[Channel], steps: int) -> Fields:
    """Four channels at a time, sixteen taps of each."""
    words: list[Array] = []
    wide: list[int] = []
    for block in _parts(channels, BLOCK):
        taps = _weights(block, STEP * steps).reshape(BLOCK, -1, STEP)
        words += [_words(taps.transpose(1, 0, 2)), _ends(block), np.zeros(1, np.int32)]
        all_even = all(channel.code == EVEN for channel in block)
        wide.append(FLOAT_BLOCK if all_even else WIDE_BLOCK * _is_wide(block))
    mixed = any(wide) or len(channels) % BLOCK
    return (
        ("stream", Table("int32_t", np.concatenate(words))),
        ("wide", Table("uint8_t", np.array(wide, np.uint8), ("WIDE_BLOCKS",)) if mixed else "NULL"),
    )


def strips_of(channels: Sequence[Channel], taps: int) -> Fields:
    """Eight channels at a time, tap by tap."""
    words: list[Array] = []
    kinds: list[int] = []
    for half in _parts(channels, HALF):
        weights = _weights(half, taps | 1)
        words += [_ends([*half[::2], *half[1::2]]), _words(weights.T)]
        kinds.append(_kind(half, _pairs(weights)))
    needs = ("WIDE_STRIPS",) if WIDE in kinds else ()
    return (
        ("stream", Table("int32_t", np.concatenate(words))),
        ("kinds", Table("uint8_t", np.array(kinds, np.uint8), needs)),
    )


def _kind(half: Sequence[Channel], pairs: bool) -> int:
    if half[0].code == EVEN:  # as all that are there
        return FLOAT_PAIRS if pairs else FLOAT
    return WIDE if _is_wide(half) else PAIRS if pairs else SINGLE


def _pairs(weights: Array) -> bool:
    """Return whether the products of any two neighbours behind the first tap add up in 16 bits."""
    size = abs(weights[:, 1:].astype(int))
    return bool(((size[:, ::2] + size[:, 1::2]) * LARGEST < 1 << 15).all())


def _parts(channels: Sequence[Channel], size: int) -> list[list[Channel]]:
    """Return the channels `size` at a time; those that are missing at the end give 0."""
    missing = Channel(np.zeros(1, np.int64), 0, 0, -1, 0)
    full = [*channels, *[missing] * (-len(channels) % size)]
    return [full[at : at + size] for at in range(0, len(full), size)]


def _weights(channels: Sequence[Channel], taps: int) -> Array:
    """int8, channels by taps, of which some may be missing."""
    matrix = np.zeros((len(channels), taps), np.int8)
    for row, channel in zip(matrix, channels, strict=True):
        row[: len(channel.weights)] = channel.weights[:taps]
    return matrix


def _is_wide(channels: Sequence[Channel]) -> bool:
    return any(channel.code >= 0 for channel in channels)


def _ends(channels: Sequence[Channel]) -> Array:
    """Biases, multipliers, codes."""
    numbers = [[c.bias for c in channels], [c.multiplier for c in channels]]
    code = np.array([c.code for c in channels], np.int8)
    return np.concatenate([np.array(numbers, np.int32).reshape(-1), _words(code)])


def _words(bytes_: Array) -> Array:
    """int8 as the little-endian words that they lie in."""
    return np.ascontiguousarray(bytes_, np.int8).reshape(-1).view("<i4").astype(np.int32)
