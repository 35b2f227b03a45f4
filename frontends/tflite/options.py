"""Options of operators, read with LiteRT's generated classes."""

import struct
from functools import lru_cache
from typing import Any, cast

from memopt.dialects.memgraph.custom import OPTIONS, PREFIX
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import Operator, litert_schema

BAD_BYTES = (struct.error, ValueError, IndexError, TypeError, OverflowError, AttributeError)


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
    Those of a custom operator are bytes, in hex.

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
            fields = getattr(schema, f"{name}T").InitFromObj(table)
        except BAD_BYTES as error:
            text = f"malformed {name}: {type(error).__name__}"
            raise MemoptError(text, place) from None
        result |= cast("dict[str, Any]", fields.__dict__)
    begin, end = operator.custom_options
    if operator.name.startswith(PREFIX) and end > begin:
        result[OPTIONS] = data[begin:end].hex()
    return result
