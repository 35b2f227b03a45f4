"""The JSON frontend: a graph of sized tensors in, a module of `memgraph.opaque` operations out.

    {"name": "tiny", "graph_inputs": ["x"], "graph_outputs": ["y"],
     "tensors": [{"name": "x", "bytes": 16, "shape": [4], "dtype": "float32"},
                 {"name": "w", "bytes": 64, "is_weight": true}, {"name": "y", "bytes": 16}],
     "nodes": [{"name": "n0", "op": "MatMul", "inputs": ["x", "w"], "outputs": ["y"],
                "attrs": {"k": 1}, "workspace": 32}]}

becomes

    %0 = memgraph.opaque "MatMul"(%x) options {k = 1 : i64} {memgraph.names = ["y"],
         memgraph.operator = "n0", memgraph.scratch = [#memgraph.scratch<32>],
         memgraph.source = #memgraph.source<0, 0, [2]>} : (tensor<4xf32>) -> tensor<16xi8>

Weights have no data here and need no memory: they are left out of the operands. Nodes may come in
any order; they keep the file's where that is legal. A tensor with `shape` and `dtype` gets that
type and its `bytes` must fit; with `shape` alone it is float32 if 4 bytes per element fit;
otherwise it is `tensor<BYTESxi8>`.
"""

import heapq
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BFloat16Type,
    BoolAttr,
    DictionaryAttr,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    ModuleOp,
    Signedness,
    StringAttr,
    TensorType,
    UnitAttr,
    f64,
    i8,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Region, SSAValue

from memopt.dialects.attributes import SourceAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.model_attributes import ModelAttr
from memopt.dialects.place_attributes import ScratchAttr
from memopt.dialects.structure import OpaqueOp
from memopt.dialects.tensors import MAX_BYTES, element_bits

DTYPES: Final[dict[str, Attribute]] = {
    "bool": IntegerType(1),
    "float16": Float16Type(),
    "bfloat16": BFloat16Type(),
    "float32": Float32Type(),
    "float64": Float64Type(),
    **{f"int{n}": IntegerType(n) for n in (4, 8, 16, 32, 64)},
    **{f"uint{n}": IntegerType(n, Signedness.UNSIGNED) for n in (4, 8, 16, 32, 64)},
}

MAX_RANK = 32
MAX_DEPTH = 32  # of nested attributes


@dataclass(frozen=True)
class Tensor:
    """A tensor of the file: its place in the list, its type, whether it is a weight."""

    index: int
    type: TensorType[Attribute]
    is_weight: bool


@dataclass(frozen=True)
class Node:
    """A node of the file. `workspace` in bytes, one entry per buffer of its own."""

    index: int
    name: str
    op: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attrs: dict[str, Any]
    workspace: tuple[int, ...]
    place: str


def read(data: bytes, name: str) -> ModuleOp:
    """The module for a JSON graph; `name` is what messages call the file. Raises MemoptError."""
    graph = _object(_parse(data, name), name)
    tensors = _tensors(graph, name)
    nodes = _nodes(graph, name)
    inputs = _names(graph.get("graph_inputs"), f"{name}: graph_inputs")
    outputs = _names(graph.get("graph_outputs"), f"{name}: graph_outputs")
    producers = _producers(nodes, tensors)
    _check_ends(inputs, outputs, tensors, producers, name)
    _check_reads(nodes, tensors, producers, set(inputs))
    func = _function(_sorted(nodes, producers), tensors, inputs, outputs)
    return ModuleOp([func])


# -- the file -----------------------------------------------------------------------------------


def _parse(data: bytes, place: str) -> Any:
    try:
        return json.loads(data)
    except json.JSONDecodeError as error:
        raise MemoptError(error.msg, f"{place}:{error.lineno}:{error.colno}") from None
    except (ValueError, RecursionError) as error:
        raise MemoptError(f"no JSON: {error}", place) from None


