"""Operators that move elements, as C: the bytes of LiteRT's reference kernels."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from forge_model import FLOAT32, INT8, INT32, UINT8, Forge, schema

KINDS, CODES = schema.BuiltinOptions, schema.BuiltinOperator


def moved(
    forge: Forge,
    name: str,
    sources: Sequence[int],
    outs: Sequence[Sequence[int]],
    options: Any = None,
    kind: str = "NONE",
) -> None:
    """An operator of the first source's quantization; its other operands are given."""
    first = next(s for s in sources if forge.graph.tensors[s].type != INT32)
    results = [forge.activation(out, like=first) for out in outs]
    forge.operator(getattr(CODES, name), sources, results, options, getattr(KINDS, kind))


def shape_of(forge: Forge, rank: int = 4) -> list[int]:
    return [int(v) for v in forge.rng.integers(1, 6, rank)]


def constant(forge: Forge, values: Sequence[int]) -> int:
    return forge.tensor([len(values)], INT32, list(values))


def strided_slice(forge: Forge) -> None:
    """With all masks; what is taken is asked of numpy."""
    rng, shape = forge.rng, shape_of(forge)
    begin, end, strides, masks = [0] * 4, [0] * 4, [1] * 4, dict.fromkeys(("b", "e", "s"), 0)
    index: list[Any] = []
    for i, size in enumerate(shape):
        stride = int(rng.choice((1, 2, -1)))
        first, last = (int(v) for v in rng.integers(-size, size, 2))
        if rng.random() < 0.3:  # one index
            begin[i], end[i], masks["s"] = first, first + 1, masks["s"] | 1 << i
            index.append(first)
            continue
        if len(range(size)[first:last:stride]) == 0 or rng.random() < 0.3:
            masks["b"], masks["e"] = masks["b"] | 1 << i, masks["e"] | 1 << i
            index.append(slice(None, None, stride))
        else:
            index.append(slice(first, last, stride))
        begin[i], end[i], strides[i] = first, last, stride
    options = schema.StridedSliceOptionsT()
    options.beginMask, options.endMask, options.shrinkAxisMask = masks["b"], masks["e"], masks["s"]
    options.ellipsisMask = options.newAxisMask = 0
    out = list(np.zeros(shape)[tuple(index)].shape)
    sources = [forge.input(shape), *(constant(forge, v) for v in (begin, end, strides))]
    moved(forge, "STRIDED_SLICE", sources, [out], options, "StridedSliceOptions")


def slice_(forge: Forge) -> None:
    """Along any number of dimensions."""
    shape = shape_of(forge)
    begin = [int(forge.rng.integers(d)) for d in shape]
    out = [int(forge.rng.integers(1, d - b + 1)) for d, b in zip(shape, begin, strict=True)]
    sources = [forge.input(shape), constant(forge, begin), constant(forge, out)]
    moved(forge, "SLICE", sources, [out], schema.SliceOptionsT(), "SliceOptions")


def pack(forge: Forge) -> None:
    shape, count = shape_of(forge, 3), int(forge.rng.integers(1, 4))
    axis = int(forge.rng.integers(4))
    options = schema.PackOptionsT()
    options.axis, options.valuesCount = int(forge.pick(axis, axis - 4)), count
    first = forge.input(shape)
    sources = [first, *(forge.activation(shape, like=first) for _ in range(count - 1))]
    forge.graph.inputs.extend(sources[1:])
    out = [*shape[:axis], count, *shape[axis:]]
    moved(forge, "PACK", sources, [out], options, "PackOptions")


def unpack(forge: Forge) -> None:
    shape = shape_of(forge)
    axis = int(forge.rng.integers(4))
    options = schema.UnpackOptionsT()
    options.axis, options.num = axis, shape[axis]
    outs = [shape[:axis] + shape[axis + 1 :]] * shape[axis]
    moved(forge, "UNPACK", [forge.input(shape)], outs, options, "UnpackOptions")


def gather(forge: Forge) -> None:
    """Of indices that are known, and by an input: of numbers that there are, zeros."""
    shape, axis = shape_of(forge), int(forge.rng.integers(4))
    at = [int(v) for v in forge.rng.integers(1, 4, int(forge.rng.integers(1, 3)))]
    options = schema.GatherOptionsT()
    options.axis, options.batchDims = axis, 0
    indices = forge.tensor(at, INT32, forge.rng.integers(0, shape[axis], at))
    out = [*shape[:axis], *at, *shape[axis + 1 :]]
    moved(forge, "GATHER", [forge.input(shape), indices], [out], options, "GatherOptions")


def tile(forge: Forge) -> None:
    shape, times = shape_of(forge), [int(v) for v in forge.rng.integers(1, 4, 4)]
    out = [a * b for a, b in zip(shape, times, strict=True)]
    moved(forge, "TILE", [forge.input(shape), constant(forge, times)], [out])


