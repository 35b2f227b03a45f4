"""Writes LiteRT's object model as a file: every buffer 16-aligned, data behind the flatbuffer kept.

Generated `Pack` methods align a vector to its elements, so that weights end up at odd addresses
and a Cortex-M reads them slowly or faults; buffers are therefore packed here.
"""

import importlib
from typing import Any, cast

from memopt.formats.tflite import IDENTIFIER, litert_schema

ALIGNMENT = 16


class AlignedBuffer:
    """A buffer of the file that packs itself at a multiple of 16 bytes."""

    def __init__(self, data: bytes | None, offset: int = 0, size: int = 0) -> None:
        self.data, self.offset, self.size = data, offset, size

    def Pack(self, builder: Any) -> Any:  # noqa: N802 - the name that generated code calls
        schema = litert_schema()
        vector: Any = None
        if self.data is not None:
            builder.StartVector(1, len(self.data), ALIGNMENT)
            builder.head = builder.Head() - len(self.data)
            builder.Bytes[builder.Head() : builder.Head() + len(self.data)] = self.data
            vector = builder.EndVector()
        schema.BufferStart(builder)
        if vector is not None:
            schema.BufferAddData(builder, vector)
        schema.BufferAddOffset(builder, self.offset)
        schema.BufferAddSize(builder, self.size)
        return schema.BufferEnd(builder)


def unpack(data: bytes) -> Any:
    """The file as a `ModelT`, its buffers as `AlignedBuffer`."""
    model: Any = litert_schema().ModelT.InitFromPackedBuf(data, 0)
    model.buffers = [
        AlignedBuffer(None if b.data is None else bytes(b.data), b.offset, b.size)
        for b in cast("list[Any]", model.buffers or [])
    ]
    return model


def pack(model: Any, source: bytes, trailing: bytes) -> bytes:
    """The file for `model`; data that `source` holds behind its flatbuffer moves along."""
    flatbuffers: Any = importlib.import_module("flatbuffers")
    outside: list[tuple[Any, str, bytes]] = [
        (b, "offset", source[b.offset : b.offset + b.size]) for b in model.buffers if b.offset > 1
    ]
    for graph in model.subgraphs:
        for op in graph.operators or ():
            if op.largeCustomOptionsOffset > 1:
                start, size = op.largeCustomOptionsOffset, op.largeCustomOptionsSize
                outside.append((op, "largeCustomOptionsOffset", source[start : start + size]))

    def packed() -> bytes:
        builder: Any = flatbuffers.Builder(len(source) + 1024)
        builder.Finish(model.Pack(builder), file_identifier=IDENTIFIER)
        return bytes(builder.Output())

    result = packed()
    if outside:
        # Offsets are scalars of a fixed size: the second packing is as long as the first.
        end = len(result)
        tail = bytearray()
        for owner, field, data in outside:
            tail += bytes(-(end + len(tail)) % ALIGNMENT)
            setattr(owner, field, end + len(tail))
            tail += data
        result = packed()
        if len(result) != end:
            raise AssertionError("a second packing has another length")
        result += tail
    return result + trailing


def outside_ranges(model: Any) -> list[tuple[int, int]]:
    """(start, stop) of what the model refers to behind its flatbuffer."""
    found = [(b.offset, b.offset + b.size) for b in model.buffers if b.offset > 1]
    for graph in model.subgraphs:
        for op in graph.operators or ():
            if op.largeCustomOptionsOffset > 1:
                start = op.largeCustomOptionsOffset
                found.append((start, start + op.largeCustomOptionsSize))
    return found
