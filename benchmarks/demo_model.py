"""Makes the demo's model: a quantised image classifier of real size, the same bytes on every run.

    python benchmarks/demo_model.py demo/model.tflite
    python benchmarks/demo_model.py small.tflite --size small --type float32

The network is of the MobileNet and Inception kind: a strided stem, modules of parallel branches
(expand, depthwise, project) joined by additions, residual modules, and a classifier head. Its
operators stand in breadth-first order, as exporters write them: first the expansion of every branch
of a module, then every depthwise convolution, and so on. So all wide tensors of a module are alive
together, though any single one needs to be: an order that finishes one branch before it begins the
next needs far less RAM. The weights are random (memory does not depend on them), the activation
ranges are measured by running the float network in LiteRT.

This file needs numpy, flatbuffers and ai-edge-litert, but nothing of memopt.
"""

import argparse
import functools
import importlib
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

Type = Literal["int8", "float32"]
Size = Literal["full", "small"]
Array = np.ndarray[Any, Any]

SCHEMA: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
SEED = 20_26
CALIBRATION_RUNS = 4
VERSIONS = {  # the operator versions that brought int8
    "CONV_2D": 3,
    "DEPTHWISE_CONV_2D": 3,
    "FULLY_CONNECTED": 4,
    "ADD": 2,
    "AVERAGE_POOL_2D": 2,
    "MAX_POOL_2D": 2,
    "SOFTMAX": 2,
}


@dataclass(frozen=True)
class Layer:
    """One operator: tensors by number, its float weights, and the fields of its options class."""

    kind: str
    name: str
    inputs: tuple[int, ...]
    output: int
    options: tuple[str, dict[str, Any]]
    weights: tuple[Array, Array] | None = None
    channel_axis: int | None = None


@dataclass(frozen=True)
class Range:
    """How a tensor is quantised: real = scale * (stored - zero)."""

    scale: float
    zero: int


