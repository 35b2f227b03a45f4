"""Definition of operations with xDSL's IRDL, whose syntax is compiled when it is first used.

    @operation_definition
    class TakeOp(OfOneOp):
        name = "memgraph.take"
        assembly_format = "$input `axis` $axis attr-dict `:` functional-type(operands, results)"

`irdl_op_definition` compiles the format at once. That is half of what defining an operation takes,
and few commands read or print more than a few of the operations that they load.
"""

from functools import cache
from typing import TypeVar

from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import FormatProgram
from xdsl.irdl.operations import OpDef, get_accessors_from_op_def
from xdsl.parser import Parser
from xdsl.printer import Printer

T = TypeVar("T", bound=IRDLOperation)


def operation_definition(kind: type[T]) -> type[T]:
    """Give a class what it declares, as `irdl_op_definition` does. What is wrong with the format is
    raised when an operation is read or printed."""
    definition = OpDef.from_pyrdl(kind)
    text, definition.assembly_format = definition.assembly_format, None
    accessors = get_accessors_from_op_def(definition, getattr(kind, "verify_", None))
    if text is not None:
        definition.assembly_format = text
        accessors |= _syntax(definition, text)
    for name, accessor in accessors.items():
        setattr(kind, name, accessor)
    return kind


def _syntax(definition: OpDef, text: str) -> dict[str, object]:
    @cache
    def program() -> FormatProgram:
        return FormatProgram.from_str(text, definition)

    def parse(kind: type[T], parser: Parser) -> T:
        return program().parse(parser, kind)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        program().print(printer, self)

    return {"parse": classmethod(parse), "print": print_}
