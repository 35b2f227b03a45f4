"""Sparse tensors for tests, written from dense ones element by element."""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

SCHEMA: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
DENSE, SPARSE = 0, 1
VECTORS = {1: ("Int32", np.int32), 2: ("Uint16", np.uint16), 3: ("Uint8", np.uint8)}


@dataclass(frozen=True)
class Form:
    """How a tensor is stored: the order of the walk, a format for each of its levels, the dimension
    and the size of each block, and the type of the index vectors."""

    order: Sequence[int]
    formats: Sequence[int]
    blocks: Sequence[tuple[int, int]] = ()
    vector: int = 1


def random_form(rng: np.random.Generator, shape: Sequence[int]) -> Form:
    """Any walk of any blocks, those dense as LiteRT has them; the level above a block or none."""
    blocks: list[tuple[int, int]] = []
    for dimension, size in enumerate(shape):
        fitting = [n for n in range(1, size + 1) if size % n == 0]
        if rng.random() < 0.4:
            blocks.append((dimension, int(rng.choice(fitting))))
    rank, count = len(shape), len(blocks)
    order = [*rng.permutation(rank), *(rank + rng.permutation(count))]
    formats = [*(int(rng.integers(2)) for _ in range(rank)), *[DENSE] * count]
    return Form([int(d) for d in order], formats, blocks, int(rng.integers(1, 4)))


def sparse(dense: Any, form: Form) -> tuple[Any, Any]:
    """(the elements that are stored, a SparsityParametersT)."""
    rank = dense.ndim
    sizes = list(dense.shape)
    for dimension, size in form.blocks:
        sizes[dimension] //= size
    sizes += [size for _, size in form.blocks]

    def element(index: Sequence[int]) -> Any:
        at = dict(zip(form.order, index, strict=True))
        place = [at[d] for d in range(rank)]
        for number, (dimension, size) in enumerate(form.blocks):
            place[dimension] = place[dimension] * size + at[rank + number]
        return dense[tuple(place)]

    prefixes: list[tuple[int, ...]] = [()]
    metadata: list[Any] = []
    for level, kind in enumerate(form.formats):
        size, entry = sizes[form.order[level]], SCHEMA.DimensionMetadataT()
        entry.format = kind
        if kind == DENSE:
            entry.denseSize = size
            prefixes = [(*p, i) for p in prefixes for i in range(size)]
        else:
            below = [range(sizes[d]) for d in form.order[level + 1 :]]
            segments, indices, longer = [0], list[int](), list[tuple[int, ...]]()
            for p in prefixes:
                for i in range(size):
                    if any(element((*p, i, *rest)) for rest in product(*below)):
                        indices.append(i)
                        longer.append((*p, i))
                segments.append(len(indices))
            prefixes = longer
            kinds = [form.vector if max(v, default=0) < 256 else 1 for v in (segments, indices)]
            entry.arraySegmentsType, entry.arraySegments = kinds[0], vector(kinds[0], segments)
            entry.arrayIndicesType, entry.arrayIndices = kinds[1], vector(kinds[1], indices)
        metadata.append(entry)
    parameters = SCHEMA.SparsityParametersT()
    parameters.traversalOrder = np.array(form.order, np.int32)
    parameters.blockMap = np.array([d for d, _ in form.blocks], np.int32)
    parameters.dimMetadata = metadata
    return np.array([element(p) for p in prefixes], dense.dtype), parameters


def vector(kind: int, values: Sequence[int]) -> Any:
    name, dtype = VECTORS[kind]
    found = getattr(SCHEMA, f"{name}VectorT")()
    found.values = np.array(values, dtype)
    return found
