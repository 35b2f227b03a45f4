"""Where a buffer lies: in the only arena (a number), in one of several memories, or in none.

memgraph.offset = [1024, #memgraph.unplaced<caller>]
memgraph.offset = [#memgraph.slot<dtcm, 1024>, #memgraph.slot<object3, 0>]
"""

from collections.abc import Sequence
from typing import Literal, TypeGuard, get_args

from xdsl.dialects.builtin import IntAttr, IntegerAttr, NoneAttr, StringAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import WordAttr, need_counts, one_of, parse_number
from memopt.dialects.attributes.quick import fill, word

Why = Literal["constant", "caller", "runtime", "virtual"]


@irdl_attr_definition
class UnplacedAttr(WordAttr):
    """Why a tensor has no offset: it lies in flash or in the caller's memory, the run time plans
    it, or it is virtual and its readers read its parts."""

    name = "memgraph.unplaced"

    def __init__(self, value: str):
        super().__init__(StringAttr(value))

    def verify(self) -> None:
        one_of(self.data, get_args(Why), "unplaced")


@irdl_attr_definition
class SlotAttr(ParametrizedAttribute):
    """A place in one of the plan's several memories: its name, and bytes from its start."""

    name = "memgraph.slot"
    memory: StringAttr
    offset: IntAttr

    def __init__(self, memory: str, offset: int):
        fill(self, word(memory), IntAttr(offset))
        self.verify()

    def verify(self) -> None:
        if self.offset.data < 0:
            raise VerifyException("slot: negative offset")
        need_counts("slot", self.offset.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            memory = parser.parse_identifier_or_str_literal()
            parser.parse_punctuation(",")
            return cls(memory, parse_number(parser)).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.memory.data)
            printer.print_string(f", {self.offset.data}")


@irdl_attr_definition
class ScratchAttr(ParametrizedAttribute):
    """A buffer of one operator's own, live while it runs: bytes, and offset once placed.

    `<96, 1024>`, or `<96>` before placement and where the run time plans it; in one of several
    memories `<96, #memgraph.slot<sram, 1024>>`.
    """

    name = "memgraph.scratch"
    bytes: IntAttr
    offset: IntAttr  # -1: not placed
    memory: StringAttr | NoneAttr

    def __init__(self, bytes: int, place: int | SlotAttr = -1):  # noqa: A002
        if isinstance(place, SlotAttr):
            super().__init__(IntAttr(bytes), place.offset, place.memory)
        else:
            super().__init__(IntAttr(bytes), IntAttr(place), NoneAttr())

    @property
    def place(self) -> int | SlotAttr:
        """Return where it lies: bytes in the arena (-1: not placed), or a place in one of several
        memories."""
        if isinstance(self.memory, StringAttr):
            return SlotAttr(self.memory.data, self.offset.data)
        return self.offset.data

    def verify(self) -> None:
        if self.bytes.data < 0 or self.offset.data < -1:
            raise VerifyException("scratch: negative bytes or offset")
        need_counts("scratch", self.bytes.data, self.offset.data, least=-1)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            size = parse_number(parser)
            place: int | SlotAttr = -1
            if parser.parse_optional_punctuation(","):
                attribute = parser.parse_optional_attribute()
                if isinstance(attribute, SlotAttr):
                    place = attribute
                elif _is_number(attribute):
                    place = attribute.value.data
                else:
                    parser.raise_error("expected an offset or a slot")
        return cls(size, place).parameters

    def print_parameters(self, printer: Printer) -> None:
        place = self.place
        with printer.in_angle_brackets():
            printer.print_string(f"{self.bytes.data}")
            if not isinstance(place, int) or place >= 0:
                printer.print_string(f", {place}")


def _is_number(found: Attribute | None) -> TypeGuard[IntegerAttr]:
    """Return whether it is a number without a type, which reads as i64; `true` does not."""
    return isinstance(found, IntegerAttr) and found == IntegerAttr(found.value.data, i64)


PLACE_ATTRIBUTES: tuple[type[Attribute], ...] = (ScratchAttr, SlotAttr, UnplacedAttr)
