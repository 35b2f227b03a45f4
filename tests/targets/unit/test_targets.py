"""A board is one file in targets/: the command line, the memory model and the project follow."""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import memopt
from memopt import targets
from memopt.cli import main
from memopt.cli.opt import main as opt
from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import all_targets, target_named, target_names

pytestmark = pytest.mark.quick

BOARD = """
from dataclasses import replace
from memopt.targets.core.cortex_m import CORTEX_M
TARGET = replace(CORTEX_M, flags="-mcpu=cortex-m33", model={"alignment": 32}, emulator="mps2-an505",
                 memories=(("FLASH", "0x10000000", "1M"), ("RAM", "0x38000000", "128K")))
"""
NETWORK = """
func.func @main(%x: tensor<4x16xf32>) -> tensor<4x16xf32> {
  %0 = memgraph.relu %x : (tensor<4x16xf32>) -> tensor<4x16xf32>
  func.return %0 : tensor<4x16xf32>
}
"""


@pytest.fixture
def board(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    folder = tmp_path / "boards"
    folder.mkdir()
    (folder / "my_board2.py").write_text(BOARD)
    monkeypatch.setattr(targets, "__path__", [*targets.__path__, str(folder)])
    all_targets.cache_clear()
    yield "my-board2"
    all_targets.cache_clear()
    sys.modules.pop("memopt.targets.my_board2", None)


@pytest.fixture
def network(tmp_path: Path) -> Path:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK)
    return path


def test_a_board_is_one_file(
    board: str, network: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")  # nothing is compiled
    goal = tmp_path / "out"
    assert main(["compile", str(network), f"--target={board}", "-o", str(goal)]) == 0
    report = json.loads((goal / "report.json").read_text())
    assert report["target"]["name"] == board
    assert report["target"]["stack"] == target_named(board).stack_bound
    assert report["plan"]["alignment"] == 32
    assert "-mcpu=cortex-m33" in (goal / "Makefile").read_text()
    assert "RAM : ORIGIN = 0x38000000" in (goal / "platform" / "board.ld").read_text()
    assert memopt.plan(network, target=board).arena == report["plan"]["arena"]


def test_what_is_planned_for_a_board_needs_its_file(
    board: str, network: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan = tmp_path / "plan.mlir"
    flags = [f"--model=target={board}", "--schedule=auto", "--place=auto", "-o", str(plan)]
    assert opt([*flags, str(network)]) == 0
    assert main(["verify", str(plan)]) == 0
    all_targets.cache_clear()
    targets.__path__ = list(targets.__path__)[:-1]
    capsys.readouterr()
    assert main(["verify", str(plan)]) == 1
    assert f"target '{board}' is not one of: cortex-m" in capsys.readouterr().err


def test_names_are_those_of_the_files_and_numbers_are_numbers() -> None:
    cores = ("cortex-m0plus", "cortex-m3", "cortex-m7", "cortex-m33", "cortex-m85")
    others = {"generic": "", "host": "c", "tflm": "tflite"}
    assert {*cores, *others} <= set(target_names())
    assert tuple(name for name in target_names() if name in cores) == cores
    assert {name: target_named(name).output for name in others} == others
    assert set(target_names()) - set(target_names("c", "tflite")) == {"generic"}
    for name, target in all_targets().items():
        assert target.name == name
        ModelAttr.of({"target": name, **target.model})


def test_another_output_is_refused_by_name() -> None:
    with pytest.raises(MemoptError, match="target 'tflm' is not one of: cortex-m"):
        target_named("tflm", "c")
