"""The JSON frontend: what a graph becomes, and one line for everything that is wrong with one."""

import copy
import json
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func

import memopt
from memopt.analysis.function_memory import function_memory, memory_of
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.json.read import read
from memopt.text.ir_text import module_text, parse_module

pytestmark = pytest.mark.quick

TINY: dict[str, Any] = {
    "name": "tiny",
    "graph_inputs": ["x"],
    "graph_outputs": ["y"],
    "tensors": [
        {"name": "x", "bytes": 16, "shape": [2, 2], "dtype": "float32"},
        {"name": "w", "bytes": 64, "is_weight": True},
        {"name": "h", "bytes": 8, "shape": [2]},
        {"name": "y", "bytes": 6, "shape": [3], "dtype": "int16"},
    ],
    "nodes": [
        {
            "name": "first",
            "op": "MatMul",
            "inputs": ["x", "w"],
            "outputs": ["h"],
            "attrs": {"k": 1, "a": [1.5, "t", True, None, {"b c": 2}]},
            "workspace": 32,
        },
        {"name": "y", "op": "Add", "inputs": ["h", "x"], "outputs": ["y"]},
    ],
}


def tiny(**changes: Any) -> dict[str, Any]:
    return copy.deepcopy(TINY) | changes


def load(graph: Any) -> ModuleOp:
    return read(json.dumps(graph).encode(), "t.json")


def operators(module: ModuleOp) -> list[OpaqueOp]:
    return [op for op in module.walk() if isinstance(op, OpaqueOp)]


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        ctx.load_dialect(dialect)
    return ctx


def test_what_it_becomes() -> None:
    module = load(TINY)
    module.verify()
    first, second = operators(module)
    assert first.op_name.data == "MatMul" and len(first.operands) == 1  # the weight is no operand
    assert [str(v.type) for v in (*first.operands, *first.results, *second.results)] == [
        "tensor<2x2xf32>",
        "tensor<2xf32>",  # 4 bytes per element: float32
        "tensor<3xi16>",
    ]
    assert name_of(first.results[0]) == "h" and name_of(first.operands[0]) == "x"
    assert str(first.attributes["memgraph.operator"]) == '"first"'
    assert "memgraph.operator" not in second.attributes  # the same as its tensor's name
    assert str(first.attributes["memgraph.source"]) == "#memgraph.source<0, 0, [2]>"
    assert (
        str(first.options)
        == '{k = 1 : i64, a = [1.500000e+00 : f64, "t", true, unit, {"b c" = 2 : i64}]}'
    )
    func = next(functions(module))
    assert memory_of(first, model_of(func)).workspace == (32,)
    memory = function_memory(func, model_of(func))
    assert [(g.name, g.size) for g in memory.groups] == [("x", 16), ("h", 8), ("y", 6)]
    text = module_text(module)
    ctx = context()
    assert module_text(parse_module(ctx, text, "t")) == text
    assert module_text(parse_module(ctx, module_text(module, generic=True), "t")) == text


def test_types_of_tensors() -> None:
    def type_of(**entry: Any) -> str:
        tensors = [*TINY["tensors"][:3], {"name": "y", **entry}]
        return str(operators(load(tiny(tensors=tensors)))[1].results[0].type)

    assert type_of(bytes=5) == "tensor<5xi8>"
    assert type_of(bytes=0) == "tensor<0xi8>"
    assert type_of(bytes=16, shape=[2, 1]) == "tensor<16xi8>"  # no float32: bytes decide
    assert type_of(bytes=4, shape=[]) == "tensor<f32>"
    assert type_of(bytes=3, shape=[5], dtype="int4") == "tensor<5xi4>"
    assert type_of(bytes=5, shape=[5], dtype="bool") == "tensor<5xi1>"
    assert type_of(bytes=0, shape=[0, 7], dtype="uint8") == "tensor<0x7xui8>"


def test_any_order_of_nodes() -> None:
    """Topological, and the file's order where that is legal."""
    nodes = [
        {"name": "c", "op": "C", "inputs": ["b"], "outputs": ["c"]},
        {"name": "d", "op": "D", "inputs": ["x"], "outputs": ["d"]},
        {"name": "b", "op": "B", "inputs": ["x"], "outputs": ["b"]},
        {"name": "e", "op": "E", "inputs": ["x"], "outputs": ["e"]},
    ]
    graph = {
        "tensors": [{"name": n, "bytes": 1} for n in "xbcde"],
        "nodes": nodes,
        "graph_inputs": ["x"],
        "graph_outputs": ["c"],
    }
    module = load(graph)
    assert [op.op_name.data for op in operators(module)] == ["D", "B", "C", "E"]
    assert "source<0, 2" in str(operators(module)[1].attributes["memgraph.source"])


