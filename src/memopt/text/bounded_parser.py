"""xDSL's parser with bounds where a short text would stand for a value that fills the memory.

`0 : i20000000000` is a number of 20 billion bits to xDSL, and `dense<1> : tensor<9999999999xi8>` is
written out. What is refused here is an error with its place, before anything is made of it.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from math import prod
from typing import Any, Final, cast

from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    IntegerType,
    UnregisteredAttr,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, TypeAttribute
from xdsl.parser import Parser
from xdsl.traits import HasParent
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.mlir_lexer import MLIRTokenKind

from memopt.dialects.memgraph.errors import nearest
from memopt.dialects.memgraph.old_forms import RENAMED, ROWS, old_form

MOST_BITS: Final = (1 << 24) - 1  # of an integer type, as in MLIR
MOST_ELEMENTS: Final = 1 << 22  # of a dense attribute, each of which xDSL makes an object of
_INTEGER: Final = re.compile(r"[su]?i([0-9]+)")


# of operands or properties that are too many, too few or called otherwise
_OTHER_RELEASE: Final = re.compile(
    r"Expected (at least )?\d+ (or \d+ )?(operand|result|region)s?\b|property '|"
    r"attribute '[^']*' expected|unexpected property"
)


@dataclass(frozen=True)
class _Releases:
    """Two classes of an operation, which the parser takes for one: `own` is xDSL's, `other` reads
    what any release of its dialect prints."""

    own: type[Operation]
    other: type[Operation]
    either: Callable[["_Releases", Callable[[type[Operation]], Operation]], Operation]

    def dialect_name(self) -> str:
        return self.own.dialect_name()

    def parse(self, parser: Parser) -> Operation:
        return self.either(self, lambda kind: kind.parse(parser))


def _nothing(name: str) -> None:
    """Answer for a context that is not ours (dialects/foreign/context.py)."""


class _Bits(Parser._TensorLiteralElement):  # pyright: ignore[reportPrivateUsage]
    """A hexadecimal element of a dense attribute: of floats it is the bits of one, as in MLIR."""

    def to_type(self, parser: Any, type: Any) -> Any:  # noqa: A002, xDSL names it
        """Return the element; of a float the number that has these bits."""
        if not isinstance(type, AnyFloat):
            return super().to_type(parser, type)
        size = type.bitwidth // 8
        bits = cast("int", self.value)
        if bits >> 8 * size:
            parser.raise_error(f"an element of type {type} has {8 * size} bits", self.span)
        return type.unpack(bits.to_bytes(size, "little"), 1)[0]


class BoundedParser(Parser):
    """A parser that refuses types and attributes whose values are out of all proportion, and says
    of an operation that it does not know which one may be meant."""

    def _get_op_by_name(self, name: str) -> type[Operation]:
        operation = self.ctx.get_optional_op(name, dialect_stack=self._parser_state.dialect_stack)
        if operation is None and name in RENAMED:
            self.raise_error(old_form(f"{name}, now {RENAMED[name]}", ROWS))
        if operation is None:
            known = [operation.name for operation in self.ctx.loaded_ops]
            known += getattr(self.ctx, "names_beside", _nothing)(name) or ()
            self.raise_error(f"Operation {name} is not registered{nearest(name, known)}")
        other = getattr(self.ctx, "of_any_release", _nothing)(name)
        if other is None or issubclass(operation, UnregisteredOp):
            return operation
        return cast("type[Operation]", _Releases(operation, other, self._of_any_release))

    def _parse_generic_operation(self, op_type: Any) -> Operation:
        if not isinstance(op_type, _Releases):
            return super()._parse_generic_operation(op_type)
        return self._of_any_release(op_type, super()._parse_generic_operation)

    def _of_any_release(
        self, kinds: "_Releases", read: Callable[[type[Operation]], Operation]
    ) -> Operation:
        """Return an operation that xDSL has, as it is in xDSL's release of its dialect; if other
        operands or attributes are there, as it stands."""
        start = self.pos
        try:
            operation = read(kinds.own)
            if not operation.has_trait(HasParent):  # it has none yet
                operation.verify_()
        except (ParseError, VerifyException) as error:
            if isinstance(error, VerifyException) and not _OTHER_RELEASE.match(str(error)):
                raise
            self._resume_from(start)
            try:
                return read(kinds.other)
            except ParseError as later:  # whichever read further knows more of what is wrong
                first = error.span.start if isinstance(error, ParseError) else later.span.start
                raise (later if later.span.start > first else error) from None
        return operation

    def _parse_dialect_type_or_attribute_body(
        self, attr_name: str, is_type: bool, *rest: Any, **more: Any
    ) -> Any:
        context = self.ctx
        look_up = context.get_optional_type if is_type else context.get_optional_attr
        known = look_up(attr_name) if "." in attr_name else Attribute
        ours = attr_name.startswith("memgraph.")  # of which nothing unknown is carried along
        if known is None or (ours and issubclass(known, UnregisteredAttr)):
            loaded = context.loaded_types if is_type else context.loaded_attrs
            close = nearest(attr_name, (each.name for each in loaded if each is not known))
            self.raise_error(f"'{attr_name}' is not registered{close}")
        return super()._parse_dialect_type_or_attribute_body(attr_name, is_type, *rest, **more)

    def _parse_optional_integer_or_float_type(self) -> Any:
        token = self._current_token
        match = _INTEGER.fullmatch(token.text) if token.kind is MLIRTokenKind.BARE_IDENT else None
        if match is not None and (len(match[1]) > 8 or int(match[1]) > MOST_BITS):
            self.raise_error(f"an integer type has at most {MOST_BITS:,} bits", token.span.start)
        return super()._parse_optional_integer_or_float_type()

    def parse_shape_dimension(self, allow_dynamic: bool = True) -> int:
        """Return a dimension, of 64 bits as in MLIR."""
        token = self._current_token
        wide = token.kind is MLIRTokenKind.INTEGER_LIT and token.text[:2] != "0x"
        if wide and (len(token.text) > 19 or int(token.text) >= 1 << 63):
            self.raise_error("a dimension is a number of 64 bits", token.span)
        return super().parse_shape_dimension(allow_dynamic)

    def _parse_tensor_literal_element(self) -> Any:
        element = super()._parse_tensor_literal_element()
        is_hexadecimal = element.span.text[:2] == "0x"
        return _Bits(False, element.value, element.span) if is_hexadecimal else element

    def _parse_dense_literal_type(self) -> Any:
        start = self.pos
        type_ = super()._parse_dense_literal_type()
        self._check_elements(type_, start)
        return type_

    def parse_dense_int_or_fp_elements_attr(self, type: Any) -> DenseIntOrFPElementsAttr[Any]:  # noqa: A002, xDSL names it
        """Return a dense attribute of at most MOST_ELEMENTS elements."""
        start = self.pos
        if type is not None:
            self._check_elements(type, start)
        attribute: Any = super().parse_dense_int_or_fp_elements_attr(type)
        shaped = attribute.type
        size = prod(shaped.get_shape()) * shaped.element_type.compile_time_size
        if len(attribute.data.data) != size:
            self.raise_error("the bytes of a dense attribute are not those of its elements", start)
        return attribute

    def _check_elements(self, type_: TypeAttribute, start: int) -> None:
        """Raise ParseError for a type of more elements than are written out."""
        element: Any = cast("Any", type_).element_type
        if isinstance(cast("object", element), IntegerType) and element.width.data > 64:
            self.raise_error(f"a dense attribute has no elements of type {element}", start)
        count = prod(cast("Any", type_).get_shape())
        if count > MOST_ELEMENTS:
            text = f"a dense attribute has at most {MOST_ELEMENTS:,} elements"
            self.raise_error(f"{text}; #memgraph.weights refers to those of a file", start)
