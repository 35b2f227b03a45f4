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

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from xdsl.dialects.builtin import (
    ArrayAttr,
    BoolAttr,
    DictionaryAttr,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute

from memopt.dialects.attributes import SourceAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.place_attributes import ScratchAttr
from memopt.dialects.structure import OpaqueOp
from memopt.frontends.core.function import Draft
from memopt.frontends.json.checks import check_ends, check_reads, in_order, producers_of
from memopt.frontends.json.file import (
    Node,
    Tensor,
    names_of,
    nodes_of,
    object_of,
    parse,
    tensors_of,
    text_of,
)

MAX_DEPTH = 32  # of nested attributes


def read(data: bytes, name: str, path: Path | None = None) -> ModuleOp:
    """The module for a JSON graph.

    `name` is what messages call the file. No weights lie in it, so its `path` stands nowhere.
    Raises MemoptError.
    """
    graph = checked_graph(data, name)
    return ModuleOp([function_of(graph.nodes, graph.tensors, graph.inputs, graph.outputs)])


@dataclass(frozen=True)
class Graph:
    """A JSON graph in which all is said that must be, its nodes in an order in which they can
    run."""

    nodes: Sequence[Node]
    tensors: dict[str, Tensor]
    inputs: Sequence[str]
    outputs: Sequence[str]


def checked_graph(data: bytes, name: str) -> Graph:
    """The graph in the bytes of a file. Raises MemoptError."""
    graph = object_of(parse(data, name), name)
    tensors = tensors_of(graph, name)
    nodes = nodes_of(graph, name)
    inputs = names_of(graph.get("graph_inputs"), f"{name}: graph_inputs")
    outputs = names_of(graph.get("graph_outputs"), f"{name}: graph_outputs")
    producers = producers_of(nodes, tensors)
    check_ends(inputs, outputs, tensors, producers, name)
    check_reads(nodes, tensors, producers, set(inputs))
    return Graph(in_order(nodes, producers), tensors, inputs, outputs)


def function_of(
    nodes: Sequence[Node],
    tensors: dict[str, Tensor],
    inputs: Sequence[str],
    outputs: Sequence[str],
) -> FuncOp:
    """The function of checked nodes in an order in which they can run. Raises MemoptError."""
    draft = Draft[str]()
    draft.take(inputs, inputs, [tensors[n].type for n in inputs])
    for node in nodes:
        op = OpaqueOp(
            node.op,
            [draft.values[n] for n in node.inputs if not tensors[n].is_weight],
            [tensors[n].type for n in node.outputs],
            options=_options(node.attrs, f"{node.place}: attrs"),
        )
        if node.workspace:
            op.attributes["memgraph.scratch"] = ArrayAttr([ScratchAttr(s) for s in node.workspace])
        source = SourceAttr(0, node.index, [tensors[n].index for n in node.outputs])
        draft.add(op, node.outputs, node.outputs, source, node.name)
    return draft.function("main", [draft.values[n] for n in outputs])


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
        return StringAttr(text_of(value, place, "a string"))
    if isinstance(value, list):
        return ArrayAttr([_option(v, place, depth + 1) for v in cast("list[Any]", value)])
    return _options(cast("dict[str, Any]", value), place, depth)


def _options(entries: dict[str, Any], place: str, depth: int = 0) -> DictionaryAttr:
    return DictionaryAttr(
        {text_of(k, place, "a key"): _option(v, place, depth + 1) for k, v in entries.items()}
    )
