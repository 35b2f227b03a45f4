"""A .tflite file as plain data, every reference in it checked: what is where, but no IR.

    model = read_model(data, "net.tflite")
    model.subgraphs[0].operators[3].name        # "CONV_2D", "CUSTOM:ethos-u", "BUILTIN_251"
    data[slice(*model.buffers[7])]              # the bytes of buffer 7

The frontend imports from it, weights are resolved with it, and the TFLite Micro writer validates
its own output with it. Source: LiteRT's schema.fbs, version 3 (`SCHEMA` numbers the fields).
"""

import importlib
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, cast

from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.flatbuffer import Flatbuffer, MalformedError, Table
from memopt.formats.sparsity import Sparsity, densified, read_sparsity

IDENTIFIER = b"TFL3"
MAX_TENSOR_BYTES = (1 << 31) - 1

# TensorType: (name, bits per element); None where only the run time knows the bytes.
TENSOR_TYPES: dict[int, tuple[str, int | None]] = {
    0: ("FLOAT32", 32),
    1: ("FLOAT16", 16),
    2: ("INT32", 32),
    3: ("UINT8", 8),
    4: ("INT64", 64),
    5: ("STRING", None),
    6: ("BOOL", 8),
    7: ("INT16", 16),
    8: ("COMPLEX64", 64),
    9: ("INT8", 8),
    10: ("FLOAT64", 64),
    11: ("COMPLEX128", 128),
    12: ("UINT64", 64),
    13: ("RESOURCE", None),
    14: ("VARIANT", None),
    15: ("UINT32", 32),
    16: ("UINT16", 16),
    17: ("INT4", 4),
    18: ("BFLOAT16", 16),
    19: ("INT2", 2),
    20: ("UINT4", 4),
    21: ("FLOAT8_E4M3FN", 8),
    22: ("FLOAT8_E5M2", 8),
}
TENSOR_TYPES_BY_NAME = dict(TENSOR_TYPES.values())
CUSTOM = 32


@dataclass(frozen=True)
class Quantization:
    """real = scale * (stored - zero_point); several entries are along dimension `axis`.

    `readable` is false for schemes other than these (blockwise, custom): `scale` is then empty.
    """

    scale: tuple[float, ...]
    zero_point: tuple[int, ...]
    axis: int
    readable: bool = True


@dataclass(frozen=True)
class Tensor:
    """`size` in bytes, None for strings, resources and variants. `buffer` 0 holds nothing. The
    buffer of a tensor with `sparsity` holds some of its elements, the others are zero. `signature`
    is the shape with -1 for dimensions that are open, empty where none is."""

    name: str
    type: str
    shape: tuple[int, ...]
    size: int | None
    buffer: int
    is_variable: bool
    is_constant: bool
    quantization: Quantization | None
    sparsity: Sparsity | None
    signature: tuple[int, ...] = ()


@dataclass(frozen=True)
class Operator:
    """Tensor indices are of the subgraph, -1 for an operand left out. `options` is the position of
    the options' table and the number of its type in the union, once per union of the schema."""

    code: int
    name: str
    version: int
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    intermediates: tuple[int, ...]
    options: tuple[tuple[int, int], ...]
    custom_options: tuple[int, int]


@dataclass(frozen=True)
class Subgraph:
    name: str
    tensors: tuple[Tensor, ...]
    inputs: tuple[int, ...]
    outputs: tuple[int, ...]
    operators: tuple[Operator, ...]

    @property
    def unused(self) -> list[int]:
        """Return the tensors that take memory at run time, but that no operator touches."""
        touched = {i for op in self.operators for i in (*op.inputs, *op.outputs)}
        touched |= {*self.inputs, *self.outputs}
        return [i for i in self.in_memory if i not in touched]

    @property
    def in_memory(self) -> list[int]:
        """Return the tensors that take memory at run time, but for variables."""
        needs = (bool(t.size) and not t.is_constant and not t.is_variable for t in self.tensors)
        return [i for i, needed in enumerate(needs) if needed]


