"""`memopt validate` where the reference is the odd one among others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build

from memopt.cli import main


def answer(capsys: Any, *arguments: str) -> dict[str, Any]:
    assert main(["validate", *arguments, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def test_the_reference_may_be_the_odd_one(shared: Path, tmp_path: Path, capsys: Any) -> None:
    """onnxruntime's optimiser joins int8 operators and rounds them otherwise."""
    x = np.random.default_rng(1).normal(size=(3, 1, 10, 98)).astype(np.float32)
    np.save(tmp_path / "x.npy", x)
    model = str(shared / "models" / "families" / "tcn_q.onnx")
    data = f"--data={tmp_path / 'x.npy'}"
    options = [data, "--rewrite=all", "--rows=none"]
    content = answer(capsys, model, *options, "--against=onnxruntime-optimised")
    if not content["outputs"][0]["different"]:
        pytest.skip("on this processor onnxruntime's optimiser rounds as the operators do")
    assert content["agree"] == ["onnxruntime", "evaluate"]
    assert main(["validate", model, *options, "--against=onnxruntime-optimised"]) == 0
    assert "odd one   onnxruntime-optimised: onnxruntime, evaluate" in capsys.readouterr().out


@pytest.mark.deep
def test_a_fast_runtime_may_be_the_odd_one(shared: Path, tmp_path: Path, capsys: Any) -> None:
    """XNNPACK rounds sums of int8 otherwise than LiteRT's own reference and TFLM do."""
    x = np.random.default_rng(16).integers(-128, 128, (5, 32, 32, 3), np.int8)
    np.save(tmp_path / "x.npy", x)
    model, data = str(shared / "models" / "resnet8_int8.tflite"), f"--data={tmp_path / 'x.npy'}"
    content = answer(capsys, model, data, "--rows=none", "--against=litert")
    if not content["outputs"][0]["different"]:
        pytest.skip("on this processor XNNPACK rounds as the reference does")
    assert content["agree"] == ["litert-reference", "evaluate", "tflm"]


@pytest.mark.deep
def test_differing_kernels_of_a_reference_are_told(
    shared: Path, tmp_path: Path, capsys: Any
) -> None:
    """LiteRT's reference rounds a sum of hello_world otherwise than TFLM, ours is TFLM's."""
    np.save(tmp_path / "x.npy", np.linspace(0, 6, 8, dtype=np.float32).reshape(8, 1))
    model = str(shared / "models" / "hello_world_int8.tflite")
    words = [model, f"--data={tmp_path / 'x.npy'}", "--rows=none", "--rewrite=none", "--layers"]
    content = answer(capsys, *words)
    if not content["outputs"][0]["different"]:
        pytest.skip("on this processor LiteRT's reference rounds as TFLM does")
    assert content["agree"] == ["evaluate", "tflm"] and content["first_difference"] is not None
    content = answer(capsys, *words, "--against=tflm")
    assert content["outputs"][0]["different"] == 0 and content["agree"] == []


def dilated(zero: int, is_cropped: bool) -> bytes:
    """An image as the batch of a dilated convolution and back, without what was padded or with."""
    side, cut = (4, 1) if is_cropped else (6, 0)

    def stored(name: str, shape: list[int]) -> T:
        return T(name, shape, scale=(0.1,), zero=(zero,))

    tensors = [
        stored("x", [1, 4, 4, 1]),
        T("blocks", [2], "INT32", np.array([2, 2], np.int32)),
        T("pads", [2, 2], "INT32", np.full((2, 2), 1, np.int32)),
        stored("batch", [4, 3, 3, 1]),
        T("cut", [2, 2], "INT32", np.full((2, 2), cut, np.int32)),
        stored("y", [1, side, side, 1]),
    ]
    there = Op("SPACE_TO_BATCH_ND", [0, 1, 2], [3], ("SpaceToBatchND", {}))
    back = Op("BATCH_TO_SPACE_ND", [3, 1, 4], [5], ("BatchToSpaceND", {}))
    return build(Graph(tensors, [there, back], [0], [5]))


@pytest.mark.deep
def test_the_padding_of_tflm_is_the_odd_one(tmp_path: Path, capsys: Any) -> None:
    """SPACE_TO_BATCH_ND pads with the stored 0 there (tflite-micro#1646): its tensor differs where
    outputs are equal, too, and the other references have what the C has."""
    x = np.random.default_rng(0).integers(-128, 128, (2, 1, 4, 4, 1), np.int8)
    np.save(tmp_path / "x.npy", x)
    path, page = tmp_path / "dilated.tflite", tmp_path / "page.html"
    words = [str(path), f"--data={tmp_path / 'x.npy'}", "--against=tflm", "--layers"]
    words += ["--rewrite=none", f"--html={page}"]
    others = ["litert-reference", "evaluate", "litert"]
    agree, wrong = (
        f"{', '.join(others)} answer as",
        "(SPACE_TO_BATCH_ND): TFLM pads with the stored",
    )

    path.write_bytes(dilated(5, is_cropped=False))
    assert main(["validate", *words]) == 0
    out = capsys.readouterr().out
    assert "output    y: 40 of 72 elements differ, by at most 5," in out
    assert f"odd one   tflm: {agree} we do\n" in out and wrong in out
    assert f"odd one   tflm, of batch: {agree} we do\n" in out

    path.write_bytes(dilated(5, is_cropped=True))
    content = answer(capsys, *words)
    assert content["outputs"][0]["different"] == 0 and content["agree"] == []
    first = content["layers"][0]
    assert (content["first_difference"], first["different"], first["max_abs"]) == ("batch", 20, 5)
    assert first["agree"] == others and len(content["known_errors"]) == 1
    text = page.read_text()
    assert f"batch is the first that differs; {agree} the network does" in text and wrong in text

    path.write_bytes(dilated(0, is_cropped=False))
    content = answer(capsys, *words)
    assert content["first_difference"] is None and content["known_errors"] == []
