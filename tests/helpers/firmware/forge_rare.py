"""Random operators of a forged file that few networks have."""

from typing import Any

import numpy as np
from forge_model import FLOAT32, INT32, INT64, Forge, schema
from forge_operators import random_shape
from forge_truth import BUILTIN, KINDS, truths

APART = ([1, 3], [0, 2], [0, 3], [0, 2, 4], [1, 2, 4], [1, 4], [0, 1, 3], [2, 4])


def _plain(forge: Forge, shape: list[int], element: int = INT32) -> int:
    """An input of numbers that stand for themselves."""
    index = forge.tensor(shape, element)
    forge.graph.inputs.append(index)
    return index


def _sources(forge: Forge, shape: list[int], count: int = 1) -> list[int]:
    if forge.quantized:
        return [_plain(forge, shape) for _ in range(count)]
    return [forge.input(shape) for _ in range(count)]


def _made(forge: Forge, shape: list[int]) -> int:
    return forge.tensor(shape, INT32 if forge.quantized else FLOAT32)


def add_add_n(forge: Forge) -> None:
    shape, count = random_shape(forge), int(forge.rng.integers(2, 6))
    inputs = _sources(forge, shape, count)
    forge.operator(
        BUILTIN.ADD_N, inputs, _made(forge, shape), schema.AddNOptionsT(), KINDS.AddNOptions
    )


def add_stored_add_n(forge: Forge, count: int) -> None:
    """Of int8, of one quantization."""
    shape = random_shape(forge)
    inputs = [forge.input(shape)]
    inputs += [forge.activation(shape, like=inputs[0]) for _ in range(count - 1)]
    forge.graph.inputs.extend(inputs[1:])
    options, result = schema.AddNOptionsT(), forge.activation(shape)
    forge.operator(BUILTIN.ADD_N, inputs, result, options, KINDS.AddNOptions)


def add_cumulative_sum(forge: Forge, stored: bool = False) -> None:
    shape, axis = random_shape(forge), int(forge.rng.integers(-4, 4))
    options: Any = schema.CumsumOptionsT()
    options.exclusive, options.reverse = (bool(forge.pick(True, False)) for _ in range(2))
    if stored:
        shape[axis] = int(forge.rng.integers(1, 16))
    (source,) = [forge.input(shape)] if stored else _sources(forge, shape)
    result = forge.activation(shape) if stored else _made(forge, shape)
    inputs = [source, forge.tensor([], INT32, np.array(axis))]
    forge.operator(BUILTIN.CUMSUM, inputs, result, options, KINDS.CumsumOptions)


def add_top_k(forge: Forge) -> None:
    shape = [*random_shape(forge, int(forge.rng.integers(0, 3))), int(forge.rng.integers(1, 20))]
    kept = int(forge.rng.integers(1, shape[-1] + 1))
    source = forge.input(shape)
    out = [*shape[:-1], kept]
    results = [forge.activation(out, like=source), forge.tensor(out, INT32)]
    inputs = [source, forge.tensor([], INT32, np.array(kept))]
    forge.operator(BUILTIN.TOPK_V2, inputs, results, schema.TopKV2OptionsT(), KINDS.TopKV2Options)


def add_one_hot(forge: Forge) -> None:
    """Also of indices that there are not, and of on and off that run time knows."""
    shape, depth = random_shape(forge, int(forge.rng.integers(1, 4))), int(forge.rng.integers(1, 7))
    options: Any = schema.OneHotOptionsT()
    options.axis = int(forge.rng.integers(-1, len(shape) + 1))
    at = len(shape) if options.axis < 0 else options.axis
    indices = forge.rng.integers(-1, depth + 1, shape)
    wide = forge.pick(INT32, INT64)
    first = forge.input([])
    second = forge.activation([], like=first)
    forge.graph.inputs.append(second)
    inputs = [
        forge.tensor(shape, wide, indices),
        forge.tensor([], INT32, np.array(depth)),
        first,
        second,
    ]
    result = forge.activation([*shape[:at], depth, *shape[at:]], like=first)
    forge.operator(BUILTIN.ONE_HOT, inputs, result, options, KINDS.OneHotOptions)


def add_scatter(forge: Forge) -> None:
    """Some to one place."""
    shape, count = random_shape(forge), int(forge.rng.integers(1, 9))
    depth = int(forge.rng.integers(1, 5))
    places = np.stack([forge.rng.integers(0, shape[d], count) for d in range(depth)], -1)
    (updates,) = _sources(forge, [count, *shape[depth:]])
    inputs = [
        forge.tensor([count, depth], INT32, places),
        updates,
        forge.tensor([4], INT32, shape),
    ]
    options, kind = schema.ScatterNdOptionsT(), KINDS.ScatterNdOptions
    forge.operator(BUILTIN.SCATTER_ND, inputs, _made(forge, shape), options, kind)


def add_choice_of_rows(forge: Forge) -> None:
    shape = [int(forge.rng.integers(2, 7)), *random_shape(forge, 2)]
    first = forge.input(shape)
    other = forge.activation(shape, like=first)
    forge.graph.inputs.append(other)
    inputs = [truths(forge, shape[:1]), first, other]
    result = forge.activation(shape, like=first)
    forge.operator(BUILTIN.SELECT, inputs, result, schema.SelectOptionsT(), KINDS.SelectOptions)


def add_reduction_apart(forge: Forge, name: str) -> None:
    """Over axes between which others lie."""
    axes = forge.pick(*APART)
    shape = [int(v) for v in forge.rng.integers(2, 5, 5 if max(axes) > 3 else 4)]
    keep = bool(forge.rng.random() < 0.5)
    source, indices = forge.input(shape), forge.tensor([len(axes)], INT32, axes)
    out = [1 if i in axes else d for i, d in enumerate(shape) if keep or i not in axes]
    options: Any = schema.ReducerOptionsT()
    options.keepDims = keep
    result = forge.activation(out, like=source if name.startswith("REDUCE") else None)
    code = getattr(BUILTIN, name)
    forge.operator(code, [source, indices], result, options, KINDS.ReducerOptions)


def add_rare(forge: Forge) -> None:
    """One of each; of stored integers, what stands for itself beside them."""
    for add in (add_add_n, add_cumulative_sum, add_top_k, add_one_hot, add_scatter):
        add(forge)
    add_choice_of_rows(forge)
