"""Rows by the command line, of a `.tflite` in one command."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from memopt.cli import main as memopt


@pytest.mark.deep
def test_compile_in_rows(shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """In as few rows as it takes by default; what cannot is said by name."""
    model = str(shared / "models" / "tinymaix_mnist_resnet_int8.tflite")
    report = tmp_path / "rows" / "report.json"
    assert memopt(["compile", model, "--rows=all", "-o", str(report.parent)]) == 0
    plan = json.loads(report.read_text())["plan"]
    assert (plan["family"], plan["peak"], plan["optimal"]) == ("rows", 1_456, True)
    for arguments, rows, peak in (
        ([], {"operators_cut": 6, "calls": 42, "whole_peak": 3_536}, 1_456),
        (["--rows=none"], None, 3_536),
        (["--place=exact"], None, 3_536),
        (["--memory=a:8K"], None, 3_536),
    ):
        goal = tmp_path / "".join(arguments)
        assert memopt(["compile", model, *arguments, "-o", str(goal / "out")]) == 0
        plan = json.loads((goal / "out" / "report.json").read_text())["plan"]
        assert (plan["rows"], plan["peak"]) == (rows, peak)
        code = (goal / "out" / "tinymaix_mnist_resnet_int8.c").read_text()
        assert ("run_rows" in code) == (rows is not None)
    capsys.readouterr()
    for arguments, message in (
        (["--rows=all", "--target=tflm"], "--rows: TensorFlow Lite Micro runs whole operators"),
        (["--rows=nobody"], "memgraph-expand-rows: no operator with rows makes 'nobody'"),
    ):
        assert memopt(["compile", model, *arguments, "-o", str(tmp_path / "no")]) != 0
        assert re.search(message, capsys.readouterr().err)
        assert not (tmp_path / "no").exists()


@pytest.mark.parametrize("flags", [(), ("--io=caller",), ("--rows=none", "--fit=3K")])
def test_compile_with_a_streamed_input(
    flags: tuple[str, ...], shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The header says what a row is and how it is handed over."""
    model = str(shared / "models" / "tinymaix_mnist_resnet_int8.tflite")
    arguments = ["compile", model, "--stream-input", "-o", str(tmp_path / "out"), *flags]
    if "--rows=none" in flags:
        assert memopt(arguments) == 2
        assert "--fit chooses the rows" in capsys.readouterr().err
        assert memopt([a for a in arguments if a != "--rows=none"]) == 0
    else:
        assert memopt([*arguments, "--rows=auto"]) == 0
    header = (tmp_path / "out" / "tinymaix_mnist_resnet_int8.h").read_text()
    assert "TINYMAIX_MNIST_RESNET_INT8_ROWS 28" in header
    assert "tinymaix_mnist_resnet_int8_push_row(" in header


# million cycles of an inference by whole operators, no faster than these are meant to be
BALANCED = {
    "resnet8_int8": 15.3,
    "dscnn_kws_int8": 4.65,
    "mobilenet_vww96_int8": 7.7,
    "ad01_autoencoder_int8": 0.365,
}


CALL = 300  # instructions, at most
IN_ROWS = (
    *("dscnn_kws_int8", "resnet8_int8", "tinymaix_mnist_resnet_int8", "streaming_wakeword_int8"),
    *("mobilenet_vww96_int8", "person_detect_int8", "mcunet_vww_int8"),
)
QUICK = 4  # of them in `make deep`: the others are larger, of the same operators


@pytest.mark.deep
@pytest.mark.parametrize("name", IN_ROWS)
def test_a_row_call_costs_few_instructions(
    name: str, shared: Path, fuzz: float, tmp_path: Path, lab: Any
) -> None:
    """That is what rows cost more than whole operators, for each call of a kernel, which makes one
    row, two, or up to eight of one pixel."""
    if fuzz < 1 and name not in IN_ROWS[:QUICK]:
        pytest.skip("in make fuzz")
    lab.need_tools("cortex-m4")
    model, ran = str(shared / "models" / f"{name}.tflite"), list[int]()
    how = ("--target=cortex-m4", "--rewrite=none", "--optimize=speed")
    for rows in ("auto", "none"):
        assert memopt(["compile", model, *how, f"--rows={rows}", "-o", str(tmp_path / rows)]) == 0
        report = json.loads((tmp_path / rows / "report.json").read_text())
        ran.append(report["target"]["instructions"])
    made = (tmp_path / "auto" / "plan.mlir").read_text().count(" = memgraph.row %")
    table = re.search(r"\bcalls\[(\d+)\] = ", (tmp_path / "auto" / f"{name}.c").read_text())
    assert table is not None
    assert 30 <= int(table[1]) <= made
    assert ran[0] - ran[1] <= CALL * int(table[1]), (ran, table[1], made)


@pytest.mark.deep
def test_balanced_is_nearly_as_fast_as_speed_and_takes_little_more_than_ram(
    shared: Path, tmp_path: Path, fuzz: float, lab: Any
) -> None:
    """By default at most 6 % more RAM than the least, and 5 % more cycles than whole operators
    for speed alone."""
    lab.need_tools("cortex-m4")
    for name in list(BALANCED) if fuzz == 1 else ["dscnn_kws_int8"]:
        model, targets = str(shared / "models" / f"{name}.tflite"), dict[str, Any]()
        for how in ("--optimize=ram", "--optimize=balanced"):
            out = tmp_path / name / how
            command = ["compile", model, "--target=cortex-m4", "-o", str(out)]
            assert memopt([*command, *([how] if how.endswith("ram") else [])]) == 0
            targets[how] = json.loads((out / "report.json").read_text())["target"]
        least, chosen = targets.values()
        assert chosen["ram"] <= 1.06 * least["ram"]
        assert chosen["cycles_estimated"] <= 1.05 * 1e6 * BALANCED[name]
