"""Sparse tensors of .tflite files: which elements their buffer holds, every index checked.

    sparsity = read_sparsity(table, shape)        # a table of type SparsityParameters
    sparsity.stored                               # elements in the buffer
    dense = densified(sparsity, raw, 4)           # bytes of all elements, of 4 bytes each

Dimensions are those of the shape, divided by the blocks where `block_map` names them, and then the
blocks'. They are walked in `traversal_order`, a level each: a DENSE level has all its indices, a
SPARSE_CSR level those that its table lists, from `segments[n]` to `segments[n + 1]` for the n-th
place of the level above. Elements are stored in the order of the walk, all others are zero: also
what is stored as an integer, as LiteRT's FormatConverter has it, whatever the zero point is.
Source: LiteRT's schema.fbs, SparsityParameters.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import prod

from memopt.formats.flatbuffer import MalformedError, Table

DENSE, SPARSE_CSR = 0, 1
VECTORS = {1: "i", 2: "H", 3: "B"}
"""SparseIndexVector: what its vectors hold."""


@dataclass(frozen=True)
class Level:
    """One dimension of the walk: which it is, how many indices it has, and of a sparse one where
    the indices of each place begin and end, and they themselves."""

    dimension: int
    size: int
    segments: tuple[int, ...] | None = None
    indices: tuple[int, ...] = ()


@dataclass(frozen=True)
class Sparsity:
    """A tensor of `shape`; `blocks` are (dimension, size) of each block; `stored`: elements."""

    shape: tuple[int, ...]
    blocks: tuple[tuple[int, int], ...]
    levels: tuple[Level, ...]
    stored: int


def read_sparsity(table: Table, shape: tuple[int, ...]) -> Sparsity:
    """Raises MalformedError for tables that do not fit each other or the shape."""
    order, block_map = table.integers(0), table.integers(1)
    metadata = table.tables(2)
    rank = len(shape)
    if not rank:
        raise MalformedError("its sparsity is one of a scalar")
    if sorted(order) != list(range(rank + len(block_map))):
        text = f"its sparsity walks dimensions {_short(order)}, not all of {rank + len(block_map)}"
        raise MalformedError(text)
    if len(metadata) != len(order):
        raise MalformedError(f"its sparsity has {len(metadata)} dimensions of {len(order)}")
    if len(set(block_map)) != len(block_map) or not all(0 <= d < rank for d in block_map):
        raise MalformedError(f"its sparsity has blocks of dimensions {_short(block_map)} of {rank}")
    sizes = list(shape)
    for number, dimension in enumerate(block_map):
        size = metadata[order.index(rank + number)].scalar(1, "i")
        if size <= 0 or shape[dimension] % size:
            dimension_text = f"dimension {dimension}, which has {shape[dimension]}"
            raise MalformedError(f"its sparsity has blocks of {size} in {dimension_text}")
        sizes[dimension] //= size
        sizes.append(size)
    places, levels = 1, list[Level]()
    for number, (dimension, entry) in enumerate(zip(order, metadata, strict=True)):
        level = _level(entry, dimension, sizes[dimension], places, number)
        places = places * level.size if level.segments is None else len(level.indices)
        levels.append(level)
    blocks = tuple(zip(block_map, sizes[rank:], strict=True))
    return Sparsity(shape, blocks, tuple(levels), places)


def _level(table: Table, dimension: int, size: int, places: int, number: int) -> Level:
    """A level of so many indices below so many `places`."""
    at = f"its sparsity, level {number}:"
    kind = table.scalar(0, "b")
    if kind == DENSE:
        if table.scalar(1, "i") != size:
            raise MalformedError(f"{at} {table.scalar(1, 'i')} indices of {size}")
        return Level(dimension, size)
    if kind != SPARSE_CSR:
        raise MalformedError(f"{at} unknown format {kind}")
    segments, indices = (_vector(table, field, at) for field in (2, 4))
    if len(segments) != places + 1:
        raise MalformedError(f"{at} {len(segments)} segments for {places} places")
    if segments[0] != 0 or segments[-1] != len(indices):
        ends = f"from {segments[0]} to {segments[-1]}"
        raise MalformedError(f"{at} segments {ends} of {len(indices)} indices")
    for begin, end in pairwise(segments):
        if begin > end:
            raise MalformedError(f"{at} a segment from {begin} to {end}")
        before = -1
        for index in indices[begin:end]:
            if not before < index < size:
                text = f"index {index} behind {before}" if index < size else f"index {index}"
                raise MalformedError(f"{at} {text} of {size}")
            before = index
    return Level(dimension, size, segments, indices)


def _vector(table: Table, field: int, at: str) -> tuple[int, ...]:
    """The numbers of a SparseIndexVector, whose type stands in `field`."""
    kind, vector = table.scalar(field, "B"), table.table(field + 1)
    if kind not in VECTORS or vector is None:
        raise MalformedError(f"{at} no vector of indices of type {kind}")
    return vector.integers(0, VECTORS[kind])


def _short(numbers: tuple[int, ...]) -> str:
    return str(list(numbers)) if len(numbers) < 12 else f"[{numbers[0]}, ...] ({len(numbers)})"


def densified(sparsity: Sparsity, raw: bytes, size: int) -> bytes:
    """All elements, of `size` bytes each, in the order of the shape."""
    import numpy as np

    places, indices = np.zeros(1, np.int64), dict[int, np.ndarray]()
    for level in sparsity.levels:
        if level.segments is None:
            every = np.arange(level.size, dtype=np.int64)
            came, index = np.repeat(np.arange(len(places)), level.size), np.tile(every, len(places))
            places = places[came] * level.size + index
        else:
            segments = np.array(level.segments, np.int64)
            counts = np.diff(segments)[places]
            came = np.repeat(np.arange(len(places)), counts)
            ends = np.repeat(segments[places + 1], counts)
            behind = np.repeat(counts.cumsum(), counts) - np.arange(len(came))
            places = ends - behind
            index = np.array(level.indices, np.int64)[places]
        indices = {dimension: v[came] for dimension, v in indices.items()} | {
            level.dimension: index
        }
    rank = len(sparsity.shape)
    for number, (dimension, block) in enumerate(sparsity.blocks):
        indices[dimension] = indices[dimension] * block + indices[rank + number]
    dense = np.zeros((prod(sparsity.shape), size), np.uint8)
    if len(places):
        flat = np.ravel_multi_index([indices[d] for d in range(rank)], sparsity.shape)
        dense[flat] = np.frombuffer(raw, np.uint8).reshape(-1, size)
    return dense.tobytes()
