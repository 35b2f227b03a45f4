# pyright: basic
"""The same layers as ONNX with pairs of Q/DQ and as int8 `.tflite`: plans are the same."""

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper
from tflite_builder import Graph, Op, T, build
from xdsl.context import Context

from memopt.compile.driver import load_model
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of
from memopt.passes.memgraph_fuse import MemgraphFusePass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_nhwc_io import MemgraphNhwcIoPass
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass

STEP, ZERO = 0.05, -3
INT8 = ((STEP,), [ZERO])


@dataclass
class Onnx:
    """Real operators between pairs; images channels first."""

    nodes: list[Any] = field(default_factory=list)
    constants: list[Any] = field(default_factory=list)
    shapes: dict[str, tuple[int, ...]] = field(default_factory=dict)

    def constant(self, values: Any) -> str:
        name = f"k{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.asarray(values), name))
        return name

    def real(self, stored: str, scale: float, zero: Any) -> str:
        name = f"r{len(self.nodes)}"
        operands = [stored, self.constant(np.float32(scale)), self.constant(zero)]
        self.nodes.append(helper.make_node("DequantizeLinear", operands, [name]))
        return name

    def add(self, kind: str, inputs: list[str], shape: tuple[int, ...], **attributes: Any) -> str:
        name = f"y{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name + "f"], **attributes))
        step = [self.constant(np.float32(STEP)), self.constant(np.int8(ZERO))]
        self.nodes.append(helper.make_node("QuantizeLinear", [name + "f", *step], [name]))
        self.shapes[name] = shape
        return name

    def read(self, *names: str) -> list[str]:
        return [self.real(name, STEP, np.int8(ZERO)) for name in names]

    def input(self, size: int, channels: int) -> str:
        self.shapes["x"] = (1, channels, size, size)
        return "x"

    def conv(self, x: str, made: int, kernel: int, groups: int = 1) -> str:
        _, channels, size, _ = self.shapes[x]
        shape = (made, channels // groups, kernel, kernel)
        w = self.real(self.constant(np.ones(shape, np.int8)), 0.01, np.int8(0))
        window = {"kernel_shape": [kernel] * 2, "pads": [kernel // 2] * 4}
        return self.add("Conv", [*self.read(x), w], (1, made, size, size), group=groups, **window)

    def pool(self, x: str) -> str:
        _, channels, size, _ = self.shapes[x]
        shape = (1, channels, size // 2, size // 2)
        return self.add("MaxPool", self.read(x), shape, kernel_shape=[2, 2], strides=[2, 2])

    def sum(self, a: str, b: str) -> str:
        return self.add("Add", self.read(a, b), self.shapes[a])

    def concat(self, *parts: str) -> str:
        _, _, *size = self.shapes[parts[0]]
        channels = sum(self.shapes[p][1] for p in parts)
        return self.add("Concat", self.read(*parts), (1, channels, *size), axis=1)

    def matrix(self, x: str, made: int) -> str:
        """Of the mean of every channel."""
        channels = self.shapes[x][1]
        mean = self.add("GlobalAveragePool", self.read(x), (1, channels, 1, 1))
        flat = self.add("Flatten", self.read(mean), (1, channels))
        w = self.real(self.constant(np.ones((made, channels), np.int8)), 0.01, np.int8(0))
        return self.add("Gemm", [*self.read(flat), w], (1, made), transB=1)

    def write(self, path: Path, output: str) -> Path:
        def info(name: str) -> Any:
            return helper.make_tensor_value_info(name, TensorProto.INT8, self.shapes[name])

        graph = helper.make_graph(self.nodes, "g", [info("x")], [info(output)], self.constants)
        opset = [helper.make_opsetid("", 17)]
        model = helper.make_model(graph, opset_imports=opset, ir_version=8)
        onnx.save(onnx.shape_inference.infer_shapes(model, strict_mode=True), path)
        return path


@dataclass
class Tflite:
    """Operators of integers; images channels last."""

    tensors: list[Any] = field(default_factory=list)
    ops: list[Any] = field(default_factory=list)

    def tensor(self, shape: tuple[int, ...], data: Any = None, scale: float = STEP) -> int:
        zero = ZERO if data is None else 0
        name = f"t{len(self.tensors)}"
        self.tensors.append(T(name, list(shape), "INT8", data, scale=(scale,), zero=[zero]))
        return len(self.tensors) - 1

    def add(self, kind: str, inputs: list[int], shape: tuple[int, ...], options: Any) -> int:
        made = self.tensor(shape)
        self.ops.append(Op(kind, inputs, [made], options))
        return made

    def shape(self, x: int) -> tuple[int, ...]:
        return tuple(self.tensors[x].shape)

    def input(self, size: int, channels: int) -> int:
        return self.tensor((1, size, size, channels))

    def conv(self, x: int, made: int, kernel: int, groups: int = 1) -> int:
        _, size, _, channels = self.shape(x)
        stride = {"padding": 0, "strideH": 1, "strideW": 1}
        stride |= {"dilationHFactor": 1, "dilationWFactor": 1}
        shape, kind = (made, kernel, kernel, channels), "CONV_2D"
        options = ("Conv2D", stride)
        if groups > 1:
            shape, kind = (1, kernel, kernel, made), "DEPTHWISE_CONV_2D"
            options = ("DepthwiseConv2D", stride | {"depthMultiplier": 1})
        w = self.tensor(shape, np.ones(shape, np.int8), 0.01)
        return self.add(kind, [x, w], (1, size, size, made), options)

    def pool(self, x: int) -> int:
        _, size, _, channels = self.shape(x)
        window = {"strideH": 2, "strideW": 2, "filterHeight": 2, "filterWidth": 2, "padding": 1}
        return self.add("MAX_POOL_2D", [x], (1, size // 2, size // 2, channels), ("Pool2D", window))

    def sum(self, a: int, b: int) -> int:
        return self.add("ADD", [a, b], self.shape(a), ("Add", {}))

    def concat(self, *parts: int) -> int:
        *size, _ = self.shape(parts[0])
        channels = sum(self.shape(p)[-1] for p in parts)
        return self.add(
            "CONCATENATION", list(parts), (*size, channels), ("Concatenation", {"axis": 3})
        )

    def matrix(self, x: int, made: int) -> int:
        *_, size, channels = self.shape(x)
        window = {"strideH": 1, "strideW": 1, "filterHeight": size, "filterWidth": size}
        pool = ("Pool2D", window | {"padding": 1})
        mean = self.add("AVERAGE_POOL_2D", [x], (1, 1, 1, channels), pool)
        w = self.tensor((made, channels), np.ones((made, channels), np.int8), 0.01)
        return self.add("FULLY_CONNECTED", [mean, w], (1, made), ("FullyConnected", {}))

    def write(self, path: Path, output: int) -> Path:
        path.write_bytes(build(Graph(self.tensors, self.ops, [0], [output])))
        return path


def chain(net: Any) -> Any:
    x = net.conv(net.input(16, 3), 8, 3)
    return net.matrix(net.conv(net.pool(net.conv(net.conv(x, 8, 3, 8), 16, 1)), 24, 1), 10)


def residual(net: Any) -> Any:
    x = net.conv(net.input(12, 4), 12, 3)
    x = net.sum(x, net.conv(net.conv(x, 24, 1), 12, 3))
    return net.matrix(net.sum(x, net.conv(net.conv(x, 12, 3, 12), 12, 1)), 5)


def branches(net: Any) -> Any:
    x = net.conv(net.input(10, 6), 6, 1)
    parts = [net.conv(x, 4, 1), net.conv(net.conv(x, 10, 1), 6, 3), net.conv(x, 6, 3, 6)]
    return net.matrix(net.conv(net.concat(*parts), 20, 1), 4)


def peak(path: Path, *rules: str, last: bool = False) -> int:
    """The least peak of whole operators, proven."""
    module, context = load_model(path, {}), Context()
    if rules:
        MemgraphRewritePass(rules).apply(context, module)
    if last:
        MemgraphNhwcIoPass().apply(context, module)
    MemgraphModelPass("host", inplace="off", alignment=1).apply(context, module)
    MemgraphFusePass().apply(context, module)
    MemgraphSchedulePass("auto").apply(context, module)
    plan = plan_of(only_function(module))
    assert plan is not None and plan.peak == plan.lower_bound
    return plan.peak.data


@pytest.mark.parametrize("network", [chain, residual, branches])
def test_twins_have_one_peak(network: Callable[[Any], Any], tmp_path: Path) -> None:
    first, second = Onnx(), Tflite()
    onnx_file = first.write(tmp_path / "m.onnx", network(first))
    tflite_file = second.write(tmp_path / "m.tflite", network(second))
    least, rules = peak(tflite_file), ("qdq-fold", "channels-last")
    image = int(np.prod(first.shapes["x"]))
    assert peak(onnx_file) > 2 * least
    assert peak(onnx_file, *rules) == max(least, 2 * image), "with the transposition at the border"
    assert peak(onnx_file, *rules, last=True) == least
