"""`memopt validate` where the reference is the odd one among others."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build

from memopt.backends.tflm.wrong import wrong_answers
from memopt.cli import main
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.tflite import read_model
from memopt.validate import layers, validation
from memopt.validate.job import Answer, Job, answer_of
from memopt.validate.layers import Layer, layers_of


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


def dilated(zero: int, is_cropped: bool, has_sum: bool = False) -> bytes:
    """An image, or a sum of two, as the batch of a dilated convolution and back, without what was
    padded or with."""
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
    if not has_sum:
        return build(Graph(tensors, [there, back], [0], [5]))
    tensors.append(stored("other", [1, 4, 4, 1]))
    return build(Graph(tensors, [Op("ADD", [6, 6], [0], ("Add", {})), there, back], [6], [5]))


@pytest.mark.deep
def test_what_is_known_of_operators_behind_the_first_difference_is_not_told(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unless another reference answers as we do."""
    np.save(tmp_path / "x.npy", np.zeros((1, 1, 4, 4, 1), np.int8))
    path = tmp_path / "dilated.tflite"
    path.write_bytes(dilated(5, is_cropped=True, has_sum=True))
    words = [str(path), f"--data={tmp_path / 'x.npy'}", "--against=tflm", "--layers"]

    def seen(first: str, agree: tuple[str, ...]) -> int:
        def changed(*given: Any) -> list[Layer]:
            return [
                replace(one, different=int(one.tensor == first), agree=agree)
                for one in layers_of(*given)
            ]

        monkeypatch.setattr(validation, "layers_of", changed)
        content = answer(capsys, *words, "--rewrite=none")
        assert content["first_difference"] == first
        return len(content["known_errors"])

    assert (seen("x", ()), seen("x", ("litert",))) == (0, 1)


def test_what_is_known_is_told_up_to_an_operator() -> None:
    data = dilated(5, is_cropped=True, has_sum=True)
    model = read_model(data, "m")
    of = [len(wrong_answers(model, data, tensor)) for tensor in (0, 3, 5, 6, -1)]
    assert of == [0, 1, 1, 1, 1]  # of the sum, the batch, the image; none writes the others


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
    assert f"odd one   tflm: {agree} we do\n" in out
    assert "known     tflm: subgraph 0 operator 0 " in out and wrong in out
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


@pytest.mark.deep
def test_another_reference_that_does_not_run_is_named(
    tmp_path: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Asked of the outputs, or of the first tensor that differs."""

    def answer_but(reference: str, job: Job) -> Answer:
        if reference == "litert":
            raise MemoptError("litert refuses the model: why", "m")
        return answer_of(reference, job)

    np.save(tmp_path / "x.npy", np.zeros((1, 1, 4, 4, 1), np.int8))
    path = tmp_path / "dilated.tflite"
    words = [str(path), f"--data={tmp_path / 'x.npy'}", "--against=tflm", "--rewrite=none"]
    for module, is_cropped in ((validation, False), (layers, True)):
        path.write_bytes(dilated(5, is_cropped))
        monkeypatch.setattr(module, "answer_of", answer_but)
        assert main(["validate", *words, *["--layers"] * is_cropped]) == 0
        out = capsys.readouterr().out
        assert "not run   litert refuses the model: why\n" in out
        assert "litert-reference, evaluate answer as we do" in out
