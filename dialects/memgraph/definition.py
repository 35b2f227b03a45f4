"""Definition of operations with xDSL's IRDL, whose syntax is compiled when it is first used.

    @operation_definition
    class TakeOp(OfOneOp):
        name = "memgraph.take"
        assembly_format = "$input `axis` $axis attr-dict `:` functional-type(operands, results)"

`irdl_op_definition` compiles the format at once. That is half of what defining an operation takes,
and few commands read or print more than a few of the operations that they load.
"""

from typing import TypeVar

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
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
        accessors |= _syntax(kind, definition)
    for name, accessor in accessors.items():
        setattr(kind, name, accessor)
    return kind


def _syntax(kind: type[IRDLOperation], definition: OpDef) -> dict[str, object]:
    """Return what reads and prints an operation: each puts xDSL's own in its place and calls it."""

    def compile_format() -> None:
        accessors = get_accessors_from_op_def(definition, None)
        for method in ("parse", "print"):
            setattr(kind, method, accessors[method])

    def parse(cls: type[IRDLOperation], parser: Parser) -> Operation:
        compile_format()
        return cls.parse(parser)

    def print_(self: IRDLOperation, printer: Printer) -> None:
        compile_format()
        self.print(printer)

    return {"parse": classmethod(parse), "print": print_}