def test_names_in_any_script() -> None:
    graph = json.loads(json.dumps(TINY).replace('"h"', '"größe 深"').replace('"MatMul"', '"Ä"'))
    module = load(graph)
    text = module_text(module)
    again = parse_module(context(), text, "t")
    assert module_text(again) == text
    first = operators(again)[0]
    assert first.op_name.data == "Ä" and name_of(first.results[0]) == "größe 深"


def with_tensor(**entry: Any) -> dict[str, Any]:
    return tiny(tensors=[*TINY["tensors"], entry])


def with_node(**entry: Any) -> dict[str, Any]:
    base: dict[str, Any] = {"name": "n", "op": "N", "inputs": [], "outputs": []}
    return tiny(nodes=[*TINY["nodes"], base | entry])


NOT_THERE = {"name": "y", "op": "Add", "inputs": ["h", "gone"], "outputs": ["y"]}
WRONG: dict[str, tuple[Any, str]] = {
    "a list": ([], "t.json: error: expected an object"),
    "no tensors": ({}, "t.json: tensors: error: expected a list"),
    "no outputs": (tiny(graph_outputs=[]), "t.json: graph_outputs: error: the graph has no"),
    "missing output": (tiny(graph_outputs=["w"]), "graph_outputs 0: error: 'w' is a weight"),
    "unknown output": (tiny(graph_outputs=["q"]), "graph_outputs 0: error: 'q' is not in the"),
    "twice an output": (tiny(graph_outputs=["y", "y"]), "graph_outputs 1: error: 'y' is there tw"),
    "input that is made": (tiny(graph_inputs=["h"]), "error: 'h' is made by node 0 'first'"),
    "no producer": (tiny(graph_inputs=[]), "t.json: node 0 'first': error: nothing makes its inp"),
    "same tensor": (with_tensor(name="h", bytes=1), "t.json: tensor 4 'h': error: tensor 2 has th"),
    "same node": (with_node(name="first"), "t.json: node 2 'first': error: node 0 has the same"),
    "two producers": (with_node(outputs=["h"]), "node 2 'n': error: 'h' is made by node 0 too"),
    "makes a weight": (with_node(outputs=["w"]), "node 2 'n': error: makes 'w', which is a we"),
    "unknown input": (
        tiny(nodes=[TINY["nodes"][0], NOT_THERE]),
        "t.json: node 1 'y': error: input 'gone' is not in the list of tensors",
    ),
    "negative": (with_tensor(name="q", bytes=-1), "tensor 4 'q': error: bytes is negative: -1"),
    "overflow": (with_tensor(name="q", bytes=1 << 63), "tensor 4 'q': error: bytes overflows"),
    "fraction": (with_tensor(name="q", bytes=1.5), "tensor 4 'q': error: bytes must be an int"),
    "true bytes": (with_tensor(name="q", bytes=True), "tensor 4 'q': error: bytes must be an int"),
    "negative shape": (with_tensor(name="q", bytes=4, shape=[-1]), "error: a dimension is negati"),
    "huge shape": (
        with_tensor(name="q", bytes=4, shape=[1 << 40] * 9, dtype="int8"),
        "tensor 4 'q': error: 4 bytes, but [",
    ),
    "many dimensions": (with_tensor(name="q", bytes=1, shape=[1] * 99), "more than 32 dimensions"),
    "other bytes": (
        with_tensor(name="q", bytes=5, shape=[2], dtype="int16"),
        "tensor 4 'q': error: 5 bytes, but [2] of int16 is 4",
    ),
    "dtype": (with_tensor(name="q", bytes=5, dtype="string"), "error: dtype 'string' is not one"),
    "no op": (with_node(op=3), "t.json: node 2 'n': error: op must be a string"),
    "workspace": (with_node(workspace=-3), "t.json: node 2 'n': error: workspace is negative: -3"),
    "attrs": (with_node(attrs={"a": 1 << 64}), "node 2 'n': attrs: error: 18446744073709551616"),
    "surrogate": (with_tensor(name="\ud800", bytes=1), "tensor 4: error: name is no valid Unic"),
    "weight flag": (with_tensor(name="q", bytes=1, is_weight=1), "is_weight must be true or false"),
    "storage of a weight": (
        with_tensor(name="q", bytes=1, is_weight=True, storage="s"),
        "t.json: tensor 4 'q': error: a weight is not in memory, so it is neither",
    ),
    "offset alone": (with_tensor(name="q", bytes=1, offset=4), "offset says where in its storage"),
    "storage elsewhere": (
        tiny(
            tensors=[
                *TINY["tensors"],
                {"name": "q", "bytes": 1, "storage": "r"},
                {"name": "r", "bytes": 1, "storage": "h"},
            ]
        ),
        "tensor 4 'q': error: its storage 'r' is a tensor of another storage",
    ),
    "half persistent": (
        with_tensor(name="q", bytes=1, storage="h", persistent=True),
        "tensor 4 'q': error: of the storage 'h' a part is persistent and a part is not",
    ),
    "storage overflows": (
        with_tensor(name="q", bytes=1 << 61, storage="h", offset=1 << 62),
        "tensor 2 'h': error: the storage 'h' overflows 64-bit sizes",
    ),
    "persistent flag": (with_tensor(name="q", bytes=1, persistent=1), "persistent must be true or"),
    "persistent output": (
        tiny(
            tensors=[*TINY["tensors"], {"name": "p", "bytes": 1, "persistent": True}],
            graph_outputs=["p"],
        ),
        "graph_outputs 0: error: 'p' is persistent, so it neither comes in nor goes out",
    ),
    "makes what is persistent": (
        with_tensor(name="p", bytes=1, persistent=True)
        | {"nodes": [*TINY["nodes"], {"name": "n", "op": "N", "inputs": [], "outputs": ["p"]}]},
        "node 2 'n': error: makes 'p', which is persistent: it can only mutate it",
    ),
    "two inputs of one storage": (
        with_tensor(name="q", bytes=1, storage="x") | {"graph_inputs": ["x", "q"]},
        "graph_inputs 1: error: 'q' lies in one storage with 'x', so they are one input",
    ),
    "mutates no input": (with_node(mutates=["h"]), "node 2 'n': error: mutates 'h', which is no i"),
    "mutates a weight": (
        with_node(inputs=["w"], mutates=["w"]),
        "node 2 'n': error: mutates 'w', which is a weight",
    ),
    "overwrites no input": (
        with_node(may_overwrite=["h"]),
        "node 2 'n': error: may_overwrite: 'h' is no input of it",
    ),
    "overwrites a weight": (
        with_node(inputs=["w"], may_overwrite=["w"]),
        "node 2 'n': error: may_overwrite: 'w' is not in the arena",
    ),
    "overwrites without a result": (
        with_node(inputs=["h"], may_overwrite=["h"]),
        "node 2 'n': error: may_overwrite is of nodes whose first output is new",
    ),
    "after nothing": (with_node(after=["gone"]), "node 2 'n': error: comes after 'gone', which is"),
    "after itself": (with_node(after=["n"]), "node 2 'n': error: comes after itself"),
    "read before it is overwritten and made": (
        tiny(
            nodes=[
                {"name": "early", "op": "N", "inputs": ["h"], "outputs": []},
                *TINY["nodes"],
                {"name": "late", "op": "N", "inputs": ["h"], "outputs": [], "mutates": ["h"]},
            ]
        ),
        "node 0 'early': error: reads 'h', which is overwritten later, before it is made",
    ),
    "after each other": (
        tiny(
            nodes=[
                {"name": "a", "op": "N", "inputs": ["x"], "outputs": ["h"], "after": ["b"]},
                {"name": "b", "op": "N", "inputs": ["x"], "outputs": ["y"], "after": ["a"]},
            ]
        ),
        "t.json: node 0 'a': error: depends on itself: nodes 0 <- 1 <- 0",
    ),
    "cycle": (
        {
            "tensors": [{"name": n, "bytes": 1} for n in "xabc"],
            "graph_inputs": ["x"],
            "graph_outputs": ["b"],
            "nodes": [
                {"name": "before", "op": "O", "inputs": ["x"], "outputs": ["c"]},
                {"name": "one", "op": "O", "inputs": ["c", "b"], "outputs": ["a"]},
                {"name": "two", "op": "O", "inputs": ["a"], "outputs": ["b"]},
            ],
        },
        "t.json: node 1 'one': error: depends on itself: nodes 1 <- 2 <- 1",
    ),
}


