"""The ONNX frontend on what is unusual or hostile: shapes, constants, other files, corruption."""

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, TensorProto, helper
from onnx_graphs import executing, ints, load, make, node, refused
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func

from memopt.analysis.weights import Weights
from memopt.dialects.memgraph.dialect import MEMGRAPH
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.frontends.onnx.read import read
from memopt.text.ir_text import module_text, parse_module

RELU = node("Relu")


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


def stating(model: ModelProto, name: str, element: int, shape: tuple[int, ...]) -> ModelProto:
    """A model whose file says that a value is of this type."""
    kept = [v for v in model.graph.value_info if v.name != name]
    del model.graph.value_info[:]
    model.graph.value_info.extend(kept)
    model.graph.value_info.append(helper.make_tensor_value_info(name, element, shape))
    return model


WRONG: dict[str, tuple[Callable[[], ModelProto], str]] = {
    "old": (
        lambda: make([node("Upsample", height_scale=2.0, width_scale=2.0)], y=(1, 4), opset=1),
        "is older than opset 7, and onnx cannot convert it",
    ),
    "new": (lambda: make([RELU], y=(1, 4), opset=99), "99"),
    "cycle": (
        lambda: make([node("Add", ("x", "b")), node("Relu", ("y",), "b")], y=(1, 4)),
        "m.onnx: error: the nodes form a cycle: 'y' -> 'b' -> 'y'",
    ),
    "same name": (lambda: double(make([RELU])), "'y' has been used as output names multiple"),
    "no operator": (
        lambda: make([node("Foo", out="a"), node("Relu", ("a",))], y=(1, 4)),
        "node 0 '' (Foo): error: ONNX has no operator Foo at opset 18",
    ),
    "no maker": (lambda: make([node("Add", ("x", "b"))], y=(1, 4)), "'b'"),
    "no domain": (lambda: domain(make([RELU])), "nobody"),
    "type": (
        lambda: make([node("Gather", ("x", "x"), "a"), node("Relu", ("a",))], y=(1, 4)),
        "(Gather): error: takes no tensor(float) as operand 1 (indices)",
    ),
    **{
        f"index {kind} {value}": (
            lambda kind=kind, value=value, shape=shape: make(
                [node(kind, ("x", "at"), axis=1)],
                (1, 4),
                {"at": ints(value).reshape(shape)},
                y=(1, 1),
            ),
            f"({kind}): error: index {value} is not in [-4, 3]",
        )
        for kind, shape in (("Gather", (1,)), ("GatherElements", (1, 1)))
        for value in (-9, -5, 4)
    },
    "other type": (
        lambda: stating(make([node("Relu", out="a"), node("Relu", ("a",))]), "a", 7, (1, 4)),
        "(Relu): error: its result 'a' is a tensor(float), the file says tensor(int64)",
    ),
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
                node("SequenceEmpty", (), "s"),
                node("SequenceInsert", ("s", "x"), "t"),
                node("ConcatFromSequence", ("t",), axis=0),
            ],
            y=(1, 4),
        ),
        "node 0 '' (SequenceEmpty): error: the type of its result 's' is not known, or is no",
    ),
}


@pytest.mark.parametrize("name", WRONG)
def test_one_line_with_the_place(name: str) -> None:
    build, text = WRONG[name]
    assert text in refused(build().SerializeToString())


def test_what_the_file_says_wrongly_is_inferred() -> None:
    """Stale shapes, of a value between and of a result: onnxruntime warns and runs."""
    nodes = [node("Relu", out="a"), node("Flatten", ("a",))]
    model = stating(make(nodes, (1, 2, 3), y=(1, 7)), "a", 1, (1, 3, 2))
    module = load(model)
    assert executing(module) == ["relu"]
    assert "tensor<1x2x3xf32>" in str(module) and "tensor<1x6xf32>" in str(module)
    assert "1x3x2" not in str(module) and "1x7" not in str(module)


