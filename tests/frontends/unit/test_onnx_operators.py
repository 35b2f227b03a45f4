"""Which ONNX operator becomes which operation, opset by opset; what stays opaque, and why."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import ModelProto, NodeProto, TensorProto, helper
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.frontends.onnx.read import read

NEWEST = onnx.defs.onnx_opset_version()
OPSETS = range(13, NEWEST + 1)
X = (1, 4, 6, 8)


def make(
    nodes: Sequence[NodeProto],
    opset: int,
    x: Sequence[int] = X,
    constants: dict[str, Any] | None = None,
    outputs: Sequence[str] = ("y",),
    element: int = TensorProto.FLOAT,
    extra: Sequence[str] = (),
) -> ModelProto:
    """x -> nodes -> outputs, whose types are inferred."""
    tensors = [onnx.numpy_helper.from_array(np.asarray(v), k) for k, v in (constants or {}).items()]
    graph = helper.make_graph(
        list(nodes),
        "g",
        [helper.make_tensor_value_info("x", element, list(x))],
        [helper.make_empty_tensor_value_info(n) for n in outputs],
        tensors,
    )
    domains = [helper.make_opsetid("", opset), *(helper.make_opsetid(d, 1) for d in extra)]
    model = helper.make_model(graph, opset_imports=domains)
    model.ir_version = 8
    return onnx.shape_inference.infer_shapes(model)


def load(model: ModelProto) -> ModuleOp:
    module = read(model.SerializeToString(), "m.onnx")
    module.verify()
    return module


def running(module: ModuleOp) -> list[Operation]:
    """All operations but constants, expressions of them, and the return."""
    ops = list(next(functions(module)).body.block.ops)[:-1]
    return [o for o in ops if o.attributes.get("memgraph.source")]


def names(module: ModuleOp) -> list[str]:
    return [
        op.op_name.data if isinstance(op, OpaqueOp) else op.name.removeprefix("memgraph.")
        for op in running(module)
    ]


def node(kind: str, inputs: Sequence[str] = ("x",), **attributes: Any) -> NodeProto:
    return helper.make_node(kind, list(inputs), ["y"], **attributes)


def ints(*values: int) -> Any:
    return np.array(values, np.int64)


def floats(*shape: int) -> Any:
    return np.zeros(shape, np.float32)


F = np.float32
Case = tuple[str, Callable[[int], ModelProto]]


def axes_case(kind: str, since: int, **attributes: Any) -> Callable[[int], ModelProto]:
    """Axes moved from an attribute to an input at opset `since`."""

    def build(opset: int) -> ModelProto:
        if opset >= since:
            return make([node(kind, ("x", "a"), **attributes)], opset, constants={"a": ints(1, 2)})
        return make([node(kind, axes=[1, 2], **attributes)], opset)

    return build


def plain(
    kind: str, *inputs: str, constants: Any = None, x: Any = X, **attributes: Any
) -> Callable[[int], ModelProto]:
    def build(opset: int) -> ModelProto:
        return make([node(kind, ("x", *inputs), **attributes)], opset, x=x, constants=constants)

    return build


CASES: dict[str, Case] = {
    "Conv": ("conv_2d", plain("Conv", "w", constants={"w": floats(6, 4, 3, 3)})),
    "ConvGroups": ("conv_2d", plain("Conv", "w", constants={"w": floats(6, 2, 3, 3)}, group=2)),
    "Depthwise": (
        "depthwise_conv_2d",
        plain("Conv", "w", "b", constants={"w": floats(8, 1, 3, 3), "b": floats(8)}, group=4),
    ),
    "MaxPool": ("max_pool_2d", plain("MaxPool", kernel_shape=[2, 2])),
    "AveragePool": ("average_pool_2d", plain("AveragePool", kernel_shape=[2, 2])),
    "GlobalAveragePool": ("average_pool_2d", plain("GlobalAveragePool")),
    "GlobalMaxPool": ("max_pool_2d", plain("GlobalMaxPool")),
    "Gemm": (
        "fully_connected",
        plain(
            "Gemm",
            "w",
            "b",
            x=(2, 3),
            constants={"w": floats(5, 3), "b": floats(5)},
            transB=1,
        ),
    ),
    "MatMul": ("fully_connected", plain("MatMul", "w", constants={"w": floats(8, 5)})),
    "Add": ("add", plain("Add", "x")),
    "Sub": ("sub", plain("Sub", "c", constants={"c": floats(8)})),
    "Mul": ("mul", plain("Mul", "x")),
    "Div": ("div", plain("Div", "x")),
    "Max": ("maximum", plain("Max", "x")),
    "Min": ("minimum", plain("Min", "x")),
    "Relu": ("relu", plain("Relu")),
    "Relu6": ("relu6", plain("Clip", "a", "b", constants={"a": F(0), "b": F(6)})),
    "ClipLow": ("relu", plain("Clip", "a", constants={"a": F(0)})),
    "Sigmoid": ("logistic", plain("Sigmoid")),
    "Tanh": ("tanh", plain("Tanh")),
    "Abs": ("abs", plain("Abs")),
    "Neg": ("neg", plain("Neg")),
    "Sqrt": ("sqrt", plain("Sqrt")),
    "Exp": ("exp", plain("Exp")),
    "Log": ("log", plain("Log")),
    "Floor": ("floor", plain("Floor")),
    "Ceil": ("ceil", plain("Ceil")),
    "Round": ("round", plain("Round")),
    "Elu": ("elu", plain("Elu", alpha=1.0)),
    "LeakyRelu": ("leaky_relu", plain("LeakyRelu", alpha=0.25)),
    "Softmax": ("softmax", plain("Softmax", axis=-1)),
    "Concat": ("concat", plain("Concat", "x", axis=1)),
    "Slice": (
        "slice",
        plain("Slice", "s", "e", "a", constants={"s": ints(1), "e": ints(3), "a": ints(1)}),
    ),
    "Pad": ("pad", plain("Pad", "p", constants={"p": ints(0, 0, 1, 1, 0, 0, 1, 1)})),
    "BatchNormalization": (
        "batch_normalization",
        plain("BatchNormalization", *"sbmv", constants={n: floats(4) for n in "sbmv"}),
    ),
    "ReduceMean": ("mean", axes_case("ReduceMean", 18)),
    "Reshape": ("reshape", plain("Reshape", "s", constants={"s": ints(4, -1)})),
    "Flatten": ("reshape", plain("Flatten")),
    "Squeeze": ("reshape", plain("Squeeze", "a", constants={"a": ints(0)})),
    "Unsqueeze": ("reshape", plain("Unsqueeze", "a", constants={"a": ints(0)})),
    "Identity": ("reshape", plain("Identity")),
    "Dropout": ("reshape", plain("Dropout")),
    "Transpose": ("transpose", plain("Transpose", perm=[0, 2, 3, 1])),
    "Cast": ("cast", plain("Cast", to=TensorProto.INT32)),
    "Resize": (
        "resize_nearest",
        plain(
            "Resize",
            "",
            "s",
            constants={"s": np.array([1, 1, 2, 2], F)},
            coordinate_transformation_mode="asymmetric",
            nearest_mode="floor",
        ),
    ),
    "QuantizeLinear": (
        "quantize",
        plain("QuantizeLinear", "s", "z", constants={"s": F(0.5), "z": np.int8(3)}),
    ),
    # what means something else, or is made of others
    "DivIntegers": ("div", lambda o: make([node("Div", ("x", "x"))], o, element=TensorProto.INT32)),
    "Conv3D": (
        "transpose conv_3d transpose",
        plain("Conv", "w", x=(1, 2, 4, 4, 4), constants={"w": floats(3, 2, 1, 1, 1)}),
    ),
    "GemmAlpha": (
        "fully_connected mul",
        plain("Gemm", "w", x=(2, 3), constants={"w": floats(3, 5)}, alpha=2.0),
    ),
    "GemmRowBias": (
        "fully_connected add",
        plain("Gemm", "w", "b", x=(2, 3), constants={"w": floats(3, 5), "b": floats(2, 1)}),
    ),
    "MatMulVariable": ("batch_matmul", plain("MatMul", "x", x=(4, 4))),
    "Max3": ("maximum maximum", plain("Max", "x", "x")),
    "ClipOther": ("maximum minimum", plain("Clip", "a", "b", constants={"a": F(-1), "b": F(1)})),
    "PadReflect": (
        "mirrored",
        plain("Pad", "p", constants={"p": ints(0, 0, 1, 1, 0, 0, 1, 1)}, mode="reflect"),
    ),
    "ResizeCubic": (
        "transpose fully_connected transpose fully_connected",
        plain("Resize", "", "s", constants={"s": np.array([1, 1, 2, 2], F)}, mode="cubic"),
    ),
    "ResizeHalfPixel": (
        "gather_along gather_along",
        plain("Resize", "", "s", constants={"s": np.array([1, 1, 2, 2], F)}),
    ),
    "AveragePoolCeil": (
        "average_pool_2d",
        plain("AveragePool", kernel_shape=[3, 3], strides=[2, 2], ceil_mode=1),
    ),
}


@pytest.mark.parametrize(("number", "name"), list(enumerate(CASES)))
def test_every_opset(number: int, name: str, fuzz: float) -> None:
    """Every one in `make fuzz`, else every third, of each operator others."""
    expected, build = CASES[name]
    for opset in OPSETS if fuzz >= 1 else OPSETS[number % 3 :: 3]:
        assert names(load(build(opset))) == expected.split(), f"opset {opset}"


OLD: dict[str, tuple[int, str, Callable[[int], ModelProto]]] = {  # opset, operations
    "Clip": (10, "relu6", plain("Clip", min=0.0, max=6.0)),
    "ClipOther": (7, "maximum minimum", plain("Clip", min=-1.0, max=1.0)),
    "ClipLow": (10, "relu", plain("Clip", min=0.0)),
    "Pad": (10, "pad", plain("Pad", pads=[0, 0, 1, 1, 0, 0, 1, 1])),
    "Slice": (9, "slice", plain("Slice", starts=[1], ends=[3], axes=[1])),
    "Softmax": (12, "reshape softmax reshape", plain("Softmax")),
    "SoftmaxLast": (12, "softmax", plain("Softmax", axis=3)),
    "Upsample": (
        9,
        "resize_nearest",
        plain("Upsample", "s", constants={"s": np.array([1, 1, 2, 2], F)}, mode="nearest"),
    ),
    "UpsampleAttribute": (8, "resize_nearest", plain("Upsample", scales=[1.0, 1.0, 2.0, 2.0])),
    "Squeeze": (12, "reshape", plain("Squeeze", axes=[0])),
    "Unsqueeze": (12, "reshape", plain("Unsqueeze", axes=[0])),
    "ReduceSum": (11, "reduce_sum", plain("ReduceSum", axes=[2, 3])),
    "Dropout": (7, "reshape", plain("Dropout", ratio=0.5)),
    "BatchNormalization": (
        7,
        "batch_normalization",
        plain("BatchNormalization", *"sbmv", constants={n: floats(4) for n in "sbmv"}),
    ),
    "Conv": (7, "conv_2d", plain("Conv", "w", constants={"w": floats(6, 4, 3, 3)})),
    "Relu": (6, "relu", plain("Relu")),
    "Converted": (5, "reshape", plain("Reshape", "s", constants={"s": ints(4, -1)})),
}


@pytest.mark.parametrize("name", OLD)
def test_older_opsets(name: str) -> None:
    opset, expected, build = OLD[name]
    assert names(load(build(opset))) == expected.split()


@pytest.mark.parametrize("opset", [o for o in OPSETS if o >= 14])
def test_hard_swish(opset: int) -> None:
    assert names(load(make([node("HardSwish")], opset))) == ["hard_swish"]


@pytest.mark.parametrize("opset", OPSETS)
def test_split(opset: int) -> None:
    sizes = helper.make_node("Split", ["x", "s"], ["a", "b"], axis=2)
    module = load(make([sizes], opset, constants={"s": ints(2, 4)}, outputs=("a", "b")))
    assert names(module) == ["split"]
    more: dict[str, Any] = {"num_outputs": 3} if opset >= 18 else {}
    equal = helper.make_node("Split", ["x"], ["a", "b", "c"], axis=2, **more)
    module = load(make([equal], opset, outputs=("a", "b", "c")))
    assert names(module) == ["split"] and len(running(module)[0].results) == 3


def test_properties() -> None:
    conv = node("Conv", ("x", "w"), strides=[2, 1], pads=[0, 1, 2, 3], group=2)
    module = load(make([conv], 18, constants={"w": floats(6, 2, 3, 2)}))
    text = str(running(module)[0])
    assert "window<[3, 2], stride = [2, 1], pad = [0, 1, 2, 3]> groups 2" in text
    assert "tensor<6x2x3x2xf32, #memgraph.encoding<oihw>>" in text
    assert text.count("#memgraph.encoding<nchw>") == 2
    assert 'memgraph.weights<"' in str(module) and '"w">' in str(module)


def test_layout_travels() -> None:
    """Through what keeps the order of dimensions, not through a transpose."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[1, 1]),
        helper.make_node("Add", ["b", "c"], ["d"]),
        helper.make_node("Transpose", ["d"], ["y"], perm=[0, 2, 3, 1]),
    ]
    module = load(make(nodes, 18, constants={"c": floats(*X)}))
    func = next(functions(module))
    assert "nchw" in str(func.body.block.args[0].type)
    layouts = ["nchw" in str(op.results[0].type) for op in running(module)]
    assert layouts == [True, True, True, False]
    assert "nchw" not in str(next(op for op in module.walk() if op.name == "memgraph.constant"))


