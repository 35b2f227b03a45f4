"""`--ram` passes what the device takes, and nothing else: TFLM's whole arena, and on a Cortex-M
arena, stack and static RAM."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build
from tflm_plan import planned, write
from tflm_runner import Job, random_inputs, run
from tools import need_tools

import memopt
from memopt.backends.tflm import is_safe, make_safe, unknown_scratch
from memopt.cli import main
from memopt.dialects.memgraph.plan import plan_of
from memopt.targets.core.target import target_named
from memopt.targets.tflm import scratch
from memopt.verify.plan import verify_plan

STACK_BOUND, STATIC_BOUND = (M4 := target_named("cortex-m4")).stack_bound, M4.static_bound


def compiled(model: Path, folder: Path, *flags: str) -> dict[str, Any]:
    assert main(["compile", str(model), "-o", str(folder), *flags]) == 0
    return json.loads((folder / "report.json").read_text())


def refusal(model: Path, folder: Path, capsys: pytest.CaptureFixture[str], *flags: str) -> str:
    assert main(["compile", str(model), "-o", str(folder), *flags]) == 1
    assert not folder.exists()
    return capsys.readouterr().err


# -- TFLM -----------------------------------------------------------------------------------------


def test_tflm_is_given_its_whole_arena(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared / "models" / "resnet8_int8.tflite"
    target = compiled(model, tmp_path / "out", "--target=tflm")["target"]
    assert target["arena"] == 49_152
    assert target["tensor_arena"] == target["ram"] == 54_400  # 49,152 + 5,188, rounded, + 48
    parts = {"head": 49_152, "tail": 5_188, "planning": 6_808, "margin": 48, "before": 54_400}
    assert target["interpreter"] == parts | {"persistent": 5_248, "non_persistent": 49_168}
    assert "kTensorArenaSize 54,400 B" in capsys.readouterr().out
    compiled(model, tmp_path / "fits", "--target=tflm", "--ram=54400")
    error = refusal(model, tmp_path / "no", capsys, "--target=tflm", "--ram=54399")
    assert "1 B are missing" in error and "tail 5,188 B" in error


def test_a_small_model_needs_more_to_be_planned_than_to_run(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared / "models" / "hello_world_int8.tflite"
    target = compiled(model, tmp_path / "out", "--target=tflm")["target"]
    assert target["tensor_arena"] == 1_072 + 48
    assert "while TFLM plans 1,072 B" in capsys.readouterr().out
    assert main(["report", str(model), "--target=tflm", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["target"]["tensor_arena"] == 1_072 + 48


def test_two_arenas_have_what_is_given(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Check one byte less of each, and that what is no two arenas is wrong usage."""
    model = shared / "models" / "hello_world_int8.tflite"
    report = compiled(model, tmp_path / "out", "--target=tflm")
    parts = report["target"]["interpreter"]
    persistent, tensors = parts["persistent"], parts["non_persistent"]
    compiled(
        model, tmp_path / "in", "--target=tflm", f"--ram=persistent:{persistent},tensors:{tensors}"
    )
    for sizes, text in (
        ((persistent - 1, tensors), "TFLM's structures of"),
        ((persistent, tensors - 1), "TFLM's tensors and lists of"),
    ):
        both = f"--ram=persistent:{sizes[0]},tensors:{sizes[1]}"
        error = refusal(model, tmp_path / "no", capsys, "--target=tflm", both)
        assert text in error and "1 B are missing" in error
        assert not (tmp_path / "no").exists()
        assert main(["explore", str(model), "--target=tflm", both]) == 1
        assert text in capsys.readouterr().err
        for call in (memopt.plan, partial(memopt.compile, out=tmp_path / "no")):
            with pytest.raises(memopt.MemoptError, match=text):
                call(model, target="tflm", ram=both.removeprefix("--ram="))
    assert (
        main(["explore", str(model), "--target=tflm", f"--ram=persistent:{persistent},tensors:8K"])
        == 0
    )
    assert f"--ram=persistent:{persistent},tensors:8K" in capsys.readouterr().out
    assert memopt.plan(model, target="tflm", ram="2K").arena <= 1_072
    with pytest.raises(ValueError, match=r"^ram=persistent:8K: two arenas are"):
        memopt.plan(model, target="tflm", ram="persistent:8K")
    for words in (
        ["--target=tflm", "--ram=persistent:8K"],
        ["--target=tflm", "--ram=persistent:8K,tensors:1K,tensors:2K"],
        ["--target=tflm", "--memory=fast:16K,slow:64K"],
        ["--target=cortex-m4", "--ram=persistent:8K,tensors:20K"],
    ):
        assert main(["compile", str(model), *words, "-o", str(tmp_path / "no")]) == 2
        error = capsys.readouterr().err
        assert error.count("\n") == 1 and (
            "persistent:8K,tensors:20K" in error or "--memory" in error
        )


