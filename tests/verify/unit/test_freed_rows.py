"""Rows that come and die alone leave their bytes to others: a plan with them, and bugs in it."""

import re
from pathlib import Path

import pytest

from memopt.cli.opt import main as optimise

GRAPH = """
func.func @window(%x: tensor<1x3x4x4xi8, #memgraph.encoding<nhwc>>)
    -> tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>> {
  %y = memgraph.max_pool_2d %x window<[3, 3], pad = [1, 1, 1, 1]>
      : (tensor<1x3x4x4xi8, #memgraph.encoding<nhwc>>)
      -> tensor<1x3x4x4xi8, #memgraph.encoding<nhwc>>
  %z = memgraph.average_pool_2d %y window<[1, 4]>
      : (tensor<1x3x4x4xi8, #memgraph.encoding<nhwc>>)
      -> tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>>
  return %z : tensor<1x3x1x4xi8, #memgraph.encoding<nhwc>>
}
"""
STEPS = "memgraph-model{alignment=1 inplace=on},memgraph-expand-rows,memgraph-schedule"


@pytest.fixture
def plan(tmp_path: Path) -> str:
    source, out = tmp_path / "g.mlir", tmp_path / "plan.mlir"
    source.write_text(GRAPH)
    pipeline = f"{STEPS},memgraph-place,memgraph-verify-plan{{placed=true}}"
    assert optimise([str(source), "-p", pipeline, "-o", str(out)]) == 0
    return out.read_text()


def verdict(text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    changed = tmp_path / "changed.mlir"
    changed.write_text(text)
    code = optimise([str(changed), "-p", "memgraph-verify-plan", "-o", str(tmp_path / "out")])
    said = capsys.readouterr().err
    assert bool(code) == bool(said)
    return said


def test_a_row_lies_where_a_dead_row_was(
    plan: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert "peak = 68" in plan and "arena = 72, arena_lower_bound = 68" in plan
    assert re.search(r"memgraph.split_rows %x \{memgraph.offset = \[0 : i64, 16 : i64, 32", plan)
    assert re.search(r"memgraph.row %y\[2\] .*memgraph.offset = \[0 : i64\]", plan)
    assert not verdict(plan, tmp_path, capsys)


@pytest.mark.parametrize(
    ("before", "offset", "message"),
    [
        (
            r"memgraph.row %y\[2\] .*memgraph.offset = \[",
            16,
            "overwrites x at [16, 32), which is live until step 3",
        ),
        (
            r"memgraph.row %y\[2\] .*memgraph.offset = \[",
            20,
            "overwrites x at [16, 32), which is live until step 3",
        ),
        (
            r"memgraph.row %y\[1\] .*memgraph.offset = \[",
            0,
            "overwrites x at [0, 16), which is live until step 2",
        ),
        (
            r"memgraph.row %y\[0\] .*memgraph.offset = \[",
            32,
            "overwrites x at [32, 48), which is live until step 3",
        ),
        (
            r"memgraph.row %y\[0\] .*memgraph.offset = \[",
            47,
            "overwrites x at [32, 48), which is live until step 3",
        ),
        (r"memgraph.split_rows %x \{memgraph.offset = \[", 4, "overwrites x at [4, 20)"),
        (r"memgraph.split_rows %x .* 16 : i64, ", 40, "is not where its tensor has it"),
        (r"memgraph.row %y\[1\] .*memgraph.offset = \[", 49, "at [48, 52), which is live until"),
        (r"memgraph.row %z\[2\] .*memgraph.offset = \[", 60, "is not where its tensor has it"),
        (r"memgraph.join .*memgraph.offset = \[", 44, "is not where its tensor has it"),
    ],
)
def test_bytes_of_a_row_that_is_still_read_are_not_free(
    before: str,
    offset: int,
    message: str,
    plan: str,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    changed, count = re.subn(rf"({before})\d+", rf"\g<1>{offset}", plan, count=1)
    assert count == 1
    said = verdict(changed, tmp_path, capsys)
    assert message in said, said
