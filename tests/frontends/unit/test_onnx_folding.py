"""What the ONNX frontend knows before run time: shapes, branches, constants made of constants."""

from typing import Any

import numpy as np
import pytest
from onnx import GraphProto, NodeProto, helper
from onnx_graphs import executing, ints, load, make, node, refused
from xdsl.ir import SSAValue

from memopt.analysis.evaluation import evaluate
from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.functions import body_of, functions


def test_a_shape_that_data_decides() -> None:
    model = make([node("NonZero", out="n"), node("Cast", ("n",), to=1)], y=("r", "n"))
    assert refused(model.SerializeToString()) == (
        "m.onnx: node 0 '' (NonZero): error: the shape of its result 'n' is not known before "
        "run time: it counts what it finds; end the model at 'x' (onnx.utils.extract_model)"
    )


def test_shape_computations_vanish() -> None:
    """What PyTorch writes for x.view(x.shape[0], -1): all of it folds, the Reshape stays a view."""
    nodes = [
        node("Shape", out="s"),
        node("Gather", ("s", "zero"), "n", axis=0),
        node("Unsqueeze", ("n", "axes"), "n1"),
        node("Concat", ("n1", "rest"), "to", axis=0),
        node("Reshape", ("x", "to"), "r"),
        node("Relu", ("r",)),
    ]
    constants = {"zero": np.int64(0), "axes": ints(0), "rest": ints(-1)}
    module = load(make(nodes, ("N", 3, 4), constants, ("N", "M")), {"x": (2, 3, 4)})
    assert executing(module) == ["relu"]
    assert str(module).count("memgraph.constant") == 0
    assert "tensor<2x12xf32>" in str(module)


@pytest.mark.parametrize("opset", [11, 13])
def test_shape_computations_of_older_opsets_vanish(opset: int) -> None:
    """Axes were attributes once: each operator is evaluated by its own opset."""
    axes = {"zero": ints(0)} if opset >= 13 else {}
    parts = [
        node("Unsqueeze", ("n", *axes), "s0", **({} if axes else {"axes": [0]})),
        node("Squeeze", ("s0", *axes), "s1", **({} if axes else {"axes": [0]})),
        node("Unsqueeze", ("s1", *axes), "s2", **({} if axes else {"axes": [0]})),
    ]
    nodes = [
        node("Shape", out="s"),
        node("Gather", ("s", "first"), "n"),
        *parts,
        node("Concat", ("s2", "rest"), "to", axis=0),
        node("Reshape", ("x", "to")),
    ]
    constants = {"first": np.array(0), "rest": ints(2, 3), **axes}
    model = make(nodes, ("N", 6), constants, ("a", "b", "c"), opset)
    assert executing(load(model, {"x": (5, 6)})) == []


def test_folding_with_floats() -> None:
    """The sizes of an upsampling by hand: Shape, Cast, Mul, Floor, Cast, Concat, Resize."""
    nodes = [
        node("Shape", out="s"),
        node("Slice", ("s", "two", "four"), "hw"),
        node("Cast", ("hw",), "f", to=1),
        node("Mul", ("f", "factor"), "g"),
        node("Floor", ("g",), "h"),
        node("Cast", ("h",), "i", to=7),
        node("Slice", ("s", "null", "two"), "nc"),
        node("Concat", ("nc", "i"), "sizes", axis=0),
        node("Resize", ("x", "", "", "sizes"), mode="linear"),
    ]
    constants = {
        "two": ints(2),
        "four": ints(4),
        "null": ints(0),
        "factor": np.array([2.5, 1.5], np.float32),
    }
    module = load(make(nodes, (1, 2, 4, 6), constants, ("a", "b", "c", "d")))
    assert executing(module) == ["resize_bilinear"] and "1x2x10x9xf32" in str(module)


def test_control_flow_after_folding() -> None:
    """The shapes of an If follow from what folding finds out."""

    def branch(kind: str, name: str) -> GraphProto:
        out = helper.make_tensor_value_info(name, 1, ("p", "q"))
        return helper.make_graph([node(kind, ("r",), name)], name, [], [out])

    nodes = [
        node("Shape", out="s"),
        node("Mul", ("s", "by"), "to"),
        node("Reshape", ("x", "to"), "r"),
        node("If", ("flag",), then_branch=branch("Sin", "t"), else_branch=branch("Cos", "e")),
    ]
    constants = {"by": np.array([2, 1], np.int64), "flag": np.array(True)}
    nodes[2] = node("Expand", ("x", "to"), "r")
    module = load(make(nodes, (1, 4), constants, ("a", "b")))
    assert executing(module) == ["strided", "sin"] and str(module).count("tensor<2x4xf32>") >= 3


