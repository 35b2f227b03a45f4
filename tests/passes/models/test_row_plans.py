"""Real models in rows: proven peaks (bytes; rows are not rounded up), the same bits, and by name
what cannot have rows yet."""

import json
import re
from pathlib import Path

import numpy as np
import pytest
from benchmarks.tables.rows import INT8_IO, planned
from places import ROOT

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main as memopt
from memopt.cli.opt import main as optimise
from memopt.compile.driver import build_pipeline, load_model, new_context
from memopt.dialects.arithmetic.stored import dtype_of
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import shape_of
from memopt.passes.rows import least_arena
from memopt.passes.rows.stream_input import receive_rows

ROWS = "memgraph-rewrite{rules=pad-into-window},memgraph-model{inplace=on%s},memgraph-expand-rows"
PEAKS = {
    "dscnn_kws_int8": 3_866,
    "resnet8_int8": 10_304,
    "person_detect_int8": 12_288,
    "mobilenet_vww96_int8": 28_032,
    "tinymaix_mnist_resnet_int8": 1_456,
    "streaming_wakeword_int8": 3_712,
    "mcunet_vww_int8": 76_800,
}


STREAMED = {
    "dscnn_kws_int8": 3_536,
    "resnet8_int8": 9_152,
    "person_detect_int8": 9_696,
    "mobilenet_vww96_int8": 9_888,
    "tinymaix_mnist_resnet_int8": 1_412,
    "mcunet_vww_int8": 13_440,
}
"""Of an input that is received row by row."""

# bytes, proven to be the least; where placement stays above the peak it is not listed
ARENAS = (
    "resnet8_int8",
    "person_detect_int8",
    "mobilenet_vww96_int8",
    "streaming_wakeword_int8",
    "mcunet_vww_int8",
)


def run(model: Path, pipeline: str, *more: str) -> int:
    return optimise([str(model), "-p", pipeline, *more])


