"""A size that is given and empty is a wrong command line, not none: what was meant is not known."""

from pathlib import Path

import pytest

from memopt.cli import main
from memopt.cli.opt import main as opt

SOURCE = """
func.func @main(%x: tensor<4xi8>) -> tensor<4xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<4xi8>) -> tensor<4xi8>
  func.return %a : tensor<4xi8>
}
"""


@pytest.mark.parametrize("flag", ["--ram=", "--memory="])
def test_of_compile(flag: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.mlir").write_text(SOURCE)
    arguments = [str(tmp_path / "a.mlir"), "--target=host", flag, "-o", str(tmp_path / "out")]
    assert main(["compile", *arguments]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_of_report_and_opt(tmp_path: Path) -> None:
    (tmp_path / "a.mlir").write_text(SOURCE)
    assert main(["report", str(tmp_path / "a.mlir"), "--memory="]) == 2
    assert opt([str(tmp_path / "a.mlir"), "--memory="]) == 2


def test_of_place(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "a.csv").write_text("id,lower,upper,size\na,0,2,10\n")
    assert main(["place", str(tmp_path / "a.csv"), "--capacity=", "-o", str(tmp_path / "b")]) == 2
    assert capsys.readouterr().err.count("\n") == 1
    assert not (tmp_path / "b").exists()
