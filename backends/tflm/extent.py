"""Where the flatbuffer of a .tflite file ends, and what follows it.

Label files (a zip archive) and the data of buffers above 2 GB stand behind the flatbuffer, which
has no length field: its end is the end of the last thing it refers to. Vectors inside operator
options are not followed; if one stood last, its bytes would be kept a second time, no harm done.
"""

from memopt.dialects.flatbuffer import Flatbuffer, MalformedError, Table
from memopt.dialects.tflite_file import IDENTIFIER

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
        8: "v:Named",
        9: "v:ExternalBuffer",
    },
    "OperatorCode": {1: 1},
    "SubGraph": {0: "v:Tensor", 1: 4, 2: 4, 3: "v:Operator", 4: 1},
    "Tensor": {0: 4, 3: 1, 4: "t:Quantization", 6: "t:Sparsity", 7: 4, 9: "v:Variant"},
    "Variant": {0: 4},
    "Quantization": {0: 4, 1: 4, 2: 4, 3: 8, 5: "t:Other"},
    "Sparsity": {0: 4, 1: 4, 2: "v:Dimension"},
    "Dimension": {3: "t:Other", 5: "t:Other"},
    "Operator": {1: 4, 2: 4, 4: "t:Other", 5: 1, 7: 1, 8: 4, 12: "t:Other"},
    "Other": {},
    "Buffer": {0: 1},
    "Metadata": {0: 1},
    "SignatureDef": {0: "v:TensorMap", 1: "v:TensorMap", 2: 1},
    "TensorMap": {0: 1},
    "Named": {0: 1},
    "ExternalBuffer": {4: 1},
}


def flatbuffer_end(data: bytes) -> int:
    """The first byte after the flatbuffer. Raises MalformedError for what is none."""
    file = Flatbuffer(data)
    root = file.root(IDENTIFIER)
    end = 8
    waiting = [(root, "Model")]
    seen: set[int] = set()
    while waiting:
        table, name = waiting.pop()
        if table.position in seen:
            continue
        seen.add(table.position)
        end = max(end, table.position + table.size, table.vtable + table.vtable_size)
        for field, kind in SCHEMA[name].items():
            target = table.target(field)
            if target is None:
                continue
            if isinstance(kind, int):
                start, count = file.vector(target, kind)
                end = max(end, start + count * kind)
            elif kind.startswith("t:"):
                waiting.append((Table(file, target), kind[2:]))
            else:
                start, count = file.vector(target, 4)
                end = max(end, start + 4 * count)
                waiting += [(t, kind[2:]) for t in table.tables(field)]
    return end


def trailing_bytes(data: bytes, kept: list[tuple[int, int]]) -> bytes:
    """What follows the flatbuffer, without the (start, stop) ranges that are `kept` elsewhere.

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
