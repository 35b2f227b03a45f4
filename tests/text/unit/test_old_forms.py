"""A plan in a form of before is refused with one sentence, and what it says plans again."""

import re
from pathlib import Path

import pytest

from memopt.cli import main
from memopt.cli.opt import main as opt

BODY = """{
  %a = memgraph.opaque "A"(%x) {memgraph.order = 0 : i64, memgraph.offset = [PLACE]}
    : (tensor<16xi8>) -> tensor<32xi8>
  func.return %a : tensor<32xi8>
}
"""
ORDER = "peak = 48, lower_bound = 48, proof = flow"
PLACED = f"{ORDER}, arena = 48, arena_lower_bound = 48"
BANKS = (
    "memgraph.memories = #memgraph.memories<banks = [#memgraph.bank<a, capacity = 64, cost = 1, "
    "arena = 48, moved = 48>], cost = 48, lower_bound = 48, proof = ilp>"
)
OLD = {
    "scheduled": (ORDER, "", "0 : i64"),
    "placed": (PLACED, "", "0 : i64"),
    "objects": (f"{PLACED}, objects = [32, 16], objects_lower_bound = 48", "", "0 : i64"),
    "object": (PLACED, "", "#memgraph.object<0>"),
    "virtual": (PLACED, "", "#memgraph.unplaced<gathered>"),
    "memories": (f"{PLACED}, family = order", f", {BANKS}", "#memgraph.slot<a, 0>"),
}


def function(arguments: str, plan: str, place: str) -> str:
    head = f"func.func @main(%x: tensor<16xi8>{arguments}) -> tensor<32xi8> {plan}"
    return head + BODY.replace("PLACE", place)


@pytest.mark.parametrize("form", OLD)
def test_an_old_plan_is_refused_and_planned_again(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, beside, place = OLD[form]
    written = f'memgraph.plan = #memgraph.plan<{plan}, fingerprint = "0f3a">{beside}'
    path, model, again = (tmp_path / f"{n}.mlir" for n in ("old", "model", "again"))
    path.write_text(function(" {memgraph.offset = 32 : i64}", f"attributes {{{written}}}", place))
    model.write_text(function("", "", "#memgraph.unplaced<runtime>"))
    for command in (main, opt):
        arguments = ["verify", str(path)] if command is main else [str(path), "--verify-plan"]
        assert command(arguments) == 1
        said, error = capsys.readouterr()
        found = re.fullmatch(
            rf"{re.escape(str(path))}:\d+:\d+: error: a plan in an old form \(.*\): "
            r"plan the model again, such as (memopt-opt .*)\n(  .*\n +\^\n)?",
            error,
        )
        assert not said and found, error
        words = found[1].replace("NAME:BYTES,NAME:BYTES", "a:64,b:64").split()[1:]
        files = {"MODEL": str(model), "PLAN.mlir": str(again)}
        assert opt([files.get(w, w) for w in words]) == 0
        assert main(["verify", str(again)]) == 0
        capsys.readouterr()
