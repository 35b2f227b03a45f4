"""xDSL's parser, which reads what most operations have in one go instead of token by token.

    {memgraph.names = ["y"], memgraph.order = 3 : i64} : (tensor<8xi8>, !a0) -> tensor<8xi8>

Such an attribute dictionary and such types take one regular expression each, if they stand as the
printer writes them. Everything else, and everything wrong, is left to xDSL: nothing was consumed.
"""

import re
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import (
    ArrayAttr,
    FunctionType,
    StringAttr,
    UnitAttr,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, TypeAttribute
from xdsl.parser import Parser
from xdsl.utils.mlir_lexer import MLIRTokenKind

from memopt.dialects.attributes import SourceAttr
from memopt.dialects.quick import function_type, number, plain_tensor
from memopt.lexer import NAME, PLAIN_STRING

_DIGITS = "[0-9]{1,18}"
_NUMBER = f"-?{_DIGITS} : i64"
_DIALECT = r'#[a-z_]+\.[a-z_]+<[^<>"\[\]{}/\n]*>'
_LISTED = rf"\[{_DIALECT}(?:, {_DIALECT})*\]"
_NESTED = rf"\[(?:{_LISTED}|\[\])(?:, (?:{_LISTED}|\[\]))*\]"
_KNOWN: Final = re.compile(rf"{_DIALECT}|{_LISTED}|{_NESTED}")
# key, then its value: a string, a number, strings, numbers, a source, or a text that was seen
_ENTRY: Final = re.compile(
    rf"({NAME})(?: = (?:({PLAIN_STRING})|({_NUMBER})|\[({PLAIN_STRING}(?:, {PLAIN_STRING})*)\]"
    rf"|\[({_NUMBER}(?:, {_NUMBER})*)\]"
    rf"|\#memgraph\.source<({_DIGITS}), ({_DIGITS}), \[({_DIGITS}(?:, {_DIGITS})*|)\]>"
    rf"|({_KNOWN.pattern})))?(?:, |(\}}))",
    re.ASCII,
)
_STRINGS: Final = re.compile(PLAIN_STRING)
_ELEMENTS: Final = {str(t): t for t in (i1, i8, i16, i32, i64, f16, bf16, f32, f64)}
# a plain tensor, or an alias and no type of a dialect
_TYPE = rf"tensor<(?:{_DIGITS}x)*(?:{'|'.join(_ELEMENTS)})>|![A-Za-z0-9_]++(?![<.])"
_TYPES = rf"((?:{_TYPE})(?:, (?:{_TYPE}))*|)"
_LONE_TYPE: Final = re.compile(_TYPE)
_FUNCTION_TYPE: Final = re.compile(rf"\({_TYPES}\) -> (?:\({_TYPES}\)|({_TYPE}))")


class QuickParser(Parser):
    """`attributes` and `types` are those of this text by how they are written there."""

    def __init__(self, ctx: Context, text: str, name: str) -> None:
        super().__init__(ctx, text, name)
        self.attributes: dict[str, Attribute] = {}
        self.types: dict[str, TypeAttribute] = {}

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        token = self._current_token
        if token.kind is MLIRTokenKind.L_BRACE:
            found = self._entries(token.span.end)
            if found is not None:
                self._resume_from(found[1])
                return found[0]
        return super().parse_optional_dictionary_attr_dict()

    def parse_optional_attribute(self) -> Attribute | None:
        token = self._current_token
        found = super().parse_optional_attribute()
        if token.kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.L_SQUARE) and found is not None:
            text = self.lexer.input.content[token.span.start : self.pos].rstrip()
            if _KNOWN.fullmatch(text):
                self.attributes[text] = found
        return found

    def parse_optional_type(self) -> TypeAttribute | None:
        match = _LONE_TYPE.match(self.lexer.input.content, self.pos)
        found = self._type(match[0]) if match else None
        if match is None or found is None:
            return super().parse_optional_type()
        self._resume_from(match.end())
        return found

    def parse_optional_function_type(self) -> FunctionType | None:
        match = _FUNCTION_TYPE.match(self.lexer.input.content, self.pos)
        if match is not None:
            taken, made = self._types(match[1]), self._types(match[2] or match[3] or "")
            if taken is not None and made is not None:
                self._resume_from(match.end())
                return function_type(taken, made)
        return super().parse_optional_function_type()

    def _entries(self, at: int) -> tuple[dict[str, Attribute], int] | None:
        """The entries of a dictionary from its first key on, and where it ends; None if they are to
        be read token by token."""
        content, found, count, last = self.lexer.input.content, dict[str, Attribute](), 0, None
        while last is None:
            match = _ENTRY.match(content, at)
            value = self._value(match) if match else None
            if match is None or value is None:
                return None
            found[match[1]] = value
            count, at, last = count + 1, match.end(), match[10]
        return (found, at) if len(found) == count else None

    def _value(self, match: re.Match[str]) -> Attribute | None:
        """The attribute that an entry gives, None if its text is met for the first time."""
        _, text, value, texts, values, subgraph, operator, tensors, known, _ = match.groups()
        if texts is not None:
            return ArrayAttr([StringAttr(t[1:-1]) for t in _STRINGS.findall(texts)])
        if values is not None:
            return ArrayAttr([_number(v) for v in values.split(", ")])
        if value is not None:
            return _number(value)
        if subgraph is not None:
            indices = [int(t) for t in tensors.split(",")] if tensors else []
            return SourceAttr(int(subgraph), int(operator), indices)
        if known is not None:
            return self.attributes.get(known)
        return UnitAttr() if text is None else StringAttr(text[1:-1])

    def _types(self, text: str) -> list[TypeAttribute] | None:
        found: list[TypeAttribute] = []
        for one in text.split(", ") if text else ():
            type_ = self._type(one)
            if type_ is None:
                return None
            found.append(type_)
        return found

    def _type(self, text: str) -> TypeAttribute | None:
        """The type of this text; None of an alias that is none of a type."""
        found = self.types.get(text)
        if found is None and text.startswith("!"):
            aliased = self.attribute_aliases.get(text)
            return aliased if isinstance(aliased, TypeAttribute) else None
        if found is None:
            *shape, element = text[len("tensor<") : -1].split("x")
            found = self.types[text] = plain_tensor(_ELEMENTS[element], [int(d) for d in shape])
        return found


def _number(text: str) -> Attribute:
    return number(int(text.removesuffix(" : i64")))
