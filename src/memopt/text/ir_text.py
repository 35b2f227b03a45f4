"""IR as text: a parser that knows where each operation stands, a printer with type aliases.

Tensor types with an encoding are printed once, in groups above the text:

    // activations
    !a0 = tensor<1x32x32x3xi8, #memgraph.encoding<nhwc, scale = [1.0e+00], zero_point = [-128]>>
    // constants, numbered by the operation that reads them: weights !w, of one dimension !b
    !w0 = tensor<16x3x3x3xi8, #memgraph.encoding<ohwi, scale = [8.9e-05, ...], ...>>
    !b0 = tensor<16xi32, #memgraph.encoding<scale = [8.9e-05, ...], ...>>

So `(!a0, !w0, !b0) -> !a1` says what is what, the short lines stand first, and the scales of an
operation are found by its number.

The bytes are those of xDSL's printer, in half of its time: it prints a string character by
character, and an attribute in as many pieces as it has; here each is written in one go, and what a
type looks like is found once.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from functools import partial
from io import StringIO
from typing import IO, Any, cast

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    UnitAttr,
    UnknownLoc,
    UnregisteredOp,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.parser import ParserState
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException
from xdsl.utils.lexer import Input

from memopt.dialects.attributes.operators import EncodingAttr, SourceAttr
from memopt.dialects.attributes.quick import line_of
from memopt.dialects.memgraph.fingerprint import is_plain, tensor_text
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.memgraph.plan import is_number
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Folds
from memopt.text.lexer import Utf8Lexer
from memopt.text.quick_parser import QuickParser

PLAIN = re.compile(r"[ !#-\[\]-~]*")  # characters that stand in a string literal as they are


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

    def _print_new_line(self, indent: int | None = None, print_message: bool = True) -> None:
        if self._next_line_callback or self.stream is None:
            super()._print_new_line(indent, print_message)
            return
        spaces = (self._indent if indent is None else indent) * self.indent_num_spaces
        self._current_line += 1
        self._current_column = spaces
        self.stream.write("\n" + " " * spaces)

    def _print_results(self, op: Operation) -> None:
        results = op.results
        if len(results) == 1 and results[0].name_hint is None:  # as nearly all
            value = results[0]
            name = self._ssa_values.get(value)
            if name is None:
                name = self._ssa_values[value] = self._get_new_valid_name_id()
            self.print_string(f"%{name} = ")
        else:
            super()._print_results(op)

    def print_op(self, op: Operation) -> None:
        generic = self.print_generic_format or type(op).print is Operation.print
        if generic or op.regions or isinstance(op, UnregisteredOp):
            super().print_op(op)
        else:  # nothing in it has names of its own
            self._print_results(op)
            self.print_string(op.name)
            op.print(self)

    def print_ssa_value(self, value: SSAValue) -> str:
        name = self._ssa_values.get(value)
        if name is None:
            return super().print_ssa_value(value)
        self.print_string(f"%{name}")
        return name

    def print_attribute(self, attribute: Attribute) -> None:
        text = self._text(attribute)
        if "\n" in text:  # of a dialect that nobody knows: xDSL indents its lines
            super().print_attribute(attribute)
        else:
            self.print_string(text)

    def print_attr_dict(self, attr_dict: Mapping[str, Attribute]) -> None:
        entries = [
            self._key(key)
            if attribute.__class__ is UnitAttr
            else f"{self._key(key)} = {self._text(attribute)}"
            for key, attribute in attr_dict.items()
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
        if print_fn == self.print_ssa_value:
            names = [self._ssa_values.get(value) for value in listed]
            if None not in names:  # all are printed already, where they are made
                self.print_string(delimiter.join([f"%{name}" for name in names]))
                return
        super().print_list(listed, print_fn, delimiter)

    def print_function_type(
        self, input_types: Iterable[Attribute], output_types: Iterable[Attribute]
    ) -> None:
        inputs, outputs = list(input_types), list(output_types)
        returned = ", ".join([self._text(type_) for type_ in outputs])
        if len(outputs) != 1 or outputs[0].__class__ is FunctionType:
            returned = f"({returned})"
        text = f"({', '.join([self._text(type_) for type_ in inputs])}) -> {returned}"
        if "\n" in text:
            super().print_function_type(inputs, outputs)
        else:
            self.print_string(text)

    def _text(self, attribute: Attribute) -> str:
        """Return xDSL's text of an attribute.

        Numbers, names, arrays and sources, of which every operation has some of its own, go
        without it; the text of all others is made once.
        """
        known = self._texts.get(id(attribute))
        if known is not None:
            return known[1]
        kind = attribute.__class__  # asked first, for what is none of these is found late by xDSL
        if kind is IntegerAttr and is_number(attribute):
            return f"{attribute.value.data} : i64"
        if kind is ArrayAttr:
            listed = cast("ArrayAttr[Attribute]", attribute).data
            return f"[{', '.join([self._text(entry) for entry in listed])}]"
        if kind is StringAttr and isinstance(attribute, StringAttr):
            if PLAIN.fullmatch(attribute.data):
                return f'"{attribute.data}"'
        elif kind is SourceAttr and isinstance(attribute, SourceAttr):
            return f"#{attribute.name}{attribute.text}"
        text = self.aliases.get(attribute) if isinstance(attribute, TypeAttribute) else None
        if text is None and is_plain(attribute):
            text = tensor_text(attribute, self._text(attribute.element_type))
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


@dataclass
class Aliases:
    """Type -> its name, in the order of their lines."""

    activations: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    constants: dict[Attribute, str] = field(default_factory=dict[Attribute, str])
    counts: Counter[str] = field(default_factory=Counter[str])  # how often each name was wanted

    @property
    def names(self) -> dict[Attribute, str]:
        return {**self.activations, **self.constants}

    @property
    def groups(self) -> list[tuple[str, dict[Attribute, str]]]:
        """(heading, types) of the groups that are not empty."""
        headed = [
            ("activations", self.activations),
            ("constants, numbered by the operation that reads them", self.constants),
        ]
        return [(heading, names) for heading, names in headed if names]


def aliases_of(module: ModuleOp) -> Aliases:
    """Names for all types with an encoding; those of activations go before those of constants."""
    aliases, operations = Aliases(), list(module.walk())
    values = [value for op in operations for value in defined(op)]
    types = {id(value.type): value.type for value in values}  # most equal ones are one object
    if not any(map(is_encoded, types.values())):
        return aliases
    constant = constants_of(operations)
    for value in values:
        if is_encoded(value.type) and value not in constant:
            aliases.activations.setdefault(value.type, f"!a{len(aliases.activations)}")
    readers = 0
    for op in operations:
        types = dict.fromkeys(v.type for v in op.operands if v in constant)
        new = [type_ for type_ in types if is_new(type_, aliases)]
        for type_ in new:
            aliases.constants[type_] = constant_name(type_, readers, aliases)
        readers += bool(new)
    for value in constant:  # what nobody reads
        if is_new(value.type, aliases):
            aliases.constants[value.type] = constant_name(value.type, readers, aliases)
            readers += 1
    return aliases


def constants_of(operations: Iterable[Operation]) -> dict[SSAValue, None]:
    """Constants, and what follows from them alone, in their order."""
    constants: dict[SSAValue, None] = {}
    for op in operations:
        folds = isinstance(op, ComputeOp) and op.has_trait(Folds) and bool(op.operands)
        if is_constant_like(op) or (folds and all(v in constants for v in op.operands)):
            constants.update(dict.fromkeys(op.results))
    return constants


def defined(op: Operation) -> Iterable[SSAValue]:
    """The values that an operation brings: arguments of its blocks, results."""
    for region in op.regions:
        for block in region.blocks:
            yield from block.args
    yield from op.results


def is_encoded(type_: Attribute) -> bool:
    return isinstance(type_, TensorType) and isinstance(type_.encoding, EncodingAttr)


def is_new(type_: Attribute, found: Aliases) -> bool:
    return is_encoded(type_) and type_ not in found.activations and type_ not in found.constants


def constant_name(type_: Attribute, number: int, found: Aliases) -> str:
    """`!w3` or `!b3`; the second of its kind that one operation reads is `!w3_1`."""
    dimensions = len(type_.get_shape()) if isinstance(type_, TensorType) else 0
    name = f"!{'b' if dimensions == 1 else 'w'}{number}"
    same = found.counts[name]
    found.counts[name] += 1
    return f"{name}_{same}" if same else name
