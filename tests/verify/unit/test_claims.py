"""What a plan from a file says of its bound is claimed, by the command line, unless it is shown."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from places import FILECHECK
from plan_source import SOURCE

from memopt.cli import main
from memopt.cli.opt import main as opt

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
    assert "optimality: not checked, only claimed (flow) over all orders" in capsys.readouterr().out
    assert main(["verify", str(plan), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["optimal"] is None
    assert main(["report", str(plan), "--json", "--html", str(page)]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["plan"]["optimal"] is None and report["plan"]["arena_optimal"] is None
    assert name != "memories" or report["memories"]["optimal"] is None
    assert '<b class="">claimed</b>' in page.read_text()
    assert main(["report", str(plan)]) == 0
    out = capsys.readouterr().out
    assert "claimed optimal over all orders, proof = flow" in out
    assert "claimed smallest possible over all orders" in out
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


OFF_CHIP = "memgraph-schedule,memgraph-place,memgraph-traffic{{on-chip=176 rule={}}}"


@pytest.mark.parametrize(
    ("rule", "old", "new", "reason"),
    [
        ("exact", "on_chip = 176", "on_chip = 16", "every rule moves 160 B or more, not 0 B"),
        ("belady", "on_chip = 176", "on_chip = 16", "belady moves"),
        ("belady", "moved = 0", "moved = 5", "belady moves 0 B, not 5 B"),
        ("exact", "moved = 0", "moved = 5", "5 B are more than the 0 B of belady"),
        ("exact", "rule = exact", "rule = luck", "rule 'luck' is not one of: belady, exact"),
    ],
)
def test_traffic_that_cannot_be(
    rule: str, old: str, new: str, reason: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Edited by hand: refused by `verify`, `report` and `--verify-plan`."""
    source, plan = tmp_path / "s.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE.replace("memgraph.scratch = [#memgraph.scratch<16>]", ""))
    assert opt([str(source), "-p", OFF_CHIP.format(rule), "-o", str(plan)]) == 0
    text = plan.read_text()
    assert text.count(old) == 1
    plan.write_text(text.replace(old, new))
    capsys.readouterr()
    runs = (lambda: main(["verify", str(plan)]), lambda: main(["report", str(plan)]))
    for run in (*runs, lambda: opt([str(plan), "--verify-plan"])):
        assert run() == 1
        out, error = capsys.readouterr()
        assert reason in error and out == ""


def test_traffic_that_may_be_is_claimed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, plan = tmp_path / "s.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE)
    for rule, said in (("exact", "claimed: 0 B"), ("belady", "0 B")):
        assert opt([str(source), "-p", OFF_CHIP.format(rule), "-o", str(plan)]) == 0
        for command in ("verify", "report"):
            assert main([command, str(plan)]) == 0
            out = capsys.readouterr().out
            assert f"off chip  {said}" in out and "claimed bound 0 B" in out
            assert main([command, str(plan), "--json"]) == 0
            found = json.loads(capsys.readouterr().out)
            claims = (found if command == "report" else found[0])["off_chip"]
            assert claims["optimal"] is not True
            assert claims["moved_claimed"] is (rule == "exact")


def test_an_order_for_traffic_is_reported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan = tmp_path / "s.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE)
    passes = "memgraph-schedule{objective=traffic on-chip=96},memgraph-place"
    assert opt([str(source), "-p", passes, "-o", str(plan)]) == 0
    text = plan.read_text()
    moved, bound = (
        int(re.findall(rf"off_chip<[^>]*\b{key} = (\d+)", text)[0])
        for key in ("moved", "orders_lower_bound")
    )
    assert moved >= bound > 0
    for command in ("verify", "report"):
        assert main([command, str(plan)]) == 0
        assert f"{bound:,} B of all orders" in capsys.readouterr().out
        assert main([command, str(plan), "--json"]) == 0
        content = json.loads(capsys.readouterr().out)
        claims = (content if command == "report" else content[0])["off_chip"]
        assert (claims["objective"], claims["orders_lower_bound"]) == ("traffic", bound)
        assert claims["moved"] == moved
        assert not claims["moved_claimed"]
    forged = tmp_path / "forged.mlir"
    forged.write_text(text.replace(f"moved = {moved},", f"moved = {moved + 16},"))
    assert main(["verify", str(forged)]) == 1
    assert "memgraph.off_chip" in capsys.readouterr().err


def test_a_certificate_makes_the_report_optimal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan, proof = (tmp_path / f for f in ("s.mlir", "plan.mlir", "plan.cert"))
    source.write_text(SOURCE)
    pipeline = f'memgraph-schedule{{certificate="{proof}"}},memgraph-place'
    assert opt([str(source), "-p", pipeline, "-o", str(plan)]) == 0
    assert main(["report", str(plan), "--certificate", str(proof), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)["plan"]
    assert (found["optimal"], found["arena_optimal"], found["claimed"]) == (True, True, False)
    assert main(["report", str(plan), "--certificate", str(proof)]) == 0
    assert "claimed" not in capsys.readouterr().out
    assert main(["report", str(source), "--certificate", str(proof)]) == 2  # no plan was read
    other = tmp_path / "other.mlir"
    other.write_text(plan.read_text().replace("tensor<16xi8>", "tensor<32xi8>"))
    assert main(["report", str(other), "--certificate", str(proof)]) == 1


READ = {
    "verified": ["--verify-plan"],
    "placed again": ["--place=best-fit"],
    "only read": [],
}


@pytest.mark.parametrize("steps", READ)
def test_what_is_written_of_a_plan_that_was_read_is_claimed(
    steps: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`memopt-opt a | memopt-opt -t json`: the second run has proved nothing."""
    source, plan = tmp_path / "s.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE)
    capsys.readouterr()
    assert opt([str(source), "--schedule=auto", "--place=auto", "-o", str(plan)]) == 0
    found = _written(plan, READ[steps], capsys)
    assert found["json"]["peak"] == found["json"]["lower_bound"] == 176
    assert (found["json"]["optimal"], found["json"]["claimed"]) == (None, True)
    assert "claimed lower bound 176 B" in found["svg"] and "optimal" not in found["svg"]
    assert ">claim<" in found["svg"]  # as wide as "bound": more is cut off
    assert "Claimed: no order" in found["html"] and ">claimed<" in found["html"]
    assert "optimal" not in found["html"]
    assert [s["optimal"] for s in found["stats"]] == [None] * len(READ[steps])


def test_what_is_written_of_a_plan_that_was_made_is_optimal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source, plan = tmp_path / "s.mlir", tmp_path / "plan.mlir"
    source.write_text(SOURCE)
    assert opt([str(source), "--schedule=source", "--place=auto", "-o", str(plan)]) == 0
    for path, steps in ((source, []), (plan, ["--schedule=auto"])):
        again = [*(steps or ["--schedule=auto"]), "--place=auto"]
        found = _written(path, again, capsys)
        assert (found["json"]["optimal"], found["json"]["claimed"]) == (True, False)
        assert "optimal over all orders (flow)" in found["svg"] and "claimed" not in found["svg"]
        assert ">optimal<" in found["html"] and "claimed" not in found["html"].lower()
        assert [s["optimal"] for s in found["stats"]] == [True, True]


def _written(path: Path, steps: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    """The plan in every form that says whether it is optimal."""
    capsys.readouterr()
    found: dict[str, Any] = {}
    for form in ("svg", "html", "json"):
        assert opt([*steps, "--stats=json", "-t", form, str(path)]) == 0
        out, error = capsys.readouterr()
        found[form] = json.loads(out)["plan"] if form == "json" else out
        found["stats"] = [json.loads(line) for line in error.splitlines()]
    return found


def test_why_the_peak_cannot_be_less_is_claimed_of_a_plan_that_was_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Liberis' Figure 1, whose bound a search proves and no flow."""
    source = FILECHECK / "figure1.mlir"
    plan = tmp_path / "plan.mlir"
    assert opt([str(source), "--schedule=search", "--explain-peak", "-o", str(plan)]) == 0
    assert "which only search proves" in capsys.readouterr().err
    assert opt([str(plan), "--explain-peak", "-o", str(tmp_path / "again.mlir")]) == 0
    assert "which search is claimed to prove" in capsys.readouterr().err
