# pyright: basic, reportArgumentType=false
"""Tests of the reasons of opaque operators: in the IR, in its text, and in refusals."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from benchmarks.tables.onnx_nodes import cases
from onnx import TensorProto, helper, numpy_helper, shape_inference
from tflite_builder import Graph, Op, T, build

from memopt.cli import main
from memopt.compile.driver import import_bytes
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.structure import REASON_LENGTH, OpaqueOp

F, I8 = TensorProto.FLOAT, TensorProto.INT8
IMAGE = (1, 2, 6, 6)
VOLUME = (1, 2, 4, 6, 6)
LONG = "x" * 2 * REASON_LENGTH


def model(
    kind: str,
    *shapes: Any,
    element: int = F,
    more: Any = (),
    outputs: int = 1,
    **attributes: Any,
) -> bytes:
    """Return an .onnx of one operator whose inputs have these shapes; `more` are constant
    operands."""
    inputs = [helper.make_tensor_value_info(f"x{i}", element, s) for i, s in enumerate(shapes)]
    constants = [numpy_helper.from_array(np.asarray(v), f"c{i}") for i, v in enumerate(more)]
    domain, _, name = kind.rpartition(".")
    names = [f"y{i}" for i in range(outputs)]
    operands = [v.name for v in (*inputs, *constants)]
    node = helper.make_node(name, operands, names, domain=domain, **attributes)
    results = [helper.make_empty_tensor_value_info(n) for n in names]
    if domain:
        results = [helper.make_tensor_value_info(n, F, shapes[0]) for n in names]
    graph = helper.make_graph([node], "g", inputs, results, constants)
    opsets = [helper.make_opsetid("", 18), *([helper.make_opsetid(domain, 1)] if domain else [])]
    made_model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    return shape_inference.infer_shapes(made_model).SerializeToString()


def opaque(data: bytes, ending: str) -> OpaqueOp:
    func = only_function(import_bytes(data, ending, "m", None))
    (operation,) = [op for op in func.walk() if isinstance(op, OpaqueOp)]
    return operation


ONNX = [
    (model("com.example.Odd", IMAGE), "no operation of memopt computes it"),
    (model("Det", (3, 3)), "no operation of memopt computes it"),
    (model("LpPool", IMAGE, kernel_shape=[2, 2], p=3), "p = 3 (1 and 2 have one)"),
    (model("RNN", (4, 1, 3), (1, 5, 3), (1, 5, 5), activations=["Affine"], hidden_size=5),
     "activation Affine (relu, tanh, sigmoid, softsign, "),
    (model("Einsum", (3, 3), equation="ii->i"),
     "equation = ii->i (without diagonals it has one)"),
    (model("Einsum", (3,), equation="i->.i"), "equation = i->.i"),
    (model("Einsum", (1, 3), (2, 3), equation="...i,...i->...i"),
     "equation = ...i,...i->...i (of dimensions that are alike it has one)"),
    (model("com.microsoft.FusedMatMul", (2, 2, 2), (2, 2, 2), transBatchA=1),
     "transBatchA or transBatchB = 1 (0 has one)"),
    (model("AveragePool", VOLUME, kernel_shape=[2, 2, 2]), "3 dimensions behind the channels"),
]  # fmt: skip


@pytest.mark.parametrize(("data", "text"), ONNX, ids=[text for _, text in ONNX])
def test_what_stops_an_operator_of_onnx(data: bytes, text: str) -> None:
    assert text in opaque(data, ".onnx").reason


POOL = ("Pool2D", {"strideH": 0, "strideW": 1, "filterHeight": 2, "filterWidth": 2, "padding": 1})
REAL = [T("x", [1, 4, 4, 1], "FLOAT32"), T("y", [1, 4, 4, 1], "FLOAT32")]
TFLITE = [
    (Graph(REAL, [Op("MAX_POOL_2D", [0], [1], POOL)], [0], [1]),
     "a window, stride or dilation below 1"),
    (Graph(REAL, [Op("LEAKY_RELU", [0], [1], ("LeakyRelu", {"alpha": -1.0}))], [0], [1]),
     "alpha = -1.0"),
    (Graph(REAL, [Op("CUSTOM:Odd", [0], [1])], [0], [1]), "no operation of memopt computes it"),
    (Graph([*REAL, T("s", [4], "INT32")], [Op("RESHAPE", [0, 2], [1])], [0, 2], [1]),
     "computed at run time"),
    (Graph(REAL, [Op("LEAKY_RELU", [0], [1])], [0], [1]), "the file does not say alpha"),
    (Graph([T("x", [3], "INT32"), T("y", [3], "INT32")], [Op("SIN", [0], [1])], [0], [1]),
     "on i32 (f32 has one)"),
]  # fmt: skip


@pytest.mark.parametrize(("graph", "text"), TFLITE, ids=[text for _, text in TFLITE])
def test_what_stops_an_operator_of_tflite(graph: Graph, text: str) -> None:
    assert text in opaque(build(graph), ".tflite").reason


def test_it_survives_printing_and_is_in_the_refusal(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, text = tmp_path / "m.onnx", tmp_path / "m.mlir"
    path.write_bytes(model("LpPool", IMAGE, kernel_shape=[2, 2], p=3))
    assert main(["compile", str(path), "--target=host", "-o", str(tmp_path / "a")]) == 1
    refusal = "no kernel for LpPool on (f32): p = 3 (1 and 2 have one)"
    assert capsys.readouterr().err.rstrip().endswith(refusal)
    text.write_text(str(import_bytes(path.read_bytes(), ".onnx", "m", None)))
    assert main(["compile", str(text), "--target=host", "-o", str(tmp_path / "b")]) == 1
    assert capsys.readouterr().err.rstrip().endswith(refusal)


def test_a_text_of_the_file_is_ascii_and_not_too_long() -> None:
    data = model(
        "RNN", (4, 1, 3), (1, 5, 3), (1, 5, 5), activations=["\u00e9" + LONG], hidden_size=5
    )
    assert len(opaque(data, ".onnx").reason) <= 4 * REASON_LENGTH
    assert opaque(data, ".onnx").reason.isascii()


@pytest.mark.deep
def test_every_one_that_onnx_tests_says_why(fuzz: float) -> None:
    step = 1 if fuzz >= 1 else 4
    for case in cases()[::step]:
        try:
            module = import_bytes(case.model.SerializeToString(), ".onnx", case.name, None)
        except MemoptError:
            continue
        assert all(op.reason for op in module.walk() if isinstance(op, OpaqueOp)), case.name
