"""xDSL's printer with short names for types, which takes half its time.

The bytes are the same. xDSL prints a string character by character, and an attribute in as many
pieces as it has; here each is written in one go, and what a type looks like is found once.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import partial
from io import StringIO
from typing import IO, Any, cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr, UnitAttr
from xdsl.ir import Attribute, TypeAttribute
from xdsl.printer import Printer

from memopt.dialects.memgraph.plan import is_number

PLAIN = re.compile(r"[ !#-\[\]-~]*")  # characters that stand in a string literal as they are


class AliasPrinter(Printer):
    """Prints the types in `aliases` by their short names."""

    def __init__(self, stream: IO[str], aliases: dict[Attribute, str], **options: Any) -> None:
        super().__init__(stream, **options)
        self.aliases = aliases
        # by identity, for most equal types are one object and hashing one takes long; the object
        # itself is kept with it, or its number could become another's
        self._texts: dict[int, tuple[Attribute, str]] = {}
        self._keys: dict[str, str] = {}

    def print_string(self, text: str, *, indent: int | None = None) -> None:
        if "\n" in text:
            super().print_string(text, indent=indent)
        elif self.stream is not None:
            self._current_column += len(text)
            self.stream.write(text)

    def print_attribute(self, attribute: Attribute) -> None:
        text = self._text(attribute)
        if "\n" in text:  # of a dialect that nobody knows: xDSL indents its lines
            super().print_attribute(attribute)
        else:
            self.print_string(text)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        entries = [
            self._key(key) if isinstance(attribute, UnitAttr) else f"{self._key(key)} = {text}"
            for key, attribute in attr_dict.items()
            for text in (self._text(attribute),)
        ]
        text = f"{{{', '.join(entries)}}}"
        if "\n" in text:
            super().print_attr_dict(attr_dict)
        else:
            self.print_string(text)

    def print_list(
        self, elems: Iterable[Any], print_fn: Callable[[Any], Any], delimiter: str = ", "
    ) -> None:
        listed = list(elems)
        if print_fn == self.print_attribute:
            text = delimiter.join([self._text(attribute) for attribute in listed])
            if "\n" not in text:
                self.print_string(text)
                return
        super().print_list(listed, print_fn, delimiter)

    def _text(self, attribute: Attribute) -> str:
        """Return xDSL's text of an attribute.

        Numbers, names and arrays, of which every operation has some of its own, go without it; the
        text of all others is made once.
        """
        known = self._texts.get(id(attribute))
        if known is not None:
            return known[1]
        if is_number(attribute):
            return f"{attribute.value.data} : i64"
        if isinstance(attribute, ArrayAttr):
            listed = cast("ArrayAttr[Attribute]", attribute).data
            return f"[{', '.join([self._text(entry) for entry in listed])}]"
        if isinstance(attribute, StringAttr) and PLAIN.fullmatch(attribute.data):
            return f'"{attribute.data}"'
        text = self.aliases.get(attribute) if isinstance(attribute, TypeAttribute) else None
        if text is None:
            text = self._printed(partial(super().print_attribute, attribute))
        self._texts[id(attribute)] = attribute, text
        return text

    def _key(self, name: str) -> str:
        """The name of an attribute: an identifier, or else in quotes."""
        known = self._keys.get(name)
        if known is None:
            known = self._printed(partial(self.print_identifier_or_string_literal, name))
            self._keys[name] = known
        return known

    def _printed(self, action: Callable[[], object]) -> str:
        """Return the text that an action prints, instead of printing it."""
        stream, self.stream = self.stream, StringIO()
        action()
        text = self.stream.getvalue()
        self.stream = stream
        return text

    def print_string_literal(self, string: str) -> None:
        if PLAIN.fullmatch(string):
            self.print_string(f'"{string}"')
        else:
            super().print_string_literal(string)

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