@pytest.mark.parametrize("flag", ["--optimize=speed", "--shared-kernels"])
def test_what_is_of_our_kernels_is_refused(
    flag: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared / "models" / "hello_world_int8.tflite"
    goal = tmp_path / "out"
    assert main(["compile", str(model), "--target=tflm", flag, "-o", str(goal)]) == 2
    assert f"{flag.split('=')[0]} is of C targets" in capsys.readouterr().err
    assert not goal.exists()


# -- scratch that nobody knows --------------------------------------------------------------------


def test_a_file_of_known_custom_operators_has_an_arena(shared: Path, tmp_path: Path) -> None:
    """All in TFLM's own library are known; the head is what the wheel reports."""
    model = shared / "cases" / "audio_preprocessor_int8.tflite"
    report = compiled(model, tmp_path / "out", "--target=tflm", "--ram=16K")
    before, after = model.read_bytes(), (tmp_path / "out" / model.name).read_bytes()
    inputs = random_inputs(before, 2, 0)
    old, new = run([Job("tflm", data, inputs) for data in (before, after)], tmp_path)
    assert (old.error, new.error) == ("", "") and new.head <= old.head == 3_040
    assert np.array_equal(old.outputs[0][0], new.outputs[0][0])
    assert new.head == report["plan"]["arena"] and report["plan"]["arena_optimal"]


@pytest.fixture
def unknown_library(monkeypatch: pytest.MonkeyPatch) -> None:
    """TFLM's own custom operators are as little known as a user's."""
    monkeypatch.setattr(scratch, "LIBRARY", "CUSTOM:none of these")


@pytest.mark.usefixtures("unknown_library")
def test_a_file_of_unknown_scratch_never_needs_more(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared / "cases" / "audio_preprocessor_int8.tflite"
    report = compiled(model, tmp_path / "out", "--target=tflm")
    before, after = model.read_bytes(), (tmp_path / "out" / model.name).read_bytes()
    inputs = random_inputs(before, 2, 0)
    old, new = run([Job("tflm", data, inputs) for data in (before, after)], tmp_path)
    assert (old.error, new.error) == ("", "")
    assert old.total == 10_224
    assert new.total <= old.total and new.head <= old.head == 3_040
    assert np.array_equal(old.outputs[0][0], new.outputs[0][0])
    assert report["plan"]["unknown_scratch"][0] == "CUSTOM:SignalEnergy"
    assert not report["plan"]["optimal"] and not report["plan"]["arena_optimal"]
    assert report["target"]["arena"] is report["target"]["tensor_arena"] is None
    assert "CUSTOM:SignalRfft" in report["target"]["not_measured"]["tensor_arena"]
    assert "nothing is promised" in capsys.readouterr().out
    assert main(["verify", str(tmp_path / "out" / model.name)]) == 0
    capsys.readouterr()
    error = refusal(model, tmp_path / "no", capsys, "--target=tflm", "--ram=64K")
    assert "--ram cannot be promised" in error and "CUSTOM:SignalRfft" in error


def hidden(wide: int) -> bytes:
    """x(16) -> a(wide) -> b -> c(16) by an operator of unknown scratch -> y; d beside it."""
    sizes = {"x": 16, "a": wide, "b": 32, "c": 16, "d": 16, "y": 32}
    tensors = [T(n, [s], "FLOAT32") for n, s in sizes.items()]
    ops = [
        Op("EXP", [0], [1]),
        Op("LOG", [0], [4]),
        Op("EXP", [1], [2]),
        Op("CUSTOM:hidden", [2], [3], None, b""),
        Op("CONCATENATION", [3, 4], [5], ("Concatenation", {"axis": 0})),
    ]
    return build(Graph(tensors, ops, [0], [5]))


@pytest.mark.parametrize("wide", [8, 64, 256])
def test_a_plan_around_unknown_scratch_is_safe_or_left_alone(wide: int, tmp_path: Path) -> None:
    module, func = planned(hidden(wide))
    assert unknown_scratch(func) == ["CUSTOM:hidden"]
    if is_safe(func) or make_safe(func):
        verify_plan(func, placed=True)
        assert write(module, hidden(wide))
        plan = plan_of(func)
        assert plan is not None and plan.arena >= plan.peak.data


@pytest.mark.usefixtures("unknown_library")
def test_opt_refuses_a_plan_that_might_need_more(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    from memopt.cli.opt import main as opt

    model = shared / "cases" / "audio_preprocessor_int8.tflite"
    flags = ["--model=target=tflm,views=off,scratch=tflm", "--schedule=auto", "--place=auto"]
    goal = tmp_path / "planned.tflite"
    assert opt([str(model), *flags, "-t", "tflite", "-o", str(goal)]) == 1
    assert "CUSTOM:SignalRfft" in capsys.readouterr().err
    assert not goal.exists()


# -- Cortex-M -------------------------------------------------------------------------------------


@pytest.mark.deep
def test_a_cortex_m_needs_arena_stack_and_static_ram(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    need_tools("cortex-m4")
    model = shared / "models" / "hello_world_int8.tflite"
    board = "--target=cortex-m4", "--rewrite=none", "--optimize=ram"
    target = compiled(model, tmp_path / "out", *board)["target"]
    assert target["arena"] == 32
    assert 32 < target["ram"] == target["arena"] + target["stack"] + target["static_ram"]
    assert target["stack"] < STACK_BOUND and target["static_ram"] < STATIC_BOUND
    assert "bounds" not in target and target["not_measured"] == {}
    capsys.readouterr()
    error = refusal(model, tmp_path / "no", capsys, *board, "--ram=32")
    assert f"RAM of {target['ram']:,} B" in error
    assert f"{target['ram'] - 32:,} B are missing" in error
    compiled(model, tmp_path / "fits", *board, f"--ram={target['ram']}")


@pytest.mark.parametrize(
    ("fit", "calls"),
    [
        ("32K", 109),
        ("24K", 138),
        ("16K", 200),
        ("12K", 228),
    ],
)
def test_the_cheapest_plan_of_so_many_bytes(
    fit: str, calls: int, shared: Path, tmp_path: Path, fuzz: float
) -> None:
    if fuzz < 1 and fit in ("24K", "12K"):
        pytest.skip("in make fuzz")
    model = shared / "models" / "resnet8_int8.tflite"
    plan = compiled(model, tmp_path / "out", f"--fit={fit}")["plan"]
    assert plan["family"] == "rows" and plan["arena"] <= int(fit[:-1]) * 1024
    text = (tmp_path / "out" / "plan.mlir").read_text()
    assert text.count("memgraph.order = ") <= calls


def test_whole_operators_where_they_fit_and_less_than_all_rows_need_is_refused(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    model = shared / "models" / "resnet8_int8.tflite"
    plan = compiled(model, tmp_path / "out", "--fit=48K")["plan"]
    assert (plan["family"], plan["arena"]) == ("order", 49_152)
    error = refusal(model, tmp_path / "no", capsys, "--fit=8K")
    assert "8,192 B are 2,112 B too few: all operators in rows need 10,304 B, and no order" in error
    assert "with --stream-input they need 9,152 B" in error


@pytest.mark.deep
def test_a_board_gets_the_rows_that_its_ram_needs(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], fuzz: float
) -> None:
    need_tools("cortex-m4")
    model = shared / "models" / "resnet8_int8.tflite"
    for ram in (16, 32) if fuzz >= 1 else ():  # KiB
        fitted = compiled(model, tmp_path / f"fits{ram}", "--target=cortex-m4", f"--ram={ram}K")
        assert fitted["plan"]["arena"] <= ram * 1024 - STACK_BOUND - STATIC_BOUND
        assert fitted["target"]["ram"] <= ram * 1024
    least = compiled(model, tmp_path / "least", "--target=cortex-m4", "--ram=10790")
    assert least["plan"]["arena"] == 10_304  # what is measured is less than the bounds
    error = refusal(model, tmp_path / "no", capsys, "--target=cortex-m4", "--ram=10700")
    assert "does not fit" in error and "arena 10,304 B" in error


@pytest.mark.parametrize(
    ("model", "ram", "arena", "cycles"),
    [
        pytest.param(  # it was 11.6 M in 3,866 B
            *("dscnn_kws_int8", 4_622, 4_122, 4_800_000), marks=pytest.mark.deep
        ),
        pytest.param("dscnn_kws_int8", 4_560, 4_058, 5_200_000, marks=pytest.mark.deep),
        pytest.param("resnet8_int8", 11_420, 10_944, 15_600_000, marks=pytest.mark.deep),
    ],
)
def test_a_board_gets_the_fast_plan_that_fits_as_measured(
    model: str, ram: int, arena: int, cycles: int, shared: Path, tmp_path: Path
) -> None:
    """Its stack is bounded by 1,024 B and takes half of that. And twice the same plan."""
    need_tools("cortex-m4")
    path = shared / "models" / f"{model}.tflite"
    both = [tmp_path / name for name in ("once", "again")]
    for folder in both:
        target = compiled(path, folder, "--target=cortex-m4", f"--ram={ram}")["target"]
        assert target["arena"] == arena and target["ram"] <= ram
        assert target["cycles_estimated"] < cycles
    once, again = ((folder / "plan.mlir").read_text() for folder in both)
    assert once == again


def test_without_a_compiler_the_stack_is_bounded(
    shared: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("PATH", "")
    model = shared / "models" / "hello_world_int8.tflite"
    board = "--target=cortex-m4", "--rewrite=none", "--optimize=ram"
    target = compiled(model, tmp_path / "out", *board)["target"]
    assert target["stack"] == STACK_BOUND and target["static_ram"] == STATIC_BOUND
    assert target["bounds"] == ["stack", "static_ram"]
    assert target["ram"] == 32 + STACK_BOUND + STATIC_BOUND
    assert "arm-none-eabi-gcc" in target["not_measured"]["flash"]
    out = capsys.readouterr().out
    assert "stack at most 1,024 B" in out and "flash" in out
    assert "arena 32 B" in refusal(model, tmp_path / "no", capsys, *board, "--ram=1K")
