"""What a plan from a file says of its bound is claimed, by the command line, unless it is shown."""

import json
from pathlib import Path

import pytest

from memopt.cli import main
from memopt.opt import main as opt

SOURCE = """
func.func @main(%x: tensor<64xi8>) -> tensor<16xi8> {
  %a = memgraph.opaque "A"(%x) {memgraph.scratch = [#memgraph.scratch<16>]}
    : (tensor<64xi8>) -> tensor<32xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<32xi8>) -> tensor<128xi8>
  %c = memgraph.opaque "C"(%b, %a) : (tensor<128xi8>, tensor<32xi8>) -> tensor<16xi8>
  func.return %c : tensor<16xi8>
}
"""
PLACES = {
    "arena": "memgraph-place",
    "objects": "memgraph-place{method=shared-objects}",
    "memories": "memgraph-memory{banks=a:160@1,b:256@2}",
    "off_chip": "memgraph-place,memgraph-traffic{on-chip=176}",
}


@pytest.mark.parametrize("name", PLACES)
def test_a_plan_that_is_read_is_claimed(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan, page = (tmp_path / f for f in ("s.mlir", "plan.mlir", "page.html"))
    source.write_text(SOURCE)
    pipeline = f"memgraph-schedule,{PLACES[name]}"
    assert opt([str(source), "-p", pipeline, "-o", str(plan)]) == 0
    assert main(["verify", str(plan)]) == 0
    assert "optimality: not checked, only claimed (flow)" in capsys.readouterr().out
    assert main(["verify", str(plan), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["optimal"] is None
    assert main(["report", str(plan), "--json", "--html", str(page)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["plan"]["optimal"] is None and report["plan"]["arena_optimal"] is None
    assert name != "memories" or report["memories"]["optimal"] is None
    assert '<b class="">claimed</b>' in page.read_text()
    assert main(["report", str(plan)]) == 0
    out = capsys.readouterr().out
    assert "claimed optimal, proof = flow" in out and "claimed smallest possible" in out
    assert out.count("possible") == out.count("claimed smallest") + out.count("claimed least")


def test_what_the_same_run_proved_stays_optimal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan, proof = (tmp_path / f for f in ("s.mlir", "plan.mlir", "plan.cert"))
    source.write_text(SOURCE)
    assert main(["report", str(source), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["plan"]["optimal"] is True and report["plan"]["arena_optimal"] is True
    pipeline = f'memgraph-schedule{{certificate="{proof}"}}'
    assert opt([str(source), "-p", pipeline, "-o", str(plan)]) == 0
    assert main(["verify", str(plan), "--certificate", str(proof), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["optimal"] is True
