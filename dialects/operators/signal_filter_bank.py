"""Filter banks over a spectrum, and what is made of their channels, as the signal library of
TensorFlow Lite for microcontrollers computes them: integers without a sign."""

import math
from collections.abc import Sequence

from xdsl.dialects.builtin import I64, IntegerAttr, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, unknown
from memopt.dialects.memgraph.definition import operation_definition
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import TYPES, ComputeOp, OneResultOp
from memopt.dialects.operators.signal_fft import need_numbers
from memopt.dialects.operators.stateful import Left, StatefulOp

Number = IntegerAttr[I64]

LOG_SEGMENTS = 128
GAINS = 125  # 2 of small numbers, then 4 for each position of the highest bit


def log_corrections() -> Array:
    """Return what log2(1 + x) is more than x at the ends of 128 parts of 0 to 1, of 65536."""
    at = [i / LOG_SEGMENTS for i in range(LOG_SEGMENTS + 1)]
    return np.array([round((math.log2(1 + x) - x) * 65536) for x in at], np.int64)


class ChannelsOp(ComputeOp):
    """Base: one number of each channel makes one of the result, in one dimension."""

    def check_channels(self, *values: SSAValue) -> None:
        shapes = {shape_of(v) for v in values}
        self.require(len(shapes) == 1 and len(min(shapes)) == 1, "channels in one dimension")


@operation_definition
class SignalFilterBankOp(OneResultOp):
    """Sums of 64 bits over parts of a spectrum, one for each channel: its own part times `weights`
    and the part of the channel before it times `unweights`. A part begins at an element of
    `starts`, its weights at one of `weight_starts`, and is as long as `widths` says; the first part
    is of a channel before the first."""

    name = "memgraph.signal_filter_bank"
    input = operand_def(AnyTensor)
    weights = operand_def(AnyTensor)
    unweights = operand_def(AnyTensor)
    starts = operand_def(AnyTensor)
    weight_starts = operand_def(AnyTensor)
    widths = operand_def(AnyTensor)
    assembly_format = (
        "$input `,` $weights `,` $unweights `,` $starts `,` $weight_starts `,` $widths " + TYPES
    )

    def verify_(self) -> None:
        shapes = [shape_of(v) for v in (*self.operands, self.result)]
        self.require(all(len(s) == 1 for s in shapes), "all in one dimension")
        self.require(shapes[1] == shapes[2], "as many unweights as weights")
        parts = (shapes[6][0] + 1,)
        self.require(shapes[3:6] == [parts] * 3, "a part for each channel and one before them")

    def check_parts(self, parts: Sequence[Array]) -> None:
        """Raise MemoptError for a part outside of the spectrum or the weights, by starts, starts of
        weights and widths."""
        starts, weight_starts, widths = (v.astype(np.int64) for v in parts)
        limits = elements_of(self.input), elements_of(self.weights)
        for first, limit in zip((starts, weight_starts), limits, strict=True):
            inside = (first >= 0) & (first + widths <= limit)
            if not (inside | (widths <= 0)).all():
                raise unknown(self, "a part outside of the spectrum or the weights")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of filter_bank.cc."""
        need_numbers(self, operands[0], "uint32")
        spectrum, *weights = (v.astype(np.int64).astype(np.uint64) for v in operands[:3])
        self.check_parts(operands[3:])
        sums, carried = list[int](), 0
        for part, weight, width in zip(*(v.tolist() for v in operands[3:]), strict=True):
            of_part = spectrum[part : part + max(width, 0)]
            own, after = (v[weight : weight + max(width, 0)] * of_part for v in weights)
            sums.append((carried + int(own.sum())) % (1 << 64))
            carried = int(after.sum())
        return [np.array(sums[1:], np.uint64)]


@operation_definition
class SignalFilterBankSquareRootOp(ChannelsOp):
    """The rounded square root of each channel, shifted down by `bits`, which are known at run
    time."""

    name = "memgraph.signal_filter_bank_square_root"
    input = operand_def(AnyTensor)
    bits = operand_def(AnyTensor)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input `,` $bits " + TYPES

    def verify_(self) -> None:
        self.check_channels(self.input, self.result)
        self.require(elements_of(self.bits) == 1, "one number of bits")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of square_root_64.cc, which rounds up to 2^16 only above 2^32."""
        need_numbers(self, operands[0], "uint64")
        bits = int(operands[1].reshape(-1)[0])
        if not 0 <= bits < 32:
            raise unknown(self, f"a shift by {bits} bits")
        return [np.array([_root(v) >> bits for v in operands[0].tolist()], np.uint32)]