def test_what_only_the_file_says_is_taken() -> None:
    """Dimensions that data decides."""
    nodes = [
        node("NonZero", out="at"),
        node("Transpose", ("at",), "rows"),
        node("Cast", ("rows",), to=1),
    ]
    model = make(nodes, (1, 4), y=(4, 2))
    assert "not known before run time" in refused(model.SerializeToString())
    assert executing(load(stating(model, "at", 7, (2, 4)))) == ["NonZero", "transpose", "cast"]


def test_nodes_out_of_order() -> None:
    """Nodes as editors of graphs leave them, also in a branch; places are those of the file."""
    nodes = [node("Relu", ("a",)), node("Exp", ("b",), "a"), node("Neg", out="b")]
    model = make(nodes, y=(1, 4))
    assert executing(load(model)) == ["neg", "exp", "relu"]
    assert "#memgraph.source<0, 2, []>" in str(load(model))
    value = helper.make_tensor_value_info("t", 1, (1, 4))
    inner = [node("Relu", ("u",), "t"), node("Exp", ("x",), "u")]
    branch = helper.make_graph(inner, "b", [], [value])
    choice = helper.make_node("If", ["yes"], ["y"], then_branch=branch, else_branch=branch)
    model = make([choice], constants={"yes": np.array(True)}, y=(1, 4))
    assert executing(load(model)) == ["exp", "relu"]


def test_operators_of_nobody_are_planned_where_the_file_says_all_types() -> None:
    """Graphs as quantizers for one chip write them: names that ONNX has not, or integers where it
    has reals."""
    nodes = [
        node("Cast", out="q", to=TensorProto.INT8),
        node("Conv", ("q", "w"), "sums", pads=[1, 1, 1, 1]),
        node("RequantShift", ("sums",), "r", div=256),
        helper.make_node("Pack", ["r"], ["p"], domain="chip"),
        node("Cast", ("p",), to=TensorProto.FLOAT),
    ]
    shape = (1, 3, 4, 4)
    model = make(nodes, shape, {"w": np.ones((3, 3, 3, 3), np.int8)}, shape)
    model.opset_import.append(helper.make_opsetid("chip", 1))
    for name, element in (("q", 3), ("sums", 6), ("r", 3)):
        stating(model, name, element, shape)
    assert "(chip.Pack): error: the type of its result 'p'" in refused(model.SerializeToString())
    stating(model, "p", 3, shape)
    found = executing(load(model))
    assert found == ["cast", "Conv", "RequantShift", "chip.Pack", "cast"]
    assert load(model).verify() is None and "tensor<1x3x4x4xi32" in str(load(model))
    bare = make(
        [*nodes[:2], node("Identity", ("sums",))],
        shape,
        {"w": np.ones((3, 3, 3, 3), np.int8)},
        shape,
    )
    text = "(Conv): error: takes no tensor(int8) as operand 0 (X)"
    assert text in refused(bare.SerializeToString())


@pytest.mark.parametrize(
    ("kind", "results", "attributes"),
    [
        ("MaxPool", 2, {"kernel_shape": [2, 2]}),
        ("Dropout", 2, {}),
        ("LSTM", 3, {"hidden_size": 2}),
    ],
)
def test_results_that_nobody_reads(kind: str, results: int, attributes: dict[str, Any]) -> None:
    """They are named, as exporters do, and need not be made."""
    names = ["a", *(f"unread{k}" for k in range(1, results))]
    recurrent = kind == "LSTM"
    inputs = ["x", "w", "r"] if recurrent else ["x"]
    constants = {"w": np.ones((1, 8, 4), "f4"), "r": np.ones((1, 8, 2), "f4")} if recurrent else {}
    x = (2, 1, 4) if recurrent else (1, 2, 4, 4)
    one = helper.make_node(kind, inputs, names, **attributes)
    model = make([one, node("Relu", ("a",))], x, constants)
    del model.graph.value_info[:]
    assert kind not in executing(load(model))


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
