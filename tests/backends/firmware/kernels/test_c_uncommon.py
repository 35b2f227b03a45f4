"""Tests of operators that hardly any network has, as C and as `evaluate` says them, against
LiteRT."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from against_runtime import EVALUATE, compared
from forge_model import INT16, INT32, INT64, Forge, schema
from forge_uncommon import ADDED, BUILTIN, KINDS, add_landmarks, add_unpooling
from quick_options import QUICK

from memopt.cli import main as memopt
from memopt.formats.tflite import read_model
from memopt.frontends.tflite.infer import with_shapes

COUNT = 6  # in a file


@pytest.mark.parametrize("kind", ADDED)
def test_equal_to_litert(kind: str, fuzz: float, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    for seed in range(max(2, int(40 * fuzz))):
        forge = Forge(np.random.default_rng(seed), False)
        for _ in range(COUNT):
            ADDED[kind](forge)
        # of the reference kernels one takes a neighbour less than TensorFlow, and one is not there
        oracle = "litert" if kind in ("local response", "segments") else "litert_ref"
        assert len(compared(lab, forge, seed, tmp_path, oracle)) >= COUNT


@pytest.mark.parametrize("kind", ADDED)
def test_shapes_of_results_that_are_open_are_inferred(kind: str, tmp_path: Path) -> None:
    for seed in range(6):
        forge = Forge(np.random.default_rng(seed), False)
        ADDED[kind](forge)
        tensors: list[Any] = forge.graph.tensors
        outputs = [i for op in forge.graph.operators for i in op.outputs]
        shapes: dict[int, Any] = {i: tuple(tensors[i].shape) for i in outputs}
        for index, shape in shapes.items():
            tensors[index].shape = [1] * len(shape)
            tensors[index].shapeSignature = [-1] * len(shape)
        data = forge.save(tmp_path / "open.tflite").read_bytes()
        inferred = with_shapes(data, read_model(data, "m"), {}, "m").subgraphs[0].tensors
        assert {i: tuple(inferred[i].shape) for i in shapes} == shapes


def test_short_sums_whose_options_say_powers_of_two(tmp_path: Path, lab: Any) -> None:
    """Check that the option of converters is ignored, as LiteRT and TensorFlow Lite Micro do, where
    a scale is no power of two."""
    lab.need_tools("host")
    forge = Forge(np.random.default_rng(3), True, INT16)
    for code, options, kind in (
        (BUILTIN.ADD, schema.AddOptionsT(), KINDS.AddOptions),
        (BUILTIN.SUB, schema.SubOptionsT(), KINDS.SubOptions),
    ):
        inputs, result = [forge.input([1, 50]) for _ in range(2)], forge.activation([1, 50])
        options.potScaleInt16 = True
        forge.operator(code, inputs, result, options, kind)
    assert len(compared(lab, forge, 3, tmp_path, "tflm")) == 2


def test_how_many_dimensions_there_are_is_known(tmp_path: Path, lab: Any) -> None:
    """Check that a known rank needs no kernel, and that 64-bit integers are negated."""
    forge = Forge(np.random.default_rng(3), False)
    source, rank = forge.input([1, 2, 3]), forge.tensor([], INT32)
    forge.operator(BUILTIN.RANK, [source], rank, None, KINDS.NONE)
    wide = [forge.tensor([4], INT64) for _ in range(2)]
    forge.graph.inputs.append(wide[0])
    forge.operator(BUILTIN.NEG, wide[:1], wide[1], schema.NegOptionsT(), KINDS.NegOptions)
    path = forge.save(tmp_path / "rank.tflite")
    command = ["compile", str(path), *QUICK, "-o", str(tmp_path / "c")]
    assert memopt(command) == 0
    assert list((tmp_path / "c").rglob("memopt_neg_i64.c"))


def test_elements_go_back_to_where_they_stood(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Check C against `evaluate`, and that each window keeps its largest element in place: no
    runtime here has MediaPipe's operators."""
    lab.need_tools("host")
    for seed in range(max(2, int(40 * fuzz))):
        forge = Forge(np.random.default_rng(seed), False)
        for _ in range(COUNT):
            add_unpooling(forge)
        given: list[Any] = []
        results = compared(lab, forge, seed, tmp_path, EVALUATE, change=given.extend)
        for number, source in enumerate(given):
            largest, _, image = (results[4 * number + k] for k in (1, 2, 3))
            is_same = image == source
            assert is_same.sum() >= largest.size and (image[~is_same] == 0).all()
            sizes = largest.shape[2:4], image.shape[2:4]
            factor = [b // a for a, b in zip(*sizes, strict=True)]
            spread = largest.repeat(factor[0], 2).repeat(factor[1], 3)
            assert (source <= spread).all() and (image[image != 0] == spread[image != 0]).all()


def test_parts_of_images_around_landmarks(fuzz: float, tmp_path: Path, lab: Any) -> None:
    """Check MediaPipe's operators, which no runtime here has: landmarks in the middle of their
    surroundings are in the middle of the part, whose pixels are those of the image."""
    lab.need_tools("host")
    inside = 0
    for seed in range(max(3, int(40 * fuzz))):
        forge = Forge(np.random.default_rng(seed), False)
        for _ in range(COUNT):
            add_landmarks(forge)

        def spread(inputs: Any) -> None:
            for number in range(0, len(inputs), 2):
                inputs[number] *= 6
                inputs[number] += 2
                inputs[number + 1][:] = 1

        results = compared(lab, forge, seed, tmp_path, EVALUATE, change=spread, close=1e-4)
        parts = [a for a in results.values() if a.ndim == 5]
        assert all(a.max() <= 1 + 1e-5 and a.min() >= 0 for a in parts)
        inside += sum(int((a > 0.99).sum()) for a in parts)
    assert inside > 100
