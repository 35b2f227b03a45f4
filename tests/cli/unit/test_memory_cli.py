"""`--memory` and traffic through the commands: exit codes, what is left, what is reported."""

import json
from pathlib import Path

import pytest

from memopt import cli
from memopt.cli import opt


@pytest.fixture
def resnet8(shared: Path) -> str:
    return str(shared / "models" / "resnet8_int8.tflite")


def test_compile_over_memories(
    resnet8: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = tmp_path / "fw"
    banks = "dtcm:32K@1,sram:320K@3,psram:8M"
    assert cli.main(["compile", resnet8, f"--memory={banks}", "-o", str(goal)]) == 0
    said = capsys.readouterr().out
    assert "dtcm      32,768 B (32.0 KiB) of 32,768 B (32.0 KiB)" in said
    report = json.loads((goal / "report.json").read_text())
    memories = report["memories"]
    assert [b["name"] for b in memories["banks"]] == ["dtcm", "sram", "psram"]
    assert [b["cost"] for b in memories["banks"]] == [1, 3, 6]
    assert memories["optimal"] and memories["proof"] == "ilp"
    assert memories["cost"] == sum(b["cost"] * b["moved"] for b in memories["banks"])
    assert report["plan"]["arena"] == sum(b["arena"] for b in memories["banks"])
    assert all(b["arena"] <= b["capacity"] for b in memories["banks"])
    assert cli.main(["verify", str(goal / "plan.mlir")]) == 0


def test_one_arena_has_no_memories(resnet8: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["report", resnet8, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["memories"] is None


def test_the_shortfall_is_exact(
    resnet8: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """resnet8 int8 needs 49,152 B, 40 KiB are 40,960; nothing is left behind."""
    goal = tmp_path / "fw"
    assert cli.main(["compile", resnet8, "--memory=sram:40K", "-o", str(goal)]) == 1
    said = capsys.readouterr().err
    assert "sram 40,960 B: 8,192 B are missing at conv_2d" in said
    assert said.count("16,384 B") == 3 and said.count("\n") == 1
    assert not goal.exists()
    assert cli.main(["compile", resnet8, "--memory=sram:48K", "-o", str(goal)]) == 0


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--memory=sram"], "'sram' is no memory"),
        (["--memory=a:1K,A:2K"], "memory A is given twice"),
        (["--memory=a:1K@x"], "'x' is no cost"),
        (["--memory=a:1K", "--place=auto"], "leave --place out"),
        (["--memory=a:1K", "--ram=1K"], "--ram is one memory"),
        (["--memory=a:1K", "--fit=1K"], "--fit is one arena"),
        (["--fit=0"], "--fit=0: no arena has no bytes"),
        (["--fit=64K", "--rows=all"], "--fit chooses the rows"),
        (["--int8-io", "--target=tflm"], "--int8-io: the .tflite keeps its inputs and outputs"),
        (["--fit=64K", "--target=tflm"], "--fit: TensorFlow Lite Micro runs whole operators"),
    ],
)
def test_wrong_usage(
    arguments: list[str],
    text: str,
    resnet8: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert cli.main(["compile", resnet8, *arguments, "-o", str(tmp_path / "fw")]) == 2
    assert text in capsys.readouterr().err


@pytest.mark.parametrize("value", ["", "fast", "fast:1Q", "a:1}", 'a:"1', "a b:1K", "fast:1K@0"])
def test_wrong_memories_of_memopt_opt(
    value: str, resnet8: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.main([f"--memory={value}", resnet8]) == 2
    assert capsys.readouterr().err.startswith("memopt-opt: error: ")


def test_tflm_has_one_arena(
    resnet8: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    goal = str(tmp_path / "out")
    assert cli.main(["compile", resnet8, "--target=tflm", "--memory=a:1M", "-o", goal]) == 2
    assert "--ram=persistent:" in capsys.readouterr().err


@pytest.mark.parametrize("target", ["svg", "html", "json", "minimalloc-csv", "c"])
def test_every_text_of_a_plan_over_memories(
    target: str, resnet8: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The memories are drawn one on top of the other; JSON says which one a tensor is in."""
    arguments = ["--schedule=auto", "--memory=dtcm:32K,sram:320K", resnet8, "-t", target]
    assert opt.main(arguments) == 0
    said = capsys.readouterr().out
    if target == "json":
        tensors = json.loads(said)["tensors"]
        assert {t["memory"] for t in tensors} == {"dtcm", "sram"}
    if target == "minimalloc-csv":
        rows = [line.split(",") for line in said.splitlines()[1:]]
        assert max(int(r[3]) + int(r[4]) for r in rows) == 49_152
    assert said
