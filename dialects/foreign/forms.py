"""Text of operations that xDSL does not have: generic, or as most of a dialect are printed.

%1 = "tosa.exp"(%0) : (tensor<4xf32>) -> tensor<4xf32>     generic: every dialect, every release
%1 = tosa.exp %0 {a = 1} : (tensor<4xf32>) -> tensor<4xf32>
%1 = onnx.Exp(%0) {a = 1} : (tensor<4xf32>) -> tensor<4xf32>

A dialect's file may know more (`FORMS`, name -> how it is read). What stands otherwise is refused
with the command that prints it in generic form. All are written in generic form.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import cast

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    DenseResourceAttr,
    FunctionType,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, Region
from xdsl.parser import Parser, UnresolvedOperand
from xdsl.traits import OpTrait, SymbolTable
from xdsl.utils.exceptions import ParseError

from memopt.dialects.foreign import file_of


@dataclass(frozen=True)
class Parts:
    """Contents of an operation's text behind its name."""

    operands: Sequence[UnresolvedOperand]
    types: FunctionType
    properties: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    attributes: Mapping[str, Attribute] = field(default_factory=dict[str, Attribute])
    regions: Sequence[Region] = ()
    read_regions: Callable[[Parser], Sequence[Region]] | None = None  # that stand behind all this


Form = Callable[[Parser], Parts]


def command_of(name: str) -> str | None:
    """Return the command that prints what has that name in generic form; None if its dialect has no
    file here, or one that says none."""
    command: str | None = getattr(file_of(name.partition(".")[0]), "GENERIC_BY", None)
    return command


def names_of(name: str) -> tuple[str, ...]:
    """Return the names of all operations that the dialect of one has in its file here."""
    return tuple(getattr(file_of(name.partition(".")[0]), "MEMORY", ()))


def stands(name: str) -> bool:
    """Return whether a dialect's file reads operations of that name though xDSL has a class."""
    return name in getattr(file_of(name.partition(".")[0]), "AS_THEY_STAND", ())


@cache
def class_of(name: str) -> type[Operation] | None:
    """Return the class of operations of that name, None if no file here has it, or one that does
    not say how it is made generic."""
    command, file = command_of(name), file_of(name.partition(".")[0])
    if command is None or name not in names_of(name):
        return None
    forms: Mapping[str, Form] = getattr(file, "FORMS", {})
    read = forms.get(name, functional)
    kind = cast("type[UnregisteredOp]", UnregisteredOp.with_name(name))

    class ForeignOp(kind):
        """An operation of a dialect that has a file here."""

        @classmethod
        def has_trait(
            cls, trait: type[OpTrait] | OpTrait, *, value_if_unregistered: bool = True
        ) -> bool:
            """Return what any unregistered operation does, but that it has no symbols inside."""
            return trait is not SymbolTable and value_if_unregistered

        @classmethod
        def parse(cls, parser: Parser) -> Operation:
            start = parser.pos
            try:
                parts = read(parser)
            except ParseError:
                text = f"this form of {name} is not read; print the file with `{command}`"
                parser.raise_error(text, start)
            return cls.create(
                operands=parser.resolve_operands(parts.operands, parts.types.inputs.data, start),
                result_types=parts.types.outputs.data,
                properties=parts.properties,
                attributes=parts.attributes,
                regions=parts.read_regions(parser) if parts.read_regions else parts.regions,
            )

    return ForeignOp


def functional(parser: Parser) -> Parts:
    """Return the parts of `%0, %1 {attributes} : (types) -> types`, operands in parentheses or
    not."""
    operands = operands_of(parser)
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    return Parts(operands, parser.parse_function_type(), attributes=attributes)


def operands_of(parser: Parser) -> list[UnresolvedOperand]:
    """Return the operands that stand next, none if none do."""
    listed = parser.parse_optional_comma_separated_list(
        parser.Delimiter.PAREN, parser.parse_unresolved_operand
    )
    if listed is not None:
        return listed
    return (
        parser.parse_optional_undelimited_comma_separated_list(
            parser.parse_optional_unresolved_operand, parser.parse_unresolved_operand
        )
        or []
    )


def constant(parser: Parser) -> Parts:
    """Return the parts of `dense<1.0> : type`, or of `{value = dense<1.0>} : type`."""
    attributes = parser.parse_optional_attr_dict()
    if attributes:
        parser.parse_punctuation(":")
        return Parts((), FunctionType.from_lists((), [parser.parse_type()]), attributes=attributes)
    value = parser.parse_attribute()
    if not isinstance(value, DenseIntOrFPElementsAttr | DenseResourceAttr):
        parser.raise_error("expected dense elements")
    shaped = cast("DenseResourceAttr", value)
    return Parts((), FunctionType.from_lists((), [shaped.type]), {"value": shaped})


def returned(parser: Parser) -> Parts:
    """Return the parts of `%0, %1 : type, type`, which has no results."""
    operands = operands_of(parser)
    if not operands:
        return Parts((), FunctionType.from_lists((), ()))
    parser.parse_punctuation(":")
    types = parser.parse_comma_separated_list(parser.Delimiter.NONE, parser.parse_type)
    return Parts(operands, FunctionType.from_lists(types, ()))


Arguments = list[tuple[Parser.UnresolvedArgument, UnresolvedOperand]]


def arguments_of(parser: Parser) -> Arguments:
    """Return the arguments of regions that stand next, each with what it begins as:
    `(%a = %x, %b = %y)`."""

    def one() -> tuple[Parser.UnresolvedArgument, UnresolvedOperand]:
        argument = parser.parse_argument(expect_type=False)
        parser.parse_punctuation("=")
        return argument, parser.parse_unresolved_operand()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, one)


def region_with(parser: Parser, arguments: Arguments, types: Sequence[Attribute]) -> Region:
    """Return the region that stands next, whose arguments are of these types."""
    named = [argument.resolve(t) for (argument, _), t in zip(arguments, types, strict=True)]
    return parser.parse_region(named)


@cache
def class_kept(name: str, is_type: bool) -> type[UnregisteredAttr]:
    """Return the class of attributes, or types, of that name which are kept as they stand."""
    return UnregisteredAttr.with_name_and_type(name, is_type)


def kept(name: str, text: str, is_opaque: bool = False) -> Attribute:
    """Return `#dialect.word<text>`, or `#dialect<word text>`, of the name `dialect.word`."""
    kind = class_kept(name, is_type=False)
    return kind(name, is_type=False, is_opaque=is_opaque, value=text)
