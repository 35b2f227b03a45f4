"""memgraph-prepare: what it merges, what it leaves alone, and that the IR says so."""

import json
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.function_memory import function_memory
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import model_of
from memopt.frontends.json.read import read
from memopt.passes.memgraph_prepare import MemgraphPreparePass
from memopt.text.ir_text import module_text, parse_module


def chain(
    *ops: str, outputs: tuple[int, ...] = (), sizes: dict[int, int] | None = None
) -> ModuleOp:
    """x -> ops[0] -> t0 -> ops[1] -> t1 ...; the last is an output, and `outputs` too."""
    names = [f"t{i}" for i in range(len(ops))]
    graph: dict[str, Any] = {
        "tensors": [
            {"name": n, "bytes": (sizes or {}).get(i - 1, 8)} for i, n in enumerate(["x", *names])
        ],
        "nodes": [
            {"name": f"n{i}", "op": op, "inputs": [["x", *names][i]], "outputs": [names[i]]}
            for i, op in enumerate(ops)
        ],
        "graph_inputs": ["x"],
        "graph_outputs": [names[i] for i in (*outputs, len(ops) - 1)],
    }
    return read(json.dumps(graph).encode(), "t.json")


def ir(body: str) -> ModuleOp:
    ctx = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        ctx.load_dialect(dialect)
    module = parse_module(ctx, body, "t.mlir")
    module.verify()
    return module


def prepare(module: ModuleOp, *conventions: str) -> ModuleOp:
    MemgraphPreparePass(conventions).apply(Context(), module)
    module.verify()
    return module


def executing(module: ModuleOp) -> list[str]:
    func = next(functions(module))
    memory = function_memory(func, model_of(func))
    return [
        op.op_name.data if hasattr(op, "op_name") else op.name.removeprefix("memgraph.")  # type: ignore[attr-defined]
        for op in memory.operations
    ]


def test_opaque_relu() -> None:
    module = prepare(chain("Conv", "Relu", "Relu6", "Add"), "frelu")
    assert executing(module) == ["Conv", "Add"]
    conv = next(functions(module)).body.block.first_op
    assert conv is not None and name_of(conv.results[0]) == "t2"
    assert str(conv.attributes["memgraph.merged"]) == '["Relu", "Relu6"]'
    assert "memgraph.source" not in conv.attributes


def test_two_readers_or_an_output() -> None:
    assert executing(prepare(chain("Conv", "Relu", outputs=(0,)), "frelu")) == ["Conv", "Relu"]
    assert executing(prepare(chain("Relu", "Conv"), "frelu")) == ["Relu", "Conv"]
    graph = {
        "tensors": [{"name": n, "bytes": 8} for n in "xabc"],
        "nodes": [
            {"name": "A", "op": "Conv", "inputs": ["x"], "outputs": ["a"]},
            {"name": "B", "op": "Relu", "inputs": ["a"], "outputs": ["b"]},
            {"name": "C", "op": "Add", "inputs": ["a", "b"], "outputs": ["c"]},
        ],
        "graph_inputs": ["x"],
        "graph_outputs": ["c"],
    }
    module = prepare(read(json.dumps(graph).encode(), "t.json"), "frelu")
    assert executing(module) == ["Conv", "Relu", "Add"]


def test_views() -> None:
    ops = ("Conv", "Flatten", "Reshape", "Squeeze", "Unsqueeze", "Add")
    assert executing(prepare(chain(*ops), "view")) == ["Conv", "Add"]
    assert executing(prepare(chain(*ops), "frelu")) == list(ops)
    assert executing(prepare(prepare(chain(*ops), "view"))) == list(ops)  # taken back
    copied = prepare(chain(*ops, sizes={1: 9}), "view")  # another size: no view
    assert executing(copied) == ["Conv", "Flatten", "Reshape", "Add"]
    func = next(functions(prepare(chain(*ops), "view")))
    memory = function_memory(func, model_of(func))
    assert len(memory.groups) == 3  # x, the Conv's result under five names, the Add's