def _object(value: Any, place: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise MemoptError("expected an object", place)
    return cast("dict[str, Any]", value)


def _list(value: Any, place: str) -> list[Any]:
    if not isinstance(value, list):
        raise MemoptError("expected a list", place)
    return cast("list[Any]", value)


def _text(value: Any, place: str, what: str) -> str:
    if not isinstance(value, str):
        raise MemoptError(f"{what} must be a string", place)
    if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
        raise MemoptError(f"{what} is no valid Unicode", place)
    return value


def _names(value: Any, place: str) -> tuple[str, ...]:
    return tuple(_text(v, place, "a tensor's name") for v in _list(value, place))


def _size(value: Any, place: str, what: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        raise MemoptError(f"{what} must be an integer", place)
    if value < 0:
        raise MemoptError(f"{what} is negative: {value}", place)
    if value > MAX_BYTES:
        raise MemoptError(f"{what} overflows 64-bit sizes", place)
    return value


def _tensors(graph: dict[str, Any], file: str) -> dict[str, Tensor]:
    found: dict[str, Tensor] = {}
    for index, value in enumerate(_list(graph.get("tensors"), f"{file}: tensors")):
        place = f"{file}: tensor {index}"
        entry = _object(value, place)
        name = _text(entry.get("name"), place, "name")
        place += f" {name!r}"
        if name in found:
            raise MemoptError(f"tensor {found[name].index} has the same name", place)
        weight = entry.get("is_weight", False)
        if not isinstance(weight, bool):
            raise MemoptError("is_weight must be true or false", place)
        found[name] = Tensor(index, _type(entry, place), weight)
    return found


def _type(entry: dict[str, Any], place: str) -> TensorType[Attribute]:
    size = _size(entry.get("bytes"), place, "bytes")
    dtype = entry.get("dtype")
    if dtype is not None and (not isinstance(dtype, str) or dtype not in DTYPES):
        raise MemoptError(f"dtype {dtype!r} is not one of: {', '.join(DTYPES)}", place)
    shape = entry.get("shape")
    if shape is None:
        return TensorType(i8, [size])
    dims = [_size(d, place, "a dimension") for d in _list(shape, f"{place}: shape")]
    if len(dims) > MAX_RANK:
        raise MemoptError(f"more than {MAX_RANK} dimensions", place)
    count = 1
    for d in dims:
        count *= d
    element = DTYPES["float32"] if dtype is None else DTYPES[dtype]
    expected = (count * element_bits(element) + 7) // 8
    if expected == size:
        return TensorType(element, dims)
    if dtype is None:
        return TensorType(i8, [size])
    raise MemoptError(f"{size} bytes, but {dims} of {dtype} is {expected}", place)


def _nodes(graph: dict[str, Any], file: str) -> list[Node]:
    nodes: list[Node] = []
    indices: dict[str, int] = {}
    for index, value in enumerate(_list(graph.get("nodes"), f"{file}: nodes")):
        place = f"{file}: node {index}"
        entry = _object(value, place)
        name = _text(entry.get("name", ""), place, "name")
        place += f" {name!r}" if name else ""
        if name and name in indices:
            raise MemoptError(f"node {indices[name]} has the same name", place)
        indices[name] = index
        scratch = entry.get("workspace", [])
        sizes = cast("list[Any]", scratch) if isinstance(scratch, list) else [scratch]
        nodes.append(
            Node(
                index,
                name,
                _text(entry.get("op"), place, "op"),
                _names(entry.get("inputs"), f"{place}: inputs"),
                _names(entry.get("outputs"), f"{place}: outputs"),
                _object(entry.get("attrs", {}), f"{place}: attrs"),
                tuple(_size(s, place, "workspace") for s in sizes if s != 0),
                place,
            )
        )
    return nodes


# -- what must hold -----------------------------------------------------------------------------


def _producers(nodes: Sequence[Node], tensors: dict[str, Tensor]) -> dict[str, Node]:
    found: dict[str, Node] = {}
    for node in nodes:
        for output in node.outputs:
            if output not in tensors:
                raise MemoptError(f"output {output!r} is not in the list of tensors", node.place)
            if output in found:
                text = f"{output!r} is made by node {found[output].index} too"
                raise MemoptError(text, node.place)
            if tensors[output].is_weight:
                raise MemoptError(f"makes {output!r}, which is a weight", node.place)
            found[output] = node
    return found


def _check_ends(
    inputs: Sequence[str],
    outputs: Sequence[str],
    tensors: dict[str, Tensor],
    producers: dict[str, Node],
    file: str,
) -> None:
    for what, ends in (("graph_inputs", inputs), ("graph_outputs", outputs)):
        for i, name in enumerate(ends):
            place = f"{file}: {what} {i}"
            if name not in tensors:
                raise MemoptError(f"{name!r} is not in the list of tensors", place)
            if name in ends[:i]:
                raise MemoptError(f"{name!r} is there twice", place)
            if tensors[name].is_weight:
                raise MemoptError(f"{name!r} is a weight", place)
    for i, name in enumerate(inputs):
        if name in producers:
            text = f"{name!r} is made by {producers[name].place.removeprefix(f'{file}: ')}"
            raise MemoptError(text, f"{file}: graph_inputs {i}")
    if not outputs:
        raise MemoptError("the graph has no outputs", f"{file}: graph_outputs")
    for i, name in enumerate(outputs):
        if name not in producers and name not in inputs:
            raise MemoptError(f"nothing makes {name!r}", f"{file}: graph_outputs {i}")


def _check_reads(
    nodes: Sequence[Node],
    tensors: dict[str, Tensor],
    producers: dict[str, Node],
    inputs: set[str],
) -> None:
    for node in nodes:
        for name in node.inputs:
            if name not in tensors:
                raise MemoptError(f"input {name!r} is not in the list of tensors", node.place)
            if name not in producers and name not in inputs and not tensors[name].is_weight:
                raise MemoptError(f"nothing makes its input {name!r}", node.place)


def _sorted(nodes: Sequence[Node], producers: dict[str, Node]) -> list[Node]:
    """Topological order that keeps the file's where it can. Raises MemoptError for a cycle."""
    before = [{producers[i].index for i in n.inputs if i in producers} for n in nodes]
    after: list[list[int]] = [[] for _ in nodes]
    left = [len(b) for b in before]
    for index, sources in enumerate(before):
        for source in sources:
            after[source].append(index)
    ready = [i for i, count in enumerate(left) if count == 0]
    order: list[Node] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(nodes[index])
        for reader in after[index]:
            left[reader] -= 1
            if left[reader] == 0:
                heapq.heappush(ready, reader)
    if len(order) < len(nodes):
        seen: list[int] = []
        at = next(i for i, count in enumerate(left) if count)
        while at not in seen:
            seen.append(at)
            at = next(i for i in sorted(before[at]) if left[i])
        ring = " <- ".join(str(i) for i in [*seen[seen.index(at) :], at])
        raise MemoptError(f"depends on itself: nodes {ring}", nodes[at].place)
    return order


# -- IR -----------------------------------------------------------------------------------------


def _function(
    nodes: Sequence[Node],
    tensors: dict[str, Tensor],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> FuncOp:
    block = Block(arg_types=[tensors[n].type for n in inputs])
    values: dict[str, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for node in nodes:
        op = OpaqueOp(
            node.op,
            [values[n] for n in node.inputs if not tensors[n].is_weight],
            [tensors[n].type for n in node.outputs],
            options=_options(node.attrs, f"{node.place}: attrs"),
        )
        op.attributes["memgraph.names"] = ArrayAttr([StringAttr(n) for n in node.outputs])
        if node.name and (node.name,) != node.outputs:
            op.attributes["memgraph.operator"] = StringAttr(node.name)
        if node.workspace:
            op.attributes["memgraph.scratch"] = ArrayAttr([ScratchAttr(s) for s in node.workspace])
        indices = [tensors[n].index for n in node.outputs]
        op.attributes["memgraph.source"] = SourceAttr(0, node.index, indices)
        values.update(zip(node.outputs, op.results, strict=True))
        block.add_op(op)
    returned = [values[n] for n in outputs]
    block.add_op(ReturnOp(*returned))
    types = [a.type for a in block.args], [v.type for v in returned]
    func = FuncOp("main", types, Region(block))
    if inputs:
        func.arg_attrs = ArrayAttr(
            [DictionaryAttr({"memgraph.name": StringAttr(n)}) for n in inputs]
        )
    func.attributes["memgraph.model"] = ModelAttr()
    return func


def _option(value: Any, place: str, depth: int = 0) -> Attribute:
    """A node's attribute as IR: what JSON can say, IR can."""
    if depth > MAX_DEPTH:
        raise MemoptError(f"nested deeper than {MAX_DEPTH}", place)
    if value is None:
        return UnitAttr()
    if isinstance(value, bool):
        return BoolAttr.from_bool(value)
    if isinstance(value, int):
        if not -(1 << 63) <= value < 1 << 63:
            raise MemoptError(f"{value} does not fit 64 bits", place)
        return IntegerAttr(value, i64)
    if isinstance(value, float):
        return FloatAttr(value, f64)
    if isinstance(value, str):
        return StringAttr(_text(value, place, "a string"))
    if isinstance(value, list):
        return ArrayAttr([_option(v, place, depth + 1) for v in cast("list[Any]", value)])
    return _options(cast("dict[str, Any]", value), place, depth)


def _options(entries: dict[str, Any], place: str, depth: int = 0) -> DictionaryAttr:
    return DictionaryAttr(
        {_text(k, place, "a key"): _option(v, place, depth + 1) for k, v in entries.items()}
    )
