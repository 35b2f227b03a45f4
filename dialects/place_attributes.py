"""Where a buffer lies: in the arena (a number), in another memory, or in none that the plan has.

memgraph.offset = [1024, #memgraph.unplaced<caller>]    in one arena
memgraph.offset = [#memgraph.object<3>]                 in one of several shared objects
"""

from collections.abc import Sequence
from typing import Literal, get_args

from xdsl.dialects.builtin import IntAttr, IntegerAttr, NoneAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import WordAttr, need_counts, one_of

Why = Literal["constant", "caller", "runtime"]


@irdl_attr_definition
class UnplacedAttr(WordAttr):
    """Why a buffer has no offset: flash, the caller's memory, or the run time's own planning."""

    name = "memgraph.unplaced"

    def __init__(self, value: str):
        super().__init__(StringAttr(value))

    def verify(self) -> None:
        one_of(self.data, get_args(Why), "unplaced")


@irdl_attr_definition
class SlotAttr(ParametrizedAttribute):
    """A place in one of several memories: bank and bytes from its start."""

    name = "memgraph.slot"
    bank: StringAttr
    offset: IntAttr

    def __init__(self, bank: str, offset: int):
        super().__init__(StringAttr(bank), IntAttr(offset))

    def verify(self) -> None:
        if self.offset.data < 0:
            raise VerifyException("slot: negative offset")
        need_counts("slot", self.offset.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            bank = parser.parse_identifier_or_str_literal()
            parser.parse_punctuation(",")
            return cls(bank, parser.parse_integer()).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_identifier_or_string_literal(self.bank.data)
            printer.print_string(f", {self.offset.data}")


@irdl_attr_definition
class ObjectAttr(ParametrizedAttribute):
    """A place in a shared object: its index in the plan's `objects`, and bytes from its start.

    `<3>`, or `<3, 16>` for a view of a part of the buffer, which itself begins the object.
    """

    name = "memgraph.object"
    index: IntAttr
    offset: IntAttr

    def __init__(self, index: int, offset: int = 0):
        super().__init__(IntAttr(index), IntAttr(offset))

    def verify(self) -> None:
        if self.index.data < 0 or self.offset.data < 0:
            raise VerifyException("object: negative index or offset")
        need_counts("object", self.index.data, self.offset.data)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            index, offset = parser.parse_integer(), 0
            if parser.parse_optional_punctuation(","):
                offset = parser.parse_integer()
        return cls(index, offset).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            tail = f", {self.offset.data}" if self.offset.data else ""
            printer.print_string(f"{self.index.data}{tail}")


@irdl_attr_definition
class ScratchAttr(ParametrizedAttribute):
    """A buffer of one operator's own, live while it runs: bytes, and offset once placed.

    `<96, 1024>`, or `<96>` before placement and where the run time plans it; in another memory than
    the arena `<96, #memgraph.slot<sram, 1024>>` or `<96, #memgraph.object<3>>`, where `memory` is
    the bank's name or the object's index.
    """

    name = "memgraph.scratch"
    bytes: IntAttr
    offset: IntAttr  # -1: not placed
    memory: StringAttr | IntAttr | NoneAttr

    def __init__(self, bytes: int, place: int | SlotAttr | ObjectAttr = -1):  # noqa: A002
        memory: StringAttr | IntAttr | NoneAttr = NoneAttr()
        if isinstance(place, SlotAttr):
            memory = place.bank
        elif isinstance(place, ObjectAttr):
            memory = place.index
        offset = IntAttr(place) if isinstance(place, int) else place.offset
        super().__init__(IntAttr(bytes), offset, memory)

    @property
    def place(self) -> int | SlotAttr | ObjectAttr:
        """Where it lies: bytes in the arena (-1: not placed), or a place in another memory."""
        if isinstance(self.memory, StringAttr):
            return SlotAttr(self.memory.data, self.offset.data)
        if isinstance(self.memory, IntAttr):
            return ObjectAttr(self.memory.data, self.offset.data)
        return self.offset.data

    def verify(self) -> None:
        if self.bytes.data < 0 or self.offset.data < -1:
            raise VerifyException("scratch: negative bytes or offset")
        need_counts("scratch", self.bytes.data, self.offset.data, least=-1)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            size = parser.parse_integer()
            place: int | SlotAttr | ObjectAttr = -1
            if parser.parse_optional_punctuation(","):
                found = parser.parse_optional_attribute()
                if isinstance(found, SlotAttr | ObjectAttr):
                    place = found
                elif isinstance(found, IntegerAttr):
                    place = found.value.data
                else:
                    parser.raise_error("expected an offset, a slot or an object")
        return cls(size, place).parameters

    def print_parameters(self, printer: Printer) -> None:
        place = self.place
        with printer.in_angle_brackets():
            printer.print_string(f"{self.bytes.data}")
            if not isinstance(place, int) or place >= 0:
                printer.print_string(f", {place}")


PLACE_ATTRIBUTES: tuple[type[Attribute], ...] = (ObjectAttr, ScratchAttr, SlotAttr, UnplacedAttr)