def broadcast_to(forge: Forge) -> None:
    out = shape_of(forge)
    shape = [d if forge.rng.random() < 0.5 else 1 for d in out][int(forge.rng.integers(2)) :]
    moved(forge, "BROADCAST_TO", [forge.input(shape), constant(forge, out)], [out])


def transpose(forge: Forge) -> None:
    shape, order = shape_of(forge, 6), [int(v) for v in forge.rng.permutation(6)]
    sources = [forge.input(shape), constant(forge, order)]
    out = [shape[i] for i in order]
    moved(forge, "TRANSPOSE", sources, [out], schema.TransposeOptionsT(), "TransposeOptions")


def depth_to_space(forge: Forge) -> None:
    (n, h, w, c), block = shape_of(forge), int(forge.rng.integers(1, 4))
    options = schema.DepthToSpaceOptionsT()
    options.blockSize = block
    source, out = forge.input([n, h, w, c * block**2]), [n, h * block, w * block, c]
    moved(forge, "DEPTH_TO_SPACE", [source], [out], options, "DepthToSpaceOptions")


def space_to_batch(forge: Forge) -> None:
    (n, h, w, c), (a, b) = shape_of(forge), shape_of(forge, 2)
    pads = forge.tensor([2, 2], INT32, np.zeros((2, 2)))
    sources = [forge.input([n, h * a, w * b, c]), constant(forge, [a, b]), pads]
    moved(forge, "SPACE_TO_BATCH_ND", sources, [[n * a * b, h, w, c]])


def batch_to_space(forge: Forge) -> None:
    (n, h, w, c), (a, b) = shape_of(forge), shape_of(forge, 2)
    crops = forge.tensor([2, 2], INT32, np.zeros((2, 2)))
    sources = [forge.input([n * a * b, h, w, c]), constant(forge, [a, b]), crops]
    moved(forge, "BATCH_TO_SPACE_ND", sources, [[n, h * a, w * b, c]])


def reverse(forge: Forge) -> None:
    """Into a quantization of its own, which moves no bit: so converters leave it."""
    shape, axis = shape_of(forge), int(forge.rng.integers(4))
    sources, result = [forge.input(shape), constant(forge, [axis])], forge.activation(shape)
    options = schema.ReverseV2OptionsT()
    forge.operator(CODES.REVERSE_V2, sources, [result], options, KINDS.ReverseV2Options)


MOVES: tuple[Callable[[Forge], None], ...] = (
    strided_slice,
    slice_,
    pack,
    unpack,
    gather,
    tile,
    broadcast_to,
    transpose,
    depth_to_space,
    space_to_batch,
    batch_to_space,
    reverse,
)


@pytest.mark.parametrize("element", [INT8, UINT8, FLOAT32], ids=["int8", "uint8", "float32"])
def test_bytes_equal_litert(element: int, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(1, int(20 * fuzz))):
        forge = Forge(np.random.default_rng(seed), element != FLOAT32, element)
        for add in MOVES * 6:
            add(forge)
        path = forge.save(tmp_path / f"{seed}.tflite")
        module = lab.plan(lab.read_model(path), schedule="source")
        inputs, tensors = lab.random_inputs(module, 2, seed), lab.tensors_of(module)
        want = lab.golden("litert_ref", path, inputs, tensors, tmp_path / str(seed))
        assert len(want) >= 6 * len(MOVES) - 12  # some are views
        project = lab.write(module, tmp_path / str(seed) / "c", "net", "host")
        run = lab.run_project(project, inputs, lab.SANITIZE)
        assert run.code == 0, run.messages
        assert lab.unequal_tensors(run, want) == [], f"seed {seed}"


def test_indices_of_run_time(tmp_path: Path, lab: Any) -> None:
    """What there is, and of what there is not the nearest: nothing else is read."""
    lab.need_tools("host")
    forge = Forge(np.random.default_rng(1), False)
    table, indices = forge.input([5, 3]), forge.tensor([4], INT32)
    forge.graph.inputs.append(indices)
    options = schema.GatherOptionsT()
    options.axis = options.batchDims = 0
    moved(forge, "GATHER", [table, indices], [[4, 3]], options, "GatherOptions")
    module = lab.plan(lab.read_model(forge.save(tmp_path / "m.tflite")))
    rows = np.arange(15, dtype=np.float32).reshape(1, 5, 3)
    at = np.array([[4, -7, 0, 2**31 - 1]], np.int32)
    run = lab.run_project(
        lab.write(module, tmp_path / "c", "net", "host"), [rows, at], lab.SANITIZE
    )
    assert run.code == 0, run.messages
    assert run.output == rows[0][[4, 0, 0, 4]].tobytes()
