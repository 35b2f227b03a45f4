"""The metadata `model_control_dependencies`: pairs of operators of which the first runs first.

Per subgraph a list of (operator, operator) by index. Source: TensorFlow Lite,
experimental/remat/metadata_util.cc: protobuf varints, signed numbers zigzag-coded, each list
preceded by its length, all preceded by version 1.
"""

from collections.abc import Iterator, Sequence

KEY = "model_control_dependencies"
VERSION = 1

Edges = tuple[tuple[int, int], ...]


def parse(data: bytes) -> tuple[Edges, ...]:
    """Edges per subgraph. Raises ValueError if the bytes are not of this format."""
    position = 0

    def unsigned() -> int:
        nonlocal position
        value = shift = 0
        while True:
            if position >= len(data) or shift > 28:
                raise ValueError("control dependencies end early")
            byte = data[position]
            position += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def signed() -> int:
        value = unsigned()
        return -(value >> 1) - 1 if value & 1 else value >> 1

    if (version := unsigned()) != VERSION:
        raise ValueError(f"control dependencies of version {version}, expected {VERSION}")
    # A list of n takes at least n bytes: reading past the end stops hostile lengths.
    result = tuple(
        tuple((signed(), signed()) for _ in range(unsigned())) for _ in range(unsigned())
    )
    if position != len(data):
        raise ValueError("bytes after the control dependencies")
    return result


def serialize(edges: Sequence[Edges]) -> bytes:
    """The bytes that `parse` reads back."""

    def unsigned(value: int) -> Iterator[int]:
        while value >= 128:
            yield value & 127 | 128
            value >>= 7
        yield value

    def signed(value: int) -> Iterator[int]:
        return unsigned(-(value + 1) * 2 + 1 if value < 0 else value * 2)

    out = bytearray(unsigned(VERSION))
    out += bytes(unsigned(len(edges)))
    for graph in edges:
        out += bytes(unsigned(len(graph)))
        for first, second in graph:
            out += bytes(signed(first)) + bytes(signed(second))
    return bytes(out)


def remap(data: bytes, positions: Sequence[Sequence[int]]) -> bytes:
    """Return the bytes of the same edges after operators moved: operator i of subgraph g is now
    `positions[g][i]`.

    Raises ValueError for bytes of another format, and if an edge now points backwards.
    """
    result: list[Edges] = []
    for graph, edges in enumerate(parse(data)):
        moved: list[tuple[int, int]] = []
        for first, second in edges:
            if graph >= len(positions) or not (
                0 <= first < len(positions[graph]) and 0 <= second < len(positions[graph])
            ):
                raise ValueError(f"a control dependency of subgraph {graph} names no operator")
            pair = positions[graph][first], positions[graph][second]
            if (first < second) != (pair[0] < pair[1]) and first != second:
                raise ValueError(f"operators {first} and {second} of subgraph {graph} swapped")
            moved.append(pair)
        result.append(tuple(moved))
    return serialize(result)
