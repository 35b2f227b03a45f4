"""Attributes of which passes and importers make one per operator, made without xDSL's checks.

`IntegerAttr(5, i64)` takes ten microseconds, nearly all of them to find that 5 is a number of 64
bits; what is made here holds by construction.
"""

from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from struct import error, pack
from typing import Any, TypeVar, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseArrayBase,
    FileLineColLoc,
    FunctionType,
    IntAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.ir import Attribute, Data, ParametrizedAttribute

A = TypeVar("A", bound=Attribute)
D = TypeVar("D", bound="Data[Any]")

KEPT = 1 << 16  # numbers: equal ones are one attribute
NONE = NoneAttr()


@lru_cache(KEPT)
def number(value: int) -> IntegerAttr[IntegerType]:
    """`value : i64`. Raises VerifyException for what 64 bits cannot say."""
    if not -(1 << 63) <= value < 1 << 63:
        return IntegerAttr(value, i64)
    return cast("IntegerAttr[IntegerType]", _made(IntegerAttr, _holding(IntAttr, int(value)), i64))


@lru_cache(KEPT)
def word(text: str) -> StringAttr:
    """A string that many operations have, such as the kind that they are."""
    return StringAttr(text)


def index(value: int) -> IntAttr:
    """A number of no type."""
    return _holding(IntAttr, value) if value else _zero()


@cache
def _zero() -> IntAttr:
    """0 of no type, which nearly every operation has."""
    return _holding(IntAttr, 0)


def string(text: str) -> StringAttr:
    """`"text"`, that of one operator only, such as a name."""
    return _holding(StringAttr, text)


def array(entries: Iterable[A]) -> ArrayAttr[A]:
    """`[entry, entry]`."""
    return cast("ArrayAttr[A]", _holding(ArrayAttr, tuple(entries)))


def numbers(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """`array<i64: ...>`. Raises ValueError for what 64 bits cannot say."""
    try:
        data = _holding(BytesAttr, pack(f"<{len(values)}q", *values))
    except error:
        return DenseArrayBase.from_list(i64, list(values))
    return cast("DenseArrayBase[IntegerType]", _made(DenseArrayBase, i64, data))


def plain_tensor(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """`tensor<1x8xi8>`, without an encoding."""
    sizes = array([index(d) for d in shape])
    return cast("TensorType[Attribute]", _made(TensorType, sizes, element, NONE))


def function_type(inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> FunctionType:
    """`(T, T) -> T`."""
    return cast("FunctionType", _made(FunctionType, array(inputs), array(outputs)))


def line_of(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """`loc("net.mlir":3:5)`."""
    return cast("FileLineColLoc", _made(FileLineColLoc, file, index(line), index(column)))


def fill(attribute: ParametrizedAttribute, *parameters: Attribute) -> None:
    """Give a new attribute its parameters, which are known to hold. Not by its dictionary, which
    it has no need of then: that takes as many bytes again as the attribute."""
    for name, parameter in zip(_names(type(attribute)), parameters, strict=True):
        object.__setattr__(attribute, name, parameter)


@cache
def _names(kind: type[ParametrizedAttribute]) -> tuple[str, ...]:
    return tuple([name for name, _ in kind.get_irdl_definition().parameters])


def _holding(kind: type[D], data: object) -> D:
    attribute = kind.__new__(kind)
    object.__setattr__(attribute, "data", data)
    return attribute


def _made(kind: type[ParametrizedAttribute], *parameters: Attribute) -> ParametrizedAttribute:
    attribute = kind.__new__(kind)
    fill(attribute, *parameters)
    return attribute
