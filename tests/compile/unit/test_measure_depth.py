"""How far a project is measured: `--measure=off` builds nothing, `quick` runs nothing."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from memopt.api.compile import compile as compiled
from memopt.backends.c.project import measure
from memopt.cli import main

SOURCE = """
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %a = memgraph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %a : tensor<1x8xf32>
}
"""
OF_A_RUN = {"stack", "instructions", "cycles_estimated", "cycles_range"}


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    """Return what make was told, each time."""
    told: list[tuple[str, ...]] = []
    real = measure.run_make

    def run(directory: Path, build: str, *arguments: str, **more: Any) -> Any:
        told.append(arguments)
        return real(directory, build, *arguments, **more)

    monkeypatch.setattr(measure, "run_make", run)
    return told


def _compiled(folder: Path, *words: str) -> dict[str, Any]:
    path = folder / "net.mlir"
    path.write_text(SOURCE)
    assert main(["compile", str(path), *words, "-o", str(folder / "out")]) == 0
    content: dict[str, Any] = json.loads((folder / "out" / "report.json").read_text())
    return content["target"]


def test_off_compiles_nothing(tmp_path: Path, calls: list[tuple[str, ...]]) -> None:
    facts = _compiled(tmp_path, "--target=cortex-m4", "--measure=off", "--ram=64K")
    assert not calls
    assert facts["not_measured"] == dict.fromkeys(
        ("stack_bound", "flash", "instructions", "cycles_estimated", "cycles_range"),
        "--measure=off compiles nothing",
    )
    assert facts["bounds"] == ["stack", "static_ram"]
    assert facts["ram"] == facts["arena"] + facts["stack"] + facts["static_ram"]


@pytest.mark.skipif(not shutil.which("arm-none-eabi-gcc"), reason="no compiler of the core")
def test_quick_builds_and_runs_nothing(tmp_path: Path, calls: list[tuple[str, ...]]) -> None:
    facts = _compiled(tmp_path, "--target=cortex-m4", "--measure=quick")
    assert calls == [(), ("size",)]
    assert facts["flash"] > 0 and facts["stack_bound"] > 0 and facts["static_ram"] > 0
    assert facts["not_measured"] == dict.fromkeys(OF_A_RUN, "--measure=quick runs nothing")
    assert facts["stack"] == facts["stack_bound"]


def test_several_models_have_it_too(tmp_path: Path, calls: list[tuple[str, ...]]) -> None:
    for name in "ab":
        (tmp_path / f"{name}.mlir").write_text(SOURCE)
    paths = [str(tmp_path / f"{name}.mlir") for name in "ab"]
    words = ["--target=cortex-m4", "--measure=off", "-o", str(tmp_path / "out")]
    assert main(["compile", *paths, *words]) == 0
    for report in ("report.json", "a/report.json"):
        facts = json.loads((tmp_path / "out" / report).read_text())["target"]
        assert facts["flash"] is None
        assert facts["not_measured"]["flash"] == "--measure=off compiles nothing"
    assert not calls


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--target=cortex-m4", "--flash=64K"), "--flash is of an image, and --measure=off builds"),
        (("--target=tflm",), "--measure is of C targets; --target=tflm writes a .tflite"),
    ],
)
def test_what_it_contradicts_is_wrong_usage(
    words: tuple[str, ...], why: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["compile", "net.tflite", "--measure=off", *words, "-o", str(tmp_path / "out")]
    assert main(command) == 2
    assert f"memopt: error: {why}" in capsys.readouterr().err


def test_a_keyword_that_is_none_is_listed(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(SOURCE)
    with pytest.raises(ValueError, match=r"measure='ful' \(did you mean full\?\): one of off, "):
        compiled(path, out=tmp_path / "out", measure="ful")
