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
GROWN = "32 B (0.0 KiB) -> 48 B (0.0 KiB), of it scratch 16 B"


def figure_lines(capsys: pytest.CaptureFixture[str]) -> list[str]:
    """Return the lines of peak and arena that a command printed."""
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if line.startswith(("peak ", "arena "))]


def test_scratch_is_named_and_a_plan_has_one_figure(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "m.mlir", tmp_path / "out"
    path.write_text(PLAN)
    assert (
        main(["compile", str(path), "--target=cortex-m4", "--layout=arduino", "-o", str(out)]) == 0
    )
    peak, arena = figure_lines(capsys)
    assert peak == f"peak      {GROWN}, optimal over all orders, proof = flow"
    assert arena == f"arena     {GROWN}, smallest possible over all orders"
    report = json.loads((out / "report.json").read_text())
    assert (report["source"]["scratch"], report["plan"]["scratch"]) == (0, 16)
    assert report["source"]["peak"] == 32 == report["plan"]["peak"] - report["plan"]["scratch"]
    assert report["source"]["io"] == report["plan"]["io"] == "arena"
    assert main(["report", str(out / "plan.mlir")]) == 0
    peak, arena = figure_lines(capsys)
    assert peak.startswith("peak      48 B (0.0 KiB), of it scratch 16 B, claimed optimal")
    assert arena.startswith(
        "arena     48 B (0.0 KiB), of it scratch 16 B, claimed smallest possible"
    )
    assert main(["report", str(path), "--target=cortex-m4"]) == 0
    assert figure_lines(capsys)[1] == f"arena     {GROWN}, smallest possible over all orders"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("shared", "said"),
    [(True, "48 B (0.0 KiB), of it scratch 16 B"), (False, "of it scratch 32 B")],
)
def test_scratch_is_named_of_several_models(
    shared: bool, said: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    paths = [tmp_path / f"{name}.mlir" for name in "mn"]
    for path in paths:
        path.write_text(PLAN)
    flags = ["--target=cortex-m4", "--share-arena"] if shared else ["--target=cortex-m4"]
    assert main(["compile", *map(str, paths), *flags, "-o", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    (arena,) = (line for line in out[out.index("models  ") :].splitlines() if "arena   " in line)
    assert said in arena


def test_other_rules_are_said() -> None:
    source, plan = {"alignment": 16, "io": "arena"}, {"alignment": 4, "io": "caller"}
    assert counted_line(source, source) == []
    (line,) = counted_line(source, plan)
    assert line == "counted   before: alignment 16, io arena; now: alignment 4, io caller"