def test_a_branch_is_taken_whatever_the_other_one_gives() -> None:
    """Their results may differ in rank; which one it is, a shape says."""
    branches = {
        f"{name}_branch": helper.make_graph(
            [node(kind, ("x",), name)], name, [], [helper.make_tensor_value_info(name, 1, None)]
        )
        for name, kind in (("then", "Flatten"), ("else", "Relu"))
    }
    nodes = [
        node("Shape", out="s"),
        node("Size", ("s",), "rank"),
        node("Equal", ("rank", "three"), "is_three"),
        node("If", ("is_three",), "z", **branches),
        node("Relu", ("z",)),
    ]
    model = make(nodes, (1, 2, 3), {"three": np.array(3)}, ("a", "b"))
    assert executing(load(model)) == ["relu"]


def test_branches_of_other_shapes_are_refused_by_name() -> None:
    branches: dict[str, Any] = {
        f"{name}_branch": helper.make_graph(
            [node(kind, ("x",), name)], name, [], [helper.make_tensor_value_info(name, 1, None)]
        )
        for name, kind in (("then", "Flatten"), ("else", "Relu"))
    }
    nodes = [node("Greater", ("k", "zero"), "c"), node("If", ("c",), **branches)]
    model = make(nodes, (1, 2, 3), {"zero": np.float32(0)}, ("a", "b", "c"))
    model.graph.input.append(helper.make_tensor_value_info("k", 1, []))
    assert refused(model.SerializeToString()) == (
        "m.onnx: node 1 '' (If): error: its branches make 1x6 and 1x2x3 of 'y', and only the run "
        "time knows which; --fix=k=NUMBER says which branch runs"
    )


ort: Any = pytest.importorskip("onnxruntime")
SEQUENCES: dict[str, list[NodeProto]] = {
    "a part": [
        node("SplitToSequence", ("x", "two"), "s", axis=1),
        node("SequenceAt", ("s", "last"), "p"),
        node("Relu", ("p",)),
    ],
    "rows": [
        node("SplitToSequence", out="s", axis=0, keepdims=0),
        node("SequenceAt", ("s", "last"), "p"),
        node("Neg", ("p",), "n"),
        node("SequenceConstruct", ("n", "p"), "t"),
        node("ConcatFromSequence", ("t",), axis=0, new_axis=1),
    ],
    "a length": [
        node("SequenceConstruct", ("x", "x"), "s"),
        node("SequenceLength", ("s",), "n"),
        node("Cast", ("n",), "f", to=1),
        node("Add", ("x", "f")),
    ],
}


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_of_known_lengths_are_their_tensors(name: str) -> None:
    model = make(SEQUENCES[name], (3, 5), {"two": np.int64(2), "last": np.int64(-1)}, ("a", "b"))
    x = np.random.default_rng(0).normal(size=(3, 5)).astype(np.float32)
    session = ort.InferenceSession(model.SerializeToString())
    (want,) = session.run(None, {"x": x})
    module = load(model)
    func = next(functions(module))
    values = evaluate(func, Weights.of(module), [x])
    last: Any = func.body.block.last_op
    (returned,) = last.operands
    np.testing.assert_array_equal(values[returned], want)


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_recurrent_weights_that_stay_in_the_file(kind: str) -> None:
    """What is cut out of them and transposed stands before whoever reads it, whichever it is."""
    gates, hidden = {"GRU": 3, "LSTM": 4, "RNN": 1}[kind], 48
    rng = np.random.default_rng(0)
    shapes = {"w": (1, gates * hidden, 40), "r": (1, gates * hidden, hidden)}
    constants = {k: rng.normal(size=n).astype(np.float32) for k, n in shapes.items()}
    bent = {"GRU": ["Softsign", "Tanh"], "LSTM": ["Softsign", "Tanh", "Tanh"], "RNN": ["Softsign"]}
    nodes = [node(kind, ("x", "w", "r"), "y", hidden_size=hidden, activations=bent[kind])]
    module = load(make(nodes, (2, 1, 40), constants, (2, 1, 1, hidden)))
    made: set[SSAValue] = set(body_of(next(functions(module))).args)
    for op in body_of(next(functions(module))).ops:
        assert made >= set(op.operands), op
        made.update(op.results)
    assert "fully_connected" in executing(module)
