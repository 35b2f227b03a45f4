# pyright: basic, reportArgumentType=false
# (arrays of any element type: strict has nothing to say about them)
"""Random models of one operator between `DequantizeLinear` and `QuantizeLinear`.

Weights have seven bits, for on processors without VNNI onnxruntime's sums of uint8 times int8
saturate.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import onnx
import onnxruntime as ort
from onnx import TensorProto, helper, numpy_helper

TYPES = {np.int8: TensorProto.INT8, np.uint8: TensorProto.UINT8}


class Pairs:
    """A model of one operator between pairs, of random tensors of one type."""

    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.stored: Any = (np.int8, np.uint8)[seed % 2]
        self.nodes: list[Any] = []
        self.constants: list[Any] = []
        self.inputs: dict[str, tuple[int, ...]] = {}
        self.scales: list[float] = []

    def constant(self, name: str, values: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def step(self, name: str, low: float = 0.005, high: float = 0.05) -> list[str]:
        """Names of a scale and a zero point."""
        self.scales.append(float(np.float32(self.rng.uniform(low, high))))
        limits = np.iinfo(self.stored)
        zero = self.rng.integers(limits.min, limits.max + 1)
        return [
            self.constant(name + "_s", np.float32(self.scales[-1])),
            self.constant(name + "_z", self.stored(zero)),
        ]

    def tensor(self, name: str, *shape: int, like: list[str] | None = None) -> str:
        """An input of the model, as real numbers."""
        self.inputs[name] = shape
        step = like or self.step(name)
        self.nodes.append(helper.make_node("DequantizeLinear", [name, *step], [name + "_f"]))
        return name + "_f"

    def nothing(self, like: list[str]) -> str:
        """Zero, as it is stored."""
        self.nodes.append(helper.make_node("DequantizeLinear", [like[1], *like], ["v_f"]))
        return "v_f"

    def weights(
        self, *shape: int, axis: int = 0, by_filter: float = 0.6, off: bool = False
    ) -> tuple[str, Any]:
        """Constant weights as real numbers, and their scales, one per filter or one in all; with a
        zero point of some byte now and then, where they may be `off`."""
        count = shape[axis] if self.rng.random() < by_filter else 1
        scales = self.rng.uniform(0.001, 0.02, count).astype(np.float32)
        stored, middle = np.int8, 0
        if count == 1 and self.stored is np.uint8 and self.rng.random() < 0.3:
            stored, middle = np.uint8, 128
        if count == 1 and off and self.rng.random() < 0.5:
            middle += int(self.rng.integers(-60, 61))
        values = self.rng.integers(middle - 63, middle + 64, shape)
        if stored is np.int8:  # pairs of products overflow 16 bits on processors without VNNI
            values = values.clip(-64, 63)
        names = [
            self.constant("w", values.astype(stored)),
            self.constant("w_s", scales if count > 1 else scales[0]),
            self.constant("w_z", np.full(count, middle, stored) if count > 1 else stored(middle)),
        ]
        self.nodes.append(helper.make_node("DequantizeLinear", names, ["w_f"], axis=axis))
        return "w_f", scales

    def bias(self, scales: Any, channels: int) -> str:
        steps = (np.float32(self.scales[0]) * scales).astype(np.float32)
        largest = 3000
        if self.rng.random() < 0.2:  # zeros, of steps of their own, which exporters share
            steps, largest = steps[:1] * np.float32(7), 0
        names = [
            self.constant("b", self.rng.integers(-largest, largest + 1, channels).astype(np.int32)),
            self.constant("b_s", steps if len(steps) > 1 else steps[0]),
            self.constant("b_z", np.zeros(len(steps), np.int32) if len(steps) > 1 else np.int32(0)),
        ]
        self.nodes.append(helper.make_node("DequantizeLinear", names, ["b_f"], axis=0))
        return "b_f"

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> None:
        self.nodes.append(helper.make_node(kind, inputs, ["r"], **attributes))
        clamp = self.rng.integers(3) if kind in ("Conv", "Gemm", "Add", "AveragePool") else 0
        if clamp == 1:
            self.nodes.append(helper.make_node("Relu", ["r"], ["c"]))
        elif clamp == 2:
            ends = [self.constant("low", np.float32(0)), self.constant("high", np.float32(6))]
            self.nodes.append(helper.make_node("Clip", ["r", *ends], ["c"]))
        self.result = "c" if clamp else "r"

    def model(self, like: list[str] | None, spread: float = 1.0) -> bytes:
        step = like or self.step("y", 0.01 * spread, 0.1 * spread)
        self.nodes.append(helper.make_node("QuantizeLinear", [self.result, *step], ["y"]))
        kind = TYPES[self.stored]
        inputs = [helper.make_tensor_value_info(n, kind, s) for n, s in self.inputs.items()]
        output = helper.make_tensor_value_info("y", kind, None)
        graph = helper.make_graph(self.nodes, "g", inputs, [output], self.constants)
        model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
        return onnx.shape_inference.infer_shapes(model, strict_mode=True).SerializeToString()


def convolution(p: Pairs) -> bytes:
    groups, size = int(p.rng.choice((1, 1, 2, 4))), p.rng.integers(5, 12, 2)
    kernel = [int(k) for k in p.rng.integers(1, 4, 2)]
    deep, made = 4 // groups, int(p.rng.choice((4, 8)))
    x = p.tensor("x", 1, 4, *size.tolist())
    w, scales = p.weights(made, deep, *kernel)
    bias = [p.bias(scales, made)] if p.rng.random() < 0.7 else []
    attributes = {"strides": p.rng.integers(1, 3, 2).tolist(), "group": groups}
    pads = [int(v) for k in (0, 1, 0, 1) for v in [p.rng.integers(0, kernel[k])]]
    p.add("Conv", [x, w, *bias], kernel_shape=kernel, pads=pads, **attributes)
    return p.model(None, 4.0)


def transposed(p: Pairs) -> bytes:
    groups, size = int(p.rng.choice((1, 1, 2))), p.rng.integers(2, 6, 2)
    kernel = [int(k) for k in p.rng.integers(1, 4, 2)]
    x = p.tensor("x", 1, 4, *size.tolist())
    w, scales = p.weights(4, 2, *kernel, axis=1, by_filter=0.6 if groups == 1 else 0.0)
    bias = [p.bias(scales, 2 * groups)] if p.rng.random() < 0.7 else []
    attributes = {"strides": p.rng.integers(1, 4, 2).tolist(), "group": groups}
    p.add("ConvTranspose", [x, w, *bias], kernel_shape=kernel, **attributes)
    return p.model(None, 4.0)


def over_time(p: Pairs) -> bytes:
    """A convolution over one dimension."""
    groups, kernel = int(p.rng.choice((1, 2, 4))), int(p.rng.integers(1, 4))
    x = p.tensor("x", 1, 4, int(p.rng.integers(5, 20)))
    w, scales = p.weights(8, 4 // groups, kernel)
    bias = [p.bias(scales, 8)] if p.rng.random() < 0.7 else []
    attributes = {"strides": [int(p.rng.integers(1, 3))], "group": groups}
    pads = [int(v) for v in p.rng.integers(0, kernel, 2)]
    p.add("Conv", [x, w, *bias], kernel_shape=[kernel], pads=pads, **attributes)
    return p.model(None, 4.0)


def matrix(p: Pairs) -> bytes:
    rows, width, made = (int(v) for v in p.rng.integers(1, 12, 3))
    x = p.tensor("x", rows, width)
    if p.rng.random() < 0.5:
        p.add("MatMul", [x, p.weights(width, made, axis=1, off=True)[0]])
        return p.model(None, 4.0)
    w, scales = p.weights(made, width, off=True)
    p.add("Gemm", [x, w, *([p.bias(scales, made)] if p.rng.random() < 0.7 else [])], transB=1)
    return p.model(None, 4.0)


def element_wise(p: Pairs) -> bytes:
    shape = (1, 3, *p.rng.integers(1, 6, 2).tolist())
    kind = str(p.rng.choice(("Add", "Sub", "Mul", "Sigmoid", "Tanh")))
    inputs = [p.tensor("x", *shape)]
    if kind in ("Add", "Sub", "Mul"):
        inputs.append(p.tensor("z", *(shape, (1, 3, 1, 1))[int(p.rng.integers(2))]))
    p.add(kind, inputs)
    return p.model(None, 0.2 if len(inputs) == 1 else 1.0)


def moved(p: Pairs) -> bytes:
    kind = int(p.rng.integers(7))
    like = p.step("l")
    x = p.tensor("x", 1, 4, 6, 6, like=like)
    if kind == 0:
        p.add("MaxPool", [x], kernel_shape=[2, 2], strides=[2, 2])
    elif kind == 1:
        p.add("Transpose", [x], perm=[0, 2, 3, 1])
    elif kind == 2:
        p.add("Flatten", [x])
    elif kind == 3:
        scales = p.constant("k", np.float32([1, 1, 2, 2]))
        rule = {"coordinate_transformation_mode": "asymmetric", "nearest_mode": "floor"}
        p.add("Resize", [x, "", scales], mode="nearest", **rule)
    elif kind == 4:
        value = [p.nothing(like)] if p.rng.random() < 0.5 else []
        p.add("Pad", [x, p.constant("k", np.int64([0, 0, 1, 0, 0, 0, 2, 1])), *value])
    elif kind == 5:
        p.add("DepthToSpace", [x], blocksize=2, mode=str(p.rng.choice(("DCR", "CRD"))))
    else:
        p.add("Concat", [x, p.tensor("z", 1, 2, 6, 6)], axis=1)
        return p.model(None)
    return p.model(like)


def mean(p: Pairs) -> bytes:
    x = p.tensor("x", 1, 4, 6, 6)
    kind = int(p.rng.integers(4))
    if kind == 0:
        p.add("GlobalAveragePool", [x])
    elif kind == 1:
        p.add("ReduceMean", [x], axes=[2, 3], keepdims=int(p.rng.integers(2)))
    elif kind == 2:
        axes = p.constant("k", np.int64([[1], [2, 3]][int(p.rng.integers(2))]))
        p.add("ReduceSum", [x, axes], keepdims=int(p.rng.integers(2)))
        return p.model(None, 4.0)
    else:
        pads, counted = [int(p.rng.integers(2))] * 4, int(p.rng.integers(2))
        p.add("AveragePool", [x], kernel_shape=[3, 3], pads=pads, count_include_pad=counted)
    return p.model(None, 0.5)


FAMILIES: dict[str, tuple[Callable[[Pairs], bytes], int]] = {
    "convolution": (convolution, 0),
    "over_time": (over_time, 0),
    "transposed": (transposed, 1),
    "matrix": (matrix, 0),
    "element_wise": (element_wise, 0),
    "moved": (moved, 0),
    "mean": (mean, 1),
}
"""How a model is made, and by how much an element may differ: means, and what transposed
convolutions add, are added up in float32 by onnxruntime, exactly here."""


def results(data: bytes, feeds: dict[str, Any], fused: bool) -> Any:
    options = ort.SessionOptions()
    levels = ort.GraphOptimizationLevel
    options.graph_optimization_level = levels.ORT_ENABLE_ALL if fused else levels.ORT_DISABLE_ALL
    options.intra_op_num_threads, options.log_severity_level = 1, 4
    options.add_session_config_entry("session.qdqisint8allowed", "1")
    session = ort.InferenceSession(data, options, providers=["CPUExecutionProvider"])
    return session.run(None, feeds)[0]
