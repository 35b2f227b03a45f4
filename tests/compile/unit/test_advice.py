"""Options that would save RAM: each is planned before it is named, and worth its line."""

import json
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from work_clock import work_of

import memopt
from memopt.cli import main
from memopt.cli.summary import advice_lines
from memopt.compile import advice as module
from memopt.compile import plan as plan_stage
from memopt.compile.compare import Task, plan_task
from memopt.compile.options import PlanOptions
from memopt.compile.report import Report
from memopt.compile.request import Request
from memopt.compile.stages import compiled, read
from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_verify_plan import MemgraphVerifyPlanPass
from memopt.solvers import clock

BIG_INPUT = """
!r = tensor<1x16x16x4xf32>
!q = tensor<1x16x16x4xi8, #memgraph.encoding<nhwc, scale = [0.1], zero_point = [3]>>
!s = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [0.1], zero_point = [3]>>
func.func @main(%x: !r) -> !s {
  %0 = memgraph.quantize %x : (!r) -> !q
  %1 = memgraph.max_pool_2d %0 window<[2, 2], stride = [4, 4]> : (!q) -> !s
  func.return %1 : !s
}
"""
SMALL = """
!t = tensor<1x16xi8, #memgraph.encoding<scale = [0.1], zero_point = [3]>>
func.func @main(%x: !t) -> !t {
  %0 = memgraph.opaque "anything"(%x) : (!t) -> !t
  func.return %0 : !t
}
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "big.mlir"
    path.write_text(BIG_INPUT)
    return path


def advised(path: Path, capsys: Any, *flags: str) -> dict[str, Any]:
    assert main(["report", str(path), "--json", *flags]) == 0
    report = json.loads(capsys.readouterr().out)
    return {entry["option"]: entry for entry in report["advice"]} | {"plan": report["plan"]}


@pytest.mark.deep
def test_what_an_option_gives_is_what_the_option_gives(model: Path, capsys: Any) -> None:
    """At least: a plan with the option needs no more than is said, and much less than without."""
    found = advised(model, capsys)
    assert set(found) >= {"--int8-io", "--stream-input"}
    without = found["plan"]["arena"]
    given: dict[str, dict[str, Any]] = {
        "--int8-io": {"int8_io": True},
        "--stream-input": {"stream_input": True},
    }
    for option, words in given.items():
        arena = memopt.plan(model, **words).arena
        said = found[option]["arena"]
        assert arena <= said <= (1 - module.WORTH) * without
        assert arena == said or not found[option]["solved"]
        assert option not in advised(model, capsys, option)


def test_a_line_for_people_and_an_entry_in_the_report(
    model: Path, tmp_path: Path, capsys: Any
) -> None:
    out = tmp_path / "out"
    assert main(["compile", str(model), "-o", str(out)]) == 0
    said = capsys.readouterr().out
    entries = json.loads((out / "report.json").read_text())["advice"]
    assert [list(entry) for entry in entries] == [["option", "ram", "arena", "solved"]] * len(
        entries
    )
    for entry in entries:
        least = "" if entry["solved"] else "about "
        text = f"advice    {entry['option']} gives an arena of {least}{entry['arena']:,} B"
        assert text in said
    assert [e["arena"] for e in entries] == sorted(e["arena"] for e in entries)


def test_nothing_is_said_where_nothing_is_won(tmp_path: Path, capsys: Any) -> None:
    path = tmp_path / "small.mlir"
    path.write_text(SMALL)
    assert set(advised(path, capsys)) == {"plan"}


@pytest.mark.deep
def test_a_refusal_says_what_would_fit(model: Path, tmp_path: Path, capsys: Any) -> None:
    fits = advised(model, capsys)["--stream-input"]["arena"]
    command = ["compile", str(model), "-o", str(tmp_path / "out")]
    assert main([*command, f"--ram={fits}"]) == 1
    assert f"what would fit: --stream-input: {fits:,} B" in capsys.readouterr().err
    assert main([*command, f"--ram={fits}", "--stream-input"]) == 0
    assert main([*command, "--ram=8"]) == 1
    assert "what would fit" not in capsys.readouterr().err


def test_where_nobody_reads_advice_none_is_looked_for(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With --ram the error of one that is too small does."""
    given = list[object]()

    def counted(*of: Any) -> tuple[module.Advice, ...]:
        given.append(of)
        return advice_of(*of)

    def report_with(ram: int) -> Report:
        options = PlanOptions(ram=ram)
        return compiled(read(Request(path=model, options=options)), is_advised=False)

    advice_of = module.advice_of
    monkeypatch.setattr(plan_stage, "advice_of", counted)
    assert report_with(1 << 16).advice == () and not given
    with pytest.raises(MemoptError, match=r"does not fit.*what would fit: "):
        report_with(1_100)
    assert len(given) == 1


@pytest.mark.deep
def test_for_tflm_fewer_channels_and_c_are_named(shared: Path, tmp_path: Path, capsys: Any) -> None:
    """The file that `--rewrite=safe` writes needs what is said of it."""
    path = shared / "models" / "mobilenet_vww96_int8.tflite"
    found = advised(path, capsys, "--target=tflm")
    command = ["compile", str(path), "--target=tflm", "--rewrite=safe", "-o", str(tmp_path / "o")]
    assert main(command) == 0
    report = json.loads((tmp_path / "o" / "report.json").read_text())
    assert found["--rewrite=safe"]["ram"] == report["target"]["ram"] == 68_720
    assert found["--target=cortex-m4"]["ram"] < 68_720


