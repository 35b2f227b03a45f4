"""Rules of memory that a plan rests on: its memory model, and the aliases that hold in any plan.

#memgraph.model<target = generic, alignment = 16, io = arena, views = on, inplace = off,
                scratch = none>
#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>
"""

from collections.abc import Sequence
from typing import Any, Literal, Self, get_args

from xdsl.dialects.builtin import DenseArrayBase, IntAttr, IntegerType, StringAttr
from xdsl.ir import Attribute
from xdsl.irdl import irdl_attr_definition
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes.operators import RecordAttr, one_of
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.attributes.runtimes import scratch_words

AliasKind = Literal["view", "inplace", "slice", "part", "join", "virtual", "move"]
IO_KINDS = ("arena", "kept", "caller")
LINES = (8, 16, 32, 64)  # bytes of a line of a cache


@irdl_attr_definition
class AliasAttr(RecordAttr):
    """The result lies at `address(operand) + byte_offset`; a zero-copy concat has negative ones.

    view: the whole buffer, slice: a part of it, inplace: the result overwrites the operand, which
    dies here. virtual: the result has no buffer; its readers read the operands where they lie (of a
    slice the elements that it takes) and compute a function of an element themselves. move: the
    result of a copy lies anywhere, over the operand too, which dies here.
    `strides` (elements) when the slice is not contiguous: it then counts the whole group.
    """

    name = "memgraph.alias"
    operand: IntAttr
    kind: StringAttr
    byte_offset: IntAttr
    strides: DenseArrayBase[IntegerType]

    def __init__(
        self, operand: int, kind: AliasKind, byte_offset: int = 0, strides: Sequence[int] = ()
    ):
        super().__init__(IntAttr(operand), StringAttr(kind), IntAttr(byte_offset), numbers(strides))

    def verify(self) -> None:
        one_of(self.kind.data, get_args(AliasKind), "alias kind")
        if self.operand.data < 0:
            raise VerifyException("alias: negative operand index")
        if self.kind.data not in ("slice", "part", "join") and self.byte_offset.data:
            raise VerifyException("alias: only a slice or a part has a byte offset")
        if self.kind.data != "slice" and len(self.strides):
            raise VerifyException("alias: only a slice has strides")


@irdl_attr_definition
class ModelAttr(RecordAttr):
    """The memory model that a function is planned for. Planning for one and emitting for another
    is an error.

    `alignment` in bytes; `io`: inputs and outputs in the arena (`arena`), there and inputs kept to
    the end (`kept`), or in the caller's memory (`caller`); `views`: reshapes cost nothing;
    `inplace`: element-wise results may take an operand's place; `scratch`: whose kernels' scratch
    is counted; `align_io`: inputs and outputs in the arena begin at multiples of so many bytes and
    take up multiples of them, 0 where they are like other buffers.
    """

    name = "memgraph.model"
    target: StringAttr
    alignment: IntAttr
    io: StringAttr
    views: StringAttr
    inplace: StringAttr
    scratch: StringAttr
    align_io: IntAttr

    def __init__(
        self,
        target: str = "generic",
        alignment: int = 16,
        io: str = "arena",
        views: bool = True,
        inplace: bool = False,
        scratch: str = "none",
        align_io: int = 0,
    ):
        super().__init__(
            StringAttr(target),
            IntAttr(alignment),
            StringAttr(io),
            StringAttr("on" if views else "off"),
            StringAttr("on" if inplace else "off"),
            StringAttr(scratch),
            IntAttr(align_io),
        )

    def replaced(self, **changes: Any) -> Self:
        """Return the model with other values of these keys, given as they are printed."""
        return self.of({name: value.data for name, value in vars(self).items()} | changes)

    @property
    def has_views(self) -> bool:
        return self.views.data == "on"

    @property
    def has_inplace(self) -> bool:
        return self.inplace.data == "on"

    def verify(self) -> None:
        one_of(self.io.data, IO_KINDS, "io")
        one_of(self.scratch.data, scratch_words(), "scratch")
        if not 1 <= self.alignment.data <= 1 << 20:
            raise VerifyException(f"alignment {self.alignment.data} is not within 1 .. 1048576")
        if self.align_io.data not in (0, *LINES):
            known = ", ".join(map(str, LINES))
            raise VerifyException(f"align_io {self.align_io.data} is not one of: {known}")
        if self.align_io.data and self.io.data == "caller":
            raise VerifyException(
                "align_io is of inputs and outputs in the arena, not the caller's"
            )

    @classmethod
    def of(cls, found: dict[str, Any]) -> Self:
        """From parsed keys; what is not given is the default. Raises VerifyException."""
        for key in ("views", "inplace"):
            if key in found:
                one_of(found[key], ("on", "off"), key)
                found[key] = found[key] == "on"
        return cls(**found)


MODEL_ATTRIBUTES: tuple[type[Attribute], ...] = (AliasAttr, ModelAttr)

GENERIC = ModelAttr()
"""The model of a function that carries none. Made once: xDSL checks every one that is made."""
