"""Writes LiteRT's object model as a file: every buffer 16-aligned and inside the flatbuffer.

Generated `Pack` methods align a vector to its elements, so that weights end up at odd addresses
and a Cortex-M reads them slowly or faults; buffers are therefore packed here. Buffers and options
that a file has behind its flatbuffer are written inside: TensorFlow Lite Micro reads no others.
"""

import importlib
from typing import Any, cast

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import IDENTIFIER, litert_schema

ALIGNMENT = 16
MOST_BYTES = (1 << 31) - (1 << 24)  # a flatbuffer's offsets have 31 bits; the rest is for tables


class AlignedBuffer:
    """A buffer of the file that packs itself at a multiple of 16 bytes."""

    def __init__(self, data: bytes | None) -> None:
        self.data = data

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
        return schema.BufferEnd(builder)


def unpack(data: bytes) -> Any:
    """The file as a `ModelT`, its buffers as `AlignedBuffer`, all its bytes inside. Raises
    MemoptError for buffers that no flatbuffer can hold."""
    model: Any = litert_schema().ModelT.InitFromPackedBuf(data, 0)
    buffers = cast("list[Any]", model.buffers or [])
    if sum(b.size for b in buffers if b.offset > 1) > MOST_BYTES:
        raise MemoptError("its buffers behind the flatbuffer are too large to be written inside it")
    model.buffers = [AlignedBuffer(_bytes_of(b, data)) for b in buffers]
    for graph in model.subgraphs:
        for op in graph.operators or ():
            if op.largeCustomOptionsOffset > 1:
                start, size = op.largeCustomOptionsOffset, op.largeCustomOptionsSize
                op.customOptions = np.frombuffer(data[start : start + size], np.uint8)
                op.largeCustomOptionsOffset = op.largeCustomOptionsSize = 0
    return model


def _bytes_of(buffer: Any, data: bytes) -> bytes | None:
    if buffer.offset > 1:
        return data[buffer.offset : buffer.offset + buffer.size]
    return None if buffer.data is None else bytes(buffer.data)


def pack(model: Any, trailing: bytes) -> bytes:
    """The file for `model`, and the bytes behind it."""
    flatbuffers: Any = importlib.import_module("flatbuffers")
    builder: Any = flatbuffers.Builder(sum(len(b.data or b"") for b in model.buffers) + 1024)
    builder.Finish(model.Pack(builder), file_identifier=IDENTIFIER)
    return bytes(builder.Output()) + trailing
