"""A .tflite file that grows operator by operator, with random tensors (forge.py)."""

import importlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

schema: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
flatbuffer_utils: Any = importlib.import_module("ai_edge_litert.tools.flatbuffer_utils")

INT8, UINT8, INT16, INT32, INT64, FLOAT32, BOOL = (
    schema.TensorType.INT8,
    schema.TensorType.UINT8,
    schema.TensorType.INT16,
    schema.TensorType.INT32,
    schema.TensorType.INT64,
    schema.TensorType.FLOAT32,
    schema.TensorType.BOOL,
)
DTYPES = {
    INT8: np.int8,
    UINT8: np.uint8,
    INT16: np.int16,
    INT32: np.int32,
    INT64: np.int64,
    FLOAT32: np.float32,
    BOOL: np.bool_,
}
VERSION_1 = {
    getattr(schema.BuiltinOperator, name)
    for name in (
        *("HARD_SWISH", "DIV", "ELU", "LEAKY_RELU", "CAST", "ABS", "NEG", "SQUARE", "SQRT"),
        *("RSQRT", "EXP", "LOG", "FLOOR", "CEIL", "ROUND", "TILE", "DEPTH_TO_SPACE", "REVERSE_V2"),
        *("PRELU", "GELU", "RELU_N1_TO_1", "RELU_0_TO_1", "SIN", "COS", "SIGN", "LOG_SOFTMAX"),
        *("REDUCE_PROD", "SUM", "L2_NORMALIZATION", "ARG_MAX", "ARG_MIN", "SQUARED_DIFFERENCE"),
        *("EQUAL", "NOT_EQUAL", "LESS", "LESS_EQUAL", "GREATER", "GREATER_EQUAL", "SELECT"),
        *("SELECT_V2", "LOGICAL_AND", "LOGICAL_OR", "LOGICAL_NOT", "BATCH_MATMUL", "GATHER_ND"),
        *("GATHER", "FLOOR_DIV", "FLOOR_MOD", "POW", "SPACE_TO_DEPTH"),
        *("SHAPE", "FILL", "ZEROS_LIKE", "REDUCE_ANY", "REDUCE_ALL", "ADD_N", "CUMSUM"),
        *("L2_POOL_2D", "TOPK_V2", "ONE_HOT", "SCATTER_ND", "RANGE", "IF", "WHILE"),
        *("BROADCAST_ARGS", "RESHAPE", "LOCAL_RESPONSE_NORMALIZATION", "ATAN2", "SEGMENT_SUM"),
        *("UNSORTED_SEGMENT_SUM", "CONV_3D", "RFFT2D", "REAL", "IMAG", "COMPLEX_ABS"),
        *("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5", "DYNAMIC_UPDATE_SLICE"),
    )
}
ACTIVATIONS = (0, 1, 2, 3)  # none, relu, relu_n1_to_1, relu6
SAME, VALID = 0, 1


