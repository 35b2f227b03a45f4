# pyright: basic
"""Networks that ONNX quantizes at run time, or of unusual scales, as C: onnxruntime's numbers."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper
from onnx_programs import compare
from onnx_programs import saved as saved_graph
from quick_options import QUICK

from memopt.cli import main

ort = pytest.importorskip("onnxruntime")
OPSETS = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
RNG = np.random.default_rng(3)


def ints(low: int, high: int, *shape: int, dtype: Any = np.int8) -> Any:
    return RNG.integers(low, high, shape).astype(dtype)


def dynamic(weights: Any, zero: Any, *, rows: int = 3) -> tuple[list[Any], dict[str, Any]]:
    """Return what quantize_dynamic makes of a product with a matrix."""
    make = helper.make_node
    nodes = [
        make("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        make("MatMulInteger", ["q", "w", "z", "wz"], ["i"]),
        make("Cast", ["i"], ["f"], to=1),
        make("Mul", ["s", "ws"], ["ss"]),
        make("Mul", ["f", "ss"], ["y"]),
    ]
    return nodes, {"w": weights, "wz": zero, "ws": np.array([0.01], "f4")}


def zero_scale() -> tuple[list[Any], dict[str, Any]]:
    """A filter whose scale is 0."""
    make = helper.make_node
    nodes = [
        make("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        make("DequantizeLinear", ["q", "xs", "xz"], ["xd"]),
        make("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=1),
        make("MatMul", ["xd", "wd"], ["y"]),
    ]
    scales = np.full(4, 0.02, "f4")
    scales[1] = 0
    fixed = {"xs": np.float32(0.05), "xz": np.int8(3)}
    return nodes, {"w": ints(-128, 128, 8, 4), "ws": scales, "wz": np.zeros(4, "i1"), **fixed}


def computed_scale() -> tuple[list[Any], dict[str, Any]]:
    """Scales that are results: quantized and back."""
    make = helper.make_node
    nodes = [
        make("ReduceMax", ["x"], ["m"], keepdims=0),
        make("QuantizeLinear", ["x", "m", "z"], ["q"]),
        make("DequantizeLinear", ["q", "m", "z"], ["y"]),
    ]
    return nodes, {"z": np.int8(3)}


def dynamic_images(weights: Any, zero: Any, **attributes: Any) -> tuple[list[Any], dict[str, Any]]:
    """Return what quantize_dynamic makes of a convolution."""
    make = helper.make_node
    nodes = [
        make("DynamicQuantizeLinear", ["x"], ["q", "s", "z"]),
        make("ConvInteger", ["q", "w", "z", "wz"], ["i"], **attributes),
        make("Cast", ["i"], ["f"], to=1),
        make("Mul", ["s", "ws"], ["ss"]),
        make("Mul", ["f", "ss"], ["y"]),
    ]
    return nodes, {"w": weights, "wz": zero, "ws": np.array([0.01], "f4")}


IMAGES = {
    "pads": (ints(-128, 128, 5, 4, 3, 2), np.int8(0), {"pads": [1, 0, 2, 1], "strides": [2, 1]}),
    "groups": (ints(0, 256, 6, 2, 3, 3, dtype="u1"), np.uint8(120), {"group": 2}),
    "dilated": (ints(-128, 128, 4, 4, 2, 3), np.int8(-3), {"dilations": [3, 2]}),
    "one dimension": (ints(-128, 128, 3, 4, 3), np.int8(0), {"pads": [1, 1]}),
}


@pytest.mark.parametrize("name", IMAGES)
def test_convolutions_of_integers(name: str, tmp_path: Path, lab: Any) -> None:
    """Check convolutions with the zero point that the run time finds."""
    lab.need_tools("host")
    weights, zero, attributes = IMAGES[name]
    nodes, constants = dynamic_images(weights, zero, **attributes)
    x = RNG.normal(size=(2, 4, 7, 6)[: weights.ndim]).astype("f4")
    compare(lab, saved(tmp_path / "m.onnx", nodes, constants, x.shape), {"x": x}, 0, 0)


CASES = {
    "int8": lambda: dynamic(ints(-128, 128, 8, 4), np.int8(0)),
    "uint8": lambda: dynamic(ints(0, 256, 8, 4, dtype="u1"), np.uint8(128)),
    "columns": lambda: dynamic(ints(-128, 128, 8, 4), np.array([0, 3, -5, 7], np.int8)),
    "long": lambda: dynamic(ints(100, 128, 2000, 4), np.int8(0)),
    "zero scale": zero_scale,
    "computed scale": computed_scale,
}


def saved(path: Path, nodes: Sequence[Any], constants: dict[str, Any], x: Sequence[int]) -> Path:
    tensors = [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()]
    value, result = (helper.make_tensor_value_info(*v) for v in (("x", 1, x), ("y", 1, None)))
    graph = helper.make_graph(list(nodes), "g", [value], [result], tensors)
    onnx.save(helper.make_model(graph, opset_imports=OPSETS), path)
    model = onnx.load(path)
    model.ir_version = 8
    onnx.save(onnx.shape_inference.infer_shapes(model), path)
    return path


def unsigned(constants: dict[str, Any]) -> dict[str, Any]:
    """Return the same weights and zero points as uint8: onnxruntime adds pairs of products with
    int8 in 16 bits, which overflow, on processors without VNNI."""
    if "w" not in constants or constants["w"].dtype != np.int8:
        return constants
    moved = {k: (np.int16(constants[k]) + 128).astype(np.uint8) for k in ("w", "wz")}
    return constants | moved


@pytest.mark.deep
@pytest.mark.parametrize("name", CASES)
def test_results_are_those_of_onnxruntime(name: str, tmp_path: Path, lab: Any) -> None:
    lab.need_tools("host")
    nodes, constants = CASES[name]()
    depth = constants["w"].shape[0] if "w" in constants else 8
    path = saved(tmp_path / "m.onnx", nodes, constants, (3, depth))
    xs = np.stack([RNG.normal(size=(3, depth)), np.zeros((3, depth)), np.ones((3, depth))])
    if name == "computed scale":
        xs = np.abs(xs) + 1
    xs = xs.astype("f4")
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    asked = saved(tmp_path / "asked.onnx", nodes, unsigned(constants), (3, depth))
    session = ort.InferenceSession(str(asked), options)
    folder = tmp_path / "c"
    assert main(["compile", str(path), *QUICK, "-o", str(folder)]) == 0
    for x in xs:
        (want,) = session.run(None, {"x": x})
        run = lab.run_project(folder, [x[None]], lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        got = np.frombuffer(run.output, "f4").reshape(want.shape)
        if name == "zero scale":  # a product of reals
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
        else:
            np.testing.assert_array_equal(got, want)


@pytest.mark.parametrize("opset", [12, 13])
@pytest.mark.parametrize("dtype", ["i1", "u1"])
@pytest.mark.parametrize("count", [3, 10, 1000])
def test_qlinear_softmax_has_onnxruntimes_bytes(
    count: int, dtype: str, opset: int, tmp_path: Path, lab: Any
) -> None:
    """Between a quantization and back, of scores near and far from each other."""
    lab.need_tools("host")
    make, low = helper.make_node, np.iinfo(dtype).min
    nodes = [
        make("QuantizeLinear", ["x", "xs", "xz"], ["q"]),
        make(
            *("QLinearSoftmax", ["q", "xs", "xz", "ys", "yz"], ["p"]),
            domain="com.microsoft",
            opset=opset,
            axis=1,
        ),
        make("DequantizeLinear", ["p", "ys", "yz"], ["y"]),
    ]
    kind = np.dtype(dtype).type
    constants = {"xs": np.float32(0.1), "xz": kind(3), "ys": np.float32(1 / 256), "yz": kind(low)}
    shape = (4, count) if opset == 13 else (4, count, 1)
    path = saved(tmp_path / "m.onnx", nodes, constants, shape)
    folder = tmp_path / "c"
    assert main(["compile", str(path), *QUICK, "-o", str(folder)]) == 0
    session = ort.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    for spread in (0.1, 3, 12):
        x = (spread * RNG.normal(size=shape)).astype("f4")
        (want,) = session.run(None, {"x": x})
        run = lab.run_project(folder, [x[None]], lab.SANITIZE, trace=False)
        assert run.code == 0, run.messages
        np.testing.assert_array_equal(np.frombuffer(run.output, "f4"), want.reshape(-1))


@pytest.mark.deep
@pytest.mark.parametrize("form", ["convolution", "each filter", "matrix", "Gemm", "real Gemm"])
def test_weights_whose_zero_point_is_not_in_the_middle(form: str, tmp_path: Path, lab: Any) -> None:
    """Check what onnxruntime's quantiser makes of uint8 weights, to the bit."""
    lab.need_tools("host")
    scales, zeros = np.float32(0.01), np.uint8(111)
    is_image = form in ("convolution", "each filter")
    shape, filters = ((1, 3, 5, 5), (4, 3, 3, 3)) if is_image else ((5, 16), (16, 4))
    if form == "each filter":
        scales = RNG.uniform(0.01, 0.02, 4).astype("f4")
        zeros = ints(100, 140, 4, dtype=np.uint8)
    fixed = {
        "xs": np.float32(0.02),
        "xz": np.uint8(120),
        "ys": np.float32(0.2),
        "yz": np.uint8(99),
        "w": ints(0, 256, *(filters[::-1] if "Gemm" in form else filters), dtype=np.uint8),
        "ws": scales,
        "wz": zeros,
        "b": ints(-900, 900, 4, dtype=np.int32),
    }
    names, ends = ["x", "xs", "xz", "w", "ws", "wz"], ["ys", "yz"]
    if is_image:
        node = helper.make_node("QLinearConv", [*names, *ends, "b"], ["y"], pads=[1] * 4)
    elif form == "matrix":
        node = helper.make_node("QLinearMatMul", [*names, *ends], ["y"])
    else:
        ends = ends if form == "Gemm" else []
        given = {"domain": "com.microsoft", "transB": 1, "alpha": 0.5 if form == "Gemm" else 1.0}
        node = helper.make_node("QGemm", [*names, "b", *ends], ["y"], **given)
    x = ints(0, 256, *shape, dtype=np.uint8)
    read = {k: v for k, v in fixed.items() if k in node.input}
    declared = {"y": (1 if form == "real Gemm" else 2, (5, 4))} if "Gemm" in form else None
    path = saved_graph(tmp_path / "m.onnx", [node], {"x": x}, read, declared=declared)
    compare(lab, path, {"x": x})
    if "Gemm" not in form:  # between reals
        node.input[0], node.output[0] = "q", "p"
        before = helper.make_node("QuantizeLinear", ["x", "xs", "xz"], ["q"])
        behind = helper.make_node("DequantizeLinear", ["p", "ys", "yz"], ["y"])
        real = {"x": RNG.normal(size=shape).astype("f4")}
        path = saved_graph(tmp_path / "r.onnx", [before, node, behind], real, read)
        compare(lab, path, real, rtol=0, atol=0)
