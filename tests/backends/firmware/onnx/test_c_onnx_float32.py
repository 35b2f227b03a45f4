# pyright: basic
"""Networks of float16, bfloat16 and float64, which are computed in float32: within what these
types round of what onnxruntime computes."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from onnx.reference import ReferenceEvaluator
from quick_options import QUICK

from memopt.cli import main

ort = pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(5)
TYPES = {
    "float16": (TensorProto.FLOAT16, np.float16, 2e-2),
    "float64": (TensorProto.DOUBLE, np.float64, 1e-5),
}


def network(element: int, dtype: Any, casts: bool) -> onnx.ModelProto:
    """Images through a convolution, a branch, a fill, a constant and a softmax, of inputs of the
    type, or cast to it and back."""
    make, tensor = helper.make_node, numpy_helper.from_array
    weights = (RNG.normal(size=(3, 2, 3, 3)) / 3).astype(dtype)
    fill = helper.make_tensor("v", element, [1], [0.5])
    branch = helper.make_graph(
        [make("Mul", ["a", "k"], ["t"])],
        *("b", [], [helper.make_tensor_value_info("t", element, None)]),
        [tensor(np.asarray(2, dtype), "k")],
    )
    nodes = [
        make("Conv", ["x16" if casts else "x", "w"], ["c"]),
        make("Relu", ["c"], ["a"]),
        make("If", ["yes"], ["d"], then_branch=branch, else_branch=branch),
        make("Constant", [], ["h"], value=tensor(np.full(300, 0.25, dtype), "")),
        make("ConstantOfShape", ["fill"], ["f"], value=fill),
        make("Reshape", ["h", "to"], ["h4"]),
        make("ReduceSum", ["h4"], ["hs"], keepdims=0),
        make("Add", ["d", "hs"], ["e"]),
        make("Sub", ["e", "f"], ["g"]),
        make("Softplus", ["g"], ["p"]),
        make("Softmax", ["p"], ["s16" if casts else "y"]),
    ]
    if casts:
        nodes = [make("Cast", ["x"], ["x16"], to=element), *nodes]
        nodes.append(make("Cast", ["s16"], ["y"], to=1))
    constants = {"to": np.array([3, 100]), "fill": np.array([3, 30, 3]), "yes": np.array(True)}
    outer = 1 if casts else element
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", outer, (1, 2, 32, 5))],
        [helper.make_tensor_value_info("y", outer, None)],
        [tensor(v, k) for k, v in constants.items()] + [tensor(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def computed(lab: Any, path: Path, folder: Path, x: Any) -> Any:
    assert main(["compile", str(path), *QUICK, "-o", str(folder)]) == 0
    run = lab.run_project(folder, [x.astype("f4")[None]], lab.SANITIZE, trace=False)
    assert run.code == 0, run.messages
    return np.frombuffer(run.output, "f4")


@pytest.mark.deep
@pytest.mark.parametrize("casts", [False, True])
@pytest.mark.parametrize("name", TYPES)
def test_other_reals(
    name: str, casts: bool, tmp_path: Path, lab: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    lab.need_tools("host")
    element, dtype, bound = TYPES[name]
    path = tmp_path / "m.onnx"
    onnx.save(network(element, dtype, casts), path)
    x = RNG.normal(size=(1, 2, 32, 5)).astype("f4" if casts else dtype)
    if name == "float64":  # of which onnxruntime has no convolution
        want: Any = ReferenceEvaluator(str(path)).run(None, {"x": x})[0]  # type: ignore[index]
    else:
        session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
        want = session.run(None, {"x": x})[0]
    got = computed(lab, path, tmp_path / "c", x).reshape(want.shape)
    assert f"reals     of {name} are computed and kept as float32" in capsys.readouterr().out
    np.testing.assert_allclose(got, want.astype("f8"), rtol=bound, atol=bound / 10)
    assert got.std() > 0.01


def test_weights_of_bfloat16(tmp_path: Path, lab: Any, capsys: pytest.CaptureFixture[str]) -> None:
    """They are exact in float32; nothing is computed in another type, and nothing is said."""
    lab.need_tools("host")
    bits = (RNG.normal(size=(6, 50)).astype("f4").view("u4") & 0xFFFF0000).view("f4")
    weights = helper.make_tensor("w", TensorProto.BFLOAT16, bits.shape, bits.reshape(-1))
    nodes = [helper.make_node("Cast", ["w"], ["wf"], to=1)]
    nodes.append(helper.make_node("MatMul", ["x", "wf"], ["y"]))
    x, y = (helper.make_tensor_value_info(n, 1, s) for n, s in (("x", (1, 6)), ("y", (1, 50))))
    graph = helper.make_graph(nodes, "g", [x], [y], [weights])
    path = tmp_path / "m.onnx"
    onnx.save(
        helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path
    )
    given = RNG.normal(size=(1, 6)).astype("f4")
    got = computed(lab, path, tmp_path / "c", given)
    np.testing.assert_allclose(got, (given @ bits)[0], rtol=1e-5, atol=1e-5)
    assert "computed and kept" not in capsys.readouterr().out
