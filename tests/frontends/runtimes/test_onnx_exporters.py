"""Graphs as exporters write them, on random inputs, against onnxruntime."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function

ort: Any = pytest.importorskip("onnxruntime")
RNG = np.random.default_rng(11)
ML, OWN = "ai.onnx.ml", ""


def reals(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


CASES: dict[str, tuple[str, str, tuple[int, ...], dict[str, Any], dict[str, Any]]] = {
    "Scaler": (ML, "Scaler", (3, 4), {}, {"offset": [1.0, 2.0, 3.0, 4.0], "scale": [0.5] * 4}),
    "Normalizer L1": (ML, "Normalizer", (3, 4), {}, {"norm": "L1"}),
    "Normalizer L2": (ML, "Normalizer", (3, 4), {}, {"norm": "L2"}),
    "LinearRegressor": (
        *(ML, "LinearRegressor", (3, 2), {}),
        {"coefficients": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0], "intercepts": [0.1, 0.2, 0.3]}
        | {"targets": 3},
    ),
    "GroupNormalization": (
        *(OWN, "GroupNormalization", (1, 4, 5, 5)),
        *({"s": reals(4), "b": reals(4)}, {"num_groups": 2}),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_what_exporters_write(name: str, tmp_path: Path) -> None:
    domain, kind, shape, constants, attributes = CASES[name]
    one = helper.make_node(kind, ["x", *constants], ["y"], domain=domain, **attributes)
    tensors = [numpy_helper.from_array(v, k) for k, v in constants.items()]
    value, result = (helper.make_tensor_value_info(*v) for v in (("x", 1, shape), ("y", 1, None)))
    graph = helper.make_graph([one], "g", [value], [result], tensors)
    opsets = [helper.make_opsetid(OWN, 21), helper.make_opsetid(ML, 3)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=10)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    x = reals(*shape)
    if domain == ML:
        x[0] = 0 if kind == "Normalizer" else x[0]
    want = ort.InferenceSession(str(path)).run(None, {"x": x})[0]
    module = load_model(path, {})
    func = only_function(module)
    values = evaluate(func, Weights.of(module), [x])
    (returned,) = func.body.block.last_op.operands  # type: ignore[union-attr]
    got = values[returned]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
