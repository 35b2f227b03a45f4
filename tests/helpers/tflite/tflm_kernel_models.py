"""Models of one operator whose kernels of TensorFlow Lite Micro ask for scratch, or for none."""

from typing import Any

import numpy as np
from tflite_builder import Graph, Op, T, build

AXES = np.array([1, 2], np.int32)


UNIT = (1.0,)


def one(op: Op, *tensors: T) -> bytes:
    """A model of one operator: tensor 0 is its input, the last one its output. A LOGISTIC or a
    NEG in front makes an intermediate tensor, so that there is something to plan."""
    first = tensors[0]
    front = "LOGISTIC" if first.type == "INT8" else "NEG"
    scale = (1 / 256,) if first.type == "INT8" else ()
    inner = T("inner", first.shape, first.type, scale=scale, zero=(-128,) if scale else ())
    graph = [T("input", first.shape, first.type, scale=(0.1,) if scale else ()), *tensors[1:]]
    graph.append(inner)
    last = len(graph) - 1
    moved = [last if i == 0 else i for i in op.inputs]
    ops = [Op(front, [0], [last]), Op(op.name, moved, [last - 1], op.options)]
    return build(Graph(graph, ops, [0], [last - 1]))


def reduce(name: str, type_: str) -> bytes:
    # The maximum keeps its operand's scale; sums and means may have any.
    scale = () if type_ != "INT8" else (1 / 256,) if name == "REDUCE_MAX" else UNIT
    zero = (-128,) if scale == (1 / 256,) else ()
    return one(
        Op(name, [0, 1], [2], ("Reducer", {"keepDims": False})),
        T("x", [2, 5, 7, 9], type_),
        T("axes", [2], "INT32", AXES),
        T("y", [2, 9], type_, scale=scale, zero=zero),
    )


def packed(count: int) -> Any:
    return np.full((count + 1) // 2, 0x21, np.uint8)


def weighted(name: str, shape: list[int], out: list[int], options: tuple[str, dict[str, Any]]):
    channels = shape[3] if name == "DEPTHWISE_CONV_2D" else shape[0]
    axis = 3 if name == "DEPTHWISE_CONV_2D" else 0
    return one(
        Op(name, [0, 1, 2], [3], options),
        T("x", [1, 6, 6, 4] if len(shape) == 4 else [1, 144], "INT8"),
        T("w", shape, "INT4", packed(int(np.prod(shape))), scale=(0.5,) * channels, axis=axis)
        if len(shape) == 4
        else T("w", shape, "INT4", packed(int(np.prod(shape))), scale=(0.5,)),
        T("b", [channels], "INT32", np.zeros(channels, np.int32)),
        T("y", out, "INT8", scale=(2.0,)),
    )


def transpose_conv(type_: str) -> bytes:
    real = type_ == "FLOAT32"
    kind = np.float32 if real else np.int8
    return one(
        Op(
            "TRANSPOSE_CONV",
            [1, 2, 0],
            [3],
            ("TransposeConv", {"strideH": 2, "strideW": 2, "padding": 1}),
        ),
        T("x", [1, 3, 3, 2], type_),
        T("shape", [4], "INT32", np.array([1, 7, 7, 1], np.int32)),
        T("w", [1, 3, 3, 2], type_, np.ones((1, 3, 3, 2), kind), scale=() if real else UNIT),
        T("y", [1, 7, 7, 1], type_, scale=() if real else (9.0,)),
    )


CONV = {"padding": 0, "strideH": 1, "strideW": 1, "dilationHFactor": 1, "dilationWFactor": 1}


MODELS = {
    "mean_int8": reduce("MEAN", "INT8"),
    "mean_float": reduce("MEAN", "FLOAT32"),
    "sum_int8": reduce("SUM", "INT8"),
    "sum_float": reduce("SUM", "FLOAT32"),
    "max_int8": reduce("REDUCE_MAX", "INT8"),
    "max_float": reduce("REDUCE_MAX", "FLOAT32"),
    "min_float": reduce("REDUCE_MIN", "FLOAT32"),
    "mirror_pad": one(
        Op("MIRROR_PAD", [0, 1], [2], ("MirrorPad", {})),
        T("x", [5, 7, 3], "FLOAT32"),
        T("pads", [3, 2], "INT32", np.array([[1, 2], [2, 1], [0, 0]], np.int32)),
        T("y", [8, 10, 3], "FLOAT32"),
    ),
    "add_n": one(Op("ADD_N", [0, 0, 0], [1]), T("x", [3], "FLOAT32"), T("y", [3], "FLOAT32")),
    "transpose_conv_int8": transpose_conv("INT8"),
    "transpose_conv_float": transpose_conv("FLOAT32"),
    "conv_int4": weighted("CONV_2D", [8, 3, 3, 4], [1, 6, 6, 8], ("Conv2D", CONV)),
    "depthwise_int4": weighted(
        "DEPTHWISE_CONV_2D",
        [1, 5, 5, 4],
        [1, 6, 6, 4],
        ("DepthwiseConv2D", {**CONV, "depthMultiplier": 1}),
    ),
    "fully_connected_int4": weighted("FULLY_CONNECTED", [5, 144], [1, 5], ("FullyConnected", {})),
}


UNARY = ("ABS", "ELU", "EXP", "LEAKY_RELU", "LOGISTIC", "NEG", "RELU", "RELU6", "SQRT", "TANH")


BINARY = ("ADD", "DIV", "MAXIMUM", "MINIMUM", "MUL", "SUB")


INT8_KERNELS = ("ADD", "LEAKY_RELU", "LOGISTIC", "MUL", "RELU", "RELU6", "SUB", "TANH")


MOVES = {"RESHAPE": [1, 1024], "SQUEEZE": [32, 32], "EXPAND_DIMS": [1, 1, 32, 32]}


SCALES = {"LOGISTIC": (1 / 256, -128), "TANH": (1 / 128, 0)}


def in_a_row(name: str, type_: str) -> bytes:
    """input -> RELU -> operator (with the input, for binary ones) -> ABS or RELU -> output."""
    quantised = type_ == "INT8"
    shape = MOVES.get(name, [1, 32, 32])
    scale, zero = SCALES.get(name, (0.05, 0))

    def tensor(label: str, s: list[int], made_by_it: bool = False) -> T:
        if not quantised:
            return T(label, s, type_)
        return T(label, s, type_, scale=(scale if made_by_it else 0.05,), zero=(zero * made_by_it,))

    tensors = [tensor("x", [1, 32, 32]), tensor("a", [1, 32, 32]), tensor("b", shape, True)]
    tensors += [tensor("y", shape, True), T("axis", [1], "INT32", np.array([0], np.int32))]
    tensors += [T("shape", [2], "INT32", np.array([1, 1024], np.int32))]
    inputs = [1, 0] if name in BINARY else [1]
    inputs += {"RESHAPE": [5], "EXPAND_DIMS": [4]}.get(name, [])
    options: dict[str, tuple[str, dict[str, Any]]] = {
        "LEAKY_RELU": ("LeakyRelu", {"alpha": 0.5}),
        "SQUEEZE": ("Squeeze", {"squeezeDims": np.array([0], np.int32)}),
        **{n: (n.title(), {}) for n in ("ADD", "DIV", "MUL", "SUB", "RESHAPE")},
    }
    ops = [
        Op("RELU", [0], [1]),
        Op(name, inputs, [2], options.get(name)),
        Op("RELU" if quantised else "ABS", [2], [3]),
    ]
    return build(Graph(tensors, ops, [0], [3]))
