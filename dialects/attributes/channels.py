"""Channels that were left out of a tensor, and why nobody misses them.

memgraph.channels = [#memgraph.channels<16, left_out = [2 [-128, -128] zero_weights,
                                                        5 [-128, 40] unread]>]

Of a tensor of 16 channels the operation makes 14 still. Channel 2, counted as it was, would hold
-128 everywhere; channel 5 something between -128 and 40, stored values, which no reader looks at.
Of float32 both are real numbers, `[0.0, 0.0]`.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any, Literal, cast, get_args

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, IntAttr, StringAttr, f64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.input_range import number_text
from memopt.dialects.attributes.operators import one_of, parse_number
from memopt.dialects.attributes.quick import numbers

CHANNELS = "memgraph.channels"
NARROWED = "memgraph.narrowed"
"""In place of `memgraph.source`: the operator of the file of which channels were left out."""
TAKEN = "memgraph.take"  # the operation of weights of which some are left out

Reason = Literal["zero_weights", "constant_inputs", "interval", "unread"]
"""Why a channel may go: it is constant since all weights are zero, or since it reads constants
alone, or since what it stores has one value only; or its readers do not look at it."""


@dataclass(frozen=True)
class LeftOut:
    """One channel, by its index before: the least and the greatest value that it would store, int
    unless it stores real numbers."""

    index: int
    low: float
    high: float
    reason: Reason

    @property
    def is_constant(self) -> bool:
        return self.low == self.high


@irdl_attr_definition
class ChannelsAttr(ParametrizedAttribute):
    """How many channels a tensor had, and each that was left out."""

    name = "memgraph.channels"
    width: IntAttr
    numbers: DenseArrayBase  # index, low and high of each: i64, or f64 of real numbers
    reasons: ArrayAttr[StringAttr]

    def __init__(self, width: int, left_out: Sequence[LeftOut] = ()):
        flat = [n for c in left_out for n in (c.index, c.low, c.high)]
        all_integers = all(isinstance(n, int) for n in flat)
        super().__init__(
            IntAttr(width),
            numbers([int(n) for n in flat])
            if all_integers
            else DenseArrayBase.from_list(f64, [float(n) for n in flat]),
            ArrayAttr([StringAttr(c.reason) for c in left_out]),
        )

    @property
    def left_out(self) -> tuple[LeftOut, ...]:
        flat: tuple[Any, ...] = cast("Any", self.numbers).get_values()
        rows = zip(flat[::3], flat[1::3], flat[2::3], self.reasons.data, strict=True)
        return tuple(LeftOut(int(i), low, high, cast("Reason", r.data)) for i, low, high, r in rows)

    @property
    def kept(self) -> tuple[int, ...]:
        """The indices before of the channels that are left."""
        gone = {c.index for c in self.left_out}
        return tuple(i for i in range(self.width.data) if i not in gone)

    def verify(self) -> None:
        if len(self.numbers) != 3 * len(self.reasons):
            raise VerifyException("channels: three numbers and a reason each")
        before = -1
        for c in self.left_out:
            if not before < c.index < self.width.data:
                raise VerifyException(f"channels: {c.index} is no next one of {self.width.data}")
            if not (isfinite(c.low) and isfinite(c.high)):
                raise VerifyException(f"channels: [{c.low}, {c.high}] is not bounded")
            if c.low > c.high:
                raise VerifyException(f"channels: [{c.low}, {c.high}] is empty")
            one_of(c.reason, get_args(Reason), "reason")
            before = c.index
        if len(self.reasons) >= self.width.data > 0:
            raise VerifyException("channels: none is left")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def one() -> LeftOut:
            index = parse_number(parser)
            parser.parse_punctuation("[")
            low = parser.parse_number()
            parser.parse_punctuation(",")
            high = parser.parse_number()
            parser.parse_punctuation("]")
            return LeftOut(index, low, high, cast("Reason", parser.parse_identifier()))

        left_out: list[LeftOut] = []
        with parser.in_angle_brackets():
            width = parse_number(parser)
            if parser.parse_optional_punctuation(","):
                parser.parse_keyword("left_out")
                parser.parse_punctuation("=")
                left_out = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, one)
        return cls(width, left_out).parameters

    def print_parameters(self, printer: Printer) -> None:
        texts = [f"{c.index} [{_text(c.low)}, {_text(c.high)}] {c.reason}" for c in self.left_out]
        rest = f", left_out = [{', '.join(texts)}]" if texts else ""
        with printer.in_angle_brackets():
            printer.print_string(f"{self.width.data}{rest}")


def _text(number: float) -> str:
    return str(number) if isinstance(number, int) else number_text(number)


def channels_of_result(value: SSAValue) -> ChannelsAttr | None:
    """Return the attribute of the channels that were left out of a value, None if none were."""
    if not isinstance(value, OpResult):
        return None
    entries = value.op.attributes.get(CHANNELS)
    listed = cast("ArrayAttr[Attribute]", entries).data if isinstance(entries, ArrayAttr) else ()
    channels = listed[value.index] if value.index < len(listed) else None
    return channels if isinstance(channels, ChannelsAttr) and channels.left_out else None


def left_out_of(func: FuncOp) -> dict[str, int]:
    """Return how many channels of a function's tensors are left out, by reason; rows count none."""
    counts: dict[str, int] = {}
    for op in func.body.block.ops:
        for value in op.results:
            claims = channels_of_result(value)
            for c in claims.left_out if claims is not None else ():
                counts[c.reason] = counts.get(c.reason, 0) + 1
    return counts


def is_slimmed(op: Operation) -> bool:
    """Return whether channels of an operation's operands or results were left out."""
    return CHANNELS in op.attributes or NARROWED in op.attributes


def has_claims(func: FuncOp) -> bool:
    """Return whether channels were left out of tensors of a function: it says so of one of them, of
    an operator, or of weights. Few do."""
    return any(is_slimmed(op) or op.name == TAKEN for op in func.walk())


CHANNEL_ATTRIBUTES: tuple[type[Attribute], ...] = (ChannelsAttr,)
