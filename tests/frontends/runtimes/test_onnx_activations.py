"""One network as .onnx and as .tflite: the same figures, before and after, and the same numbers."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx_reference import reference, run
from tflite_builder import Graph, Op, T, build
from xdsl.ir import Operation

from memopt.cli import main
from memopt.compile.driver import import_bytes
from memopt.dialects.memgraph.functions import functions

RNG = np.random.default_rng(8)
SIZE, CHANNELS = 12, 8


def random(*shape: int) -> Any:
    return RNG.normal(size=shape).astype(np.float32)


CONV, DEPTHWISE = random(CHANNELS, 3, 3, 3), random(CHANNELS, 1, 3, 3)
POINT, DENSE = random(CHANNELS, CHANNELS, 1, 1), random(CHANNELS, 10)
SAME: dict[str, Any] = {"pads": [1, 1, 1, 1]}


def as_onnx() -> ModelProto:
    """Every Relu is a node, the dense weights are not transposed: as PyTorch writes it."""
    node = helper.make_node
    nodes = [
        node("Conv", ["x", "conv"], ["a"], **SAME),
        node("Relu", ["a"], ["b"]),
        node("Conv", ["b", "depthwise"], ["c"], group=CHANNELS, **SAME),
        node("Clip", ["c", "zero", "six"], ["d"]),
        node("Conv", ["d", "point"], ["e"]),
        node("Add", ["b", "e"], ["f"]),
        node("Relu", ["f"], ["g"]),
        node("GlobalAveragePool", ["g"], ["h"]),
        node("Flatten", ["h"], ["i"]),
        node("Gemm", ["i", "dense"], ["j"]),
        node("Relu", ["j"], ["y"]),
    ]
    constants = {"conv": CONV, "depthwise": DEPTHWISE, "point": POINT, "dense": DENSE}
    constants |= {"zero": np.float32(0), "six": np.float32(6)}
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, SIZE, SIZE])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 10])],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def as_tflite() -> bytes:
    f, image = "FLOAT32", [1, SIZE, SIZE, CHANNELS]
    tensors = [
        T("x", [1, SIZE, SIZE, 3], f),
        T("conv", (CHANNELS, 3, 3, 3), f, np.ascontiguousarray(CONV.transpose(0, 2, 3, 1))),
        T("b", image, f),
        T(
            "depthwise",
            (1, 3, 3, CHANNELS),
            f,
            np.ascontiguousarray(DEPTHWISE.transpose(1, 2, 3, 0)),
        ),
        T("d", image, f),
        T(
            "point",
            (CHANNELS, 1, 1, CHANNELS),
            f,
            np.ascontiguousarray(POINT.transpose(0, 2, 3, 1)),
        ),
        T("e", image, f),
        T("g", image, f),
        T("h", [1, 1, 1, CHANNELS], f),
        T("shape", [2], "INT32", np.array([1, CHANNELS], np.int32)),
        T("i", [1, CHANNELS], f),
        T("dense", (10, CHANNELS), f, np.ascontiguousarray(DENSE.T)),
        T("y", [1, 10], f),
    ]
    once = {"padding": 0, "strideH": 1, "strideW": 1}
    pool = {**once, "padding": 1, "filterHeight": SIZE, "filterWidth": SIZE}
    activation, depthwise = "fusedActivationFunction", "DepthwiseConv2D"
    operators = [
        Op("CONV_2D", [0, 1, -1], [2], ("Conv2D", {**once, activation: 1})),
        Op(
            "DEPTHWISE_CONV_2D",
            [2, 3, -1],
            [4],
            (depthwise, {**once, "depthMultiplier": 1, activation: 3}),
        ),
        Op("CONV_2D", [4, 5, -1], [6], ("Conv2D", once)),
        Op("ADD", [2, 6], [7], ("Add", {activation: 1})),
        Op("AVERAGE_POOL_2D", [7], [8], ("Pool2D", pool)),
        Op("RESHAPE", [8, 9], [10], ("Reshape", {})),
        Op("FULLY_CONNECTED", [10, 11, -1], [12], ("FullyConnected", {activation: 1})),
    ]
    return build(Graph(tensors, operators, [0], [12]))


def report(path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    flags = ["--target=host", "--rows=none", "--rewrite=none", "--json"]
    assert main(["report", str(path), *flags]) == 0
    return json.loads(capsys.readouterr().out)


def test_onnx_and_tflite_need_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The file's own order (no transposed weights in it) and the plan, byte for byte."""
    (tmp_path / "net.onnx").write_bytes(as_onnx().SerializeToString())
    (tmp_path / "net.tflite").write_bytes(as_tflite())
    a, b = (report(tmp_path / name, capsys) for name in ("net.onnx", "net.tflite"))
    assert a["source"] == b["source"]
    assert a["plan"] == b["plan"]
    assert (a["operators"], a["tensors"]) == (b["operators"], b["tensors"])
    assert a["plan"]["peak"] == 3 * 4 * SIZE * SIZE * CHANNELS


