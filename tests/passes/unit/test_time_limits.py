"""`--time-limit`: what is one, and to what it applies."""

import math
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from memopt import cli
from memopt.api import plans
from memopt.cli import opt
from memopt.cli.arguments import pipeline_text
from memopt.compile import driver
from memopt.compile import plan as plan_stage
from memopt.compile import read as read_stage
from memopt.dialects.memgraph.functions import functions
from memopt.passes.memgraph_fuse import MemgraphFusePass
from memopt.passes.memgraph_memory import MemgraphMemoryPass
from memopt.passes.memgraph_partition import MemgraphPartitionPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_traffic import MemgraphTrafficPass
from memopt.passes.plan.planned import Planned
from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import assign
from memopt.solvers.partitioning import partition
from memopt.solvers.placement import place
from memopt.solvers.problems.memories import MemoryProblem
from memopt.solvers.problems.memory_graph import MemoryGraph, PlacementProblem
from memopt.solvers.scheduling import schedule
from memopt.solvers.shared_objects import share
from memopt.text import chunks
from memopt.text.ir_text import parse_module

WRONG = ("nan", "inf", "-inf", "-1", "0")


@pytest.mark.parametrize("limit", WRONG)
@pytest.mark.parametrize(
    "flag", ["--fuse", "--partition=2", "--schedule=auto", "--place=auto", "--memory=a:1K"]
)
def test_memopt_opt_refuses_what_is_no_limit(
    flag: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.main([flag, f"--time-limit={limit}", "nowhere.mlir"]) == 2
    error = capsys.readouterr().err
    assert error == f"memopt-opt: error: --time-limit={limit}: seconds, finite and more than 0\n"


@pytest.mark.parametrize("limit", ["1e-9", "0.5", "3e-300", "1e20"])
def test_a_pipeline_has_the_limit_that_was_given(limit: str) -> None:
    """However small: one of six digits was 0, which is none."""
    text = pipeline_text([("schedule", "auto")], float(limit))
    found = text.split("time-limit=")[1].removesuffix("}")
    assert float(found) == float(limit) and "e" not in found.lower()
    driver.build_pipeline(text)


@pytest.mark.parametrize("limit", WRONG)
@pytest.mark.parametrize("command", ["compile x -o y", "place x.csv", "report x", "sweep x"])
def test_memopt_refuses_what_is_no_limit(
    command: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main([*command.split(), f"--time-limit={limit}"]) == 2
    assert f"--time-limit={limit}: seconds, finite and more than 0" in capsys.readouterr().err


@pytest.mark.parametrize("limit", WRONG)
@pytest.mark.parametrize(
    "step",
    ["fuse{", "partition{", "schedule{", "place{", "memory{banks=a:1K ", "traffic{on-chip=64 "],
)
def test_passes_refuse_what_is_no_limit(
    step: str, limit: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert opt.main(["-p", f"memgraph-{step}time-limit={limit}}}", "nowhere.mlir"]) == 2
    assert capsys.readouterr().err.startswith("memopt-opt: error: memgraph-" + step.split("{")[0])


@pytest.mark.parametrize("limit", [math.nan, math.inf, -1.0, 0])
def test_passes_made_by_hand_refuse_it_too(limit: float) -> None:
    makers = (
        lambda: MemgraphFusePass(time_limit=limit),
        lambda: MemgraphPartitionPass(time_limit=limit),
        lambda: MemgraphSchedulePass(time_limit=limit),
        lambda: MemgraphPlacePass(time_limit=limit),
        lambda: MemgraphMemoryPass("a:1K", time_limit=limit),
        lambda: MemgraphTrafficPass(64, time_limit=limit),
    )
    for make in makers:
        with pytest.raises(ValueError, match="seconds, finite and more than 0"):
            make()


@pytest.mark.parametrize("limit", [math.nan, math.inf, -1.0])
def test_solvers_refuse_what_is_no_limit(limit: float) -> None:
    """0 is one there: nothing but what takes no time."""
    calls = (
        lambda: schedule(MemoryGraph((), (), ()), "auto", limit),
        lambda: partition(MemoryGraph((), (), ()), 1, time_limit=limit),
        lambda: place(PlacementProblem(()), "auto", limit),
        lambda: share(PlacementProblem(()), "shared-objects", limit),
        lambda: assign(MemoryProblem((), (), 0), limit),
    )
    for call in calls:
        with pytest.raises(ProblemError, match="seconds, finite and not negative"):
            call()


def test_the_limit_is_for_all_that_searches() -> None:
    """As written, without an exponent that a pipeline cannot have."""
    steps = [("rewrite", "all"), ("fuse", ""), ("partition", "4"), ("schedule", "auto")]
    assert opt.pipeline_text([*steps, ("memory", "a:1K")], 0.00001) == (
        "memgraph-rewrite{rules=all time-limit=0.00001},memgraph-fuse{time-limit=0.00001},"
        "memgraph-partition{k=4 time-limit=0.00001},"
        "memgraph-schedule{method=auto time-limit=0.00001},"
        'memgraph-memory{banks="a:1K" time-limit=0.00001}'
    )


def test_a_limit_includes_reading_and_printing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading takes two seconds of the clock here and verifying one, and so may verifying the
    result and printing it."""
    text = "func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {\n  func.return %x : tensor<8xi8>\n}"
    path = tmp_path / "net.mlir"
    path.write_text(text)
    seconds, given = [0.0], list[float | None]()
    load, check = chunks.load_text, driver.check_module

    def slow(*args: Any) -> ModuleOp:
        seconds[0] += 2.0
        return load(*args)

    def checked(module: ModuleOp) -> None:
        seconds[0] += 1.0
        check(module)

    def plan(step: Any, func: FuncOp, known: Planned | None) -> None:
        given.append(step.time_limit)

    monkeypatch.setattr(chunks, "load_text", slow)
    monkeypatch.setattr(driver, "check_module", checked)
    for made in (MemgraphFusePass, MemgraphSchedulePass, MemgraphPlacePass):
        monkeypatch.setattr(made, "plan", plan)
    with clock.reading(lambda: seconds[0]):
        for flags in (["--schedule=auto"], ["--fuse", "--schedule=auto", "--place=auto"]):
            assert opt.main([*flags, "--time-limit=10", str(path)]) == 0
        assert opt.main(["--schedule=auto", "--time-limit=1", str(path)]) == 0
        assert opt.main(["--schedule=auto", str(path)]) == 0
    assert given == [4.0, 7.0, 10.0, 7.0, pytest.approx(0.1), None]


NET = """
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %a = memgraph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
  %b = memgraph.tanh %a : (tensor<8xf32>) -> tensor<8xf32>
  func.return %b : tensor<8xf32>
}"""


@pytest.mark.parametrize(
    ("limit", "given"),
    [
        (10.0, [4 / 3, 3 / 2, 2.0]),  # 3 are read and 3 are kept for writing; a pass takes 1
        (4.0, [0.4 / 3, 0.4 / 2, 0.4]),  # nothing is left: a tenth of what was asked, in all
        (None, [None] * 3),
    ],
)
@pytest.mark.parametrize("command", ["report", "compile", "plan"])
def test_the_limit_of_a_command_is_for_all_its_searches(
    command: str,
    limit: float | None,
    given: list[float | None],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Reading takes three seconds of the clock here, each pass one. Advice has what is left."""
    path = tmp_path / "net.mlir"
    path.write_text(NET)
    seconds, limits = [0.0], list[float | None]()

    def slow(whole: Callable[..., Any], duration: float) -> Callable[..., Any]:
        def run(*arguments: Any, **named: Any) -> Any:
            seconds[0] += duration
            return whole(*arguments, **named)

        return run

    def limited(whole: Callable[..., Any]) -> Callable[..., Any]:
        def run(step: Any, *known: Any) -> Any:
            if getattr(step, "method", None) not in ("source", "tflm"):  # the file as it was
                limits.append(step.time_limit)
                seconds[0] += 1.0
            return whole(step, *known)

        return run

    def no_advice(*given: object) -> tuple[()]:
        return ()

    monkeypatch.setattr(plan_stage, "advice_of", no_advice)
    monkeypatch.setattr(read_stage, "load_text", slow(read_stage.load_text, 3.0))
    for made in (MemgraphFusePass, MemgraphSchedulePass, MemgraphPlacePass):
        monkeypatch.setattr(made, "plan", limited(made.plan))
    flags = [] if limit is None else [f"--time-limit={limit:g}"]
    with clock.reading(lambda: seconds[0]):
        if command == "plan":
            monkeypatch.setattr(plans, "prepared", slow(plans.prepared, 6.0))
            plans.plan(path, time_limit=limit)
        elif command == "report":
            assert cli.main(["report", str(path), *flags]) == 0
        else:
            assert cli.main(["compile", str(path), "-o", str(tmp_path / "out"), *flags]) == 0
    assert limits == [None if share is None else pytest.approx(share) for share in given]


@pytest.mark.parametrize("rule", ["auto", "t3", "zhong"])
def test_fusion_whose_time_is_over_contracts_nothing(
    rule: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "net.mlir"
    path.write_text("""
func.func @main(%x: tensor<8xi8>) -> tensor<8xi8> {
  %a = memgraph.opaque "A"(%x) : (tensor<8xi8>) -> tensor<64xi8>
  %b = memgraph.opaque "B"(%a) : (tensor<64xi8>) -> tensor<8xi8>
  func.return %b : tensor<8xi8>
}""")
    for limit, fused in ((60.0, True), (1e-9, False)):
        text = f"memgraph-fuse{{rule={rule} time-limit={limit:.9f}}}"
        assert opt.main(["-p", text, str(path)]) == 0
        assert ("memgraph.fused" in capsys.readouterr().out) == fused


def test_fusion_gives_up_a_function_for_whose_nodes_there_is_no_time() -> None:
    """Reading eight operators takes more than five of the ten seconds of this clock, which goes on
    by one at each look, and leaves none; of a hundred it leaves most."""
    type_ = "tensor<8xi8>"
    step = f'  %{{}} = memgraph.opaque "A"(%{{}}) : ({type_}) -> {type_}\n'
    body = "".join(step.format(f"v{i + 1}", f"v{i}") for i in range(8))
    head = f"func.func @main(%v0: {type_}) -> {type_} {{\n"
    text = f"{head}{body}  func.return %v8 : {type_}\n}}"
    for limit, is_fused in ((10.0, False), (1000.0, True)):
        module = parse_module(driver.new_context(), text, "net.mlir")
        func, ticks = next(functions(module)), count()
        with clock.reading(lambda ticks=ticks: float(next(ticks))):
            planned = MemgraphFusePass(time_limit=limit).plan(func, None)
        assert (planned is not None) == is_fused == ("memgraph.fused" in str(module))
