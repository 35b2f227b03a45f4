"""What could not be measured says why, in report.json and on the console."""

import json
from pathlib import Path

import pytest
from demo_model import demo_model

from memopt.cli import main

SOURCE = """
func.func @main(%x: tensor<1x8xf32>) -> tensor<1x8xf32> {
  %a = memgraph.relu %x : (tensor<1x8xf32>) -> tensor<1x8xf32>
  func.return %a : tensor<1x8xf32>
}
"""


@pytest.mark.deep
@pytest.mark.parametrize("target", ["host", "cortex-m4", "tflm"])
def test_every_null_of_the_target_has_its_reason(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """But where a figure does not apply: tensor_arena is the interpreter's."""
    path = tmp_path / ("net.tflite" if target == "tflm" else "net.mlir")
    path.write_bytes(demo_model() if target == "tflm" else SOURCE.encode())
    assert main(["report", str(path), f"--target={target}", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["target"]
    missing = {key for key, value in found.items() if value is None}
    assert "cycles_estimated" in missing
    reasons = found["not_measured"]
    assert set(reasons) == missing - {"tensor_arena"}
    assert all(reasons.values())
    assert main(["report", str(path), f"--target={target}"]) == 0
    out = capsys.readouterr().out
    assert "cycles estimated" in out


def test_a_compiled_project_says_it_too(tmp_path: Path) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(SOURCE)
    assert main(["compile", str(path), "-o", str(tmp_path / "out")]) == 0
    found = json.loads((tmp_path / "out" / "report.json").read_text())["target"]
    missing = {key for key, value in found.items() if value is None}
    assert set(found["not_measured"]) == missing - {"tensor_arena"}