class Net:
    """A float network under construction; every method adds one operator and gives its tensor."""

    def __init__(self, side: int, channels: int) -> None:
        # RandomState, because numpy promises its stream for all versions to come.
        self.random = np.random.RandomState(SEED)
        self.shapes: list[tuple[int, ...]] = [(1, side, side, channels)]
        self.layers: list[Layer] = []

    def _add(self, kind: str, inputs: tuple[int, ...], shape: tuple[int, ...], **more: Any) -> int:
        self.shapes.append(shape)
        output = len(self.shapes) - 1
        name = f"{kind.lower()}_{len(self.layers)}"
        self.layers.append(Layer(kind, name, inputs, output, **more))
        return output

    def _weights(self, shape: tuple[int, ...], fan_in: int, count: int) -> tuple[Array, Array]:
        kernel = self.random.standard_normal(shape) * math.sqrt(2 / fan_in)
        bias = self.random.standard_normal(count) * 0.05
        return kernel.astype(np.float32), bias.astype(np.float32)

    def conv(self, x: int, count: int, kernel: int, stride: int = 1, relu: bool = True) -> int:
        _, height, width, channels = self.shapes[x]
        options = _window(stride) | {"fusedActivationFunction": 3 if relu else 0}
        fan_in = kernel * kernel * channels
        return self._add(
            "CONV_2D",
            (x,),
            (1, -(-height // stride), -(-width // stride), count),
            options=("Conv2D", options),
            weights=self._weights((count, kernel, kernel, channels), fan_in, count),
            channel_axis=0,
        )

    def depthwise(self, x: int, kernel: int, stride: int = 1) -> int:
        _, height, width, channels = self.shapes[x]
        options = _window(stride) | {"fusedActivationFunction": 3, "depthMultiplier": 1}
        return self._add(
            "DEPTHWISE_CONV_2D",
            (x,),
            (1, -(-height // stride), -(-width // stride), channels),
            options=("DepthwiseConv2D", options),
            weights=self._weights((1, kernel, kernel, channels), kernel * kernel, channels),
            channel_axis=3,
        )

    def pool(self, kind: str, x: int, kernel: int, stride: int, padding: int = 0) -> int:
        _, height, width, channels = self.shapes[x]
        options = _window(stride) | {"filterHeight": kernel, "filterWidth": kernel}
        options["padding"] = padding
        lost = kernel - 1 if padding else 0
        rows, columns = -(-(height - lost) // stride), -(-(width - lost) // stride)
        return self._add(kind, (x,), (1, rows, columns, channels), options=("Pool2D", options))

    def add(self, a: int, b: int) -> int:
        options = ("Add", {"fusedActivationFunction": 0})
        return self._add("ADD", (a, b), self.shapes[a], options=options)

    def reshape(self, x: int, shape: tuple[int, ...]) -> int:
        options = ("Reshape", {"newShape": np.array(shape, np.int32)})
        return self._add("RESHAPE", (x,), shape, options=options)

    def fully_connected(self, x: int, count: int) -> int:
        channels = self.shapes[x][-1]
        # Small weights, so that softmax answers with more than a single class.
        weights = self._weights((count, channels), 16 * channels, count)
        options = ("FullyConnected", {"fusedActivationFunction": 0})
        return self._add("FULLY_CONNECTED", (x,), (1, count), options=options, weights=weights)

    def softmax(self, x: int) -> int:
        return self._add("SOFTMAX", (x,), self.shapes[x], options=("Softmax", {"beta": 1.0}))


def _window(stride: int) -> dict[str, Any]:
    return {"strideH": stride, "strideW": stride, "padding": 0}


# -- the network ----------------------------------------------------------------------------------


def _module(net: Net, x: int, wide: int, out: int, kernels: tuple[int, ...], stride: int) -> int:
    """Branches side by side, one per kernel size (0: a max pool), written breadth first."""
    tops = [net.conv(x, wide, 1) for _ in kernels]
    tops = [
        net.depthwise(top, kernel, stride) if kernel else net.pool("MAX_POOL_2D", top, 3, stride)
        for top, kernel in zip(tops, kernels, strict=True)
    ]
    tops = [net.conv(top, out, 1, relu=False) for top in tops]
    total = functools.reduce(net.add, tops)
    return net.add(x, total) if net.shapes[x] == net.shapes[total] else total


def _network(size: Size) -> Net:
    if size == "small":
        net = Net(16, 3)
        x = net.conv(0, 4, 3, stride=2)
        x = _module(net, x, wide=8, out=8, kernels=(3, 5, 0), stride=2)
        x = _module(net, x, wide=8, out=8, kernels=(3, 5), stride=1)
    else:
        net = Net(96, 3)
        x = net.conv(0, 8, 3, stride=2)
        x = _module(net, x, wide=16, out=16, kernels=(3, 5, 0), stride=2)
        x = _module(net, x, wide=32, out=16, kernels=(3, 5, 3), stride=1)
        x = _module(net, x, wide=48, out=32, kernels=(3, 5, 0), stride=2)
        x = _module(net, x, wide=64, out=32, kernels=(3, 5, 3, 5), stride=1)
        x = _module(net, x, wide=96, out=64, kernels=(3, 0), stride=2)
        x = net.conv(x, 128, 1)
    x = net.pool("AVERAGE_POOL_2D", x, net.shapes[x][1], 1, padding=1)
    x = net.reshape(x, (1, net.shapes[x][-1]))
    net.softmax(net.fully_connected(x, 10))
    return net


# -- quantisation ---------------------------------------------------------------------------------


def _outward(value: float) -> float:
    """`value` away from zero to five significant bits, so that the last bits of another machine's
    float arithmetic change no byte of the file."""
    if value == 0:
        return 0.0
    fraction, exponent = math.frexp(abs(value))
    return math.copysign(math.ldexp(math.ceil(fraction * 32), exponent - 5), value)


def _ranges(net: Net, model: bytes) -> list[Range]:
    """Every tensor's range over some random inputs, as LiteRT's builtin kernels compute it."""
    litert: Any = importlib.import_module("ai_edge_litert.interpreter")
    interpreter = litert.Interpreter(
        model_content=model,
        experimental_op_resolver_type=litert.OpResolverType.BUILTIN_WITHOUT_DEFAULT_DELEGATES,
        experimental_preserve_all_tensors=True,
        num_threads=1,
    )
    interpreter.allocate_tensors()
    low, high = np.zeros(len(net.shapes)), np.zeros(len(net.shapes))
    for _ in range(CALIBRATION_RUNS):
        interpreter.set_tensor(0, net.random.uniform(-1, 1, net.shapes[0]).astype(np.float32))
        interpreter.invoke()
        for index in range(len(net.shapes)):
            values = interpreter.get_tensor(index)
            low[index] = min(low[index], values.min())
            high[index] = max(high[index], values.max())
    ranges = [_range(*pair) for pair in zip(low.tolist(), high.tolist(), strict=True)]
    ranges[0] = Range(1 / 128, 0)
    for layer in net.layers:
        if layer.kind in ("MAX_POOL_2D", "AVERAGE_POOL_2D", "RESHAPE"):  # do not requantise
            ranges[layer.output] = ranges[layer.inputs[0]]
        if layer.kind == "SOFTMAX":  # fixed by TFLite's quantisation specification
            ranges[layer.output] = Range(1 / 256, -128)
    return ranges


def _range(low: float, high: float) -> Range:
    low, high = _outward(low), _outward(high)
    scale = float(np.float32((high - low) / 255))
    return Range(scale, round(-128 - low / scale))


# -- the file -------------------------------------------------------------------------------------


class _File:
    """LiteRT's object model of the network; quantised if `ranges` are given."""

    def __init__(self, net: Net, ranges: list[Range] | None) -> None:
        self.ranges = ranges
        self.model: Any = SCHEMA.ModelT()
        self.model.version, self.model.description = 3, "memopt demo"
        self.model.buffers, self.model.operatorCodes = [SCHEMA.BufferT()], []
        graph: Any = SCHEMA.SubGraphT()
        graph.name = "main"
        graph.tensors = [self._activation(i, net) for i in range(len(net.shapes))]
        graph.inputs = np.array([0], np.int32)
        graph.outputs = np.array([len(net.shapes) - 1], np.int32)
        self.model.subgraphs, self.graph = [graph], graph
        graph.operators = [self._operator(layer) for layer in net.layers]

    def _tensor(self, name: str, shape: tuple[int, ...], kind: str) -> Any:
        tensor: Any = SCHEMA.TensorT()
        tensor.name, tensor.shape = name, np.array(shape, np.int32)
        tensor.type, tensor.buffer = getattr(SCHEMA.TensorType, kind), 0
        return tensor

    def _activation(self, index: int, net: Net) -> Any:
        name = net.layers[index - 1].name if index else "image"
        tensor = self._tensor(name, net.shapes[index], "INT8" if self.ranges else "FLOAT32")
        if self.ranges:
            range_ = self.ranges[index]
            tensor.quantization = _quantization([range_.scale], [range_.zero], 0)
        return tensor

    def _constant(self, name: str, data: Array, scales: Array | None = None, axis: int = 0) -> int:
        tensor = self._tensor(name, data.shape, str(data.dtype).upper())
        if scales is not None:
            tensor.quantization = _quantization(scales.tolist(), [0] * len(scales), axis)
        buffer: Any = SCHEMA.BufferT()
        buffer.data = np.frombuffer(data.tobytes(), np.uint8)
        tensor.buffer = len(self.model.buffers)
        self.model.buffers.append(buffer)
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def _weights(self, layer: Layer) -> list[int]:
        """Weights and bias: int8 per channel and int32 at input scale times weight scale."""
        if layer.weights is None:
            return []
        kernel, bias = layer.weights
        names = f"{layer.name}/weights", f"{layer.name}/bias"
        if not self.ranges:
            return [self._constant(names[0], kernel), self._constant(names[1], bias)]
        axis = layer.channel_axis
        others = None if axis is None else tuple(i for i in range(kernel.ndim) if i != axis)
        largest = np.atleast_1d(np.abs(kernel).max(axis=others))
        scales = (largest / 127).astype(np.float32)
        shape = [1] * kernel.ndim
        shape[axis or 0] = -1
        stored = np.clip(np.round(kernel / scales.reshape(shape)), -127, 127).astype(np.int8)
        bias_scales = (scales * np.float32(self.ranges[layer.inputs[0]].scale)).astype(np.float32)
        steps = np.round(bias.astype(np.float64) / bias_scales).astype(np.int32)
        return [
            self._constant(names[0], stored, scales, axis or 0),
            self._constant(names[1], steps, bias_scales),
        ]

    def _operator(self, layer: Layer) -> Any:
        operator: Any = SCHEMA.OperatorT()
        operator.opcodeIndex = self._code(layer.kind)
        constants = self._weights(layer)
        if layer.kind == "RESHAPE":
            constants = [self._constant(f"{layer.name}/shape", layer.options[1]["newShape"])]
        operator.inputs = np.array([*layer.inputs, *constants], np.int32)
        operator.outputs = np.array([layer.output], np.int32)
        name = f"{layer.options[0]}Options"
        operator.builtinOptions = getattr(SCHEMA, f"{name}T")()
        operator.builtinOptionsType = getattr(SCHEMA.BuiltinOptions, name)
        for key, value in layer.options[1].items():
            setattr(operator.builtinOptions, key, value)
        return operator

    def _code(self, kind: str) -> int:
        number = getattr(SCHEMA.BuiltinOperator, kind)
        for index, code in enumerate(self.model.operatorCodes):
            if code.builtinCode == number:
                return index
        code: Any = SCHEMA.OperatorCodeT()
        code.builtinCode = code.deprecatedBuiltinCode = number
        code.version = VERSIONS.get(kind, 1) if self.ranges else 1
        self.model.operatorCodes.append(code)
        return len(self.model.operatorCodes) - 1

    def packed(self) -> bytes:
        flatbuffers: Any = importlib.import_module("flatbuffers")
        builder = flatbuffers.Builder(1 << 16)
        builder.Finish(self.model.Pack(builder), file_identifier=b"TFL3")
        return bytes(builder.Output())


def _quantization(scales: list[float], zeros: list[int], axis: int) -> Any:
    result: Any = SCHEMA.QuantizationParametersT()
    result.scale, result.zeroPoint = np.array(scales, np.float32), np.array(zeros, np.int64)
    result.quantizedDimension = axis
    return result


@functools.cache
def demo_model(kind: Type = "int8", size: Size = "full") -> bytes:
    """The .tflite file: `full` is a 96 x 96 x 3 image classifier of 63 operators,
    `small` (16 x 16 x 3, 24 operators) has the same shape and is for tests."""
    net = _network(size)
    plain = _File(net, None).packed()
    return plain if kind == "float32" else _File(net, _ranges(net, plain)).packed()


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("output", type=Path)
    parser.add_argument("--type", choices=("int8", "float32"), default="int8")
    parser.add_argument("--size", choices=("full", "small"), default="full")
    options = parser.parse_args()
    options.output.parent.mkdir(parents=True, exist_ok=True)
    options.output.write_bytes(demo_model(options.type, options.size))


if __name__ == "__main__":
    main()
