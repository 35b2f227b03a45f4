"""Random mirrors, pads and blocks of pixels of a forged file."""

from typing import Any

import numpy as np
from forge_model import INT32, Forge, schema
from forge_operators import random_shape

BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions


def add_pads(forge: Forge) -> None:
    """MIRROR_PAD in both modes, PAD of many dimensions, PADV2 of a constant."""
    for mode in (0, 1):
        shape = [int(v) for v in forge.rng.integers(2, 6, 4)]
        widths = forge.rng.integers(0, 2, (4, 2))
        options: Any = schema.MirrorPadOptionsT()
        options.mode = mode
        _add(forge, "MIRROR_PAD", shape, widths, options, KINDS.MirrorPadOptions)
    shape = [int(v) for v in forge.rng.integers(1, 4, 5)]
    widths = forge.rng.integers(0, 2, (5, 2))
    _add(forge, "PAD", shape, widths, schema.PadOptionsT(), KINDS.PadOptions)
    shape, widths = random_shape(forge), forge.rng.integers(0, 3, (4, 2))
    _add(forge, "PADV2", shape, widths, schema.PadV2OptionsT(), KINDS.PadV2Options)


def _add(forge: Forge, name: str, shape: list[int], widths: Any, options: Any, kind: int) -> None:
    source = forge.input(shape)
    inputs = [source, forge.tensor(widths.shape, INT32, widths)]
    if name == "PADV2":
        stored: Any = forge.graph.tensors[source]
        numbers = stored.quantization
        quantization = (numbers.scale, numbers.zeroPoint) if numbers is not None else ((), ())
        value = np.array(forge.rng.integers(0, 100))
        inputs.append(forge.tensor([], stored.type, value, *quantization))
    out = [int(n + w.sum()) for n, w in zip(shape, widths, strict=True)]
    result = forge.activation(out, like=source)
    forge.operator(getattr(BUILTIN, name), inputs, result, options, kind)


def add_batches(forge: Forge) -> None:
    """SPACE_TO_BATCH_ND with padding and back with what is cut off, of images and of sequences."""
    for ways in (1, 2):
        n, c, *small = (int(v) for v in forge.rng.integers(1, 4, 2 + ways))
        blocks = [int(v) for v in forge.rng.integers(1, 4, ways)]
        wide = [s * b for s, b in zip(small, blocks, strict=True)]
        pairs = [[int(v) for v in forge.rng.integers(0, (w + 1) // 2, 2)] for w in wide]
        inside = [w - sum(p) for w, p in zip(wide, pairs, strict=True)]
        image, batch = [n, *inside, c], [n * int(np.prod(blocks)), *small, c]
        operands = [forge.tensor([ways], INT32, blocks), forge.tensor([ways, 2], INT32, pairs)]
        source = forge.input(image)
        forge.operator(
            BUILTIN.SPACE_TO_BATCH_ND,
            [source, *operands],
            forge.activation(batch, like=source),
            schema.SpaceToBatchNDOptionsT(),
            KINDS.SpaceToBatchNDOptions,
        )
        source = forge.input(batch)
        forge.operator(
            BUILTIN.BATCH_TO_SPACE_ND,
            [source, *operands],
            forge.activation(image, like=source),
            schema.BatchToSpaceNDOptionsT(),
            KINDS.BatchToSpaceNDOptions,
        )