def test_opaque_says_what_it_was() -> None:
    gru = helper.make_node(
        "GRU",
        ["x", "w", "r", "", "", "h"],
        ["", "y"],
        hidden_size=3,
        activations=["Affine", "Tanh"],
        name="cell",
    )
    constants = {"w": floats(1, 9, 4), "r": floats(1, 9, 3), "h": floats(1, 2, 3)}
    module = load(make([gru], 18, x=(5, 2, 4), constants=constants))
    (op,) = running(module)
    assert isinstance(op, OpaqueOp) and len(op.operands) == 4 and len(op.results) == 1
    given = 'activations = ["Affine", "Tanh"], hidden_size = 3 : i64'
    assert str(op.options) == f"{{{given}, absent = [3 : i64, 4 : i64]}}"
    assert str(op.attributes["memgraph.names"]) == '["y"]'
    assert str(op.attributes["memgraph.operator"]) == '"cell"'
    assert op.stateful is None


def test_outputs_that_nobody_wants() -> None:
    pool = helper.make_node("MaxPool", ["x"], ["y", "i"], kernel_shape=[2, 2])
    assert names(load(make([pool], 18, outputs=("y", "i")))) == ["MaxPool"]
    unused = helper.make_node("MaxPool", ["x"], ["y", ""], kernel_shape=[2, 2])
    assert names(load(make([unused], 18))) == ["max_pool_2d"]


