"""xDSL's printer with short names for types, which takes half its time.

The bytes are the same. xDSL prints a string character by character, and a type as often as it is
met; here both are written in one go, and what a type looks like is found once.
"""

import re
from contextlib import AbstractContextManager
from dataclasses import dataclass
from io import StringIO
from typing import IO, Any

from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from memopt.dialects.plan import is_number

PLAIN = re.compile(rb"[ !#-\[\]-~]*")  # bytes that stand in a string literal as they are


class AliasPrinter(Printer):
    """Prints the types in `aliases` by their short names."""

    def __init__(self, stream: IO[str], aliases: dict[Attribute, str], **options: Any) -> None:
        super().__init__(stream, **options)
        self.aliases = aliases
        # by identity, for most equal types are one object and hashing one takes long; the object
        # itself is kept with it, or its number could become another's
        self._texts: dict[int, tuple[Attribute, str]] = {}

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        elif self.stream is not None:
            self._current_column += len(text)
            self.stream.write(text)

    def print_attribute(self, attribute: Attribute) -> None:
        if is_number(attribute):
            self.print_string(f"{attribute.value.data} : i64")
        elif isinstance(attribute, TypeAttribute):
            text = self._type_text(attribute)
            if "\n" in text:  # of a dialect that nobody knows: xDSL indents its lines
                super().print_attribute(attribute)
            else:
                self.print_string(text)
        else:
            super().print_attribute(attribute)

    def _type_text(self, type_: Attribute) -> str:
        known = self._texts.get(id(type_))
        if known is not None:
            return known[1]
        text = self.aliases.get(type_)
        if text is None:
            stream, self.stream = self.stream, StringIO()
            super().print_attribute(type_)
            text = self.stream.getvalue()
            self.stream = stream
        self._texts[id(type_)] = type_, text
        return text

    def print_bytes_literal(self, bytestring: bytes) -> None:
        if PLAIN.fullmatch(bytestring):
            self.print_string(f'"{bytestring.decode()}"')
        else:
            super().print_bytes_literal(bytestring)

    # as xDSL's, whose generators take longer than what is printed between
    def in_angle_brackets(self) -> AbstractContextManager[None]:
        return _Between(self, "<", ">")

    def in_braces(self) -> AbstractContextManager[None]:
        return _Between(self, "{", "}")

    def in_parens(self) -> AbstractContextManager[None]:
        return _Between(self, "(", ")")

    def in_square_brackets(self) -> AbstractContextManager[None]:
        return _Between(self, "[", "]")


@dataclass
class _Between(AbstractContextManager[None]):
    printer: Printer
    start: str
    end: str

    def __enter__(self) -> None:
        self.printer.print_string(self.start)

    def __exit__(self, *error: object) -> None:
        self.printer.print_string(self.end)
