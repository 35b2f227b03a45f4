# pyright: basic, reportArgumentType=false
"""Tests of ONNX operators of indices, ranks and remainders as C: onnxruntime's numbers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper
from onnx_programs import compare, saved
from xdsl.context import Context

from memopt.compile.driver import load_model
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.passes.memgraph_rewrite import MemgraphRewritePass

pytest.importorskip("onnxruntime")
N = helper.make_node
F, RNG = np.float32, np.random.default_rng(7)
REDUCTIONS = ("none", "add", "mul", "max", "min")


def operations(path: Path, rules: list[str] | None = None) -> list[str]:
    """Return the kinds of operations that run, in order, after rewriting by these rules."""
    module = load_model(path, {})
    if rules is not None:
        MemgraphRewritePass(tuple(rules)).apply(Context(), module)
    body = only_function(module).body.block.ops
    running = [op for op in body if isinstance(op, ComputeOp)]
    names = [op.name for op in running if not is_constant_expression(op.results[0], GENERIC)]
    return [name.removeprefix("memgraph.") for name in names]


def floats(*shape: int) -> Any:
    return RNG.normal(size=shape).astype("f4")


@pytest.mark.parametrize("how", REDUCTIONS)
def test_what_indices_write(how: str, tmp_path: Path, lab: Any) -> None:
    """Check known indices and those of the run time, from the end, too; the last of several
    stays."""
    lab.need_tools("host")
    given = {"x": floats(4, 5), "i": RNG.integers(-100, 100, (4, 5)).astype("i4")}
    given |= {"at": np.int64([[1], [-1], [1]]), "new": floats(3, 5), "few": floats(4, 2)}
    given |= {"along": np.int64([[0, -1], [2, 1], [3, 4], [0, 1]])}
    constants = {"known": np.int64([[-2], [0], [0]]), "ints": np.ones((3, 5), "i4")}
    nodes = [
        N("ScatterND", ["x", "at", "new"], ["run"], reduction=how),
        N("ScatterND", ["i", "known", "ints"], ["fixed"], reduction=how),
        N("ScatterElements", ["x", "along", "few"], ["along_axis"], axis=1, reduction=how),
    ]
    path = saved(tmp_path / "m.onnx", nodes, given, constants, 18)
    compare(lab, path, given)


def test_what_indices_read_and_ranks(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given = {"x": floats(3, 6), "i": RNG.integers(-9, 9, (3, 6)).astype("i8")}
    given |= {"j": given["i"].astype("i4"), "at": np.int64([[0], [-1], [2]])}
    constants = {"k": np.int64([2]), "known": np.int64([[[1], [2]]] * 3), "axis": np.int64(1)}
    nodes = [
        N("TopK", ["x", "k"], ["top", "top_at"]),
        N("TopK", ["x", "k"], ["least", "least_at"], axis=0, largest=0),
        N("TopK", ["j", "k"], ["ints", "ints_at"], largest=0),
        N("TopK", ["i", "k"], ["longs", "longs_at"], axis=0),
        N("GatherND", ["x", "at"], ["run"], batch_dims=1),
        N("GatherND", ["x", "known"], ["fixed"], batch_dims=1),
    ]
    path = saved(tmp_path / "a.onnx", nodes, given, constants)
    compare(lab, path, given)
    nodes = [
        N("CumSum", ["x", "axis"], ["sums"]),
        N("CumSum", ["i", "axis"], ["whole"], exclusive=1, reverse=1),
        N("CumSum", ["j", "axis"], ["ints_sum"], reverse=1),
        N("EyeLike", ["x"], ["ones"], k=1),
    ]
    nodes.append(N("Add", ["x", "ones"], ["with_ones"]))
    path = saved(tmp_path / "m.onnx", nodes, given, constants)
    compare(lab, path, given)


def test_indices_from_the_end_are_of_one_operation(tmp_path: Path, lab: Any) -> None:
    """Check indices of the run time, of 32 and 64 bits, and known ones: as the file says them."""
    lab.need_tools("host")
    given = {"x": floats(3, 6), "at": np.int64([[0, -1], [-6, 5]]), "few": np.int32([-3, 2])}
    given |= {"rows": np.int64([[-1, -6], [2, 5]]), "real": np.float32([-1, 3, -5, 4])}
    constants = {
        "known": np.int64([-1, 0]),
        "depth": np.int64(4),
        "real_depth": F(4),
        "values": np.float32([3, 7]),
    }
    nodes = [
        N("Gather", ["x", "at"], ["columns"], axis=1),
        N("Gather", ["x", "few"], ["lines"]),
        N("Gather", ["x", "known"], ["fixed"], axis=1),
        N("GatherND", ["x", "rows"], ["elements"]),
        N("OneHot", ["at", "depth", "values"], ["hot"], axis=0),
        N("OneHot", ["real", "real_depth", "values"], ["real_hot"]),
    ]
    path = saved(tmp_path / "m.onnx", nodes, given, constants)
    hot = ["one_hot", "cast", "one_hot"]
    assert operations(path) == [*["gather_along"] * 3, "gather_nd", *hot]
    compare(lab, path, given)


@pytest.mark.parametrize("mode", ["reflect", "edge", "wrap"])
def test_a_pad_of_any_mode_is_one_operation(mode: str, tmp_path: Path, lab: Any) -> None:
    """Check also that images stay channels last beside it."""
    lab.need_tools("host")
    constants = {"pads": np.int64([0, 0, 2, 1, 0, 0, 1, 3]), "w": floats(4, 4, 3, 3)}
    given = {"x": floats(1, 4, 5, 6)}
    nodes = [
        N("Conv", ["x", "w"], ["a"]),
        N("Pad", ["a", "pads"], ["b"], mode=mode),
        N("Conv", ["b", "w"], ["y"]),
    ]
    path = saved(tmp_path / "m.onnx", nodes, given, constants, 19)
    picks = "mirrored" if mode == "reflect" else "picked"
    assert operations(path) == ["conv_2d", picks, "conv_2d"]
    assert operations(path, ["channels-last"]) == [
        *("transpose", "conv_2d", picks),
        *("conv_2d", "transpose"),
    ]
    compare(lab, path, given)


@pytest.mark.parametrize("group", [2, 4])
def test_groups_of_a_transposed_convolution(group: int, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    constants = {"w": floats(4, 3, 2, 3), "b": floats(3 * group)}
    nodes = [N("ConvTranspose", ["x", "w", "b"], ["y"], group=group, strides=[2, 1])]
    path = saved(tmp_path / "m.onnx", nodes, {"x": floats(1, 4, 3, 5)}, constants)
    assert operations(path) == ["transpose_conv_2d"]
    compare(lab, path, {"x": floats(1, 4, 3, 5)})


def test_remainders_and_quotients_of_bytes(tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    given = {"x": floats(4, 8) * 9, "i": RNG.integers(-99, 99, (4, 8)).astype("i4")}
    given |= {"b": RNG.integers(0, 255, (4, 8)).astype("u1"), "l": given["i"].astype("i8")}
    constants = {"d": np.float32([3, -2.5, 0.75, -8] * 2), "m": np.int32([3, -7, 5, -2] * 2)}
    constants |= {"n": np.uint8([3, 7, 5, 2] * 2), "w": np.int64([3, -7, 5, -2] * 2)}
    nodes = [
        N("Mod", ["x", "d"], ["real"], fmod=1),
        N("Mod", ["i", "m"], ["whole"], fmod=1),
        N("Mod", ["l", "w"], ["long"], fmod=1),
        N("Mod", ["b", "n"], ["byte"]),
        N("Div", ["b", "n"], ["quotient"]),
    ]
    path = saved(tmp_path / "m.onnx", nodes, given, constants)
    compare(lab, path, given)
