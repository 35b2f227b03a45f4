"""`python -m benchmarks cortex-m` and `scoreboard`, and the page's table of cycles."""

import json
from pathlib import Path
from typing import Any

import pytest
from benchmarks.__main__ import main
from benchmarks.tables.boards import chosen, profiled, scoreboard
from benchmarks.tables.published import FIGURES
from benchmarks.tables.shapes import FORMS, WIDE, Layer, instructions
from benchmarks.tables.table import Table
from deep import deep_but
from places import ROOT

from memopt.dialects.memgraph.errors import MemoptError

CYCLES = list(dict.fromkeys(f.model for f in FIGURES if f.what == "cycles"))
QUICK = "ad01_autoencoder_int8"
SAME, POINT = "window<[3, 3], pad = [1, 1, 1, 1]>", "window<[1, 1]>"


def figures_row(model: str, table: Table) -> str:
    """Return millions, as the page has them. Others have published RAM of a model too."""
    rows = [row for row in table.rows if row[0] == model and row[2] != "RAM"]
    ours = {row[2]: row[3] for row in rows}
    others = {row[6]: row[4] for row in rows}
    cells = (ours["cycles"], others["X-CUBE-AI"], others["Plumerai"], ours["instructions"])
    numbers = [f"{cell / 1e6:.2f}" for cell in (*cells, others["TFLM, CMSIS-NN"])]
    return f"| {model} | {' | '.join(numbers)} |"


@pytest.mark.deep
@pytest.mark.parametrize("model", CYCLES)
def test_the_page_has_the_figures_of_today(model: str, shared: Path, fuzz: float, lab: Any) -> None:
    if fuzz < 1 and model != QUICK:
        pytest.skip("in make fuzz")
    lab.need_tools("cortex-m4")
    table = scoreboard([shared / "models" / f"{model}.tflite"], print)
    assert figures_row(model, table) in (ROOT / "docs/reference/figures.md").read_text()


@pytest.mark.deep
def test_models_and_operators_on_a_core(
    shared: Path, tmp_path: Path, lab: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    lab.need_tools("cortex-m4")
    monkeypatch.setenv("MEMOPT_SHARED", str(shared))
    out = tmp_path / "out.json"
    assert main(["cortex-m", "--quick", "--json", str(out)]) == 0
    models, operators = json.loads(out.read_text())["tables"]
    whole, default = models["rows"]
    assert (whole["way"], default["way"]) == ("whole", "as compiled")
    assert whole["from"] <= whole["cycles"] <= whole["to"]
    assert default["arena"] <= whole["arena"]
    assert len(operators["rows"]) == 10
    counted = sum(row["instructions"] for row in operators["rows"])
    assert counted == pytest.approx(1e6 * whole["instructions"], rel=0.02)


@pytest.mark.deep
def test_random_layers_with_and_without_scratch(tmp_path: Path, lab: Any) -> None:
    """The rows are the layers that have a fast kernel."""
    lab.need_tools("cortex-m4")
    out = tmp_path / "out.json"
    assert main(["shapes", "--quick", "--json", str(out)]) == 0
    (table,) = json.loads(out.read_text())["tables"]
    assert [row["form"] for row in table["rows"]] == ["wide", "wide", "narrow"]
    assert all(row["fast"] < row["plain"] for row in table["rows"])
    assert main(["shapes", "--graphs", "resnet8_int8"]) == 2


# (layer, million instructions at most on the M4, on the M55)
LAYERS = (
    (
        Layer("dense", (1, 32, 32, 16), (16, 3, 3, 16), (1, 32, 32, 16), SAME),
        (2.6, 0.6),
    ),
    (Layer("dense", (1, 6, 6, 128), (128, 1, 1, 128), (1, 6, 6, 128), POINT), (0.58, 0.12)),
    (Layer("depthwise", (1, 48, 48, 8), (1, 3, 3, 8), (1, 48, 48, 8), SAME, 8), (0.46, 0.25)),
    (Layer("matrix", (1, 640), (128, 640), (1, 128)), (0.1, 0.1)),
)


@pytest.mark.deep
@pytest.mark.parametrize("core", deep_but("cortex-m4", ["cortex-m4", "cortex-m55"]))
def test_layers_alone(core: str, lab: Any) -> None:
    lab.need_tools(core)
    counts, fast = instructions([layer for layer, _ in LAYERS], WIDE, core)
    assert fast == [True, True, True, core == "cortex-m4"]
    for count, (_, most) in zip(counts, LAYERS, strict=True):
        assert round(count / 1e6, 2) <= most[core == "cortex-m55"]


STRIPS = (
    Layer("depthwise", (1, 5, 5, 64), (1, 3, 3, 64), (1, 5, 5, 64), SAME, 64),
    Layer("depthwise", (1, 3, 48, 8), (1, 3, 3, 8), (1, 3, 48, 8), SAME, 8),
    Layer(
        *("depthwise", (1, 5, 15, 20), (1, 5, 5, 20), (1, 1, 6, 20)),
        *("window<[5, 5], stride = [2, 2]>", 20),
    ),
    Layer("depthwise", (1, 4, 7, 65), (1, 2, 1, 65), (1, 3, 7, 65), "window<[2, 1]>", 65),
)


@pytest.mark.deep
def test_short_strips_are_slower_than_long_ones_and_faster_than_none(lab: Any) -> None:
    lab.need_tools("cortex-m55")
    plain, _ = instructions(STRIPS, None, "cortex-m55")
    (wide, _), (narrow, there) = (instructions(STRIPS, form, "cortex-m55") for form in FORMS)
    assert all(there)
    for none, long, short in zip(plain, wide, narrow, strict=True):
        assert long < short < 0.8 * none


def test_what_is_not_there_and_what_does_not_compile(shared: Path, tmp_path: Path) -> None:
    with pytest.raises(MemoptError, match=r"no .*nowhere.tflite"):
        chosen(["nowhere"], False)
    broken = tmp_path / "broken.tflite"
    broken.write_bytes(b"no model")
    with pytest.raises(MemoptError, match=r"broken\.tflite"):
        profiled(broken)