def test_domains() -> None:
    mine = helper.make_node("Twist", ["x"], ["t"], domain="my.ops", knob=2.5)
    value = helper.make_tensor_value_info("t", 1, X)
    model = make([mine, node("Relu", ("t",))], 18, extra=("my.ops",))
    model.graph.value_info.append(value)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, X))
    op = running(load(model))[0]
    assert isinstance(op, OpaqueOp) and op.op_name.data == "my.ops.Twist"
    assert op.stateful is not None  # nothing is known of it


def test_random_keeps_its_order() -> None:
    nodes = [helper.make_node("RandomNormalLike", ["x"], ["r"]), node("Add", ("x", "r"))]
    op = running(load(make(nodes, 18)))[0]
    assert isinstance(op, OpaqueOp) and op.stateful is not None


def test_control_flow_reads_what_it_captures() -> None:
    """Check an operator that stays, as random numbers make it, and one that becomes a choice."""

    def branching(kind: str) -> list[Operation]:
        def branch(kind: str, name: str) -> onnx.GraphProto:
            inner = helper.make_node(kind, ["outer"], [name])
            return helper.make_graph([inner], name, [], [helper.make_tensor_value_info(name, 1, X)])

        branches: Any = {"then_branch": branch(kind, "t"), "else_branch": branch("Cos", "e")}
        nodes = [
            helper.make_node("Relu", ["x"], ["outer"]),
            helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0),
            helper.make_node("Greater", ["m", "zero"], ["c"]),
            helper.make_node("If", ["c"], ["y"], **branches),
        ]
        return running(load(make(nodes, 17, constants={"zero": F(0)})))

    relu, *_, last = branching("RandomNormalLike")
    assert isinstance(last, OpaqueOp) and last.operands[1] is relu.results[0]
    assert 'then_branch = "graph of 1 operators"' in str(last.options)
    relu, *_, then, other, choice = branching("Sin")
    assert then.operands[0] is other.operands[0] is relu.results[0]
    assert choice.operands[1:] == (*then.results, *other.results)


