"""Options of operators, read with LiteRT's generated classes: as objects and as a dictionary."""

import struct
from functools import lru_cache
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    f32,
    i64,
)
from xdsl.ir import Attribute

from memopt.dialects.errors import MemoptError
from memopt.formats.tflite import Operator, litert_schema
from memopt.frontends.core.typed import readable_options

BAD_BYTES = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError)
MAX_ENTRIES = 64


@lru_cache(maxsize=2)
def _unions() -> tuple[dict[int, str], dict[int, str]]:
    """Number of an options type -> its class, for both unions of the schema."""
    schema = litert_schema()

    def names(union: Any) -> dict[int, str]:
        entries = cast("dict[str, int]", union.__dict__)
        return {number: name for name, number in entries.items() if name[0] != "_" and number}

    return names(schema.BuiltinOptions), names(schema.BuiltinOptions2)


def read_options(data: bytes, operator: Operator, place: str) -> dict[str, Any]:
    """Field name -> value of the operator's options; empty if it has none, or of a newer schema.

    Raises MemoptError if they do not fit the file.
    """
    result: dict[str, Any] = {}
    schema = litert_schema()
    for (position, kind), names in zip(operator.options, _unions(), strict=True):
        name = names.get(kind)
        if name is None or not position:
            continue
        try:
            table = getattr(schema, name)()
            table.Init(data, position)
            found = getattr(schema, f"{name}T").InitFromObj(table)
        except BAD_BYTES as error:
            text = f"malformed {name}: {type(error).__name__}"
            raise MemoptError(text, place) from None
        result |= cast("dict[str, Any]", found.__dict__)
    return result


def options_attribute(options: dict[str, Any], absent: tuple[int, ...]) -> DictionaryAttr:
    """Options for people, in the schema's spelling; `absent` operands are listed by position."""
    return readable_options({k: _attribute(v) for k, v in options.items()}, absent)


def _attribute(value: Any) -> Attribute | None:
    """None for what is too long to read, or is no number, text or list of these."""
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, i64) if -(1 << 63) <= value < 1 << 63 else None
    if isinstance(value, float):
        return FloatAttr(value, f32) if abs(value) < float("inf") else StringAttr(str(value))
    if isinstance(value, bytes):
        return StringAttr(value.decode("utf-8", "backslashreplace"))
    if isinstance(value, str):
        return StringAttr(value)
    items: Any = value
    if hasattr(items, "tolist"):
        items = items.tolist()
    if isinstance(items, list) and len(cast("list[Any]", items)) <= MAX_ENTRIES:
        parts = [_attribute(v) for v in cast("list[Any]", items)]
        if all(p is not None for p in parts):
            return ArrayAttr(cast("list[Attribute]", parts))
    return None