@dataclass(frozen=True)
class Model:
    """`buffers` are (first byte, byte after the last) in the file; `metadata` is name -> buffer."""

    version: int
    description: str
    subgraphs: tuple[Subgraph, ...]
    buffers: tuple[tuple[int, int], ...]
    metadata: tuple[tuple[str, int], ...]


class Place:
    """Where the reader is, for the message of whatever goes wrong there."""

    def __init__(self, file: str) -> None:
        self.parts = [file]

    @contextmanager
    def at(self, part: str) -> Generator[None]:
        self.parts.append(part)
        yield
        self.parts.pop()  # not in `finally`: the place of a failure is what we want to keep

    def __str__(self) -> str:
        return f"{self.parts[0]}: {' '.join(self.parts[1:])}" if self.parts[1:] else self.parts[0]


def litert_schema() -> Any:
    """LiteRT's generated schema module, loaded on first use: 0.15 s."""
    return importlib.import_module("ai_edge_litert.schema_py_generated")


@lru_cache(maxsize=1)
def builtin_names() -> dict[int, str]:
    """Builtin operator code -> name, as LiteRT's schema has them."""
    entries = cast("dict[str, int]", litert_schema().BuiltinOperator.__dict__)
    return {code: name for name, code in entries.items() if name[0] != "_"}


@lru_cache(maxsize=1)  # frontend, weights and backend read the same one in turn
def read_model(data: bytes, name: str) -> Model:
    """Return the model in `data`; `name` is the file's name for messages.

    Raises MemoptError with the place of whatever is malformed.
    """
    place = Place(name)
    try:
        return _model(Flatbuffer(data), place)
    except MalformedError as error:
        raise MemoptError(str(error), str(place)) from None


def _model(file: Flatbuffer, place: Place) -> Model:
    root = file.root(IDENTIFIER)
    version = root.scalar(0, "I")
    if version != 3:
        raise MalformedError(f"schema version {version} is not 3")
    with place.at("buffers"):
        buffers = tuple(_buffer(file, t) for t in root.tables(4))
    with place.at("operator codes"):
        codes = tuple(map(_operator_code, root.tables(1)))
    subgraphs: list[Subgraph] = []
    for index, table in enumerate(root.tables(2)):
        with place.at(f"subgraph {index}"):
            subgraphs.append(_subgraph(table, codes, buffers, place))
    if not subgraphs:
        raise MalformedError("the model has no subgraph")
    with place.at("metadata"):
        metadata = tuple((t.string(0), t.scalar(1, "I")) for t in root.tables(6))
        for key, buffer in metadata:
            if buffer >= len(buffers):
                raise MalformedError(f"{key!r} refers to buffer {buffer} of {len(buffers)}")
    return Model(version, root.string(3), tuple(subgraphs), buffers, metadata)


def _buffer(file: Flatbuffer, table: Table) -> tuple[int, int]:
    """Bytes inside the flatbuffer, or at an offset of the file behind it (models above 2 GB)."""
    start, count = table.span(0)
    offset, size = table.scalar(1, "Q"), table.scalar(2, "Q")
    if offset > 1:  # the schema reserves 0 and 1
        if offset + size > len(file.data):
            raise MalformedError(f"buffer of {size} bytes at byte {offset} reaches beyond the file")
        return offset, offset + size
    return start, start + count


def _operator_code(table: Table) -> tuple[int, str, int]:
    """(code, name, version). Old files have the code in the first field, newer ones in the last."""
    old, code = table.scalar(0, "b"), table.scalar(3, "i")
    code = max(old, code)
    if code < 0 or (old < 0):
        raise MalformedError(f"negative operator code {min(old, code)}")
    if code == CUSTOM:
        # ASCII, because xDSL's text reads any other literal back as bytes.
        name = f"CUSTOM:{table.string(1)}".encode("ascii", "backslashreplace").decode()
    else:
        name = builtin_names().get(code, f"BUILTIN_{code}")
    return code, name, table.scalar(2, "i", 1)


