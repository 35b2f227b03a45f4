"""`memopt.load, plan, place, verify, peak`: what they take, what they answer, what they refuse."""

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from cells import cell
from demo_model import demo_model
from places import FILECHECK

import memopt
from memopt.formats.minimalloc import Row

FIGURE = FILECHECK / "figure1.mlir"


def test_every_way_to_give_a_network_is_the_same_network(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(json.dumps(cell(3)))
    path, model = tmp_path / "a.json", memopt.load(cell(3))
    ways: list[Any] = [path, str(path), path.read_bytes(), cell(3), model, model.module]
    ways.append(str(model).encode())  # the IR as text
    assert len({memopt.peak(way) for way in ways}) == 1
    assert memopt.load(path).kind == memopt.load(path.read_bytes()).kind == "json"
    assert memopt.load(str(model).encode()).kind == "mlir"
    assert memopt.load(model) is model


def test_a_tflite_from_memory_is_planned_and_written_as_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(demo_model())
    here = memopt.plan(demo_model(), target="tflm")
    there = memopt.plan(path, target="tflm")
    assert replace(here, name=there.name) == there
    assert here.emit("tflite") == there.emit("tflite")
    assert memopt.verify(here.emit("tflite")).arena == here.arena  # type: ignore[arg-type]
    assert str(tmp_path.parent) not in here.emit()  # type: ignore[operator]


def test_a_large_graph_and_a_limited_one_have_an_order_too() -> None:
    tensors = [{"name": f"t{i}", "bytes": 16} for i in range(602)]
    nodes = [
        {"name": f"n{i}", "op": "Op", "inputs": [f"t{i}"], "outputs": [f"t{i + 1}"]}
        for i in range(601)
    ]
    graph = {
        "tensors": tensors, "nodes": nodes, "graph_inputs": ["t0"], "graph_outputs": ["t601"],
    }  # fmt: skip
    assert memopt.peak(graph).indices == tuple(range(601))
    assert memopt.peak(cell(1), time_limit=60.0) == memopt.peak(cell(1))


def test_a_plan_is_what_the_verifier_finds() -> None:
    plan = memopt.plan(FIGURE)
    assert (plan.peak, plan.lower_bound, plan.arena, plan.arena_lower_bound) == (4960,) * 4
    assert plan.optimal and plan.arena_optimal and plan.proof != "none"
    found = memopt.verify(plan)
    assert (found.peak, found.arena, found.lower_bound) == (4960, 4960, 4960)
    model = memopt.load(FIGURE)
    assert [model.operators[i] for i in plan.indices] == list(plan.order)
    assert sorted(plan.indices) == list(range(len(model.operators)))
    assert memopt.verify(plan.emit().encode()) == found  # type: ignore[union-attr]
    with pytest.raises(FrozenInstanceError):
        plan.peak = 0  # type: ignore[misc]
    with pytest.raises(TypeError):
        plan.offsets["x"] = 0  # type: ignore[index]


def test_names_that_are_there_twice_are_told_apart() -> None:
    graph = cell(2)
    text = str(memopt.load(graph))
    first, second = (f'"{n["outputs"][0]}"' for n in graph["nodes"][:2])
    twice = memopt.plan(text.replace(f"names = [{first}", f"names = [{second}").encode())
    assert sum(name.startswith(second.strip('"') + "#") for name in twice.offsets) == 1
    assert len(twice.offsets) == len(memopt.plan(graph).offsets)
    assert sorted(twice.indices) == list(range(len(graph["nodes"])))


def test_copies_between_memories_are_no_operators_of_the_network() -> None:
    plan = memopt.plan(FIGURE, target="cortex-m7", memory="fast:4K,slow:8K")
    assert set(plan.memories.values()) == {"fast", "slow"}
    assert sorted(plan.indices) == list(range(len(memopt.load(FIGURE).operators)))
    assert memopt.plan(FIGURE).memories == {}


def test_numbers_are_those_of_the_file_whatever_runs() -> None:
    """A reshape runs in TFLM and costs nothing in C; what a rule changes keeps its number."""
    model = memopt.load(demo_model())
    (reshape,) = (i for i, name in enumerate(model.operators) if name.startswith("reshape"))
    for target, runs in (("tflm", True), ("host", False)):
        rows = None if target == "tflm" else "none"
        plan = memopt.plan(model, target=target, rows=rows)
        assert [model.operators[i] for i in plan.indices] == list(plan.order)
        assert (reshape in plan.indices) == runs
        assert {*plan.indices, reshape} == set(range(len(model.operators)))
    found = memopt.peak(model)
    assert [model.operators[i] for i in found.indices] == list(found.order)


ROWS = b"""
!t = tensor<1x6x6x3xi8, #memgraph.encoding<nhwc, scale = [0.07], zero_point = [-5]>>
!u = tensor<1x3x3x3xi8, #memgraph.encoding<nhwc, scale = [0.07], zero_point = [-5]>>
func.func @main(%x: !t) -> !u {
  %0 = memgraph.max_pool_2d %x window<[1, 1]> : (!t) -> !t
  %1 = memgraph.average_pool_2d %0 window<[2, 2], stride = [2, 2]> : (!t) -> !u
  func.return %1 : !u
}
"""


def test_rows_are_planned_and_each_is_its_operators() -> None:
    whole, cut = memopt.plan(ROWS, rows="none"), memopt.plan(ROWS, rows="all", inplace="off")
    assert (whole.family, cut.family) == ("order", "rows") and cut.peak < whole.peak
    assert cut.optimal and cut.indices.count(0) == 6 and cut.indices.count(1) == 3
    operators = memopt.load(ROWS).operators
    assert [operators[i] for i in cut.indices] == list(cut.order)
    streamed = memopt.plan(ROWS, rows="all", stream_input=True, inplace="off")
    assert streamed.peak < cut.peak and sorted(streamed.indices) == sorted(cut.indices)
    fitted = memopt.plan(ROWS, fit=cut.arena)
    assert fitted.arena <= cut.arena and "run_rows" in str(fitted.emit("c"))
    with pytest.raises(memopt.MemoptError, match="all operators in rows need"):
        memopt.plan(ROWS, fit=8)


def test_an_edited_plan_is_refused() -> None:
    text = str(memopt.plan(FIGURE).emit())
    with pytest.raises(memopt.MemoptError, match="peak"):
        memopt.verify(text.replace("peak = 4960", "peak = 4944").encode())
    with pytest.raises(memopt.MemoptError, match="no plan"):
        memopt.verify(FIGURE)


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        (b"", memopt.MemoptError, "bytes: error: is empty"),
        (b"\x00\xff\x01", memopt.MemoptError, "no ONNX model"),
        (b"\x1c\0\0\0TFL3", memopt.MemoptError, "bytes: error: table"),
        (b"{", memopt.MemoptError, "bytes:1:2: error:"),
        (b'{"a": ' + b"[" * 100_000, memopt.MemoptError, "bytes"),
        (b"func.func @f() {", memopt.MemoptError, "bytes:1:"),
        ({"tensors": 1}, memopt.MemoptError, "graph: tensors"),
        ({"tensors": {1}}, TypeError, "not JSON serializable"),
        ("net.png", memopt.MemoptError, "net.png: error: unknown kind of file"),
        ("none.tflite", FileNotFoundError, "none.tflite"),
        (5, TypeError, "a graph is a path"),
    ],
)
def test_what_is_no_network_is_told_with_its_place(given: Any, error: Any, text: str) -> None:
    for ask in (memopt.load, memopt.peak, memopt.plan):
        with pytest.raises(error, match=text) as found:
            ask(given)
        assert "\n" not in str(found.value)


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ({"target": "esp"}, "one of cortex-m"),
        ({"schedule": "best"}, "one of auto, dp"),
        ({"place": "best"}, "one of auto, best-fit"),
        ({"io": "ram"}, "one of arena, kept, caller"),
        ({"inplace": "yes"}, "one of on, off"),
        ({"memory": "q"}, "memory: 'q' is no memory"),
        ({"memory": "a:1K", "place": "auto"}, "leave place out"),
        ({"pipeline": "fuse"}, "unknown pass 'fuse'; there are:"),
        ({"rows": "all", "target": "tflm"}, "rows: TensorFlow Lite Micro runs whole operators"),
        ({"stream_input": True}, "stream-input needs operators in rows"),
        ({"fit": 0}, "fit=0: no arena has no bytes"),
        ({"fit": 64, "rows": "all"}, "fit chooses the rows, rows=all others"),
        ({"time_limit": 0}, "seconds, more than 0"),
        ({"time_limit": float("nan")}, "seconds, more than 0"),
        ({"time_limit": float("inf")}, "seconds, more than 0"),
    ],
)
def test_a_wrong_argument_is_told_with_what_there_is(argument: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        memopt.plan(FIGURE, **argument)
    if "time_limit" in argument or "pipeline" in argument:
        with pytest.raises(ValueError, match=text):
            memopt.peak(FIGURE, **argument)
        with pytest.raises(ValueError, match=text):
            memopt.sweep([FIGURE], **argument)


@pytest.mark.parametrize("wrong", [10.0, True, -3])
def test_what_counts_is_a_whole_number(wrong: object, tmp_path: Path) -> None:
    """A plan would forget a budget in bytes that are no int."""
    error = ValueError if wrong == -3 else TypeError
    for name in ("ram", "fit", "align_io", "slide", "kept"):
        with pytest.raises(error, match=f"^{name}={wrong}: "):
            memopt.plan(FIGURE, **{name: wrong})  # type: ignore[arg-type]
    flash: Any = wrong
    with pytest.raises(error, match=f"^flash={wrong}: "):
        memopt.compile(FIGURE, out=tmp_path, flash=flash)
    with pytest.raises(error, match=f"^flash={wrong}: "):
        memopt.sweep([FIGURE], flash=flash)
    with pytest.raises(error, match=f"^capacity={wrong}: "):
        memopt.place([], capacity=wrong)  # type: ignore[arg-type]
    with pytest.raises(memopt.MemoptError, match="10 B"):
        memopt.plan(FIGURE, ram=np.int64(10))  # type: ignore[arg-type]


def test_a_wrong_form_is_told() -> None:
    with pytest.raises(ValueError, match="one of c, c-calls, html"):
        memopt.plan(FIGURE).emit("pdf")
    with pytest.raises(TypeError, match="seconds, a number"):
        memopt.peak(FIGURE, time_limit="5")  # type: ignore[arg-type]


def test_buffers_are_placed_and_checked(tmp_path: Path) -> None:
    placed = memopt.place(iter([(0, 2, 100), (1, 3, 50), (2, 4, 100)]))
    assert (placed.offsets, placed.arena, placed.optimal) == ((0, 100, 0), 150, True)
    assert placed.fits and not placed.infeasible
    assert memopt.verify(placed) == 150
    path = tmp_path / "buffers.csv"
    path.write_text("id,lower,upper,size\na,0,2,100\nb,1,3,50\nc,2,4,100\n")
    for given in (path, str(path), path.read_bytes()):
        again = memopt.place(given, capacity="1K", strategy="greedy-by-size", time_limit=10)
        assert again.arena == 150 and again.fits
        assert [r.name for r in again.rows] == ["a", "b", "c"]
    assert memopt.place(again.csv().encode()).offsets == again.offsets  # fixed where they are
    short = memopt.place([(0, 1, 100), Row("b", 0, 1, 100)], capacity=150)
    assert not short.fits and short.infeasible and short.arena == 200
    assert memopt.place([]).arena == 0
    moved = tuple(replace(r, offset=0) for r in placed.rows)
    with pytest.raises(memopt.MemoptError, match="overlap"):
        memopt.verify(replace(placed, rows=moved))
    with pytest.raises(memopt.MemoptError, match="not those of the rows"):
        memopt.verify(replace(placed, offsets=(0, 0, 0)))
    with pytest.raises(memopt.MemoptError, match="150 B"):
        memopt.verify(replace(placed, arena=100))


@pytest.mark.parametrize(
    ("buffers", "error", "text"),
    [
        ([(1, 1, 1)], ValueError, r"buffers\[0\]: the live range"),
        ([(0, 1, 1), (0, 1, -1)], ValueError, r"buffers\[1\]: size -1"),
        ([(0, 1, 1 << 70)], ValueError, r"buffers\[0\]: size"),
        ([(0, 1)], TypeError, r"buffers\[0\]=\(0, 1\): three whole numbers"),
        ([(0, 1, 1.5)], TypeError, "three whole numbers"),
        (5, TypeError, "not 5"),
        (b"a,b\n", memopt.MemoptError, "unknown column 'a'"),
        (b"id,lower,upper,size\na,0,0,1\n", memopt.MemoptError, "bytes:2: error"),
        ("none.csv", FileNotFoundError, "none.csv"),
    ],
)
def test_what_is_no_buffer_is_told(buffers: Any, error: Any, text: str) -> None:
    with pytest.raises(error, match=text):
        memopt.place(buffers)


@pytest.mark.parametrize(
    ("argument", "text"),
    [
        ({"strategy": "best"}, "one of auto, best-fit"),
        ({"capacity": "1Q"}, "no size"),
        ({"capacity": -1}, "0 or more"),
        ({"time_limit": -1}, "more than 0"),
    ],
)
def test_a_wrong_argument_of_place_is_told(argument: Any, text: str) -> None:
    with pytest.raises(ValueError, match=text):
        memopt.place([(0, 1, 1)], **argument)


def test_a_module_of_that_name_does_not_hide_a_function() -> None:
    import_module("memopt.verify.plan")
    placed = memopt.place([(0, 1, 8)])
    assert memopt.verify(placed) == 8


def test_importing_loads_nothing_heavy_and_dir_has_the_names() -> None:
    code = """
import sys, memopt
print(sorted(m for m in sys.modules if m.split(".")[0] in ("xdsl", "numpy", "onnx", "ortools")))
print(set(memopt.__all__) <= set(dir(memopt)), memopt.__version__)
print([m for m in ("numpy", "onnx", "ortools") if m in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    first, second, third = done.stdout.splitlines()
    assert (first, third) == ("[]", "[]")
    assert second.startswith("True 0.")
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = memopt.nothing  # type: ignore[attr-defined]
