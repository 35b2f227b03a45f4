"""Small .tflite files for tests, written with LiteRT's generated object model.

data = build(Graph([T("x", [1, 8]), T("y", [1, 8])], [Op("RELU", [0], [1])], [0], [1]))
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

SCHEMA: Any = importlib.import_module("ai_edge_litert.schema_py_generated")
FLATBUFFERS: Any = importlib.import_module("flatbuffers")


@dataclass(frozen=True)
class T:
    """A tensor; `data` makes it a constant (an array), `variable` a variable. `sparsity`, a
    SparsityParametersT, says which elements `data` has, `signature` with -1 what is open."""

    name: str
    shape: Sequence[int]
    type: str = "INT8"
    data: Any = None
    variable: bool = False
    scale: Sequence[float] = ()
    zero: Sequence[int] = ()
    axis: int = 0
    sparsity: Any = None
    signature: Sequence[int] = ()


@dataclass(frozen=True)
class Op:
    """An operator by builtin name, by number, or custom as `CUSTOM:name`. `options`: the class's
    name without `Options`, and its fields."""

    name: str | int
    inputs: Sequence[int]
    outputs: Sequence[int]
    options: tuple[str, dict[str, Any]] | None = None
    custom: bytes = b""


@dataclass(frozen=True)
class Graph:
    tensors: Sequence[T]
    operators: Sequence[Op]
    inputs: Sequence[int]
    outputs: Sequence[int]
    name: str = "main"


@dataclass
class Extra:
    """Metadata, signatures (name -> ({name: tensor}, {name: tensor})) and bytes after the file."""

    metadata: dict[str, bytes] = field(default_factory=dict[str, bytes])
    signatures: dict[str, tuple[dict[str, int], dict[str, int]]] = field(
        default_factory=dict[str, tuple[dict[str, int], dict[str, int]]]
    )
    trailing: bytes = b""
    version: int = 3


def build(*graphs: Graph, extra: Extra | None = None) -> bytes:
    extra = extra or Extra()
    model: Any = SCHEMA.ModelT()
    model.version, model.description = extra.version, "made by a test"
    model.buffers, model.operatorCodes = [SCHEMA.BufferT()], []
    model.subgraphs = [_graph(model, g) for g in graphs]
    model.metadata = [_metadata(model, k, v) for k, v in extra.metadata.items()]
    model.signatureDefs = [_signature(k, *v) for k, v in extra.signatures.items()]
    builder: Any = FLATBUFFERS.Builder(1024)
    builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
    return bytes(builder.Output()) + extra.trailing


def bytes_behind(data: bytes, tensors: Sequence[int], options: Sequence[int] = ()) -> bytes:
    """The file with the elements of these tensors of the first subgraph, and the options of these
    operators, behind its flatbuffer, as models above 2 GB have them."""
    model, behind = objects(data), b""
    places: list[tuple[Any, str, int]] = []
    for index in tensors:
        buffer = model.buffers[model.subgraphs[0].tensors[index].buffer]
        places.append((buffer, "offset", len(behind)))
        buffer.size, behind, buffer.data = len(buffer.data), behind + bytes(buffer.data), None
    for index in options:
        op = model.subgraphs[0].operators[index]
        places.append((op, "largeCustomOptionsOffset", len(behind)))
        op.largeCustomOptionsSize, behind = len(op.customOptions), behind + bytes(op.customOptions)
        op.customOptions = None
    packed = b""
    for _ in range(2):  # an offset is a scalar of a fixed size: the second is as long as the first
        for owner, name, at in places:
            setattr(owner, name, len(packed) + at + 2)
        builder: Any = FLATBUFFERS.Builder(1024)
        builder.Finish(model.Pack(builder), file_identifier=b"TFL3")
        packed = bytes(builder.Output())
    return packed + b"\0\0" + behind


def _buffer(model: Any, data: bytes) -> int:
    buffer: Any = SCHEMA.BufferT()
    buffer.data = np.frombuffer(data, np.uint8)
    model.buffers.append(buffer)
    return len(model.buffers) - 1


def _graph(model: Any, graph: Graph) -> Any:
    result: Any = SCHEMA.SubGraphT()
    result.name = graph.name
    result.tensors = [_tensor(model, t) for t in graph.tensors]
    result.operators = [_operator(model, o) for o in graph.operators]
    result.inputs = np.array(graph.inputs, np.int32)
    result.outputs = np.array(graph.outputs, np.int32)
    return result


def _tensor(model: Any, tensor: T) -> Any:
    result: Any = SCHEMA.TensorT()
    result.name, result.shape = tensor.name, np.array(tensor.shape, np.int32)
    result.type = getattr(SCHEMA.TensorType, tensor.type)
    result.shapeSignature = np.array(tensor.signature, np.int32) if tensor.signature else None
    result.isVariable, result.sparsity = tensor.variable, tensor.sparsity
    result.buffer = 0 if tensor.data is None else _buffer(model, tensor.data.tobytes())
    if tensor.scale:
        q: Any = SCHEMA.QuantizationParametersT()
        q.scale = np.array(tensor.scale, np.float32)
        q.zeroPoint = np.array(tensor.zero or [0] * len(tensor.scale), np.int64)
        q.quantizedDimension = tensor.axis
        result.quantization = q
    return result


def _operator(model: Any, op: Op) -> Any:
    code: Any = SCHEMA.OperatorCodeT()
    code.version = 1
    if isinstance(op.name, int):
        code.builtinCode = op.name
    elif op.name.startswith("CUSTOM:"):
        code.builtinCode, code.customCode = 32, op.name[7:]
    else:
        code.builtinCode = getattr(SCHEMA.BuiltinOperator, op.name)
    code.deprecatedBuiltinCode = min(code.builtinCode, 127)
    model.operatorCodes.append(code)
    result: Any = SCHEMA.OperatorT()
    result.opcodeIndex = len(model.operatorCodes) - 1
    result.inputs = np.array(op.inputs, np.int32)
    result.outputs = np.array(op.outputs, np.int32)
    if op.custom:
        result.customOptions = np.frombuffer(op.custom, np.uint8)
    if op.options:
        name = f"{op.options[0]}Options"
        options: Any = getattr(SCHEMA, f"{name}T")()
        for key, value in op.options[1].items():
            assert hasattr(options, key), key
            setattr(options, key, value)
        result.builtinOptionsType = getattr(SCHEMA.BuiltinOptions, name)
        result.builtinOptions = options
    return result


def _metadata(model: Any, name: str, data: bytes) -> Any:
    result: Any = SCHEMA.MetadataT()
    result.name, result.buffer = name, _buffer(model, data)
    return result


def _signature(name: str, inputs: dict[str, int], outputs: dict[str, int]) -> Any:
    def maps(entries: dict[str, int]) -> list[Any]:
        found: list[Any] = []
        for key, index in entries.items():
            entry: Any = SCHEMA.TensorMapT()
            entry.name, entry.tensorIndex = key, index
            found.append(entry)
        return found

    result: Any = SCHEMA.SignatureDefT()
    result.signatureKey, result.subgraphIndex = name, 0
    result.inputs, result.outputs = maps(inputs), maps(outputs)
    return result


def dump(value: Any) -> Any:
    """An object of LiteRT's model as plain data, to compare."""
    if hasattr(value, "tobytes"):
        return str(value.dtype), value.tobytes()
    if isinstance(value, list | tuple):
        return [dump(v) for v in cast("list[Any]", value)]
    if value is None or isinstance(value, int | float | bytes | str):
        return value
    fields: dict[str, Any] = value.__dict__
    return {k: dump(v) for k, v in fields.items()}


def objects(data: bytes) -> Any:
    """The file as LiteRT's object model."""
    return SCHEMA.ModelT.InitFromPackedBuf(data, 0)
