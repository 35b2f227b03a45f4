"""Rows in place over parts of the model's input: where they lie, and plans that say otherwise."""

import re
from pathlib import Path

import pytest

from memopt.cli.opt import main as optimise

GRAPH = """
!t = tensor<1x4x2x4xi8>
!u = tensor<1x2x2x4xi8>
func.func @main(%x: !t) -> !u {
  %r = memgraph.relu %x : (!t) -> !t
  %y = memgraph.max_pool_2d %r window<[2, 1], stride = [2, 1]> : (!t) -> !u
  func.return %y : !u
}
"""
STEPS = (
    "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule,"
    "memgraph-place{method=exact},memgraph-verify-plan{placed=true}"
)
IN_PLACE = r"memgraph.row %r\[(\d)\] .*kind = inplace.*memgraph.offset = \[(\d+) : i64\]"


@pytest.fixture
def plan(tmp_path: Path) -> str:
    source, out = tmp_path / "g.mlir", tmp_path / "plan.mlir"
    source.write_text(GRAPH)
    assert optimise([str(source), "-p", STEPS, "-o", str(out)]) == 0
    return out.read_text()


def verdict(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    changed = tmp_path / "changed.mlir"
    changed.write_text(text)
    steps = "memgraph-verify-plan{placed=true}"
    code = optimise([str(changed), "-p", steps, "-o", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert bool(code) == bool(said)
    return said


def test_each_row_lies_on_its_part(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    parts = re.search(r"memgraph.split_rows %x \{memgraph.offset = \[([^]]*)\]", plan)
    assert parts is not None
    where = [int(p.removesuffix(" : i64")) for p in parts[1].split(", ")]
    found = [(int(r), int(at)) for r, at in re.findall(IN_PLACE, plan)]
    assert found == list(enumerate(where))
    assert "peak = 40, lower_bound = 40" in plan
    assert not verdict(plan, tmp_path, capsys)


def test_a_row_beside_its_part_is_refused(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    row = re.search(IN_PLACE, plan)
    assert row is not None
    beside = row[0].replace(f"[{row[2]} : i64]", f"[{int(row[2]) + 1} : i64]")
    assert verdict(plan.replace(row[0], beside), tmp_path, capsys)


def test_a_part_that_is_read_later_is_not_overwritten(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The pool reads a row of the input, where it read that of the ReLU."""
    swapped = re.sub(r"(memgraph.row %y\[0\] \(%r_1), %r_2", r"\1, %x_2", plan)
    assert swapped != plan
    assert verdict(swapped, tmp_path, capsys)