# -- quantization -------------------------------------------------------------------------------


def q(source: str, out: str, scale: str = "s", zero: str = "z") -> NodeProto:
    return helper.make_node("QuantizeLinear", [source, scale, zero], [out])


def dq(source: str, out: str, scale: str = "s", zero: str = "z") -> NodeProto:
    return helper.make_node("DequantizeLinear", [source, scale, zero], [out])


SCALES: dict[str, Any] = {"s": F(0.5), "z": np.int8(3), "s2": F(0.25), "z2": np.int8(0)}


def quantized(*nodes: NodeProto, outputs: Sequence[str] = ("y",), **constants: Any) -> ModuleOp:
    return load(make(nodes, 19, constants=SCALES | constants, outputs=outputs))


def test_q_dq() -> None:
    move = helper.make_node("MaxPool", ["a"], ["b"], kernel_shape=[2, 2])
    module = quantized(q("x", "a"), move, dq("b", "y"))
    assert names(module) == ["quantize", "max_pool_2d", "dequantize"]
    text = str(running(module)[0])
    assert "rounding<onnx_even>" in text
    assert "nchw, scale = [5.0e-01], zero_point = [3]" in text


def test_one_meaning_per_tensor() -> None:
    """Two readings of the same integers: the first is the type's, the other stays opaque."""
    module = quantized(q("x", "a"), dq("a", "b"), dq("a", "y", "s2", "z2"), outputs=("b", "y"))
    assert names(module) == ["quantize", "dequantize", "DequantizeLinear"]