def _root(value: int) -> int:
    root = math.isqrt(value)
    greatest = 0xFFFF if value < 1 << 32 else 0xFFFFFFFF
    return root + int(value - root * root > root and root != greatest)


@operation_definition
class SignalFilterBankSpectralSubtractionOp(StatefulOp, ChannelsOp):
    """The channels less the noise in them, which is remembered: `smoothing` of a channel and `rest`
    of what is remembered, both times 2^-`bits`, and other numbers for odd channels. At least
    `least` of a channel remains. Noise has `extra` bits more than the channels; with `clamped` it
    is never above them. The second result is what is remembered then."""

    name = "memgraph.signal_filter_bank_spectral_subtraction"
    input = operand_def(AnyTensor)
    state = operand_def(AnyTensor)
    smoothing = prop_def(Number)
    rest = prop_def(Number)
    odd_smoothing = prop_def(Number)
    odd_rest = prop_def(Number)
    least = prop_def(Number)
    extra = prop_def(Number)
    bits = prop_def(Number)
    clamped = opt_prop_def(UnitAttr)
    result = result_def(AnyTensor)
    noise = result_def(AnyTensor)
    assembly_format = (
        "$input `state` $state `smoothing` $smoothing `rest` $rest `odd_smoothing` $odd_smoothing"
        " `odd_rest` $odd_rest `least` $least `extra` $extra `bits` $bits"
        " (`clamped` $clamped^)? " + TYPES
    )

    def verify_(self) -> None:
        self.check_channels(self.input, self.state, self.result, self.noise)
        self.require(all(0 <= n < 32 for n in self.shifts), "shifts by 0 to 31 bits")
        factors = (self.smoothing, self.rest, self.odd_smoothing, self.odd_rest, self.least)
        self.require(all(0 <= v.value.data < 1 << 31 for v in factors), "factors of 31 bits")

    @property
    def shifts(self) -> tuple[int, int]:
        """Return the extra bits of noise, and the bits of factors."""
        return self.extra.value.data, self.bits.value.data

    @property
    def states(self) -> tuple[SSAValue, ...]:
        return (self.state,)

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        return self.run(operands)[0]

    def run(self, operands: Sequence[Array]) -> tuple[list[Array], Left]:
        """Return the results of filter_bank_spectral_subtraction.cc, whose numbers of 32 bits wrap
        round."""
        need_numbers(self, operands[0], "uint32")
        channels, noise = (v.astype(np.uint64) for v in operands)
        extra, bits = map(np.uint64, self.shifts)
        pairs = (self.smoothing, self.rest), (self.odd_smoothing, self.odd_rest)
        odd = np.arange(len(channels)) % 2
        factors = np.array([[f.value.data for f in pair] for pair in pairs], np.uint64)[odd]
        scaled = (channels << extra) & np.uint64(0xFFFFFFFF)
        smooth = (scaled * factors[:, 0] + noise * factors[:, 1]) >> bits
        smooth = smooth & np.uint64(0xFFFFFFFF)
        subtracted = np.minimum(smooth, scaled)
        remaining = (scaled - subtracted) >> extra
        floor = (channels * np.uint64(self.least.value.data)) >> bits
        floor = floor & np.uint64(0xFFFFFFFF)
        after = (subtracted if self.clamped is not None else smooth).astype(np.uint32)
        return [np.maximum(remaining, floor).astype(np.uint32), after], [(self.state, after)]


