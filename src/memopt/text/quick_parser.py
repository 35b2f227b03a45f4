"""xDSL's parser, which reads what most operations have in one go instead of token by token.

    %1 = memgraph.opaque "Add"(%0, %0) {memgraph.names = ["y"], memgraph.order = 3 : i64} :
        (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>

Such an attribute dictionary and such types take one regular expression each, if they stand as the
printer writes them, and so does what stands before them in the two kinds of operations of which
models have ten thousand, this one and `memgraph.row`. Everything else, and everything wrong, is
left to xDSL: nothing was consumed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.context import Context
from xdsl.dialects.builtin import FunctionType, UnitAttr, bf16, f16, f32, f64, i1, i8, i16, i32, i64
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.utils.mlir_lexer import MLIRTokenKind

from memopt.dialects.attributes.operators import OperatorType, SourceAttr
from memopt.dialects.attributes.quick import array, function_type, number, plain_tensor, string
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.rows.operations import RowOp
from memopt.text.bounded_parser import BoundedParser
from memopt.text.lexer import NAME, PLAIN_STRING

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
_TENSOR = rf"tensor<(?:{_DIGITS}x)*(?:{'|'.join(_ELEMENTS)})"
_ENCODED: Final = re.compile(rf"{_TENSOR}, {_DIALECT}>")
# a plain tensor, one with an encoding, or an alias and no type of a dialect
_TYPE = rf"{_TENSOR}(?:, {_DIALECT})?>|![A-Za-z0-9_]++(?![<.$-])"
_TYPES = rf"((?:{_TYPE})(?:, (?:{_TYPE}))*|)"
_LONE_TYPE: Final = re.compile(_TYPE)
_FUNCTION_TYPE: Final = re.compile(rf"\({_TYPES}\) -> (?:\({_TYPES}\)|({_TYPE}))")
_VALUE = r"%(?:[0-9]+|[A-Za-z$._-][A-Za-z0-9$._-]*)"
_VALUES = rf"{_VALUE}(?:, {_VALUE})*"
# an opaque operation of this kind, or the row of this operator and number
_OPERATION: Final = re.compile(
    rf"({_VALUES}) = memgraph\.(?:opaque ({PLAIN_STRING})|row ({_VALUE})\[({_DIGITS})\] )"
    rf"\(({_VALUES}|)\)( stateful)?( \{{)?"
)
_ITS_TYPE: Final = re.compile(rf" : {_FUNCTION_TYPE.pattern}(?!\s*(?:loc\b|//))")


class QuickParser(BoundedParser):
    """`attributes` and `types` are those of this text by how they are written there."""

    def __init__(self, ctx: Context, text: str, name: str) -> None:
        super().__init__(ctx, text, name)
        self.attributes: dict[str, Attribute] = {}
        self.types: dict[str, TypeAttribute] = {}

    def parse_operation(self) -> Operation:
        operation = self._whole(self.lexer.input.content, self.pos)
        return super().parse_operation() if operation is None else operation

    def _whole(self, content: str, at: int) -> Operation | None:
        """The operation that stands here, None if it is to be read token by token."""
        begin = _OPERATION.match(content, at)
        if begin is None:
            return None
        entries = self._entries(begin.end()) if begin[7] else (dict[str, Attribute](), begin.end())
        end = _ITS_TYPE.match(content, entries[1]) if entries else None
        if entries is None or end is None:
            return None
        taken, results = self._types(end[1]), self._types(end[2] or end[3] or "")
        operands = self._operands(begin[5], taken)
        names = [name[1:] for name in begin[1].split(", ")]
        if operands is None or results is None or len(names) != len(results):
            return None
        if len(set(names)) < len(names) or any(map(self._is_used, names)):
            return None
        op = self._begun(begin, operands, results, entries[0])
        if op is None:
            return None
        op.attributes.update(entries[0])
        for name, result in zip(names, op.results, strict=True):
            self._register_ssa_definition(name, (result,), self._current_token.span)
        self._resume_from(end.end())
        return op

    def _begun(
        self,
        begin: re.Match[str],
        operands: Sequence[SSAValue],
        made: Sequence[Attribute],
        entries: Mapping[str, Attribute],
    ) -> Operation | None:
        """The operation, without attributes, that begins so; None if those cannot be its own."""
        _, kind, operator, index, _, stateful, _ = begin.groups()
        if kind is not None:
            if not entries.keys().isdisjoint(OpaqueOp.IN_TEXT) or not self._knows(OpaqueOp):
                return None
            return OpaqueOp(kind[1:-1], operands, made, stateful=stateful is not None)
        operators = self._operands(operator, (OperatorType(),))
        if operators is None or stateful is not None or not self._knows(RowOp):
            return None
        return RowOp(operators[0], int(index), operands, made)

    def _operands(self, text: str, types: Sequence[Attribute] | None) -> list[SSAValue] | None:
        """The values of these names, if each was made before and is of its type."""
        names = text.split(", ") if text else []
        if types is None or len(names) != len(types):
            return None
        operands: list[SSAValue] = []
        for name, type_ in zip(names, types, strict=True):
            values = self.ssa_values.get(name[1:], ())
            if len(values) != 1 or values[0].type != type_:
                return None
            operands.append(values[0])
        return operands

    def _is_used(self, name: str) -> bool:
        """Return whether a value of this name was made or read before."""
        return name in self.ssa_values or name in self.forward_ssa_references

    def _knows(self, kind: type[Operation]) -> bool:
        """Return whether its name means that kind here."""
        stack = self._parser_state.dialect_stack
        return self.ctx.get_optional_op(kind.name, dialect_stack=stack) is kind

    def parse_optional_dictionary_attr_dict(self) -> dict[str, Attribute]:
        token = self._current_token
        if token.kind is MLIRTokenKind.L_BRACE:
            entries = self._entries(token.span.end)
            if entries is not None:
                self._resume_from(entries[1])
                return entries[0]
        return super().parse_optional_dictionary_attr_dict()

    def parse_optional_attribute(self) -> Attribute | None:
        token = self._current_token
        read = super().parse_optional_attribute()
        if token.kind in (MLIRTokenKind.HASH_IDENT, MLIRTokenKind.L_SQUARE) and read is not None:
            text = self.lexer.input.content[token.span.start : self.pos].rstrip()
            if _KNOWN.fullmatch(text):
                self.attributes[text] = read
        return read

    def parse_optional_type(self) -> TypeAttribute | None:
        content, start = self.lexer.input.content, self.pos
        match = _LONE_TYPE.match(content, start)
        type_ = self._type(match[0]) if match else None
        if match is None or type_ is None:
            read = super().parse_optional_type()
            text = content[start : self.pos].rstrip() if match and read else ""
            if read is not None and _ENCODED.fullmatch(text):
                self.types[text] = read
            return read
        self._resume_from(match.end())
        return type_

    def parse_optional_function_type(self) -> FunctionType | None:
        match = _FUNCTION_TYPE.match(self.lexer.input.content, self.pos)
        if match is not None:
            taken, results = self._types(match[1]), self._types(match[2] or match[3] or "")
            if taken is not None and results is not None:
                self._resume_from(match.end())
                return function_type(taken, results)
        return super().parse_optional_function_type()

    def _entries(self, at: int) -> tuple[dict[str, Attribute], int] | None:
        """The entries of a dictionary from its first key on, and where it ends; None if they are to
        be read token by token."""
        content, entries, count, last = self.lexer.input.content, dict[str, Attribute](), 0, None
        while last is None:
            match = _ENTRY.match(content, at)
            value = self._value(match) if match else None
            if match is None or value is None:
                return None
            entries[match[1]] = value
            count, at, last = count + 1, match.end(), match[10]
        return (entries, at) if len(entries) == count else None

    def _value(self, match: re.Match[str]) -> Attribute | None:
        """The attribute that an entry gives, None if its text is met for the first time."""
        _, text, value, texts, values, subgraph, operator, tensors, known, _ = match.groups()
        if texts is not None:
            return array([string(t[1:-1]) for t in _STRINGS.findall(texts)])
        if values is not None:
            return array([_number(v) for v in values.split(", ")])
        if value is not None:
            return _number(value)
        if subgraph is not None:
            indices = [int(t) for t in tensors.split(",")] if tensors else []
            return SourceAttr(int(subgraph), int(operator), indices)
        if known is not None:
            return self.attributes.get(known)
        return UnitAttr() if text is None else string(text[1:-1])

    def _types(self, text: str) -> list[TypeAttribute] | None:
        types: list[TypeAttribute] = []
        for one in _LONE_TYPE.findall(text):
            type_ = self._type(one)
            if type_ is None:
                return None
            types.append(type_)
        return types

    def _type(self, text: str) -> TypeAttribute | None:
        """The type of this text; None of an alias that is none of a type, and of an encoding that
        is met for the first time."""
        type_ = self.types.get(text)
        if type_ is None and text.startswith("!"):
            aliased = self.attribute_aliases.get(text)
            return aliased if isinstance(aliased, TypeAttribute) else None
        if type_ is None and not text.endswith(">>"):
            *shape, element = text[len("tensor<") : -1].split("x")
            type_ = self.types[text] = plain_tensor(_ELEMENTS[element], [int(d) for d in shape])
        return type_


def _number(text: str) -> Attribute:
    return number(int(text.removesuffix(" : i64")))