def test_arithmetic_on_integers_stays_opaque() -> None:
    """ONNX's Relu on int8 compares stored numbers with 0, the typed one real numbers."""
    relu = helper.make_node("Relu", ["a"], ["b"])
    assert names(quantized(q("x", "a"), relu, dq("b", "y"))) == ["quantize", "Relu", "dequantize"]


def test_moves_between_meanings_stay_opaque() -> None:
    both = helper.make_node("Concat", ["a", "b"], ["c"], axis=0)
    module = quantized(q("x", "a"), q("x", "b", "s2", "z2"), both, dq("c", "y"))
    assert names(module)[2] == "Concat"


def test_weights_per_channel() -> None:
    nodes = [
        helper.make_node("DequantizeLinear", ["w", "ws", "wz"], ["wd"], axis=0),
        helper.make_node("Conv", ["x", "wd"], ["y"]),
    ]
    module = quantized(
        *nodes,
        w=np.zeros((2, 4, 1, 1), np.int8),
        ws=np.array([0.5, 0.25], F),
        wz=np.zeros(2, np.int8),
    )
    assert names(module) == ["dequantize", "conv_2d"]
    assert "scale = [5.0e-01, 2.5e-01], zero_point = [0], axis = 0" in str(module)
    from memopt.analysis.function_memory import function_memory
    from memopt.dialects.attributes.model import ModelAttr

    memory = function_memory(next(functions(module)), ModelAttr())
    assert [op.name for op in memory.operations] == ["memgraph.conv_2d"]  # weights stay flash


