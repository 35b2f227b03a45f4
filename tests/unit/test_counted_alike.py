"""Before and after say what they count: scratch of kernels, alignment, where inputs lie."""

import json
from pathlib import Path

import pytest

from memopt.cli import main
from memopt.cli.summary import counted_line

PLAN = """
!a = tensor<1x8xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
!w = tensor<8x8xi8, #memgraph.encoding<scale = [1.0e-01], zero_point = [0]>>
builtin.module {
  func.func @main(%x: !a) -> !a {
    %w = memgraph.constant dense<1> : !w
    %y = memgraph.fully_connected %x, %w rounding<tflm_double> : (!a, !w) -> !a
    func.return %y : !a
  }
}
"""


def test_scratch_is_named_and_a_plan_has_one_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "m.mlir", tmp_path / "out"
    path.write_text(PLAN)
    assert (
        main(["compile", str(path), "--target=cortex-m4", "--layout=arduino", "-o", str(out)]) == 0
    )
    lines = capsys.readouterr().out.splitlines()
    (peak,) = (line for line in lines if line.startswith("peak"))
    assert peak.startswith(
        "peak      32 B (0.0 KiB) -> 48 B (0.0 KiB), of it scratch 16 B, optimal"
    )
    report = json.loads((out / "report.json").read_text())
    assert (report["source"]["scratch"], report["plan"]["scratch"]) == (0, 16)
    assert report["source"]["peak"] == 32 == report["plan"]["peak"] - report["plan"]["scratch"]
    assert report["source"]["io"] == report["plan"]["io"] == "arena"
    assert main(["report", str(out / "plan.mlir")]) == 0
    lines = capsys.readouterr().out.splitlines()
    (peak,) = (line for line in lines if line.startswith("peak"))
    assert peak.startswith("peak      48 B (0.0 KiB), of it scratch 16 B, claimed optimal")
    assert "->" not in peak


def test_other_rules_are_said() -> None:
    source, plan = {"alignment": 16, "io": "arena"}, {"alignment": 4, "io": "caller"}
    assert counted_line(source, source) == []
    (line,) = counted_line(source, plan)
    assert line == "counted   before: alignment 16, io arena; now: alignment 4, io caller"
