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

Captured graphs (`memopt capture`) say more. Tensors of one `storage` are one buffer and one value.
What is `persistent` is a `memgraph.variable`: in memory, but not in the arena. A node that must run
after another, by `after` or since one of the two overwrites what the other one uses (`mutates`),
takes its token (frontends/json/storages.py):

    {"name": "u", "op": "sgd", "inputs": ["w", "dw"], "outputs": [], "mutates": ["w"]}

What `may_overwrite` an input, where nothing reads that later, has `memgraph.may_overwrite`.

    %0, %t = memgraph.opaque "MatMul"(%x) ... -> (tensor<16xi8>, !memgraph.after)
    memgraph.opaque "sgd"(%dw, %t) options {mutates = ["w"]} ... -> ()
"""

from collections.abc import Mapping, Sequence
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
from xdsl.ir import Attribute, SSAValue

from memopt.dialects.attributes.operators import AfterType, SourceAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import MAY_OVERWRITE, OpaqueOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.frontends.core.function import Draft, name_results
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
from memopt.frontends.json.storages import Storage, Use, storages_of, use_of, waits_of

MAX_DEPTH = 32  # of nested attributes


def read(data: bytes, name: str, path: Path | None = None) -> ModuleOp:
    """The module for a JSON graph.

    `name` is what messages call the file. No weights lie in it, so its `path` stands nowhere.
    Raises MemoptError.
    """
    graph = checked_graph(data, name)
    return ModuleOp([function_of(graph)])


@dataclass(frozen=True)
class Graph:
    """A JSON graph in which all is said that must be, its nodes in an order in which they can
    run; node i touches the storages `uses[i]` and takes the tokens of the nodes `tokens[i]`."""

    nodes: Sequence[Node]
    tensors: dict[str, Tensor]
    storages: dict[str, Storage]
    uses: Sequence[Use]
    tokens: Sequence[Sequence[int]]
    inputs: Sequence[str]
    outputs: Sequence[str]


def checked_graph(data: bytes, name: str) -> Graph:
    """The graph in the bytes of a file. Raises MemoptError."""
    graph = object_of(parse(data, name), name)
    tensors = tensors_of(graph, name)
    nodes = nodes_of(graph, name)
    inputs = names_of(graph.get("graph_inputs"), name, "graph_inputs")
    outputs = names_of(graph.get("graph_outputs"), name, "graph_outputs")
    producers = producers_of(nodes, tensors)
    check_ends(inputs, outputs, tensors, producers, name)
    check_reads(nodes, tensors, producers, set(inputs))
    storages = storages_of(tensors)
    uses = [use_of(node, tensors) for node in nodes]
    waits = waits_of(nodes, uses, storages, {tensors[name].storage for name in inputs})
    ordered = in_order(nodes, waits.before)
    return Graph(ordered, tensors, storages, uses, waits.tokens, inputs, outputs)


def function_of(graph: Graph) -> FuncOp:
    """The function of a checked graph. Raises MemoptError."""
    tensors, storages, tokens = graph.tensors, graph.storages, graph.tokens
    draft = Draft[str | int]()  # storages by their names, tokens by the numbers of their nodes
    given = [storages[tensors[n].storage] for n in graph.inputs]
    draft.take([s.name for s in given], graph.inputs, [s.type for s in given])
    for storage in storages.values():
        if storage.persistent:
            op = VariableOp(storage.name, storage.type)
            name_results(op, [storage.name])
            draft.block.add_op(op)
    awaited = {first for firsts in tokens for first in firsts}
    for node in graph.nodes:
        gives = node.number in awaited
        taken = [draft.values[first] for first in tokens[node.number]]
        use = graph.uses[node.number]
        op, written = _operation(node, use, storages, draft.values, taken, gives)
        names = [s.name for s in written]
        keys = [*names, node.number] if gives else names
        source = SourceAttr(0, node.number, [s.number for s in written])
        draft.add(op, keys, names, source, node.name)
    returned = dict.fromkeys(tensors[n].storage for n in graph.outputs)
    return draft.function("main", [draft.values[name] for name in returned])


def _operation(
    node: Node,
    use: Use,
    storages: dict[str, Storage],
    values: Mapping[str | int, SSAValue],
    tokens: Sequence[SSAValue],
    with_token: bool,
) -> tuple[OpaqueOp, list[Storage]]:
    """The node, and the storages that its results are: those in the arena that it is the first to
    write. With `with_token` it has one more result, for who must follow it."""
    operands = [values[name] for name in use.reads if not storages[name].persistent]
    results: list[Storage] = []
    for name in use.writes:
        if storages[name].persistent:
            continue
        if name not in values:
            results.append(storages[name])
        elif values[name] not in operands:
            operands.append(values[name])
    attrs = node.attrs | ({"mutates": list(node.mutates)} if node.mutates else {})
    over = [values[name] for name in use.overwritable]
    if over and not (node.outputs and results and results[0].name == use.writes[0]):
        raise MemoptError("may_overwrite is of nodes whose first output is new", node.place)
    op = OpaqueOp(
        node.op,
        [*operands, *tokens],
        [*(s.type for s in results), *([AfterType()] if with_token else [])],
        options=_options(attrs, f"{node.place}: attrs") if attrs else None,
    )
    if over:
        op.attributes[MAY_OVERWRITE] = numbers([operands.index(value) for value in over])
    if node.workspace:
        op.attributes["memgraph.scratch"] = ArrayAttr([ScratchAttr(s) for s in node.workspace])
    return op, results


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
