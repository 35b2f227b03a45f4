"""Tests that equal words give equal plans: `memopt.plan`, `memopt compile` and `memopt report`.

A plan is a function of the network, the target and the choices that `plan_module` is given, of
which all models are held to the same; some are planned, each and each way once or twice, and all
of them each way at full count.
"""

import json
from pathlib import Path
from typing import Any

import pytest

import memopt
from memopt.cli import main
from memopt.compile import compare
from memopt.dialects.memgraph.errors import MemoptError

WORDS: list[dict[str, Any]] = [
    {},
    {"rows": "none"},
    {"rows": "all", "optimize": "ram"},
    {"target": "cortex-m4", "rewrite": "none", "rows": "none"},
    {"target": "tflm"},
]
MORE_WORDS: list[dict[str, Any]] = [
    {"target": "cortex-m7", "memory": "dtcm:64K,sram:2M"},
    {"target": "cortex-m55", "optimize": "speed"},
    {"target": "cortex-m4", "int8_io": True, "nhwc_io": True},
    {"target": "cortex-m0plus", "stream_input": True, "fit": 65536},
    {"target": "cortex-m4", "cmsis_nn": True},
    {"rewrite": "all", "io": "caller", "inplace": "off"},
    {"schedule": "source", "place": "greedy-by-size"},
]
MODELS = [
    "resnet8_int8.tflite",
    "mobilenet_vww96_int8.tflite",
    "tinymaix_mnist_resnet_int8.tflite",
    "families/tcn.onnx",
]


LARGE = 90_000  # bytes of files of which a plan may take more than a second


def all_models(shared: Path) -> list[Path]:
    """Return the shared models, .tflite first."""
    folder = shared / "models"
    return sorted(folder.glob("*.tflite")) + sorted(folder.glob("families/*.onnx"))


def flags(words: dict[str, Any]) -> list[str]:
    """Return the arguments of `memopt.plan` as the command line's options."""
    named = {name.replace("_", "-"): value for name, value in words.items()}
    return [f"--{name}" if value is True else f"--{name}={value}" for name, value in named.items()]


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


@pytest.mark.deep
@pytest.mark.parametrize("words", (WORDS[0], WORDS[-1]), ids=str)
def test_the_same_words_give_the_same_plan(
    words: dict[str, Any], shared: Path, tmp_path: Path, capsys: Any
) -> None:
    check(shared / "models" / MODELS[2], words, tmp_path / "out", capsys)


@pytest.mark.deep
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("words", WORDS, ids=str)
def test_of_every_kind_of_model(
    name: str, words: dict[str, Any], shared: Path, fuzz: float, tmp_path: Path, capsys: Any
) -> None:
    if fuzz < 1 and (MODELS.index(name) + WORDS.index(words)) % 3:
        pytest.skip("in make fuzz")
    if name.endswith(".onnx") and (words.get("target") == "tflm" or "rewrite" in words):
        pytest.skip("TFLM runs no .onnx, and C none without rewriting")
    check(shared / "models" / name, words, tmp_path / "out", capsys)


class Asked(list[tuple[str, Any]]):
    """Network and options of each plan that was asked for; none is made."""

    def plan_module(self, context: Any, module: Any, options: Any, times: Any, peaks: Any) -> Any:
        self.append((str(module), options))
        raise MemoptError("asked")

    def as_it_was(self, context: Any, module: Any, is_tflite: bool) -> Any:
        return module


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> Asked:
    plans = Asked()
    monkeypatch.setattr(compare, "plan_module", plans.plan_module)
    monkeypatch.setattr(compare, "as_it_was", plans.as_it_was)
    return plans


def check_asked(model: Path, words: dict[str, Any], folder: Path, asked: Asked) -> int:
    """Compare the plans that Python asks for with those of the commands; return how many commands
    asked for one. The `compile` of an operator without a kernel does not."""
    asked.clear()
    for command in ("report", "compile"):
        output = ["-o", str(folder)] if command == "compile" else []
        assert main([command, str(model), *output, *flags(words)]) in (1, 2)
    commands = list(asked)
    asked.clear()
    with pytest.raises((MemoptError, ValueError)):
        memopt.plan(model, **words)
    assert all(one == asked[0] for one in commands)
    assert bool(commands) == bool(asked)
    return len(commands)


@pytest.mark.deep
def test_a_plan_of_the_same_is_asked_for(shared: Path, tmp_path: Path, asked: Asked) -> None:
    different: list[Any] = []
    for words in (*WORDS, *MORE_WORDS):
        assert check_asked(shared / "models" / MODELS[2], words, tmp_path / "out", asked) == 2
        assert asked[0] not in different
        different.append(asked[0])


@pytest.mark.deep
def test_a_plan_of_the_same_is_asked_for_of_all_models(
    shared: Path, tmp_path: Path, asked: Asked, fuzz: float
) -> None:
    """Check each model without words, and every third with some in turn."""
    words, count = WORDS[1:] + MORE_WORDS, 0
    for i, model in enumerate(all_models(shared)):
        some = words if fuzz >= 1 else [words[i // 3 % len(words)]] * (i % 3 == 0)
        for own in ({}, *some):
            count += check_asked(model, own, tmp_path / "out", asked)
    assert count > len(all_models(shared))


@pytest.mark.deep
def test_all_models_are_planned_alike(shared: Path, capsys: Any, fuzz: float) -> None:
    """Check small models, and all of them at full count."""
    models = [m for m in all_models(shared) if fuzz >= 1 or m.stat().st_size < LARGE]
    for model in models:
        assert main(["report", str(model), "--json"]) == 0
        assert figures(memopt.plan(model)) == reported(json.loads(capsys.readouterr().out)), model


@pytest.mark.deep
def test_rows_of_what_stays_in_place_keep_what_is_said_of_channels(shared: Path) -> None:
    """Rows of a depthwise convolution that `depthwise-in-place` chose; the verifier asks for it."""
    model = shared / "models" / "mcunet_vww_int8.tflite"
    rules = "constant-channels,depthwise-in-place"
    assert memopt.plan(model, rewrite=rules, rows="all", place="greedy-by-size").family == "rows"
