"""How operations on rows are written: `[5]`, and the type of the tensor that has the rows."""

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation
from xdsl.parser import Parser
from xdsl.printer import Printer

from memopt.dialects.memgraph.tensors import MOST_ROWS, AnyTensor


def parse_index(parser: Parser) -> int:
    """`[5]`."""
    parser.parse_punctuation("[")
    index = parser.parse_integer(allow_boolean=False, allow_negative=False)
    parser.parse_punctuation("]")
    return index


def parse_tail(parser: Parser) -> tuple[dict[str, Attribute], Attribute]:
    """`{attributes} : type`, the latter of a tensor that has rows."""
    attributes = parser.parse_optional_attr_dict()
    parser.parse_punctuation(":")
    start = parser.pos
    type_ = parser.parse_type()
    if not isinstance(type_, TensorType) or len(cast("AnyTensor", type_).get_shape()) < 3:
        parser.raise_error("expected the type of a tensor that has rows", start)
    rows = cast("AnyTensor", type_).get_shape()[1]
    if rows > MOST_ROWS:
        parser.raise_error(f"{rows:,} rows, more than {MOST_ROWS:,}", start)
    return attributes, cast("AnyTensor", type_)


def print_tail(printer: Printer, op: Operation, whole: Attribute) -> None:
    printer.print_op_attributes(op.attributes)
    printer.print_string(" : ")
    printer.print_attribute(whole)
