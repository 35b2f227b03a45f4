"""`memopt validate` where the reference is the odd one among others."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

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