def test_relu_through_a_view() -> None:
    module = prepare(chain("MatMul", "Squeeze", "Relu", "Add"), "frelu", "view")
    assert executing(module) == ["MatMul", "Add"]
    first, second = list(next(functions(module)).body.block.ops)[:2]
    assert str(first.attributes["memgraph.merged"]) == '["Relu"]'
    assert name_of(second.results[0]) == "t2" and "memgraph.merged" not in second.attributes


MODEL = "attributes {memgraph.model = #memgraph.model<views = on>}"
F = "tensor<1x2x4x4xf32>"
NCHW = "tensor<1x2x4x4xf32, #memgraph.encoding<nchw>>"
FLAT = "tensor<1x32xf32>"
Q = "tensor<1x32xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>"
Q2 = "tensor<1x32xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>"


def typed(producer: str, middle: str, relu: str, a: str, b: str, c: str) -> ModuleOp:
    return ir(f"""
        func.func @main(%x: {a}) -> {c} {MODEL} {{
          %1 = {producer} : ({", ".join([a] * producer.count("%x"))}) -> {b}
          {middle}
          %3 = {relu} : ({b}) -> {c}
          return %3 : {c}
        }}""")


def test_typed() -> None:
    module = prepare(typed("memgraph.add %x, %x", "", "memgraph.relu6 %1", F, F, F), "frelu")
    assert executing(module) == ["add"] and "activation<relu6>" in str(module)
    module = prepare(typed("memgraph.add %x, %x", "", "memgraph.relu %1", F, F, NCHW), "frelu")
    assert executing(module) == ["add"]  # and the layout that the Relu's readers rely on stays
    assert f"-> {NCHW}\n" in str(module)


@pytest.mark.parametrize(
    ("producer", "relu", "types"),
    [
        ("memgraph.tanh %x", "memgraph.relu %1", (F, F, F)),
        ("memgraph.add %x, %x activation<relu6>", "memgraph.relu %1", (F, F, F)),
        ("memgraph.add %x, %x", "memgraph.relu %1", (Q, Q, Q2)),
        ("memgraph.add %x, %x", 'memgraph.opaque "Clip"(%1)', (F, F, F)),
    ],
)
def test_left_alone(producer: str, relu: str, types: tuple[str, str, str]) -> None:
    module = typed(producer, "", relu, *types)
    before = executing(module)
    assert executing(prepare(module, "frelu")) == before and len(before) == 2


def test_same_quantization_merges() -> None:
    module = typed("memgraph.add %x, %x", "", "memgraph.relu %1", Q, Q, Q)
    assert executing(prepare(module, "frelu")) == ["add"]


def test_typed_relu_through_a_reshape() -> None:
    text = f"""
        func.func @main(%x: {F}) -> {FLAT} {MODEL} {{
          %1 = memgraph.mul %x, %x : ({F}, {F}) -> {F}
          %2 = memgraph.reshape %1 : ({F}) -> {FLAT}
          %3 = memgraph.relu %2 {{memgraph.names = ["out"]}} : ({FLAT}) -> {FLAT}
          return %3 : {FLAT}
        }}"""
    module = prepare(ir(text), "frelu")
    assert executing(module) == ["mul", "reshape"] and "activation<relu>" in str(module)
    assert 'memgraph.names = ["out"]' in str(module)
    assert executing(prepare(ir(text), "frelu", "view")) == ["mul"]


def test_a_plan_is_dropped() -> None:
    module = chain("Conv", "Relu")
    func = next(functions(module))
    from memopt.dialects.attributes.plan import PlanAttr
    from memopt.dialects.memgraph.fingerprint import fingerprint
    from memopt.dialects.memgraph.plan import PLAN, plan_of, set_order

    set_order(list(func.body.block.ops)[:-1])
    func.attributes[PLAN] = PlanAttr(16, 16, "flow", "order", fingerprint=fingerprint(func))
    prepare(module, "frelu")
    assert plan_of(func) is None and "memgraph.order" not in module_text(module)


def test_unknown_convention() -> None:
    with pytest.raises(PassFailedException, match="is not one of: frelu, view"):
        prepare(chain("Conv"), "relu")
