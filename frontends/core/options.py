"""Options of opaque operators as IR, for people: nothing reads them again."""

from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

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

MAX_ENTRIES: Final = 64


def text_of(value: bytes) -> str:
    """A text of a file, which should be UTF-8."""
    return value.decode("utf-8", "backslashreplace")


def readable_options(entries: Mapping[str, Any], absent: Sequence[int]) -> DictionaryAttr:
    """Return the options that text can say; `absent` operands are listed by position."""
    texts = {key: readable(value) for key, value in entries.items()}
    if absent:
        texts["absent"] = ArrayAttr([IntegerAttr(i, i64) for i in absent])
    return DictionaryAttr({key: value for key, value in texts.items() if value is not None})


def readable(value: Any) -> Attribute | None:
    """A number, text, or list of these; None for anything else, and for what is too long."""
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        return IntegerAttr(value, i64) if -(1 << 63) <= value < 1 << 63 else None
    if isinstance(value, float):
        return FloatAttr(value, f32)
    if isinstance(value, str | bytes):
        return StringAttr(text_of(value) if isinstance(value, bytes) else value)
    items: Any = value.tolist() if hasattr(value, "tolist") else value
    if isinstance(items, list) and len(cast("list[Any]", items)) <= MAX_ENTRIES:
        parts = [readable(v) for v in cast("list[Any]", items)]
        if all(p is not None for p in parts):
            return ArrayAttr(cast("list[Attribute]", parts))
    return None