def test_storages_and_what_is_persistent() -> None:
    """One value per storage, a variable for what stays, tokens for who must follow whom."""
    graph = tiny(
        tensors=[
            *TINY["tensors"],
            {"name": "p", "bytes": 64, "persistent": True},
            {"name": "end", "bytes": 4, "storage": "h", "offset": 8},
        ],
        nodes=[
            {"name": "first", "op": "MatMul", "inputs": ["x", "p"], "outputs": ["h"]},
            {"name": "relu", "op": "relu_", "inputs": ["end"], "outputs": [], "mutates": ["end"]},
            {"name": "y", "op": "Add", "inputs": ["h", "x"], "outputs": ["y"]},
            {"name": "sgd", "op": "sgd", "inputs": ["p", "x"], "outputs": [], "mutates": ["p"]},
        ],
    )
    module = load(graph)
    text = module_text(module)
    assert parse_module(context(), text, "t").is_structurally_equivalent(module)
    assert 'memgraph.variable "p"' in text and "tensor<12xi8>" in text
    first, relu, add, sgd = operators(module)
    token = first.results[1]
    assert relu.operands[0] is first.results[0] and relu.operands[1] is token
    assert [add.operands[0], add.operands[2]] == [first.results[0], relu.results[0]]
    (func,) = functions(module)
    assert list(sgd.operands) == [func.body.block.args[0], token]
    memory = function_memory(func, model_of(func))
    assert [(g.name, g.size, g.readers) for g in memory.groups] == [
        ("x", 16, [0, 2, 3]),
        ("h", 12, [1, 2]),
        ("y", 6, []),
    ]


