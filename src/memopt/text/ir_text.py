"""IR as text: a parser that knows where each operation stands, a printer with type aliases.

Tensor types with an encoding are printed once, as `!a0 = tensor<...>` at the top (see aliases.py).
"""

from bisect import bisect_right
from collections.abc import Generator
from contextlib import contextmanager
from io import StringIO

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ModuleOp,
    StringAttr,
    UnknownLoc,
)
from xdsl.ir import Operation
from xdsl.parser import ParserState
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input

from memopt.dialects.attributes.quick import line_of
from memopt.text.alias_printer import AliasPrinter
from memopt.text.aliases import aliases_of
from memopt.text.lexer import Utf8Lexer
from memopt.text.quick_parser import QuickParser


class LocatingParser(QuickParser):
    """xDSL's parser, which also notes file, line and column of every operation."""

    def __init__(self, ctx: Context, text: str, name: str, line_offset: int = 0) -> None:
        super().__init__(ctx, text, name)
        self._parser_state = ParserState(Utf8Lexer(Input(text, name)))
        self._name = StringAttr(name)
        self._offset = line_offset
        self._lines = [0]
        start = text.find("\n")
        while start >= 0:
            self._lines.append(start + 1)
            start = text.find("\n", start + 1)

    def parse_operation(self) -> Operation:
        start = self._current_token.span.start
        with self._errors_at(start):
            op = super().parse_operation()
        if isinstance(op.location, UnknownLoc):
            line = bisect_right(self._lines, start)
            column = start - self._lines[line - 1] + 1
            op.location = line_of(self._name, line + self._offset, column)
        return op

    @contextmanager
    def _errors_at(self, start: int | None = None) -> Generator[None]:
        """Give a place to the errors that xDSL raises without one: `start`, else the token."""
        try:
            yield
        except (ParseError, RecursionError, MemoryError):
            raise
        except Exception as error:
            # an attribute or type that does not hold, or text that makes xDSL itself stumble
            text = str(error) if isinstance(error, VerifyException) else f"cannot be read: {error}"
            at = self._current_token.span.start if start is None else start
            self.raise_error(text, at, at + 1)

    def parse_module(self, allow_implicit_module: bool = True) -> ModuleOp:
        with self._errors_at():
            return super().parse_module(allow_implicit_module)


def parse_module(ctx: Context, text: str, name: str, line_offset: int = 0) -> ModuleOp:
    """Parse a module. Raises xDSL's ParseError."""
    return LocatingParser(ctx, text, name, line_offset).parse_module()


def module_text(module: ModuleOp, generic: bool = False) -> str:
    """The module as text that parses back to the same module and prints to the same bytes."""
    aliases = aliases_of(module)
    out = StringIO()
    plain = Printer(out)
    for heading, types in aliases.groups:
        out.write(f"// {heading}\n")
        for type_, alias in types.items():
            out.write(f"{alias} = ")
            plain.print_attribute(type_)
            out.write("\n")
    AliasPrinter(out, aliases.names, print_generic_format=generic).print_op(module)
    out.write("\n")
    return out.getvalue()
