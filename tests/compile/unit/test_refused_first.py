"""Refusals of what cannot become C, before anything is planned, which is counted."""

from pathlib import Path
from typing import Any

import pytest

from memopt.cli import main
from memopt.compile import run_passes
from memopt.passes.memgraph_expand_rows import MemgraphExpandRowsPass
from memopt.passes.memgraph_fuse import MemgraphFusePass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.plan.planned import PlanningPass

PLANNING = (MemgraphExpandRowsPass, MemgraphFusePass, MemgraphPlacePass, MemgraphSchedulePass)

NETWORK = """!t = tensor<1x4x4x8xTYPE>
func.func @main(%x: !t) -> !t {
  %a = memgraph.maximum %x, %x : (!t, !t) -> !t
  %b = memgraph.OPERATOR : (!t) -> !t
  func.return %b : !t
}
"""
REFUSED = {  # operator: element type, refusal
    'opaque "Whatever"(%a)': ("f32", "no kernel for Whatever on (f32)"),
    "tanh %a": ("i32", "no kernel for memgraph.tanh on i32, only on f32, s16, s8, u8"),
    "max_pool_2d %a window<[2, 2], dilation = [2, 2], pad = [1, 1, 1, 1]>": (
        "f32",
        "a dilated pool",
    ),
}


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return the names of the planning passes that have begun."""
    begun: list[str] = []
    for each in PLANNING:

        def plan(self: PlanningPass, *given: Any, of: Any = each.plan) -> Any:
            begun.append(self.name)
            return of(self, *given)

        monkeypatch.setattr(each, "plan", plan)
    return begun


@pytest.mark.parametrize("options", ["", "--rows=none", "--memory=fast:1K,slow:64K", "--ram=64K"])
@pytest.mark.parametrize("operator", REFUSED)
def test_what_no_kernel_computes_is_refused_before_planning(
    operator: str,
    options: str,
    tmp_path: Path,
    planned: list[str],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    kind, why = REFUSED[operator]
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK.replace("TYPE", kind).replace("OPERATOR", operator))
    if options.startswith(("--rows=none", "--memory")):
        monkeypatch.setattr(run_passes, "FEW", 1)  # so that planning takes long enough
    target = "--target=cortex-m4" if "ram" in options else "--target=host"
    words = ["compile", str(path), target, *options.split(), "-o", str(tmp_path / "out")]
    assert main(words) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"{path}:4:3: error: C backend: {why}"
    assert not planned and not (tmp_path / "out").exists()


IN_ROWS = """!x = tensor<1xROWSx2x3x2x3x2x3x2xf32>
!y = tensor<1x3x2x3x2x3x2x3x2xf32>
!w = tensor<1x3x1x3x1x3x1x3x1xf32>
func.func @main(%x: !x) -> !y {
  %a = memgraph.maximum %x, %x : (!x, !x) -> !x
  %w = memgraph.constant dense<0.5> : !w
  %b = memgraph.mul %a, %w : (!x, !w) -> !y
  func.return %b : !y
}
"""


@pytest.mark.parametrize("rows", [3, 1])
def test_what_runs_in_rows_is_not_refused(rows: int, tmp_path: Path) -> None:
    """A kernel takes seven dimensions of a row, but not eight of the whole."""
    path = tmp_path / "net.mlir"
    path.write_text(IN_ROWS.replace("ROWS", str(rows)))
    words = ["compile", str(path), "--rows=all", "--target=host", "-o", str(tmp_path / "out")]
    assert main(words) == 0
    assert main(["compile", str(path), "--rows=none", "-o", str(tmp_path / "whole")]) == 1


def test_planning_is_counted(tmp_path: Path, planned: list[str]) -> None:
    path = tmp_path / "net.mlir"
    path.write_text(NETWORK.replace("TYPE", "f32").replace("OPERATOR", "tanh %a"))
    assert main(["compile", str(path), "--rows=none", "-o", str(tmp_path / "out")]) == 0
    assert {"memgraph-fuse", "memgraph-place", "memgraph-schedule"} <= set(planned)
