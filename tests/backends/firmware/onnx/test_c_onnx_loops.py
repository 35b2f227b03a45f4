# pyright: basic, reportArgumentType=false
"""Tests of loops of a known number of steps, and of branches, of ONNX as C: onnxruntime's
numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import TensorProto, helper
from onnx_programs import compare, saved

from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.structure import OpaqueOp

pytest.importorskip("onnxruntime")
N, F, I64, BOOL = helper.make_node, TensorProto.FLOAT, TensorProto.INT64, TensorProto.BOOL
V = helper.make_tensor_value_info
RNG = np.random.default_rng(2)
TYPES = {"y": (F, (3,)), "ys": (F, (4, 3))}


def body(goes_on: list[Any]) -> Any:
    """Return the body s + x, whose sums are all kept; the nodes `goes_on` make its condition of `i`
    and `c`."""
    nodes = [N("Add", ["s", "x"], ["t"]), N("Mul", ["t", "two"], ["e"]), *goes_on]
    two = helper.make_tensor("two", F, [], [2.0])
    inputs = [V("i", I64, []), V("c", BOOL, []), V("s", F, [3])]
    outputs = [V("d", BOOL, []), V("t", F, [3]), V("e", F, [3])]
    return helper.make_graph(nodes, "b", inputs, outputs, [two])


def loop(path: Path, goes_on: list[Any], count: Any = 4) -> tuple[Path, dict[str, Any]]:
    given = {"x": RNG.normal(size=3).astype("f4")}
    node = N("Loop", ["n", "go", "x"], ["y", "ys"], body=body(goes_on))
    constants = {"n": np.int64(count), "go": np.bool_(True), "three": np.int64(3)}
    return saved(path, [node], given, constants, declared=TYPES), given


@pytest.mark.parametrize(
    ("count", "goes_on"),
    [(4, [N("Identity", ["c"], ["d"])]), (9, [N("Less", ["i", "three"], ["d"])])],
)
def test_a_loop(count: int, goes_on: list[Any], tmp_path: Path, lab: Any) -> None:
    """Check a loop to its end, and to the step that ends it."""
    lab.need_tools("host")
    path, given = loop(tmp_path / "m.onnx", goes_on, count)
    compare(lab, path, given)


def test_a_scan_there_and_back(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    nodes = [N("Add", ["s", "x"], ["t"]), N("Mul", ["t", "z"], ["e"])]
    inputs = [V(name, F, [3]) for name in "sxz"]
    graph = helper.make_graph(nodes, "b", inputs, [V(name, F, [3]) for name in "te"])
    ways = {"scan_input_axes": [0, 1], "scan_input_directions": [0, 1]}
    ends = {"scan_output_axes": [1], "scan_output_directions": [1]}
    node = N("Scan", ["a", "xs", "zs"], ["y", "ys"], body=graph, num_scan_inputs=2, **ways, **ends)
    given = {"a": RNG.normal(size=3).astype("f4")}
    given |= {
        "xs": RNG.normal(size=(4, 3)).astype("f4"),
        "zs": RNG.normal(size=(3, 4)).astype("f4"),
    }
    path = saved(tmp_path / "m.onnx", [node], given, {}, declared={**TYPES, "ys": (F, (3, 4))})
    compare(lab, path, given)


def test_a_loop_that_the_run_time_ends_says_so(tmp_path: Path) -> None:
    goes_on = [N("ReduceSum", ["t"], ["u"], keepdims=0), N("Greater", ["u", "two"], ["d"])]
    path, _ = loop(tmp_path / "m.onnx", goes_on)
    (op,) = [o for o in only_function(load_model(path, {})).walk() if isinstance(o, OpaqueOp)]
    assert op.reason == "its condition is computed at run time (known ones have one)"


@pytest.mark.parametrize("limit", [-99, 99])
def test_a_branch_that_the_run_time_chooses(limit: int, tmp_path: Path, lab: Any) -> None:
    """Check both ways of an If inside an If, of two results, one of them a constant's."""
    lab.need_tools("host")

    def branch(node: Any, name: str, *more: Any) -> Any:
        k = helper.make_tensor("k", F, [3], [1.0, 2.0, 3.0])
        outputs = [V(name, F, [3]), V("k", F, [3])]
        return helper.make_graph([*more, node], name, [], outputs, [k])

    inner = N(
        *("If", ["c"], ["p"]),
        then_branch=helper.make_graph([N("Sin", ["x"], ["q"])], "s", [], [V("q", F, [3])]),
        else_branch=helper.make_graph([N("Neg", ["x"], ["q"])], "n", [], [V("q", F, [3])]),
    )
    sides = {
        "then_branch": branch(N("Add", ["p", "k"], ["t"]), "t", inner),
        "else_branch": branch(N("Mul", ["x", "k"], ["e"]), "e"),
    }
    nodes = [
        N("ReduceMax", ["x"], ["m"], keepdims=0),
        N("Greater", ["m", "limit"], ["c"]),
        N("If", ["c"], ["y", "z"], **sides),
    ]
    given = {"x": RNG.normal(size=3).astype("f4")}
    path = saved(tmp_path / "m.onnx", nodes, given, {"limit": np.float32(limit)})
    compare(lab, path, given)
