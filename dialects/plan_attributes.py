"""Attributes of the memory plan: the model that is planned for, aliases, places, the plan itself.

#memgraph.model<target = tflm, alignment = 16, io = arena, views = off, inplace = off,
                scratch = tflm>
#memgraph.plan<peak = 5216, lower_bound = 4960, proof = flow, fingerprint = "0f3a...">
memgraph.offset = [1024, #memgraph.unplaced<caller>]    in one arena
memgraph.offset = [#memgraph.object<3>]                 in one of several shared objects
"""

from collections.abc import Callable, Sequence
from typing import Any, Literal, get_args

from xdsl.dialects.builtin import (
    DenseArrayBase,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    i64,
)
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import (
    WordAttr,
    need_counts,
    need_keys,
    one_of,
    parse_int_list,
    parse_keys,
    parse_word,
)

AliasKind = Literal["view", "inplace", "slice"]
ProofKind = Literal["flow", "search", "ilp", "none"]
Why = Literal["constant", "caller", "runtime"]
IO_KINDS = ("arena", "kept", "caller")
SCRATCHES = ("none", "tflm", "cmsis-nn")


@irdl_attr_definition
class UnplacedAttr(WordAttr):
    """Why a buffer has no offset: flash, the caller's memory, or the run time's own planning."""

    name = "memgraph.unplaced"

    def __init__(self, value: str):
        super().__init__(StringAttr(value))

    def verify(self) -> None:
        one_of(self.data, get_args(Why), "unplaced")


@irdl_attr_definition
class AliasAttr(ParametrizedAttribute):
    """The result lies at `address(operand) + byte_offset`; a zero-copy concat has negative ones.

    view: the whole buffer, slice: a part of it, inplace: the result overwrites the operand, which
    dies here. `strides` (elements) when the slice is not contiguous: it then
    counts the whole group.
    """

    name = "memgraph.alias"
    operand: IntAttr
    kind: StringAttr
    byte_offset: IntAttr
    strides: DenseArrayBase[IntegerType]

    def __init__(
        self, operand: int, kind: AliasKind, byte_offset: int = 0, strides: Sequence[int] = ()
    ):
        super().__init__(
            IntAttr(operand),
            StringAttr(kind),
            IntAttr(byte_offset),
            DenseArrayBase.from_list(i64, list(strides)),
        )

    def verify(self) -> None:
        one_of(self.kind.data, get_args(AliasKind), "alias kind")
        if self.operand.data < 0:
            raise VerifyException("alias: negative operand index")
        if self.kind.data != "slice" and (self.byte_offset.data or len(self.strides)):
            raise VerifyException("alias: only a slice has a byte offset or strides")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        found = parse_keys(
            parser,
            {
                "operand": parser.parse_integer,
                "kind": parser.parse_identifier,
                "byte_offset": parser.parse_integer,
                "strides": lambda: parse_int_list(parser),
            },
        )
        need_keys(parser, found, "operand", "kind")
        return cls(
            found["operand"], found["kind"], found.get("byte_offset", 0), found.get("strides", ())
        ).parameters

    def print_parameters(self, printer: Printer) -> None:
        text = f"operand = {self.operand.data}, kind = {self.kind.data}"
        if self.byte_offset.data:
            text += f", byte_offset = {self.byte_offset.data}"
        if len(self.strides):
            text += f", strides = {[int(v) for v in self.strides.get_values()]}"
        with printer.in_angle_brackets():
            printer.print_string(text)


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


@irdl_attr_definition
class ModelAttr(ParametrizedAttribute):
    """The memory model that a function is planned for. Planning for one and emitting for another
    is an error.

    `alignment` in bytes; `io`: inputs and outputs in the arena (`arena`), there and inputs kept to
    the end (`kept`), or in the caller's memory (`caller`); `views`: reshapes cost nothing;
    `inplace`: element-wise results may take an operand's place; `scratch`: whose kernels' scratch
    is counted.
    """

    name = "memgraph.model"
    target: StringAttr
    alignment: IntAttr
    io: StringAttr
    views: StringAttr
    inplace: StringAttr
    scratch: StringAttr

    def __init__(
        self,
        target: str = "generic",
        alignment: int = 16,
        io: str = "arena",
        views: bool = True,
        inplace: bool = False,
        scratch: str = "none",
    ):
        super().__init__(
            StringAttr(target),
            IntAttr(alignment),
            StringAttr(io),
            StringAttr("on" if views else "off"),
            StringAttr("on" if inplace else "off"),
            StringAttr(scratch),
        )

    @property
    def has_views(self) -> bool:
        return self.views.data == "on"

    @property
    def has_inplace(self) -> bool:
        return self.inplace.data == "on"

    def verify(self) -> None:
        one_of(self.io.data, IO_KINDS, "io")
        one_of(self.scratch.data, SCRATCHES, "scratch")
        if not 1 <= self.alignment.data <= 1 << 20:
            raise VerifyException(f"alignment {self.alignment.data} is not within 1 .. 1048576")

    @classmethod
    def of(cls, found: dict[str, Any]) -> "ModelAttr":
        """From parsed keys; what is not given is the default. Raises VerifyException."""
        for key in ("views", "inplace"):
            if key in found:
                one_of(found[key], ("on", "off"), key)
                found[key] = found[key] == "on"
        return cls(**found)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def word() -> str:
            return parse_word(parser)

        readers: dict[str, Callable[[], Any]] = {
            "target": word,
            "alignment": parser.parse_integer,
            "io": word,
            "views": word,
            "inplace": word,
            "scratch": word,
        }
        return cls.of(parse_keys(parser, readers)).parameters

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(
                f"target = {self.target.data}, alignment = {self.alignment.data}, "
                f"io = {self.io.data}, views = {self.views.data}, "
                f"inplace = {self.inplace.data}, scratch = {self.scratch.data}"
            )


