"""The ONNX frontend on what is unusual or hostile: shapes, constants, other files, corruption."""

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import SSAValue

from memopt.analysis.function_memory import function_memory
from memopt.analysis.weights import Weights
from memopt.cli import main
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, functions
from memopt.dialects.memgraph import MEMGRAPH
from memopt.dialects.plan import model_of
from memopt.dialects.structure import ConstantOp, OpaqueOp
from memopt.frontends.onnx.read import read
from memopt.text import module_text, parse_module

Dims = Sequence[int | str]


def make(
    nodes: Sequence[NodeProto],
    x: Dims = (1, 4),
    constants: dict[str, Any] | None = None,
    y: Dims | None = None,
    opset: int = 18,
) -> ModelProto:
    """x -> nodes -> y. Where the shape of y is not given, it is inferred."""
    tensors = [
        v if isinstance(v, TensorProto) else onnx.numpy_helper.from_array(np.asarray(v), k)
        for k, v in (constants or {}).items()
    ]
    out = helper.make_tensor_value_info("y", 1, y)
    graph = helper.make_graph(
        list(nodes), "g", [helper.make_tensor_value_info("x", 1, x)], [out], tensors
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)])
    model.ir_version = 8
    return model if y is not None else onnx.shape_inference.infer_shapes(model)


def node(kind: str, inputs: Sequence[str] = ("x",), out: str = "y", **attributes: Any) -> NodeProto:
    return helper.make_node(kind, list(inputs), [out], **attributes)


def load(model: ModelProto, shapes: dict[str, tuple[int, ...]] | None = None) -> ModuleOp:
    module = read(model.SerializeToString(), "m.onnx", None, shapes)
    module.verify()
    return module


def refused(data: bytes, path: Path | None = None, **shapes: tuple[int, ...]) -> str:
    with pytest.raises(MemoptError) as caught:
        read(data, "m.onnx", path, shapes)
    text = str(caught.value)
    assert text.startswith("m.onnx") and "\n" not in text
    return text


def executing(module: ModuleOp) -> list[str]:
    func = next(functions(module))
    return [
        op.op_name.data if isinstance(op, OpaqueOp) else op.name.removeprefix("memgraph.")
        for op in function_memory(func, model_of(func)).operations
    ]


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


RELU = node("Relu")


# -- shapes -------------------------------------------------------------------------------------


def test_symbolic_dimensions() -> None:
    model = make([node("Conv", ("x", "w"))], ("N", 3, "H", 5), {"w": np.zeros((2, 3, 1, 1), "f4")})
    module = load(model, {"x": (2, 3, 7, 5)})
    assert "tensor<2x2x7x5xf32" in str(module)
    data = model.SerializeToString()
    assert refused(data) == (
        "m.onnx: input 'x': error: has the shape Nx3xHx5; fix it with --shape=x=1x..."
    )
    assert "a fixed 3 where --shape gives 2x4x7x5" in refused(data, x=(2, 4, 7, 5))
    assert "has 4 dimensions, --shape gives 2x3" in refused(data, x=(2, 3))
    assert "--shape names 'z', but the inputs are: x" in refused(data, z=(1,))
    assert "negative dimension: [-2, 3, 7, 5]" in refused(data, x=(-2, 3, 7, 5))


def test_minus_one_is_an_open_dimension() -> None:
    """As some exporters write it."""
    model = make([node("Relu")], (-1, 4), y=(-1, 4))
    assert "has the shape ?x4; fix it with --shape" in refused(model.SerializeToString())
    assert str(load(model, {"x": (3, 4)})).count("tensor<3x4xf32>") >= 2


def test_symbols_in_the_middle_and_at_the_end() -> None:
    """Stale symbols of the exporter do not outlive --shape."""
    model = make([node("Relu", out="a"), node("Relu", ("a",))], ("N", 4), y=("N", 4))
    model.graph.value_info.append(helper.make_tensor_value_info("a", 1, ("N", 4)))
    assert str(load(model, {"x": (3, 4)})).count("tensor<3x4xf32>") >= 4