def test_blocked_and_computed_scales_are_arithmetic() -> None:
    blocked = helper.make_node("DequantizeLinear", ["w", "ws"], ["wd"], axis=1, block_size=2)
    nodes = [blocked, node("Add", ("x", "wd"))]
    constants = {"w": np.zeros((1, 4, 6, 8), np.int8), "ws": floats(1, 2, 6, 8)}
    assert names(load(make(nodes, 21, constants=constants))) == ["add"]
    scale = helper.make_node("ReduceMax", ["x"], ["m"], keepdims=0)
    module = quantized(scale, q("x", "y", "m", "z"))
    assert names(module)[1:3] == ["div", "round"] and names(module)[-1] == "cast"


def test_qlinear_of_weights_off_the_middle_is_arithmetic() -> None:
    conv = helper.make_node("QLinearConv", ["a", "s", "z", "w", "s", "z", "s", "z"], ["b"])
    module = quantized(q("x", "a"), conv, dq("b", "y"), w=np.zeros((2, 4, 1, 1), np.int8))
    assert "conv_integer" in names(module) and "QLinearConv" not in names(module)


def vendor(kind: str, *inputs: str, constants: Any = None, **attributes: Any) -> ModelProto:
    """A file of onnxruntime's optimiser, which says the type of no result."""
    one = helper.make_node(kind, ["x", *inputs], ["m"], domain="com.microsoft", **attributes)
    model = make([node("Abs")], 18, constants=constants, extra=("com.microsoft",))
    model.graph.node[0].input[0] = "m"
    model.graph.node.insert(0, one)
    model.graph.output[0].CopyFrom(helper.make_tensor_value_info("y", 1, ["a", "b", "c", "d"]))
    return model


VENDOR: dict[str, tuple[str, ModelProto]] = {
    "FusedConv": (
        "conv_2d relu",
        vendor("FusedConv", "w", constants={"w": floats(6, 4, 3, 3)}, activation="Relu"),
    ),
    "FusedConvSum": (
        "conv_2d add maximum minimum",
        vendor(
            *("FusedConv", "w", "", "x"),
            constants={"w": floats(4, 4, 1, 1)},
            activation="Clip",
            activation_params=[-1.0, 1.0],
        ),
    ),
    "FusedMatMul": (
        "transpose batch_matmul mul",
        vendor("FusedMatMul", "x", transB=1, alpha=0.5),
    ),
    "Gelu": ("gelu", vendor("Gelu")),
    "QuickGelu": ("mul logistic mul", vendor("QuickGelu")),
}


@pytest.mark.parametrize("name", VENDOR)
def test_what_onnxruntime_writes(name: str) -> None:
    expected, model = VENDOR[name]
    assert names(load(model)) == [*expected.split(), "abs"]


def test_a_vendor_operator_of_no_known_shape_is_refused_by_name() -> None:
    with pytest.raises(MemoptError, match=r"com\.microsoft\.Riddle.*'m'"):
        load(vendor("Riddle"))
