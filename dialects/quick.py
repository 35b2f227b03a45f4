"""Attributes of which passes and importers make one per operator, made without xDSL's checks.

`IntegerAttr(5, i64)` takes ten microseconds, nearly all of them to find that 5 is a number of 64
bits; what is made here holds by construction.
"""

from collections.abc import Sequence
from functools import lru_cache
from struct import error, pack
from typing import cast

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
from xdsl.ir import Attribute, ParametrizedAttribute

KEPT = 1 << 16  # numbers: equal ones are one attribute
NONE = NoneAttr()


@lru_cache(KEPT)
def number(value: int) -> IntegerAttr[IntegerType]:
    """`value : i64`. Raises VerifyException for what 64 bits cannot say."""
    if not -(1 << 63) <= value < 1 << 63:
        return IntegerAttr(value, i64)
    return cast("IntegerAttr[IntegerType]", _made(IntegerAttr, IntAttr(value), i64))


@lru_cache(KEPT)
def word(text: str) -> StringAttr:
    """A string that many operations have, such as the kind that they are."""
    return StringAttr(text)


def numbers(values: list[int]) -> DenseArrayBase[IntegerType]:
    """`array<i64: ...>`. Raises ValueError for what 64 bits cannot say."""
    try:
        data = BytesAttr(pack(f"<{len(values)}q", *values))
    except error:
        return DenseArrayBase.from_list(i64, values)
    return cast("DenseArrayBase[IntegerType]", _made(DenseArrayBase, i64, data))


def plain_tensor(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    """`tensor<1x8xi8>`, without an encoding."""
    sizes = ArrayAttr([IntAttr(d) for d in shape])
    return cast("TensorType[Attribute]", _made(TensorType, sizes, element, NONE))


def function_type(inputs: Sequence[Attribute], outputs: Sequence[Attribute]) -> FunctionType:
    """`(T, T) -> T`."""
    return cast("FunctionType", _made(FunctionType, ArrayAttr(inputs), ArrayAttr(outputs)))


def line_of(file: StringAttr, line: int, column: int) -> FileLineColLoc:
    """`loc("net.mlir":3:5)`."""
    return cast("FileLineColLoc", _made(FileLineColLoc, file, IntAttr(line), IntAttr(column)))


def fill(attribute: ParametrizedAttribute, *parameters: Attribute) -> None:
    """Give a new attribute its parameters, which are known to hold."""
    fields = attribute.get_irdl_definition().parameters
    for (name, _), parameter in zip(fields, parameters, strict=True):
        object.__setattr__(attribute, name, parameter)


def _made(kind: type[ParametrizedAttribute], *parameters: Attribute) -> ParametrizedAttribute:
    attribute = kind.__new__(kind)
    fill(attribute, *parameters)
    return attribute