@irdl_attr_definition
class PlanAttr(ParametrizedAttribute):
    """What was decided for a function, in bytes. -1 inside stands for not decided yet.

    `proof` says how `lower_bound` was shown; the plan is optimal when there is one and
    peak = lower_bound. With shared objects, `objects` lists their bytes, `arena` is their sum, and
    `objects_lower_bound` is proven for this order alone. The fingerprint makes a plan stale when
    anything it rests on changes.
    """

    name = "memgraph.plan"
    peak: IntAttr
    lower_bound: IntAttr
    proof: StringAttr
    arena: IntAttr
    arena_lower_bound: IntAttr
    fingerprint: StringAttr
    objects: DenseArrayBase[IntegerType]
    objects_lower_bound: IntAttr

    def __init__(
        self,
        peak: int,
        lower_bound: int,
        proof: str,
        arena: int = -1,
        arena_lower_bound: int = -1,
        fingerprint: str = "",
        objects: Sequence[int] = (),
        objects_lower_bound: int = 0,
    ):
        super().__init__(
            IntAttr(peak),
            IntAttr(lower_bound),
            StringAttr(proof),
            IntAttr(arena),
            IntAttr(arena_lower_bound),
            StringAttr(fingerprint),
            DenseArrayBase.from_list(i64, list(objects)),
            IntAttr(objects_lower_bound),
        )

    @property
    def optimal(self) -> bool:
        return self.proof.data != "none" and self.peak.data == self.lower_bound.data

    @property
    def placed(self) -> bool:
        return self.arena.data >= 0

    @property
    def object_sizes(self) -> tuple[int, ...]:
        """Bytes of every shared object; empty if there is one arena."""
        return tuple(int(v) for v in self.objects.get_values())

    def verify(self) -> None:
        one_of(self.proof.data, get_args(ProofKind), "proof")
        sizes = self.object_sizes
        need_counts("plan", self.arena.data, self.arena_lower_bound.data, least=-1)
        need_counts("plan", *sizes, sum(sizes))
        if self.placed != (self.arena_lower_bound.data >= 0):
            raise VerifyException("plan: arena and arena_lower_bound come together")
        if sizes and (min(sizes) < 0 or sum(sizes) != self.arena.data):
            raise VerifyException("plan: arena must be the sum of the objects' bytes")
        if not 0 <= self.objects_lower_bound.data <= sum(sizes):
            raise VerifyException(
                "plan: objects_lower_bound must be between 0 and the objects' sum"
            )
        if self.peak.data < self.lower_bound.data or self.lower_bound.data < 0:
            raise VerifyException("plan: lower_bound must be between 0 and peak")
        need_counts("plan", self.peak.data)
        if self.placed and self.arena.data < self.arena_lower_bound.data:
            raise VerifyException("plan: arena below arena_lower_bound")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        number = parser.parse_integer
        found = parse_keys(
            parser,
            {
                "peak": number,
                "lower_bound": number,
                "proof": parser.parse_identifier,
                "arena": number,
                "arena_lower_bound": number,
                "objects": lambda: parse_int_list(parser),
                "objects_lower_bound": number,
                "fingerprint": parser.parse_str_literal,
            },
        )
        need_keys(parser, found, "peak", "lower_bound", "proof", "fingerprint")
        if "objects" in found:
            need_keys(parser, found, "objects_lower_bound")
        need_counts("plan", *(found[k] for k in ("arena", "arena_lower_bound") if k in found))
        return cls(**found).parameters

    def print_parameters(self, printer: Printer) -> None:
        text = (
            f"peak = {self.peak.data}, lower_bound = {self.lower_bound.data}, "
            f"proof = {self.proof.data}"
        )
        if self.placed:
            text += (
                f", arena = {self.arena.data}, arena_lower_bound = {self.arena_lower_bound.data}"
            )
        if self.object_sizes:
            text += (
                f", objects = {list(self.object_sizes)}, "
                f"objects_lower_bound = {self.objects_lower_bound.data}"
            )
        with printer.in_angle_brackets():
            printer.print_string(f'{text}, fingerprint = "{self.fingerprint.data}"')


PLAN_ATTRIBUTES: tuple[type[Attribute], ...] = (
    AliasAttr,
    ModelAttr,
    ObjectAttr,
    PlanAttr,
    ScratchAttr,
    SlotAttr,
    UnplacedAttr,
)
