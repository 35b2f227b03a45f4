"""Plans, reports and profiles in notebooks: records that pandas takes, and HTML."""

import json
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from demo_model import demo_model
from pooled import NETWORK

import memopt

BUFFER = ["tensor", "row", "kind", "bytes", "memory", "offset", "first", "last"]


def check_records(records: list[dict[str, Any]]) -> None:
    """Hold records to one set of keys and plain values, and give them to pandas if it is there."""
    assert records and all(list(one) == list(records[0]) for one in records)
    plain = (str, int, float, type(None))
    assert all(isinstance(value, plain) for one in records for value in one.values())
    if find_spec("pandas") is not None:
        frame: Any = import_module("pandas").DataFrame(records)
        assert list(frame.columns) == list(records[0]) and len(frame) == len(records)


def texts(html: str) -> list[str]:
    """Return the texts of a piece of HTML, which is well-formed."""
    return list(ElementTree.fromstring(f"<div>{html}</div>").itertext())


@pytest.mark.parametrize("rows", ["none", "all"])
def test_buffers_are_those_of_the_plan(rows: str) -> None:
    plan = memopt.plan(NETWORK.encode(), target="cortex-m4", rows=rows)
    check_records(plan.buffers)
    assert list(plan.buffers[0]) == BUFFER
    assert max(b["offset"] + b["bytes"] for b in plan.buffers) <= plan.arena
    steps = range(max(b["last"] for b in plan.buffers) + 1)
    live = [sum(b["bytes"] for b in plan.buffers if b["first"] <= s <= b["last"]) for s in steps]
    assert max(live) >= plan.peak  # what takes the place of another is in both
    assert any(b["row"] is not None for b in plan.buffers) == (rows == "all")


def test_buffers_of_several_memories_say_which_one() -> None:
    plan = memopt.plan(demo_model(), target="cortex-m7", memory="dtcm:32K,sram:320K")
    named = {b["tensor"]: (b["memory"], b["offset"]) for b in plan.buffers}
    assert {memory for memory, _ in named.values()} == {"dtcm", "sram"}
    assert all(named[n] == (plan.memories[n], plan.offsets[n]) for n in plan.offsets if n in named)


def test_a_plan_shows_its_figures_and_its_picture() -> None:
    plan = memopt.plan(NETWORK.encode(), target="cortex-m4")
    shown = plan._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert f"{plan.arena:,}" in texts(shown) and "<svg" in shown


def test_a_report_is_report_json_with_a_table(tmp_path: Path) -> None:
    report = memopt.compile(NETWORK.encode(), target="host", rows="all", out=tmp_path / "out")
    assert json.loads((tmp_path / "out/report.json").read_text()) == report
    check_records(report.layers)
    called = [(one["kind"], one["calls"]) for one in report.layers]
    assert called == [("relu", 8), ("max_pool_2d", 4)]
    shown = report._repr_html_()  # pyright: ignore[reportPrivateUsage]
    assert "max_pool_2d" in texts(shown) and any("arena" in text for text in texts(shown))


def test_a_profile_is_what_the_command_prints() -> None:
    profile = memopt.profile(NETWORK.encode(), target="cortex-m4", rows="none", clock="84M")
    check_records(profile.layers)
    assert [one["kind"] for one in profile.layers] == ["relu", "max_pool_2d"]
    assert profile.clock == 84_000_000 and profile.total["cycles"] > 0
    shown = texts(profile._repr_html_())  # pyright: ignore[reportPrivateUsage]
    assert f"{profile.total['cycles']:,}" in shown
    with pytest.raises(ValueError, match=r"^profile is of C targets"):
        memopt.profile(NETWORK.encode(), target="tflm")
    for clock in ("84X", 0):
        with pytest.raises(ValueError, match=f"^clock={clock}"):
            memopt.profile(NETWORK.encode(), target="cortex-m4", clock=clock)


@pytest.mark.deep
def test_arrays_and_files_are_validated_alike(tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(demo_model(size="small"))
    (name,) = memopt.load(file).inputs
    x = np.random.default_rng(1).normal(size=(3, 16, 16, 3)).astype(np.float32)
    y = np.array([0, 1, 2])
    save: Any = np.savez
    save(tmp_path / "data.npz", **{name: x, "y": y})
    words: dict[str, Any] = {"rows": "none", "samples": 2}
    of_file = memopt.validate(file, data=tmp_path / "data.npz", **words)
    of_arrays = memopt.validate(file.read_bytes(), data={name: x}, labels=y, **words)
    assert of_file.outputs == of_arrays.outputs and of_file.labelled == of_arrays.labelled
    assert of_file.samples == 2 and of_file.labelled.accuracy is not None
    assert of_file.outputs[0].different == 0
    shown = texts(of_file._repr_html_())  # pyright: ignore[reportPrivateUsage]
    assert {"net.tflite", of_file.outputs[0].name, "accuracy"} <= set(shown)


def test_what_is_wrong_is_said_by_its_keyword(tmp_path: Path) -> None:
    file = tmp_path / "net.tflite"
    file.write_bytes(demo_model(size="small"))
    with pytest.raises(ValueError, match="samples=0: at least 1"):
        memopt.validate(file, data=np.zeros(1), samples=0)
    with pytest.raises(ValueError, match=r"^against=nobody: net.tflite is read by"):
        memopt.validate(file, data=np.zeros(1), against="nobody")
    with pytest.raises(TypeError, match="references read files"):
        memopt.validate(memopt.load(NETWORK.encode()), data=np.zeros(1))
    with pytest.raises(TypeError, match="no option 'against_whom'"):
        memopt.validate(file, data=np.zeros(1), against_whom="x")  # type: ignore[call-arg]