def test_what_may_be_overwritten() -> None:
    """It survives its text, and a plan in place takes it where that is the end of the input."""
    tensors = [{"name": n, "bytes": 64} for n in "xabc"]
    nodes = [
        {"name": "n0", "op": "f", "inputs": ["x"], "outputs": ["a"]},
        {"name": "n1", "op": "g", "inputs": ["x", "a"], "outputs": ["b"], "may_overwrite": ["a"]},
        {"name": "n2", "op": "g", "inputs": ["x", "b"], "outputs": ["c"], "may_overwrite": ["x"]},
    ]
    graph = {"graph_inputs": ["x"], "graph_outputs": ["c"], "tensors": tensors, "nodes": nodes}
    module = load(graph)
    text = module_text(module)
    assert text.count("memgraph.may_overwrite = array<i64: 1>") == 1
    again = parse_module(context(), text, "t")
    assert again.is_structurally_equivalent(module) and module_text(again) == text
    generic = parse_module(context(), module_text(module, generic=True), "t")
    assert generic.is_structurally_equivalent(module)
    plan = memopt.plan(graph)
    assert plan.peak == plan.arena == 128 and plan.optimal
    assert plan.offsets["a"] == plan.offsets["b"] and plan.offsets["c"] == plan.offsets["x"]
    assert memopt.plan(graph, inplace="off").peak == 192


@pytest.mark.parametrize("name", WRONG)
def test_one_line_with_the_place(name: str) -> None:
    graph, text = WRONG[name]
    with pytest.raises(MemoptError) as caught:
        load(graph)
    assert text in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"", "t.json:1:1: error: Expecting value"),
        (b'{"a": 1,\n "b" 2}', "t.json:2:6: error: Expecting ':' delimiter"),
        (b"\xff\xfe\xfd", "t.json: error: no JSON"),
        (b"[" * 100000, "t.json: error: no JSON"),
        (b"1" * 5000, "t.json: error: no JSON"),
    ],
)
def test_no_json(data: bytes, text: str) -> None:
    with pytest.raises(MemoptError) as caught:
        read(data, "t.json")
    assert str(caught.value).startswith(text)


def test_deep_attributes() -> None:
    nested: Any = 1
    for _ in range(200):
        nested = [nested]
    with pytest.raises(MemoptError, match="nested deeper than 32"):
        load(with_node(attrs={"a": nested}))
