# pyright: basic
"""A small image classifier as ONNX: of float32, and quantised by onnxruntime's own tool."""

from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

SHAPE = (1, 3, 16, 16)
SEVEN_BITS = True  # of weights: so no processor's sums saturate


class Layers:
    def __init__(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.nodes: list[Any] = []
        self.constants: list[Any] = []

    def constant(self, name: str, *shape: int) -> str:
        return self.values(name, self.rng.normal(size=shape, scale=0.3).astype(np.float32))

    def values(self, name: str, values: Any) -> str:
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def add(self, kind: str, inputs: list[str], **attributes: Any) -> str:
        name = f"{kind.lower()}{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name=name, **attributes))
        return name

    def conv(
        self,
        x: str,
        before: int,
        after: int,
        size: int,
        stride: int = 1,
        groups: int = 1,
        pads: int | None = None,
    ) -> str:
        k = len(self.nodes)
        operands = [
            x,
            self.constant(f"w{k}", after, before // groups, size, size),
            self.constant(f"b{k}", after),
        ]
        around = [size // 2 if pads is None else pads] * 4
        window = {"kernel_shape": [size] * 2, "pads": around, "strides": [stride] * 2}
        return self.add("Conv", operands, **window, group=groups)


def network(path: Path, seed: int = 0) -> Path:
    """Convolutions of every kind, a residual sum, pools, a concatenation, a matrix."""
    n = Layers(seed)
    a = n.add("Relu", [n.conv("x", 3, 8, 3, 2)])
    b = n.add("Relu", [n.conv(a, 8, 8, 3, 1, 8)])
    s = n.add("Add", [a, n.conv(b, 8, 8, 1)])
    m = n.add("MaxPool", [n.add("Relu", [n.conv(s, 8, 8, 3)])], kernel_shape=[2, 2], strides=[2, 2])
    c = n.add("Concat", [n.add("Relu", [n.conv(m, 8, 4, 1)]), m], axis=1)
    f = n.add("Flatten", [n.add("GlobalAveragePool", [c])])
    y = n.add("Gemm", [f, n.constant("gw", 10, 12), n.constant("gb", 10)], transB=1)
    return saved(n, y, 10, path)


def random_network(path: Path, seed: int) -> Path:
    """Layers drawn at random, and a matrix: convolutions of all kinds with or without a Relu,
    residual sums, pools of the largest, concatenations."""
    n, rng = Layers(seed), np.random.default_rng(seed)
    name, channels, size = "x", SHAPE[1], SHAPE[2]
    for _ in range(rng.integers(2, 7)):
        match rng.integers(6):
            case 0 | 1:
                after, stride = int(rng.integers(1, 9)), int(rng.integers(1, 3)) if size > 4 else 1
                width = int(rng.choice([1, 3, 5]))
                name = n.conv(name, channels, after, width, stride)
                channels, size = after, (size - 1) // stride + 1
            case 2:
                name = n.conv(name, channels, channels, 3, 1, channels)
            case 3:
                name = n.add("Add", [name, n.conv(name, channels, channels, 1)])
            case 4 if size > 3:
                name = n.add("MaxPool", [name], kernel_shape=[2, 2], strides=[2, 2])
                size //= 2
            case _:
                more = int(rng.integers(1, 5))
                name = n.add("Concat", [n.conv(name, channels, more, 1), name], axis=1)
                channels += more
        if rng.random() < 0.6:
            name = n.add("Relu", [name])
    f, count = n.add("Flatten", [name]), int(rng.integers(1, 12))
    w, b = n.constant("gw", count, channels * size * size), n.constant("gb", count)
    return saved(n, n.add("Gemm", [f, w, b], transB=1), count, path)


def saved(n: Layers, y: str, count: int, path: Path) -> Path:
    """The file of a network with so many results."""
    values = [
        helper.make_tensor_value_info("x", TensorProto.FLOAT, SHAPE),
        helper.make_tensor_value_info(y, TensorProto.FLOAT, (1, count)),
    ]
    graph = helper.make_graph(n.nodes, "g", values[:1], values[1:], n.constants)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model)
    onnx.save(model, path)
    return path


def images(seed: int, count: int) -> list[Any]:
    rng = np.random.default_rng(seed)
    return [rng.normal(size=SHAPE).astype(np.float32) for _ in range(count)]


def quantised(source: Path, path: Path, unsigned: bool, pairs: bool = True) -> Path:
    """The network with `QuantizeLinear` and `DequantizeLinear` around every operator, or of
    operators that say themselves how their tensors are stored."""
    from onnxruntime import quantization as tool

    class Calibration(tool.CalibrationDataReader):
        def __init__(self) -> None:
            self.left = images(1, 4)

        def get_next(self) -> Any:
            return {"x": self.left.pop()} if self.left else None

    kind = tool.QuantType.QUInt8 if unsigned else tool.QuantType.QInt8
    tool.quantize_static(
        source,
        path,
        Calibration(),
        quant_format=tool.QuantFormat.QDQ if pairs else tool.QuantFormat.QOperator,
        activation_type=kind,
        weight_type=tool.QuantType.QInt8,
        per_channel=True,
        reduce_range=SEVEN_BITS,
    )
    return path