def test_merged_activations_mean_the_same(tmp_path: Path) -> None:
    """Against onnxruntime without optimisation, every Relu inside the operation before it."""
    data, feeds = as_onnx().SerializeToString(), {"x": random(1, 3, SIZE, SIZE)}
    found, names = run(data, tmp_path / "net.onnx", feeds)
    assert not names & {"relu", "relu6"}
    (expected,) = reference(data, feeds)
    assert 0 < (expected == 0).sum() < expected.size
    np.testing.assert_allclose(found[0], expected, rtol=1e-5, atol=1e-5)


def two(first: Any, *rest: Any, outputs: tuple[str, ...] = ("y",), **constants: Any) -> list[str]:
    """The operations that are left of x, z -> first -> rest."""
    graph = helper.make_graph(
        [first, *rest],
        "g",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, [1, 4, 6, 6]) for n in "xz"],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, None) for n in outputs],
        [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    module = import_bytes(
        onnx.shape_inference.infer_shapes(model).SerializeToString(), ".onnx", "m.onnx", None
    )
    module.verify()
    ops: list[Operation] = list(next(functions(module)).body.block.ops)
    return [
        op.name.removeprefix("memgraph.") + str(op.properties.get("activation", ""))[20:]
        for op in ops[:-1]
        if op.name != "memgraph.constant"
    ]


def test_what_merges_and_what_does_not() -> None:
    node, zero, six = helper.make_node, np.float32(0), np.float32(6)
    add, relu = node("Add", ["x", "z"], ["a"]), node("Relu", ["a"], ["y"])
    assert two(add, relu) == ["add<relu>"]
    assert two(add, node("Clip", ["a", "l", "h"], ["y"]), l=zero, h=six) == ["add<relu6>"]
    pool = node("MaxPool", ["x"], ["a"], kernel_shape=[2, 2])
    assert two(pool, relu) == ["max_pool_2d<relu>"]
    # Somebody else reads the tensor before the Relu, also the caller.
    reader = node("Sub", ["a", "y"], ["b"])
    assert two(add, relu, reader, outputs=("b",)) == ["add", "relu", "sub"]
    assert two(add, relu, outputs=("y", "a")) == ["add", "relu"]
    # One activation is applied; a second waits.
    both = node("Clip", ["y", "l", "h"], ["b"])
    assert two(add, relu, both, outputs=("b",), l=zero, h=six) == ["add<relu>", "relu6"]
    # What has no activation: operators without one, opaque ones, joined tensors, constants, inputs.
    assert two(node("Sigmoid", ["x"], ["a"]), relu) == ["logistic", "relu"]
    assert two(node("Erf", ["x"], ["a"]), relu) == ["erf", "relu"]
    assert two(node("Concat", ["x", "z"], ["a"], axis=1), relu) == ["concat", "relu"]
    assert two(node("Max", ["x", "z"], ["a"]), relu) == ["maximum", "relu"]
    assert two(node("Relu", ["x"], ["y"])) == ["relu"]
    assert two(add, node("Clip", ["a", "l", "h"], ["y"]), l=-six, h=six) == [
        "add",
        "maximum",
        "minimum",
    ]


def test_the_result_keeps_the_relu_s_name() -> None:
    module = import_bytes(as_onnx().SerializeToString(), ".onnx", "net.onnx", None)
    assert '{memgraph.names = ["y"]' in str(module) and '"j"' not in str(module)