def test_another_network_has_peaks_of_its_own(
    shared: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Know of whole operators only in the network that they are in."""
    tasks: list[Task] = []
    for each in (module, plan_stage):

        def recorded(context: Any, task: Task, seconds: Any) -> Any:
            tasks.append(task)
            return plan_task(context, task, seconds)

        monkeypatch.setattr(each, "plan_task", recorded)
    advised(shared / "models" / "hello_world_int8.tflite", capsys, "--target=tflm")
    first, second = tasks
    assert first.imported is not second.imported
    assert first.whole_peaks is not second.whole_peaks


def test_the_advice_is_the_same_on_every_machine(model: Path, capsys: Any) -> None:
    """Check advice under a clock on which each reading takes a minute."""
    minutes = count()
    advice = advised(model, capsys)
    with clock.reading(lambda: 60.0 * next(minutes)):
        assert advised(model, capsys) == advice


def test_with_a_time_limit_options_have_a_third_of_the_time_of_the_plan(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check options under a clock on which each reading takes as long as it is told."""
    seconds, limits = [0.0], list[float]()
    step = [1e-4]

    def reading() -> float:
        seconds[0] += step[0]
        return seconds[0]

    def changed(planned: module.Advised, most: int, work: module.Work, **words: Any) -> None:
        assert work.deadline is not None
        limits.append(work.deadline - seconds[0])

    monkeypatch.setattr(module, "_changed", changed)
    with clock.reading(reading):
        advised(model, capsys, "--time-limit=1000")
        assert limits and 0 < limits[0] <= seconds[0] * module.SHARE
        limits.clear()
        step[0] = 100.0  # the plan has taken all of it
        assert main(["report", str(model), "--time-limit=1000"]) == 0
        assert not limits
    text = "note: @main: the time limit left no time for advice on --int8-io, --stream-input"
    assert text in capsys.readouterr().err


@pytest.mark.parametrize(("limit", "planned"), [(9, False), (20, True)])
def test_a_limit_that_leaves_less_than_the_plan_took_leaves_no_time_for_advice(
    limit: int, planned: bool, model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Check a clock on which placing takes four seconds, which is done twice, and nothing else
    any."""
    seconds, options = [0.0], list[str]()
    place = MemgraphPlacePass.plan

    def slow(*known: Any) -> Any:
        seconds[0] += 4.0
        return place(*known)

    def changed(planned: module.Advised, most: int, work: module.Work, **words: Any) -> None:
        options.extend(words)

    monkeypatch.setattr(MemgraphPlacePass, "plan", slow)
    monkeypatch.setattr(module, "_changed", changed)
    with clock.reading(lambda: seconds[0]):
        advised(model, capsys, "--rows=none", f"--time-limit={limit}")
    assert bool(options) == planned


def test_advice_is_counted_and_no_second_plan(
    model: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each option is estimated in numbers: nothing is placed in the IR and verified again."""
    verified = list[object]()
    plan = MemgraphVerifyPlanPass.plan

    def counting(*given: Any) -> Any:
        verified.append(given)
        return plan(*given)

    def no_advice(*given: object) -> tuple[()]:
        return ()

    monkeypatch.setattr(MemgraphVerifyPlanPass, "plan", counting)
    assert len(advised(model, capsys)) == 3
    with_advice = len(verified)
    monkeypatch.setattr(plan_stage, "advice_of", no_advice)
    assert len(advised(model, capsys)) == 1
    assert len(verified) == 2 * with_advice > 0


@pytest.mark.deep
def test_an_option_that_changes_the_rows_is_estimated_well(shared: Path, capsys: Any) -> None:
    """The plan takes few rows, for its arena is the input; that of `--int8-io` needs others. Its
    own search, for 30 seconds, finds 20,560 B."""
    path = shared / "models" / "mcunet_vww_int8.tflite"
    found = advised(path, capsys)
    assert 20_560 <= found["--int8-io"]["arena"] <= 24_000 < found["plan"]["arena"] == 76_800


@pytest.mark.deep
@pytest.mark.parametrize(
    "name", ["families/vit_q.onnx", "families/kwt.onnx", "families/unet_q.onnx"]
)
def test_advice_takes_at_most_a_third_of_the_time_of_the_plan(
    name: str, shared: Path, capsys: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Time is counted in work: calls of functions."""
    advising, advice_of = [0.0], plan_stage.advice_of

    def timed(*given: Any) -> Any:
        start = clock.now()
        advice = advice_of(*given)
        advising[0] = clock.now() - start
        return advice

    monkeypatch.setattr(plan_stage, "advice_of", timed)
    path = shared / "models" / name
    both = work_of(lambda: advised(path, capsys, "--target=cortex-m4"))
    assert 0 < advising[0] <= module.SHARE * (both - advising[0]) + 0.5


@pytest.mark.deep
def test_fast_kernels_of_the_option_are_in_what_it_gives(shared: Path, capsys: Any) -> None:
    path = shared / "models" / "resnet8_int8.tflite"
    advice = advised(path, capsys, "--target=cortex-m4")
    plan = memopt.plan(path, target="cortex-m4", stream_input=True)
    assert plan.arena <= advice["--stream-input"]["arena"] < advice["plan"]["arena"]


def test_a_figure_that_is_solved_is_said_as_such() -> None:
    entry = {"option": "--int8-io", "ram": 300, "arena": 200, "solved": True}
    (line,) = advice_lines([entry])
    assert line == "advice    --int8-io gives an arena of 200 B (0.2 KiB), RAM of 300 B (0.3 KiB)"
    (line,) = advice_lines([entry | {"solved": False}])
    assert "about 200 B" in line and "about 300 B" in line