def _subgraph(
    table: Table,
    codes: tuple[tuple[int, str, int], ...],
    buffers: tuple[tuple[int, int], ...],
    place: Place,
) -> Subgraph:
    tensors: list[Tensor] = []
    for index, entry in enumerate(table.tables(0)):
        with place.at(f"tensor {index}"):
            tensors.append(_tensor(entry, buffers))
    operators: list[Operator] = []
    for index, entry in enumerate(table.tables(3)):
        with place.at(f"operator {index}"):
            operators.append(_operator(entry, codes, len(tensors)))
    with place.at("inputs"):
        inputs = _indices(table, 1, len(tensors), 0)
        if len(set(inputs)) != len(inputs):
            raise MalformedError("a tensor is listed twice")
    with place.at("outputs"):
        outputs = _indices(table, 2, len(tensors), 0)
    subgraph = Subgraph(table.string(4), tuple(tensors), inputs, outputs, tuple(operators))
    check_order(subgraph, place)
    return subgraph


def _indices(table: Table, field: int, count: int, least: int) -> tuple[int, ...]:
    result = table.integers(field)
    for index in result:
        if not least <= index < count:
            raise MalformedError(f"tensor index {index} is not within {least} .. {count - 1}")
    return result


def _tensor(table: Table, buffers: tuple[tuple[int, int], ...]) -> Tensor:
    code = table.scalar(1, "b")
    if code not in TENSOR_TYPES:
        raise MalformedError(f"unknown tensor type {code}")
    type_, bits = TENSOR_TYPES[code]
    shape = table.integers(0)
    count = 1
    for d in shape:
        if d < 0:
            raise MalformedError(f"negative dimension in shape {list(shape)}")
        count *= d
        if count > 8 * MAX_TENSOR_BYTES:
            raise MalformedError(f"shape {list(shape)} overflows: 2 GiB is the limit of a tensor")
    size = None if bits is None else (count * bits + 7) // 8
    if size is not None and size > MAX_TENSOR_BYTES:
        raise MalformedError(f"{size} bytes are above the limit of 2 GiB")
    buffer = table.scalar(2, "I")
    if buffer >= max(len(buffers), 1):
        raise MalformedError(f"refers to buffer {buffer} of {len(buffers)}")
    start, stop = buffers[buffer] if buffers else (0, 0)
    is_variable, entry = table.flag(5), table.table(6)
    external = table.scalar(10, "I") != 0
    if external:
        raise MalformedError("its data is in an external buffer group, which is not supported")
    held, sparsity = stop - start, None
    if entry is not None:
        if bits is None or bits % 8:
            raise MalformedError(f"a sparse tensor of {type_}, which is not supported")
        sparsity = read_sparsity(entry, shape)
        if held != sparsity.stored * (bits // 8):
            needed = f"{sparsity.stored} elements of its sparsity"
            raise MalformedError(f"its buffer holds {held} bytes, not {needed}")
    elif held and size is not None and held != size:
        raise MalformedError(f"its buffer holds {held} bytes, shape and type need {size}")
    signature = table.integers(7)
    constant = bool(held) or (size == 0 and not is_variable) or sparsity is not None
    return Tensor(
        table.string(3),
        type_,
        shape,
        size,
        buffer,
        is_variable,
        constant,
        _quantization(table.table(4), shape),
        sparsity,
        signature if len(signature) == len(shape) and min(signature, default=0) < 0 else (),
    )


def elements_of(data: bytes, model: Model, tensor: Tensor) -> bytes:
    """The bytes of a constant's elements, all of them of a sparse one; none of what is none."""
    start, stop = model.buffers[tensor.buffer] if model.buffers else (0, 0)
    raw, bits = data[start:stop], TENSOR_TYPES_BY_NAME[tensor.type]
    if tensor.sparsity is None or bits is None:
        return raw
    return densified(tensor.sparsity, raw, bits // 8)


def _quantization(table: Table | None, shape: tuple[int, ...]) -> Quantization | None:
    if table is None:
        return None
    scale = tuple(map(float, table.numbers(2, "f")))
    zero = table.integers(3, "q")
    if table.scalar(4, "B"):
        return Quantization((), (), -1, readable=False)
    if not scale:
        return None
    if any(not 0.0 <= abs(s) < float("inf") for s in scale):
        raise MalformedError("a quantization scale is not finite")
    if len(zero) not in (len(scale), 1, 0):
        raise MalformedError(f"{len(scale)} scales and {len(zero)} zero points")
    zero = zero * len(scale) if len(zero) == 1 else zero or (0,) * len(scale)
    if len(scale) == 1:
        return Quantization(scale, zero, -1)
    axis = table.scalar(6, "i")
    if not 0 <= axis < len(shape) or shape[axis] != len(scale):
        # Old converters wrote an axis beyond the rank; it is mended where only one dimension fits.
        fitting = [d for d, n in enumerate(shape) if n == len(scale)]
        if len(fitting) != 1:
            return Quantization((), (), -1, readable=False)
        axis = fitting[0]
    return Quantization(scale, zero, axis)


def _operator(table: Table, codes: tuple[tuple[int, str, int], ...], tensors: int) -> Operator:
    index = table.scalar(0, "I")
    if index >= len(codes):
        raise MalformedError(f"operator code {index} of {len(codes)}")
    code, name, version = codes[index]
    options: list[tuple[int, int]] = []
    for kind_field, table_field in ((3, 4), (11, 12)):
        kind = table.scalar(kind_field, "B")
        options_table = table.table(table_field) if kind else None
        options.append((options_table.position, kind) if options_table else (0, 0))
    start, count = table.span(5)
    large, size = table.scalar(9, "Q"), table.scalar(10, "Q")
    if large > 1:
        if large + size > len(table.file.data):
            raise MalformedError("custom options reach beyond the file")
        start, count = large, size
    return Operator(
        code,
        name,
        version,
        _indices(table, 1, tensors, -1),
        _indices(table, 2, tensors, -1),
        _indices(table, 8, tensors, -1),
        tuple(options),
        (start, start + count),
    )


def check_order(subgraph: Subgraph, place: Place) -> None:
    """Raise MalformedError unless every tensor has at most one origin, before all its readers.

    Origins are the graph's inputs, constants, variables, and the outputs of operators in file
    order, which is the order of execution. A tensor without any is memory that an operator works
    in (Ethos-U has such); it must not be an output of the graph.
    """
    tensors = subgraph.tensors
    fixed = {i for i, t in enumerate(tensors) if (t.is_constant and t.size) or t.is_variable}
    for index in subgraph.inputs:
        if tensors[index].is_constant and tensors[index].size:
            raise MalformedError(f"input tensor {index} is a constant")
        fixed.add(index)
    producer: dict[int, int] = {}
    for number, op in enumerate(subgraph.operators):
        for index in op.outputs:
            if index in producer:
                with place.at(f"operator {number} ({op.name})"):
                    other = f"operator {producer[index]}"
                    raise MalformedError(f"output tensor {index} is also made by {other}")
            if index >= 0:
                producer[index] = number
    for number, op in enumerate(subgraph.operators):
        with place.at(f"operator {number} ({op.name})"):
            for index in op.outputs:
                if index in fixed:
                    raise MalformedError(f"output {index} is an input, constant or variable")
            for index in op.inputs:
                if producer.get(index, -1) >= number:
                    raise MalformedError(
                        f"reads tensor {index}, which operator {producer[index]} makes later: "
                        "the graph is cyclic or out of order"
                    )
    with place.at("outputs"):
        for index in subgraph.outputs:
            if index not in fixed and index not in producer and tensors[index].size != 0:
                raise MalformedError(f"tensor {index} is made by no operator")