@pytest.mark.parametrize("name", PEAKS)
def test_peaks_of_rows_are_proven(
    name: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = "memgraph-place," if name in ARENAS else ""
    steps = f"{ROWS % ' alignment=1'},memgraph-schedule,{place}memgraph-verify-plan"
    plan = tmp_path / "plan.mlir"
    model = shared / "models" / f"{name}.tflite"
    assert run(model, steps, "--stats=json", "-o", str(plan)) == 0
    stats = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (stats["peak"], stats["optimal"]) == (PEAKS[name], True)
    if name in ARENAS:
        assert stats["arena"] == PEAKS[name]
    assert "family = rows" in plan.read_text()


@pytest.mark.deep
@pytest.mark.parametrize("name", STREAMED)
def test_peaks_of_streamed_inputs_are_proven(
    name: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    small = name in ("dscnn_kws_int8", "resnet8_int8", "tinymaix_mnist_resnet_int8")
    place = "memgraph-place," if small else ""
    rows = f"{ROWS % ' alignment=1'}{{stream-input=true}}"
    model = shared / "models" / f"{name}.tflite"
    steps = f"{rows},memgraph-schedule,{place}memgraph-verify-plan"
    assert run(model, steps, "--stats=json", "-o", str(tmp_path / "plan.mlir")) == 0
    stats = json.loads(capsys.readouterr().err.splitlines()[-1])
    assert (stats["peak"], stats["optimal"]) == (STREAMED[name], True)
    assert stats["arena"] == (STREAMED[name] if small else None)


PLACED_JOINTLY = [
    ("dscnn_kws_int8", "", "", 3_866),
    ("mobilenet_vww96_int8", "", "{stream-input=true}", 9_888),
    ("person_detect_int8", "", "{stream-input=true}", 9_696),
    ("mcunet_vww_int8", "memgraph-int8-io,", "{rows=auto stream-input=true}", 13_440),
]
"""What one order alone does not fit into its peak; the first in every run."""


def test_another_order_fits_into_the_peak(
    shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], fuzz: float
) -> None:
    for name, border, rows, peak in PLACED_JOINTLY[: 4 if fuzz >= 1 else 1]:
        place = "memgraph-schedule,memgraph-place{method=joint},memgraph-verify-plan"
        steps = f"{border}{ROWS % ' alignment=1'}{rows},{place}"
        model = shared / "models" / f"{name}.tflite"
        assert run(model, steps, "--stats=json", "-o", str(tmp_path / "plan.mlir")) == 0
        stats = json.loads(capsys.readouterr().err.splitlines()[-1])
        assert (stats["peak"], stats["arena"]) == (peak, peak), name


FIGURES = re.findall(
    r"^\| (\w+)( `--int8-io`)? \|" + r" ([\d,]+) \|" * 4 + "$",
    (ROOT / "docs/reference/figures.md").read_text(encoding="utf-8"),
    re.MULTILINE,
)
SECONDS = 120  # more than any takes, beside other work too


@pytest.mark.deep
@pytest.mark.parametrize(("name", "border", "whole", "rows", "calls", "streamed"), FIGURES)
def test_the_page_of_figures_says_what_rows_save(
    name: str, border: str, whole: str, rows: str, calls: str, streamed: str, shared: Path
) -> None:
    path = shared / "models" / f"{name}.tflite"
    int8_io = border.strip(" `") == INT8_IO.strip()
    cut, steps = planned(path, "auto", SECONDS, int8_io)
    assert (f"{cut.arena:,}", f"{steps:,}") == (rows, calls)
    assert cut.arena == cut.arena_lower_bound.data
    assert f"{planned(path, 'none', SECONDS, int8_io)[0].arena:,}" == whole
    received, _ = planned(path, "auto stream-input=true", SECONDS, int8_io)
    assert f"{received.arena:,}" == streamed


def test_the_table_of_figures_is_read() -> None:
    assert [row[2:5] for row in FIGURES if row[1]] == [("161,472", "20,880", "411")]


@pytest.mark.deep
@pytest.mark.parametrize(
    ("name", "border", "streamed", "calls"),
    [
        ("mcunet_vww_int8", "memgraph-int8-io,", False, [411, 762]),
        ("dscnn_kws_int8", "", True, [301]),
    ],
)
def test_the_fewest_rows_are_placed_first_and_none_twice(
    name: str,
    border: str,
    streamed: bool,
    calls: list[int],
    shared: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where nothing fits at once: all rows come next, and those that are whole in a single row are
    the same in numbers."""
    solved: list[int] = []

    def hardly(placed: least_arena.Placed, deadline: float | None) -> least_arena.Placed:
        solved.append(placed.calls)
        return placed

    monkeypatch.setattr(least_arena, "_solved", hardly)
    module = load_model(shared / "models" / f"{name}.tflite", {})
    before_rows = ROWS.rpartition(",")[0] % " alignment=4"
    for step in build_pipeline(border + before_rows):
        step.apply(new_context(), module)
    func = only_function(module)
    if streamed:
        receive_rows(func)
    least_arena.choose_rows(func, streamed=streamed)
    assert solved == calls


@pytest.mark.parametrize("name", ["resnet8_int8", "tinymaix_mnist_resnet_int8", "resnet8_float"])
def test_rows_compute_the_same_bits(name: str, shared: Path) -> None:
    module = load_model(shared / "models" / f"{name}.tflite", {})
    rng = np.random.default_rng(3)
    func = only_function(module)
    (argument,) = func.body.block.args
    kind, shape = np.dtype(dtype_of(argument)), shape_of(argument)
    real = rng.standard_normal(shape).astype(kind)
    image = real if kind.kind == "f" else rng.integers(-128, 128, shape).astype(kind)

    def result() -> object:
        values = evaluate(only_function(module), Weights.of(module), [image])
        last = only_function(module).get_return_op()
        assert last is not None
        return values[last.operands[0]].tobytes()

    before = result()
    for step in build_pipeline(ROWS % ""):
        step.apply(new_context(), module)
    module.verify()
    assert result() == before


@pytest.mark.deep
@pytest.mark.parametrize("streamed", ["", "{stream-input=true}"])
def test_a_certificate_of_rows(
    streamed: str, shared: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    plan, proof = tmp_path / "plan.mlir", tmp_path / "proof.json"
    model = shared / "models" / "tinymaix_mnist_resnet_int8.tflite"
    steps = f'{ROWS % ""}{streamed},memgraph-schedule{{certificate="{proof}"}},memgraph-place'
    assert run(model, steps, "-o", str(plan)) == 0
    assert memopt(["verify", str(plan), "--certificate", str(proof)]) == 0
    said = capsys.readouterr().out.splitlines()[-1]
    assert said == "optimality: proven (flow) over all orders of these rows"


@pytest.mark.deep
@pytest.mark.parametrize(
    ("steps", "target", "message"),
    [
        ("memgraph-place{method=shared-objects}", "mlir", r"is a part of a tensor"),
        (
            "memgraph-place",
            "minimalloc-csv",
            r"minimalloc's CSV: .* is a part of a tensor, and dies",
        ),
    ],
)
def test_what_takes_no_rows_says_so(
    steps: str,
    target: str,
    message: str,
    shared: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    model = shared / "models" / "tinymaix_mnist_resnet_int8.tflite"
    pipeline = f"{ROWS % ' target=host'},memgraph-schedule,{steps}"
    assert run(model, pipeline, "-t", target, "-o", str(tmp_path / "out")) == 1
    said = capsys.readouterr().err
    assert len(said.splitlines()) == 1 and re.search(message, said), said
    assert not (tmp_path / "out").exists()