@operation_definition
class SignalPcanOp(ChannelsOp):
    """Channels times a gain that falls with their noise, shifted down by `shift` to 12 fractional
    bits, then x^2 / 4 below 2 and x - 1 above, of 6. `gains` has a parabola for each position of
    the highest bit."""

    name = "memgraph.signal_pcan"
    input = operand_def(AnyTensor)
    noise = operand_def(AnyTensor)
    gains = operand_def(AnyTensor)
    shift = prop_def(Number)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input `,` $noise `,` $gains `shift` $shift " + TYPES

    def verify_(self) -> None:
        self.check_channels(self.input, self.noise, self.result)
        self.require(len(shape_of(self.gains)) == 1, "gains in one dimension")
        self.require(elements_of(self.gains) >= GAINS, f"at least {GAINS} gains")
        self.require(0 <= self.shift.value.data < 64, "a shift by 0 to 63 bits")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of pcan_argc_fixed.cc."""
        need_numbers(self, operands[0], "uint32")
        gains: list[int] = operands[2].tolist()
        pairs = zip(operands[0].tolist(), operands[1].tolist(), strict=True)
        return [np.array([self._shrunk(v * _gain(n, gains)) for v, n in pairs], np.uint32)]

    def _shrunk(self, product: int) -> int:
        x = (product % (1 << 64) >> self.shift.value.data) % (1 << 32)
        return x * x >> 20 if x < 2 << 12 else (x >> 6) - 64


def _gain(noise: int, gains: Sequence[int]) -> int:
    """Return the gain of 16 bits, as a number of 32 without a sign."""
    if noise <= 2:
        return gains[noise] % (1 << 32)
    high = noise.bit_length()
    fraction = (noise << 11 - high if high < 11 else noise >> high - 11) & 0x3FF
    constant, slope, bend = gains[4 * high - 6 : 4 * high - 3]
    x = _int32(((bend * fraction) >> 5) + (slope << 5))
    x = _int32(_int32(x * fraction) + (1 << 14)) >> 15
    return (x + constant + 0x8000) % 0x10000 - 0x8000 & 0xFFFFFFFF


def _int32(value: int) -> int:
    return (value + (1 << 31)) % (1 << 32) - (1 << 31)


@operation_definition
class SignalFilterBankLogOp(ChannelsOp):
    """`scale` times the natural logarithm of channels that are shifted up by `bits`; 0 of 0 and 1,
    and at most 32767."""

    name = "memgraph.signal_filter_bank_log"
    input = operand_def(AnyTensor)
    scale = prop_def(Number)
    bits = prop_def(Number)
    result = result_def(AnyTensor)
    traits = traits_def(Pure())
    assembly_format = "$input `scale` $scale `bits` $bits " + TYPES

    def verify_(self) -> None:
        self.check_channels(self.input, self.result)
        self.require(0 <= self.bits.value.data < 32, "a shift by 0 to 31 bits")
        self.require(0 <= self.scale.value.data < 1 << 31, "a scale of 31 bits")

    def evaluate(self, operands: Sequence[Array]) -> list[Array]:
        """Return the results of log.cc."""
        need_numbers(self, operands[0], "uint32")
        shifted = operands[0].astype(np.int64) << self.bits.value.data & 0xFFFFFFFF
        return [np.array([self._log(v) for v in shifted.tolist()], np.int16)]

    def _log(self, value: int) -> int:
        if value < 2:
            return 0
        table, power = log_corrections().tolist(), value.bit_length() - 1
        fraction = ((value - (1 << power)) << 16) >> power
        part, within = divmod(fraction, 65536 // LOG_SEGMENTS)
        between = ((table[part + 1] - table[part]) * within) >> 16
        log2 = (power << 16) + fraction + table[part] + between
        log = (45426 * log2 + 32768) >> 16
        return min((self.scale.value.data * log + 32768) % (1 << 32) >> 16, 32767)
