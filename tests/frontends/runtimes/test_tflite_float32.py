"""Tests of reals of other widths in a .tflite, which are kept and computed as float32."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tflite_builder import Graph, Op, T, build

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.cli import main as memopt
from memopt.dialects.memgraph.functions import only_function
from memopt.frontends.tflite.float32 import in_float32
from memopt.frontends.tflite.read import read

SHAPE, WEIGHTS = (1, 4, 4, 2), (3, 1, 1, 2)
WINDOW = ("Conv2D", {"strideH": 1, "strideW": 1, "padding": 1})


def network(element: str, dtype: Any) -> bytes:
    """Return weights of 16 bits by DEQUANTIZE and without, a constant, and functions of one
    type."""
    rng = np.random.default_rng(1)
    tensors = [
        T("x", SHAPE, element),
        T("w", WEIGHTS, element, rng.normal(size=WEIGHTS).astype(dtype)),
        T("b", (3,), element, rng.normal(size=3).astype(dtype)),
        T("y", (1, 4, 4, 3), element),
        T("c", (3,), element, rng.normal(size=3).astype(dtype)),
        T("z", (1, 4, 4, 3), element),
        T("f", (1, 4, 4, 3), element),
        T("r", (1, 4, 4, 3), "FLOAT32"),
    ]
    operators = [
        Op("CONV_2D", [0, 1, 2], [3], WINDOW),
        Op("MUL", [3, 4], [5], ("Mul", {})),
        Op("FLOOR", [5], [6]),
        Op("CAST", [6], [7], ("Cast", {})),
    ]
    return build(Graph(tensors, operators, [0], [5, 7]))


@pytest.mark.parametrize(("element", "dtype"), [("FLOAT16", np.float16), ("FLOAT64", np.float64)])
def test_all_of_a_network_is_float32(element: str, dtype: Any, tmp_path: Path) -> None:
    path = tmp_path / "net.tflite"
    path.write_bytes(network(element, dtype))
    module = in_float32(read(path.read_bytes(), "net.tflite", path))
    func = only_function(module)
    assert all("f32" in str(v.type) for v in func.body.block.args)
    given = np.random.default_rng(2).normal(size=SHAPE).astype(np.float32)
    values = evaluate(func, Weights.of(module), [given])
    (returned,) = (o.operands for o in func.body.block.ops if o.name == "func.return")
    rng = np.random.default_rng(1)
    weights, bias, factor = (rng.normal(size=s).astype(dtype) for s in (WEIGHTS, 3, 3))
    want = (given.astype(np.float64) @ weights[:, 0, 0].T.astype(np.float64) + bias) * factor
    assert np.allclose(values[returned[0]], want, atol=1e-5)
    assert np.array_equal(values[returned[1]], np.floor(values[returned[0]]))
    out = tmp_path / "c"
    assert memopt(["compile", str(path), "--target=host", "-o", str(out)]) == 0
    assert json.loads((out / "report.json").read_text())["in_float32"] == [element.lower()]


def test_weights_of_float16_alone_are_as_they_were(tmp_path: Path) -> None:
    """Check that files of converters, with DEQUANTIZE before the run, stay as they are."""
    weights = T("w", (4, 4), "FLOAT16", np.ones((4, 4), np.float16))
    tensors = [T("x", (1, 4), "FLOAT32"), weights, T("v", (4, 4), "FLOAT32")]
    dequantize = Op("DEQUANTIZE", [1], [2], ("Dequantize", {}))
    product = Op("FULLY_CONNECTED", [0, 2, -1], [3], ("FullyConnected", {}))
    graph = Graph([*tensors, T("y", (1, 4), "FLOAT32")], [dequantize, product], [0], [3])
    module = read(build(graph), "net.tflite")
    assert in_float32(module) is module
