"""Where the flatbuffer of a .tflite file ends, and what follows it.

Label files (a zip archive) and the data of buffers above 2 GB stand behind the flatbuffer, which
has no length field: its end is the end of the last thing it refers to. Vectors inside operator
options are not followed; if one stood last, its bytes would be kept a second time, no harm done.
"""

from collections.abc import Iterator
from typing import Any

from memopt.formats.flatbuffer import Flatbuffer, MalformedError, Table
from memopt.formats.tflite import IDENTIFIER, litert_schema

# Per table: field -> bytes per element of a vector, "t:NAME" a table, "v:NAME" a vector of tables.
Kind = int | str
SCHEMA: dict[str, dict[int, Kind]] = {
    "Model": {
        1: "v:OperatorCode",
        2: "v:SubGraph",
        3: 1,
        4: "v:Buffer",
        5: 4,
        6: "v:Metadata",
        7: "v:SignatureDef",
        8: "v:ExternalBufferGroup",
        9: "v:ExternalBuffer",
    },
    "OperatorCode": {1: 1},
    "SubGraph": {0: "v:Tensor", 1: 4, 2: 4, 3: "v:Operator", 4: 1},
    "Tensor": {
        0: 4,
        3: 1,
        4: "t:QuantizationParameters",
        6: "t:SparsityParameters",
        7: 4,
        9: "v:VariantSubType",
    },
    "VariantSubType": {0: 4},
    "QuantizationParameters": {0: 4, 1: 4, 2: 4, 3: 8, 5: "t:Other"},
    "SparsityParameters": {0: 4, 1: 4, 2: "v:DimensionMetadata"},
    "DimensionMetadata": {3: "t:Other", 5: "t:Other"},
    "Operator": {1: 4, 2: 4, 4: "t:Other", 5: 1, 7: 1, 8: 4, 12: "t:Other"},
    "Other": {},
    "Buffer": {0: 1},
    "Metadata": {0: 1},
    "SignatureDef": {0: "v:TensorMap", 1: "v:TensorMap", 2: 1},
    "TensorMap": {0: 1},
    "ExternalBufferGroup": {0: 1},
    "ExternalBuffer": {4: 1},
}


def walk(data: bytes) -> Iterator[tuple[Table, str]]:
    """All tables of the file with their names, each once. Raises MalformedError."""
    file = Flatbuffer(data)
    waiting = [(file.root(IDENTIFIER), "Model")]
    seen: set[int] = set()
    while waiting:
        table, name = waiting.pop()
        if table.position in seen:
            continue
        seen.add(table.position)
        yield table, name
        for field, kind in SCHEMA[name].items():
            target = table.target(field) if isinstance(kind, str) else None
            if target is None or isinstance(kind, int):
                continue
            if kind.startswith("t:"):
                waiting.append((Table(file, target), kind[2:]))
            else:
                waiting += [(t, kind[2:]) for t in table.tables(field)]


def flatbuffer_end(data: bytes) -> int:
    """The first byte after the flatbuffer. Raises MalformedError for what is none."""
    end = 8
    for table, name in walk(data):
        end = max(end, table.position + table.size, table.vtable + table.vtable_size)
        for field, kind in SCHEMA[name].items():
            target = table.target(field)
            if target is None:
                continue
            if isinstance(kind, int) or kind.startswith("v:"):
                size = kind if isinstance(kind, int) else 4
                start, count = table.file.vector(target, size)
                end = max(end, start + count * size)
    return end


def has_bytes_behind(data: bytes) -> bool:
    """Return whether a buffer, or an operator's options, lie behind the flatbuffer."""
    field = {"Buffer": 1, "Operator": 9}
    return any(name in field and table.scalar(field[name], "Q") > 1 for table, name in walk(data))


def newer_field(data: bytes) -> str:
    """A field of the file that LiteRT's schema does not have here, "" if there is none.

    It would be lost when the file is written again.
    """
    schema = litert_schema()
    counts: dict[str, int] = {}
    for table, name in walk(data):
        if name == "Other":
            continue
        if name not in counts:
            counts[name] = _fields(getattr(schema, f"{name}Start"))
        for field in range(counts[name], (table.vtable_size - 4) // 2):
            if table.at(field, 1) is not None:
                return f"{name} field {field}"
    return ""


def _fields(start: Any) -> int:
    """How many fields a generated `...Start` function reserves."""
    counter = _Counter()
    start(counter)
    return counter.count


class _Counter:
    """Stands in for a flatbuffer builder and notes what is asked of it."""

    count = 0

    def StartObject(self, count: int) -> None:  # noqa: N802 - the name that generated code calls
        self.count = count


def trailing_bytes(data: bytes, kept: list[tuple[int, int]]) -> bytes:
    """Return the bytes behind the flatbuffer, without the (start, stop) ranges that are `kept`
    elsewhere.

    Padding is nothing: zeros alone, fewer than a page.
    """
    try:
        position = flatbuffer_end(data)
    except MalformedError:
        return b""
    parts: list[bytes] = []
    for start, stop in sorted(kept):
        parts.append(data[position : max(start, position)])
        position = max(position, stop)
    parts.append(data[position:])
    rest = b"".join(parts)
    # The last string ends in a zero that its length does not count.
    return b"" if not any(rest) and len(rest) < 4096 else rest[_padding(rest) :]


def _padding(rest: bytes) -> int:
    """Leading zeros, at most 15: a terminator and padding of the flatbuffer itself."""
    count = 0
    while count < min(15, len(rest)) and rest[count] == 0:
        count += 1
    return count
