"""Equal words give equal plans: `memopt.plan`, `memopt compile` and `memopt report`."""

import json
from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.cli import main

WORDS: list[dict[str, Any]] = [
    {},
    {"rows": "none"},
    {"rows": "all", "optimize": "ram"},
    {"target": "cortex-m4", "rewrite": "none", "rows": "none"},
    {"target": "tflm"},
]
MODELS = [
    "resnet8_int8.tflite",
    "mobilenet_vww96_int8.tflite",
    "tinymaix_mnist_resnet_int8.tflite",
    "families/tcn.onnx",
]


def flags(words: dict[str, Any]) -> list[str]:
    return [f"--{name}={value}" for name, value in words.items()]


def figures(plan: memopt.Plan) -> tuple[Any, ...]:
    return (plan.peak, plan.lower_bound, plan.proof, plan.family, plan.arena)


def reported(report: dict[str, Any]) -> tuple[Any, ...]:
    keys = ("peak", "lower_bound", "proof", "family", "arena")
    return tuple(report["plan"][key] for key in keys)


def check(model: Path, words: dict[str, Any], folder: Path, capsys: Any) -> None:
    """Hold what Python plans against what the commands print and write."""
    assert main(["report", str(model), "--json", *flags(words)]) == 0
    report = json.loads(capsys.readouterr().out)
    plan = memopt.plan(model, **words)
    assert figures(plan) == reported(report)
    assert main(["compile", str(model), "-o", str(folder), *flags(words)]) == 0
    written = json.loads((folder / "report.json").read_text())
    assert reported(written) == reported(report)
    assert written["operators"] == report["operators"]
    assert memopt.verify(folder / "plan.mlir").arena == plan.arena


@pytest.mark.parametrize("words", WORDS, ids=str)
def test_the_same_words_give_the_same_plan(
    words: dict[str, Any], shared: Path, tmp_path: Path, capsys: Any
) -> None:
    check(shared / "models" / MODELS[2], words, tmp_path / "out", capsys)


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("words", WORDS, ids=str)
def test_of_every_kind_of_model(
    name: str, words: dict[str, Any], shared: Path, tmp_path: Path, capsys: Any
) -> None:
    if name.endswith(".onnx") and (words.get("target") == "tflm" or "rewrite" in words):
        pytest.skip("TFLM runs no .onnx, and C none without rewriting")
    check(shared / "models" / name, words, tmp_path / "out", capsys)


def test_rows_of_what_stays_in_place_keep_what_is_said_of_channels(shared: Path) -> None:
    """Rows of a depthwise convolution that `depthwise-in-place` chose; the verifier asks for it."""
    model = shared / "models" / "mcunet_vww_int8.tflite"
    rules = "constant-channels,depthwise-in-place"
    assert memopt.plan(model, rewrite=rules, rows="all", place="greedy-by-size").family == "rows"