def test_a_shape_that_data_decides() -> None:
    model = make([node("NonZero", out="n"), node("Cast", ("n",), to=1)], y=("r", "n"))
    assert refused(model.SerializeToString()) == (
        "m.onnx: node 0 '' (NonZero): error: the shape of its result 'n' is not known before "
        "run time"
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

    def branch(kind: str, name: str) -> onnx.GraphProto:
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


def test_random_is_no_constant() -> None:
    nodes = [node("RandomUniform", (), "r", shape=[1, 4]), node("Add", ("x", "r"))]
    assert executing(load(make(nodes))) == ["RandomUniform", "add"]


# -- constants ----------------------------------------------------------------------------------


def constants_of(module: ModuleOp) -> list[ConstantOp]:
    return [op for op in module.walk() if isinstance(op, ConstantOp)]


def test_weights_come_back(tmp_path: Path) -> None:
    """Small ones inline, large ones by reference: initializers, Constant, ConstantOfShape."""
    large = np.arange(400, dtype=np.float32).reshape(4, 100)
    nodes = [
        node("Add", ("x", "small"), "a"),
        node("Constant", (), "c", value=onnx.numpy_helper.from_array(large + 1)),
        node("Add", ("a", "c"), "b"),
        node("Constant", (), "floats", value_floats=[1.0, 2.0, 3.0, 4.0]),
        node("Softmax", ("floats",), "p"),
        node("Unsqueeze", ("p", "last"), "q"),
        node("Mul", ("q", "large"), "d"),
        node("Add", ("b", "d"), "e"),
        node(
            "ConstantOfShape",
            ("shape",),
            "fill",
            value=helper.make_tensor("v", TensorProto.FLOAT, [1], [2.5]),
        ),
        node("Add", ("e", "fill")),
    ]
    small = np.full((1, 1), 0.1, np.float32)
    constants = {"small": small, "large": large, "shape": ints(4, 100), "last": ints(1)}
    model = make(nodes, (4, 100), constants)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    module = read(path.read_bytes(), "m.onnx", path)
    weights = Weights.of(module)
    found = {str(op.attributes["memgraph.names"]): op for op in constants_of(module)}
    assert set(found) == {f'["{n}"]' for n in ("small", "c", "floats", "large", "fill")}
    by_reference = [n for n, op in found.items() if "#memgraph.weights" in str(op)]
    assert by_reference == ['["c"]', '["large"]', '["fill"]']
    for name, expected in (
        ("small", small),
        ("c", large + 1),
        ("floats", np.array([1, 2, 3, 4], np.float32)),
        ("large", large),
        ("fill", np.full((4, 100), 2.5, np.float32)),
    ):
        np.testing.assert_array_equal(weights.array(found[f'["{name}"]']), expected)
    assert executing(module) == ["add", "add", "softmax", "mul", "add", "add"]


def test_names_in_any_script(tmp_path: Path) -> None:
    weights = np.arange(40, dtype=np.float32)
    model = make([node("Add", ("x", "größe")), node("Relu", name="ö")], (1, 40), {"größe": weights})
    model.graph.node[1].input[0] = "深"
    model.graph.node[0].output[0] = "深"
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    module = read(path.read_bytes(), "m.onnx", path)
    again = parse_module(context(), module_text(module), "t")
    assert module_text(again) == module_text(module)
    (constant,) = constants_of(again)
    np.testing.assert_array_equal(Weights.of(again).array(constant), weights)


def test_floats_that_text_cannot_say() -> None:
    """xDSL's text would lose these, so they are referred to however small they are."""
    for values in ([np.inf], [np.nan], [60738508.0], [0.0, -0.0]):
        model = make([node("Add", ("x", "c"))], (1, 2), {"c": np.array(values, np.float32)})
        assert "#memgraph.weights" in str(constants_of(load(model))[0])
    for values in ([1.1, 1e-40], [0.1, -3e38], [-0.0], [65536.0]):
        array = np.array(values, np.float32)
        model = make([node("Add", ("x", "c"))], (1, 2), {"c": array})
        text = module_text(load(model))
        assert "#memgraph.weights" not in text
        (again,) = constants_of(parse_module(context(), text, "t"))
        np.testing.assert_array_equal(Weights({}).array(again), array)


def context() -> Context:
    ctx = Context()
    for dialect in (Builtin, Func, MEMGRAPH):
        ctx.load_dialect(dialect)
    return ctx


def test_hostile_constant_of_shape() -> None:
    """Never allocated: a constant of 4 TiB imports as any other, one that overflows is refused."""
    nodes = [node("ConstantOfShape", ("s",), "c"), node("Add", ("x", "c"))]
    module = load(make(nodes, (1, 4), {"s": ints(1 << 38, 4)}, (1 << 38, 4)))
    assert executing(module) == ["add"]
    huge = make(nodes, (1, 4), {"s": ints(1 << 62, 4)}, (1 << 62, 4))
    assert "overflows 64-bit sizes" in refused(huge.SerializeToString())
    negative = make(nodes, (1, 4), {"s": ints(-1, 4)}, ("a", 4))
    refused(negative.SerializeToString())


def test_hostile_folding() -> None:
    """Small inputs, huge results: not evaluated."""
    nodes = [node("Expand", ("one", "s"), "e"), node("Add", ("x", "e"))]
    model = make(
        nodes, (1, 4), {"one": np.array([1], np.float32), "s": ints(1 << 30, 4)}, (1 << 30, 4)
    )
    assert executing(load(model)) == ["add"]
    values = {"a": np.int64(0), "b": np.int64(1 << 50), "c": np.int64(1)}
    nodes = [node("Range", ("a", "b", "c"), "r"), node("Cast", ("r",), to=1)]
    assert executing(load(make(nodes, (1,), values, (1 << 50,)))) == ["Range", "cast"]


def external(tmp_path: Path, location: str, **more: str) -> tuple[bytes, Path]:
    tensor = TensorProto(name="w", data_type=TensorProto.FLOAT, dims=[100])
    tensor.data_location = TensorProto.EXTERNAL
    for key, value in {"location": location, **more}.items():
        tensor.external_data.add(key=key, value=value)
    model = make([node("Add", ("x", "w"))], (1, 100), {"w": tensor}, (1, 100))
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    return path.read_bytes(), path


def test_external_data(tmp_path: Path) -> None:
    data, path = external(tmp_path, "w.bin", offset="16", length="400")
    assert "w.bin" in refused(data, path)  # not there
    assert "in another file: give the model by its path" in refused(data)
    values = np.arange(104, dtype=np.float32)
    (tmp_path / "w.bin").write_bytes(values.tobytes())
    module = read(data, "m.onnx", path)
    (constant,) = constants_of(module)
    np.testing.assert_array_equal(Weights.of(module).array(constant), values[4:])
    (tmp_path / "w.bin").write_bytes(values[:50].tobytes())
    assert "needs 400 bytes from 16 of 'w.bin', of 200 bytes" in refused(data, path)


@pytest.mark.parametrize("location", ["../w.bin", "/etc/passwd", "a/../../w.bin", ""])
def test_external_data_elsewhere(location: str, tmp_path: Path) -> None:
    (tmp_path / "w.bin").write_bytes(bytes(400))
    (tmp_path / "model").mkdir()
    data, path = external(tmp_path / "model", location)
    refused(data, path)


# -- files that are wrong -----------------------------------------------------------------------


def double(model: ModelProto) -> ModelProto:
    model.graph.node.append(node("Sin"))
    return model


def domain(model: ModelProto) -> ModelProto:
    model.graph.node[0].domain = "nobody"
    return model


WRONG: dict[str, tuple[Callable[[], ModelProto], str]] = {
    "old": (
        lambda: make([node("Upsample", height_scale=2.0, width_scale=2.0)], y=(1, 4), opset=1),
        "is older than opset 7, and onnx cannot convert it",
    ),
    "new": (lambda: make([RELU], y=(1, 4), opset=99), "99"),
    "cycle": (
        lambda: make([node("Add", ("x", "b")), node("Relu", ("y",), "b")], y=(1, 4)),
        "must be topologically sorted, however input 'b'",
    ),
    "same name": (lambda: double(make([RELU])), "'y' has been used as output names multiple"),
    "no operator": (lambda: make([node("Foo")], y=(1, 4)), "No Op registered for Foo"),
    "no domain": (lambda: domain(make([RELU])), "nobody"),
    "type": (lambda: make([node("Gather", ("x", "x"))], y=(1, 4)), "Gather"),
    "shape": (lambda: make([RELU], y=(1, 5)), "Inferred shape and existing shape differ"),
    "short": (
        lambda: make(
            [node("Add", ("x", "w"))],
            constants={"w": TensorProto(name="w", data_type=1, dims=[4], raw_data=b"1234")},
            y=(1, 4),
        ),
        "w",
    ),
    "sequence": (
        lambda: make(
            [
                node("SequenceConstruct", ("x", "x"), "s"),
                node("ConcatFromSequence", ("s",), axis=0),
            ],
            y=(2, 4),
        ),
        "node 0 '' (SequenceConstruct): error: the type of its result 's' is not known, or is no",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_line_with_the_place(name: str) -> None:
    build, text = WRONG[name]
    assert text in refused(build().SerializeToString())


def test_no_model() -> None:
    refused(b"")
    refused(b"not a model at all")
    refused(b"\x08" * 100)


def test_sparse_initializers_are_refused_by_name() -> None:
    model = make([RELU])
    values = helper.make_tensor("w", 1, [1], [1.0])
    places = helper.make_tensor("i", 7, [1], [2])
    model.graph.sparse_initializer.append(helper.make_sparse_tensor(values, places, [4]))
    assert "sparse initializer 'w' is not supported" in refused(model.SerializeToString())


def test_local_functions_are_inlined() -> None:
    body = [helper.make_node("Relu", ["a"], ["t"]), helper.make_node("Tanh", ["t"], ["b"])]
    opsets = [helper.make_opsetid("", 18)]
    model = make([helper.make_node("Both", ["x"], ["y"], domain="mine")], y=(1, 4))
    model.opset_import.append(helper.make_opsetid("mine", 1))
    model.functions.append(helper.make_function("mine", "Both", ["a"], ["b"], body, opsets))
    assert executing(load(model)) == ["relu", "tanh"]


def test_corruption(fuzz: float) -> None:
    """Single bytes changed, and truncations: a module that verifies, or one line."""
    nodes = [
        node("Shape", out="s"),
        node("Slice", ("s", "zero", "two"), "n"),
        node("Concat", ("n", "rest"), "to", axis=0),
        node("Conv", ("x", "w"), "c", pads=[1, 1, 1, 1], name="conv"),
        node("Reshape", ("c", "to"), "r"),
        node("Constant", (), "axes", value_ints=[1]),
        node("ReduceMean", ("r", "axes")),
    ]
    constants = {
        "zero": ints(0),
        "two": ints(1),
        "rest": ints(-1),
        "w": np.zeros((2, 3, 3, 3), np.float32),
    }
    good = make(nodes, (1, 3, 4, 4), constants).SerializeToString()
    load(onnx.load_model_from_string(good))
    rng = random.Random(7)
    refusals = 0
    for i in range(int(4000 * fuzz)):
        data = bytearray(good)
        if i % 4 == 0:
            del data[rng.randrange(len(data)) :]
        else:
            data[rng.randrange(len(data))] = rng.randrange(256)
        try:
            read(bytes(data), "m.onnx").verify()
        except MemoptError as error:
            assert "\n" not in str(error)
            refusals += 1
    assert refusals > 1000 * fuzz


def test_open_batches(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--batch=1` fixes what is open alone; what else is open is refused as before."""
    model = make([node("Abs")], ("n", 4), {})
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert "fix it with --shape=x=1x" in refused(path.read_bytes())
    command = ["report", str(path), "--json"]
    assert main([*command, "--batch=3"]) == 0
    assert '"peak": 96' in capsys.readouterr().out
    assert main([*command, "--batch=0"]) == 2
    fixed = make([node("Abs")], (2, 4), {})
    path.write_bytes(fixed.SerializeToString())
    assert main([*command, "--batch=3"]) == 0
    assert '"peak": 64' in capsys.readouterr().out


def test_masks_that_nobody_reads() -> None:
    """An old Dropout's second result has no known shape."""
    drop = helper.make_node("Dropout", ["x"], ["y", "mask"], ratio=0.5)
    assert executing(load(make([drop], opset=9))) == []


def test_slopes_of_channels() -> None:
    """As before opset 7: one of each channel."""
    slope = np.full(3, 0.25, np.float32)
    model = make([node("PRelu", ("x", "s"))], (1, 3, 4, 5), {"s": slope}, (1, 3, 4, 5), opset=6)
    found = load(model)
    assert executing(found) == ["prelu"]


@pytest.mark.parametrize("kind", ["GRU", "LSTM", "RNN"])
def test_recurrent_weights_that_stay_in_the_file(kind: str) -> None:
    """What is cut out of them and transposed stands before whoever reads it, whichever it is."""
    gates, hidden = {"GRU": 3, "LSTM": 4, "RNN": 1}[kind], 48
    rng = np.random.default_rng(0)
    shapes = {"w": (1, gates * hidden, 40), "r": (1, gates * hidden, hidden)}
    constants = {k: rng.normal(size=n).astype(np.float32) for k, n in shapes.items()}
    nodes = [node(kind, ("x", "w", "r"), "y", hidden_size=hidden)]
    module = load(make(nodes, (2, 1, 40), constants, (2, 1, 1, hidden)))
    made: set[SSAValue] = set(body_of(next(functions(module))).args)
    for op in body_of(next(functions(module))).ops:
        assert made >= set(op.operands), op
        made.update(op.results)
    assert set(executing(module)) >= {"fully_connected", "tanh"}
