"""Bounds-checked reading of flatbuffers: every offset of a hostile file is checked before use.

    file = Flatbuffer(data)
    root = file.root(b"TFL3")
    subgraphs = root.tables(2)
    name = root.string(3)

Fields are numbered as in the schema, from 0. An absent field reads as its default. What does not
fit the file raises `MalformedError`, whose text says which bytes; nothing is ever allocated or
looped over beyond the file's own size. Source: FlatBuffers "Internals", the binary encoding.
"""

import struct
from functools import lru_cache

_U16 = struct.Struct("<H")
_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")


class MalformedError(ValueError):
    """Bytes that are no flatbuffer of the expected kind."""


@lru_cache(maxsize=256)
def _array(count: int, code: str) -> struct.Struct:
    return struct.Struct(f"<{count}{code}")


class Flatbuffer:
    """The bytes of one file.

    `budget` bounds the elements read in all: tables may be shared, so that a small file can claim
    to hold far more than it has bytes. A file that a builder wrote stays far below it.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.budget = 16 * len(data) + 4096

    def root(self, identifier: bytes) -> "Table":
        """The root table. Raises MalformedError unless the file carries the 4-byte `identifier`."""
        if len(self.data) < 8:
            raise MalformedError(f"{len(self.data)} bytes are too few for a flatbuffer")
        if self.data[4:8] != identifier:
            raise MalformedError(f"file identifier {self.data[4:8]!r} is not {identifier!r}")
        return Table(self, self.uoffset(0))

    def uoffset(self, at: int) -> int:
        """The place that the unsigned offset at byte `at` points to."""
        if not 0 <= at <= len(self.data) - 4:
            raise MalformedError(f"offset at byte {at} is outside the file")
        return at + _U32.unpack_from(self.data, at)[0]

    def vector(self, at: int, size: int) -> tuple[int, int]:
        """(first byte, count) of the vector at byte `at` with elements of `size` bytes."""
        if not 0 <= at <= len(self.data) - 4:
            raise MalformedError(f"vector at byte {at} is outside the file")
        count = _U32.unpack_from(self.data, at)[0]
        if at + 4 + count * size > len(self.data):
            raise MalformedError(f"vector of {count} elements at byte {at} reaches beyond the file")
        return at + 4, count

    def spend(self, count: int) -> None:
        self.budget -= count
        if self.budget < 0:
            raise MalformedError("the file refers to more elements than it can hold")


class Table:
    """One table: its position, its vtable, its inline bytes."""

    __slots__ = ("file", "position", "size", "vtable", "vtable_size")

    def __init__(self, file: Flatbuffer, position: int) -> None:
        data = file.data
        file.spend(1)
        if not 0 <= position <= len(data) - 4:
            raise MalformedError(f"table at byte {position} is outside the file")
        vtable = position - _I32.unpack_from(data, position)[0]
        if not 0 <= vtable <= len(data) - 4:
            raise MalformedError(f"table at byte {position}: its vtable is outside the file")
        self.vtable_size = _U16.unpack_from(data, vtable)[0]
        self.size = _U16.unpack_from(data, vtable + 2)[0]
        if self.vtable_size < 4 or self.vtable_size % 2 or vtable + self.vtable_size > len(data):
            raise MalformedError(f"table at byte {position}: bad vtable size {self.vtable_size}")
        if self.size < 4 or position + self.size > len(data):
            raise MalformedError(f"table at byte {position}: bad size {self.size}")
        self.file, self.position, self.vtable = file, position, vtable

    def at(self, field: int, size: int) -> int | None:
        """The first of the `size` inline bytes of `field`, None if absent."""
        entry = 4 + 2 * field
        if entry >= self.vtable_size:
            return None
        offset = _U16.unpack_from(self.file.data, self.vtable + entry)[0]
        if offset == 0:
            return None
        if offset < 4 or offset + size > self.size:
            raise MalformedError(f"table at byte {self.position}: field {field} is outside of it")
        return self.position + offset

    def scalar(self, field: int, code: str, default: int = 0) -> int:
        """A number of struct `code` (b B h H i I q Q)."""
        packer = _array(1, code)
        at = self.at(field, packer.size)
        return default if at is None else packer.unpack_from(self.file.data, at)[0]

    def flag(self, field: int) -> bool:
        return bool(self.scalar(field, "B"))

    def target(self, field: int) -> int | None:
        """Return where the offset in `field` points to, None if absent."""
        at = self.at(field, 4)
        return None if at is None else self.file.uoffset(at)

    def table(self, field: int) -> "Table | None":
        target = self.target(field)
        return None if target is None else Table(self.file, target)

    def tables(self, field: int) -> "tuple[Table, ...]":
        """A vector of tables; empty if absent."""
        target = self.target(field)
        if target is None:
            return ()
        start, count = self.file.vector(target, 4)
        self.file.spend(count)
        places = range(start, start + 4 * count, 4)
        return tuple(Table(self.file, self.file.uoffset(at)) for at in places)

    def numbers(self, field: int, code: str) -> tuple[int | float, ...]:
        """A vector of numbers of struct `code`; empty if absent."""
        target = self.target(field)
        if target is None:
            return ()
        start, count = self.file.vector(target, struct.calcsize(f"<{code}"))
        self.file.spend(count)
        return _array(count, code).unpack_from(self.file.data, start)

    def integers(self, field: int, code: str = "i") -> tuple[int, ...]:
        return tuple(int(v) for v in self.numbers(field, code))

    def span(self, field: int) -> tuple[int, int]:
        """(first byte, bytes) of a vector of bytes; (0, 0) if absent."""
        target = self.target(field)
        return (0, 0) if target is None else self.file.vector(target, 1)

    def string(self, field: int) -> str:
        """A string, bytes that are not UTF-8 as backslash escapes; empty if absent."""
        start, count = self.span(field)
        self.file.spend(count)
        return self.file.data[start : start + count].decode("utf-8", "backslashreplace")