class Forge:
    """One subgraph that grows operator by operator. Every operator gets inputs of its own.
    Activations and weights are stored as `element`, if they are."""

    def __init__(self, rng: np.random.Generator, quantized: bool, element: int = INT8) -> None:
        self.rng = rng
        self.quantized = quantized
        self.wide_bias = INT64  # of int16
        self.hybrid = False  # whether weights are stored where activations are not
        self.store_as(element)
        self.model: Any = schema.ModelT()
        self.graph: Any = schema.SubGraphT()
        self.graph.name = "main"
        self.graph.tensors, self.graph.operators = [], []
        self.graph.inputs, self.graph.outputs = [], []
        self.model.version, self.model.subgraphs = 3, [self.graph]
        self.model.buffers = [schema.BufferT()]
        self.model.operatorCodes = []
        self.codes: dict[int, int] = {}

    def store_as(self, element: int) -> None:
        """What activations and weights are stored as from here on."""
        self.element, self.low = element, 0 if element == UINT8 else -128

    def scale(self) -> float:
        return float(np.float32(self.rng.uniform(0.01, 0.4)))

    def tensor(
        self,
        shape: Sequence[int],
        type_: int,
        data: Any = None,
        scales: Sequence[float] = (),
        zero_points: Sequence[int] = (),
        axis: int = 0,
    ) -> int:
        tensor: Any = schema.TensorT()
        tensor.name = f"t{len(self.graph.tensors)}"
        tensor.shape, tensor.type, tensor.buffer = list(shape), type_, 0
        if data is not None:
            buffer: Any = schema.BufferT()
            buffer.data = np.frombuffer(np.asarray(data, DTYPES[type_]).tobytes(), np.uint8)
            tensor.buffer = len(self.model.buffers)
            self.model.buffers.append(buffer)
        if len(scales):
            quantization: Any = schema.QuantizationParametersT()
            quantization.scale = [float(s) for s in scales]
            quantization.zeroPoint = [int(z) for z in zero_points]
            quantization.quantizedDimension = axis
            tensor.quantization = quantization
        self.graph.tensors.append(tensor)
        return len(self.graph.tensors) - 1

    def activation(self, shape: Sequence[int], like: int | None = None) -> int:
        if not self.quantized:
            return self.tensor(shape, FLOAT32)
        if like is None and self.element == INT16:
            return self.stored(shape, INT16)
        if like is not None and self.element != INT32:
            old = self.graph.tensors[like].quantization
            return self.tensor(shape, self.element, None, old.scale, old.zeroPoint)
        if self.element == INT32:  # which stand for themselves
            return self.tensor(shape, INT32)
        zero = int(self.rng.integers(self.low, self.low + 256))
        return self.tensor(shape, self.element, None, [self.scale()], [zero])

    def stored(self, shape: Sequence[int], type_: int) -> int:
        """A tensor of any type, with a random quantization that int8 could have, finer for int16
        and as float32 without."""
        if type_ == FLOAT32:
            return self.tensor(shape, FLOAT32)
        if type_ in (INT16, INT32):
            return self.tensor(shape, type_, None, [self.scale() / 256], [0])
        low = -128 if type_ == INT8 else 0
        zero = int(self.rng.integers(low, low + 256))
        return self.tensor(shape, type_, None, [self.scale()], [zero])

    def input(self, shape: Sequence[int]) -> int:
        index = self.activation(shape)
        self.graph.inputs.append(index)
        return index

    def weights(self, shape: Sequence[int], channels: int, axis: int, per_axis: bool) -> int:
        if not self.quantized and not self.hybrid:
            return self.tensor(shape, FLOAT32, self.rng.normal(size=shape))
        if self.element == UINT8:  # of one scale, with a zero point
            data, scale = self.rng.integers(0, 256, shape), float(np.float32(0.01))
            return self.tensor(shape, UINT8, data, [scale], [int(self.rng.integers(0, 256))])
        data = self.rng.integers(-127, 128, shape)
        count = channels if per_axis else 1
        scales = [float(np.float32(self.rng.uniform(0.001, 0.02))) for _ in range(count)]
        return self.tensor(shape, INT8, data, scales, [0] * count, axis if per_axis else 0)

    def bias(self, source: int, weights: int, channels: int, needed: bool) -> int:
        if self.rng.random() < 0.2 and not needed:
            return -1
        if not self.quantized:
            return self.tensor([channels], FLOAT32, self.rng.normal(size=channels))
        scale = self.graph.tensors[source].quantization.scale[0]
        scales = [scale * s for s in self.graph.tensors[weights].quantization.scale]
        data = self.rng.integers(-3000, 3000, channels)
        element = self.wide_bias if self.element == INT16 else INT32
        return self.tensor([channels], element, data, scales, [0] * len(scales))

    def operator(
        self, code: int, inputs: Sequence[int], output: int | list[int], options: Any, kind: int
    ) -> None:
        outputs = [output] if isinstance(output, int) else output
        if code not in self.codes:
            entry: Any = schema.OperatorCodeT()
            entry.builtinCode, entry.deprecatedBuiltinCode = code, min(code, 127)
            entry.version = 1 if code in VERSION_1 else 3
            self.codes[code] = len(self.model.operatorCodes)
            self.model.operatorCodes.append(entry)
        operator: Any = schema.OperatorT()
        operator.opcodeIndex = self.codes[code]
        operator.inputs, operator.outputs = list(inputs), outputs
        operator.builtinOptions, operator.builtinOptionsType = options, kind
        self.graph.operators.append(operator)
        self.graph.outputs.extend(outputs)

    def custom(
        self, name: str, inputs: Sequence[int], outputs: Sequence[int], options: bytes = b""
    ) -> None:
        """Add a custom operator, with a code of its own each time."""
        entry: Any = schema.OperatorCodeT()
        entry.builtinCode = entry.deprecatedBuiltinCode = schema.BuiltinOperator.CUSTOM
        entry.customCode, entry.version = name, 1
        operator: Any = schema.OperatorT()
        operator.opcodeIndex = len(self.model.operatorCodes)
        self.model.operatorCodes.append(entry)
        operator.inputs, operator.outputs = list(inputs), list(outputs)
        operator.customOptions = np.frombuffer(options, np.uint8)
        self.graph.operators.append(operator)
        self.graph.outputs.extend(outputs)

    def save(self, path: Path) -> Path:
        flatbuffer_utils.write_model(self.model, str(path))
        return path

    def pick(self, *values: Any) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def window(self) -> tuple[list[int], list[int], list[int], int]:
        """(input height and width, kernel, stride, padding)."""
        size = [int(v) for v in self.rng.integers(1, 10, 2)]
        kernel = [int(v) for v in self.rng.integers(1, 5, 2)]
        stride = [int(v) for v in self.rng.integers(1, 4, 2)]
        return size, kernel, stride, self.pick(SAME, VALID)
