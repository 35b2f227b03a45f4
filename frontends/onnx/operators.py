"""ONNX operators as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. Arithmetic on integers with a quantization stays opaque
too: ONNX computes with the stored integers, the typed operations with the real numbers that they
stand for. What only moves elements is the same in both.
"""

import math
from collections.abc import Callable
from typing import Final

from xdsl.dialects.builtin import AnyFloat, Float32Type, IntegerType, StringAttr, UnitAttr
from xdsl.ir import Attribute, Operation

from memopt.dialects.attributes.operators import ActivationAttr, RoundingAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.operators.binary import BinaryOp, DivOp
from memopt.dialects.operators.prelu import PreluOp
from memopt.dialects.operators.unary import FunctionOp
from memopt.frontends.core.node import Entry, Table, short_name
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.core.types import quantization
from memopt.frontends.onnx import movement, windows
from memopt.frontends.onnx.node import Node, plain

Kind = type[Operation]


def floating(node: Node) -> None:
    plain(node)
    need(isinstance(node.element(0), AnyFloat), f"on {node.element(0)} (f32 has one)")


WHOLE = (IntegerType(32), IntegerType(64))  # that are divided
SCALES = "a scale or zero point that is no constant, or another than the tensor has elsewhere"

# -- element-wise -------------------------------------------------------------------------------


def binary(node: Node, kind: Kind) -> Operation:
    plain(node)
    need(len(node.types) == 2, f"{len(node.types)} operands")
    return build(kind, (node.operand(0), node.operand(1)), (node.result,), {})


def quotient(node: Node, kind: Kind) -> Operation:
    """Div of reals, and of integers without what is behind the point."""
    plain(node)
    known = isinstance(node.element(0), AnyFloat) or node.element(0) in WHOLE
    need(known, f"on {node.element(0)} (f32, i32 and i64 have one)")
    return binary(node, kind)


def unary(node: Node, kind: Kind) -> Operation:
    plain(node)
    return build(kind, (node.operand(0),), (node.result,), {})


def leaky_relu(node: Node, kind: Kind) -> Operation:
    plain(node)
    alpha = node.get("alpha", 0.01)
    need(0 <= alpha < math.inf, f"alpha = {alpha}")
    return build(kind, (node.operand(0),), (node.result,), {"alpha": real(alpha)})


def clip(node: Node, relu: Kind, relu6: Kind) -> Operation:
    """Clip to 0 .. 6 or 0 .. infinity."""
    plain(node)
    low = float(node.constant(1).reshape(-1)[0]) if node.has(1) else -math.inf
    high = float(node.constant(2).reshape(-1)[0]) if node.has(2) else math.inf
    need(low == 0 and high in (6, math.inf), f"from {low} to {high} on {node.element(0)}")
    return build(relu6 if high == 6 else relu, (node.operand(0),), (node.result,), {})


def choose(node: Node, kind: Kind) -> Operation:
    plain(node)
    return build(kind, node.operands, (node.result,), {})


def power(node: Node, kind: Kind) -> Operation:
    floating(node)
    need(node.element(0) == node.element(1), f"on {node.element(0)} and {node.element(1)}")
    return binary(node, kind)


def modulo(node: Node, floor: Kind, remainder: Kind) -> Operation:
    """Return the Mod with the divisor's sign, or with `fmod` that of the dividend."""
    known = node.element(0) in WHOLE or isinstance(node.element(0), Float32Type)
    need(known, f"on {node.element(0)} (f32, i32 and i64 have one)")
    return binary(node, remainder if node.get("fmod", 0) else floor)


def gelu(node: Node, kind: Kind) -> Operation:
    floating(node)
    way = node.get("approximate", "none")
    need(way in ("none", "tanh"), f"approximate = {way} (none and tanh have one)")
    properties = {"approximate": UnitAttr() if way == "tanh" else None}
    return build(kind, (node.operand(0),), (node.result,), properties)


def function(node: Node, kind: Kind) -> Operation:
    """Return the function of floats that an operator with these attributes is."""
    assert issubclass(kind, FunctionOp)
    for name, value in kind.ONNX_NUMBERS.items():
        need(node.get(name, value) == value, f"{name} = {node.get(name)} ({value:g} has one)")
    floating(node)
    return unary(node, kind)


def cast(node: Node, kind: Kind) -> Operation:
    """Cast between numbers; to a float below 16 bits it may saturate, which is not ours."""
    plain(node)
    elements = (node.type(0).element_type, node.result.element_type)
    numbers = (IntegerType, AnyFloat)
    between = f"{elements[0]} to {elements[1]}"
    need(all(isinstance(e, numbers) for e in elements), between)
    # may saturate
    need(not any(isinstance(e, AnyFloat) and e.bitwidth < 16 for e in elements), between)
    return build(kind, (node.operand(0),), (node.result,), {})


def quantize(node: Node, kind: Kind) -> Operation:
    """float32 to integers; the annotation of the result says how. Raises NotTyped."""
    need(isinstance(node.element(0), Float32Type), f"on {node.element(0)} (f32 has one)")
    need(isinstance(node.result.element_type, IntegerType), f"to {node.result.element_type}")
    stated = quantization(node.result) is not None and node.get("stated") == "result"
    need(stated, SCALES)
    properties = {"rounding": RoundingAttr("onnx_even")}
    return build(kind, (node.operand(0),), (node.result,), properties)


def dequantize(node: Node, kind: Kind) -> Operation:
    real = node.result.element_type
    need(isinstance(real, Float32Type), f"to {real} (f32 has one)")
    need(isinstance(node.element(0), IntegerType), f"on {node.element(0)}")
    stated = quantization(node.type(0)) is not None and node.get("stated") == "operand"
    need(stated, SCALES)
    return build(kind, (node.operand(0),), (node.result,), {})


# -- reductions and matrices --------------------------------------------------------------------


def softmax(node: Node, kind: Kind) -> Operation:
    """Softmax as of opset 13, over one axis."""
    floating(node)
    axis = axis_of(node.get("axis", -1), len(node.shape(0)))
    properties = {"axis": number(axis), "beta": real(1.0)}
    return build(kind, (node.operand(0),), (node.result,), properties)


def log_softmax(node: Node, kind: Kind) -> Operation:
    """LogSoftmax over the last axis."""
    floating(node)
    rank = len(node.shape(0))
    axis = axis_of(node.get("axis", -1), rank)
    need(axis == rank - 1, f"axis = {axis} (the last has one)")
    return build(kind, (node.operand(0),), (node.result,), {})


def reduction(node: Node, kind: Kind) -> Operation:
    """Over axes that are an attribute or an operand, as the opset has it."""
    plain(node)
    rank = len(node.shape(0))
    axes = node.integers(1) if node.has(1) else list(node.get("axes") or [])
    axes = [axis_of(a, rank) for a in axes]
    need(len(set(axes)) == len(axes), f"axes = {axes}")
    if not axes:
        need(not node.get("noop_with_empty_axes"), "noop_with_empty_axes = 1")
        axes = list(range(rank))
    keep = UnitAttr() if node.get("keepdims", 1) else None
    properties = {"axes": numbers(sorted(axes)), "keep_dims": keep}
    return build(kind, (node.operand(0),), (node.result,), properties)


def gemm(node: Node, kind: Kind) -> Operation:
    """Gemm without scaling, as fully connected; B is transposed if it does not come so."""
    floating(node)
    need(not node.get("transA"), "transA = 1")
    for name in ("alpha", *(("beta",) if node.has(2) else ())):
        need(node.get(name, 1.0) == 1.0, f"{name} = {node.get(name)} (1 has one)")
    columns = node.result.get_shape()[1]
    need(not node.has(2) or node.shape(2) == (columns,), f"a bias of other than {columns} numbers")
    weights = node.operand(1) if node.get("transB") else node.transpose(1)
    operands = (node.operand(0), weights, node.optional(2))
    return build(kind, operands, (node.result,), {})


def matmul(node: Node, kind: Kind, batches: Kind) -> Operation:
    """Rows times a constant matrix, which is transposed once and for all, or any two matrices."""
    floating(node)
    a, b = node.shape(0), node.shape(1)
    if len(b) != 2 or not node.is_constant(1):
        return build(batches, (node.operand(0), node.operand(1)), (node.result,), {})
    need(len(a) >= 2, "a vector as its first operand")
    need(node.result.get_shape() == (*a[:-1], b[1]), "a result of another shape")
    keep = UnitAttr() if len(a) > 2 else None
    operands = (node.operand(0), node.transpose(1))
    return build(kind, operands, (node.result,), {"keep_dims": keep})


def matmul_integer(node: Node, kind: Kind) -> Operation:
    """A product of integers of 8 bits without zero points."""
    plain(node)
    need(len(node.types) == 2, "zero points of other types than 8 bits")
    need(min(len(node.shape(0)), len(node.shape(1))) >= 2, "a vector as operand")
    return build(kind, (node.operand(0), node.operand(1)), (node.result,), {})


def batch_normalization(node: Node, kind: Kind) -> Operation:
    """BatchNormalization of float32 with the statistics that are given: outside training."""
    plain(node)
    need(not node.get("training_mode"), "training_mode = 1")
    need(len(node.types) == 5, f"{len(node.types)} operands (5 have one)")
    need(node.get("spatial", 1) == 1, "spatial = 0 (1 has one)")
    reals = all(isinstance(node.element(i), Float32Type) for i in range(5))
    need(reals, "other types than float32")
    properties = {"epsilon": real(node.get("epsilon", 1e-5))}
    return build(kind, node.operands, (node.result,), properties)


def mean(node: Node, kind: Kind) -> Operation:
    floating(node)
    return reduction(node, kind)


def top_k(node: Node, kind: Kind) -> Operation:
    """Return the operation of the largest along the last axis, a known number of them."""
    plain(node)
    need(len(node.results) == 2, "a result is left out")
    rank = len(node.shape(0))
    axis = axis_of(node.get("axis", -1), rank)
    need(axis == rank - 1, f"axis = {axis} (the last has one)")
    need(node.get("largest", 1) == 1, f"largest = 0 on {node.element(0)}")
    need(node.integers(1) == [node.results[0].get_shape()[-1]], "k, which its results have not")
    return build(kind, (node.operand(0),), node.results, {})


def running_sum(node: Node, kind: Kind) -> Operation:
    plain(node)
    element = node.element(0)
    known = isinstance(element, Float32Type) or element in WHOLE
    need(known, f"on {element} (f32, i32 and i64 have one)")
    (axis,) = node.integers(1)
    properties = {
        "axis": number(axis_of(axis, len(node.shape(0)))),
        "exclusive": UnitAttr() if node.get("exclusive", 0) else None,
        "reverse": UnitAttr() if node.get("reverse", 0) else None,
    }
    return build(kind, (node.operand(0),), (node.result,), properties)


def trees(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded ensemble: tables as operands."""
    floating(node)
    return build(kind, node.operands, (node.result,), {})


def convolution_3d(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded convolution: channels last, with the pads in front."""
    floating(node)
    names = ("strides", "dilations", "pad")
    properties = {name: numbers(list(node.get(name))) for name in names}
    return build(kind, node.operands, (node.result,), properties)


def recurrent_layer(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded GRU, LSTM or RNN: one direction, with known weights."""
    floating(node)
    bent = node.get("activation")
    flags = ("time_major", "reverse", "linear_before_reset")
    properties: dict[str, Attribute | None] = {
        **{name: UnitAttr() if node.get(name) else None for name in flags},
        "clip": real(node.get("clip")) if node.get("clip") else None,
        "activation": ActivationAttr(bent) if bent else None,
    }
    operands = [*(node.operand(k) for k in range(4)), node.optional(4)]
    return build(kind, operands, (node.result,), properties)


def local_response(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded LRN: along the last axis."""
    floating(node)
    reals = {name: real(node.get(name)) for name in ("bias", "alpha", "beta")}
    properties = {"radius": number(node.get("radius")), **reals}
    return build(kind, (node.operand(0),), (node.result,), properties)


def attention(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded attention: of one sequence, place by place."""
    floating(node)
    heads, groups, causal = (node.get(name) for name in ("heads", "kv_heads", "causal"))
    properties = {
        "heads": number(heads),
        "kv_heads": number(groups) if groups < heads else None,
        "scale": real(node.get("scale")),
        "causal": None if causal is None else number(causal),
    }
    operands = [*(node.operand(k) for k in range(3)), node.optional(3)]
    return build(kind, operands, (node.result,), properties)


def layer_normalization(node: Node, kind: Kind) -> Operation:
    """Return the operation of the last dimensions, from an axis that is counted from the first."""
    floating(node)
    properties = {
        "axis": number(node.get("axis")),
        "epsilon": real(node.get("epsilon")),
        "around_zero": UnitAttr() if node.get("around_zero") else None,
    }
    return build(kind, node.operands, (node.result,), properties)


def scatter(node: Node, kind: Kind) -> Operation:
    plain(node)
    how = node.get("reduction", "none")
    properties = {
        "reduction": None if how == "none" else StringAttr(how),
        "from_end": movement.from_end(node, 1),
    }
    return build(kind, node.operands, (node.result,), properties)


def arg(node: Node, kind: Kind) -> Operation:
    """Return the operation without the axis in its result; of equal ones, the first."""
    plain(node)
    need(not node.get("keepdims", 1), f"keepdims = 1 on {node.element(0)}")
    need(not node.get("select_last_index", 0), f"select_last_index = 1 on {node.element(0)}")
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0),), (node.result,), {"axis": number(axis)})


def _built_by(kind: type[BinaryOp]) -> Callable[..., Operation]:
    if kind.REALS is not None:
        return power
    return quotient if issubclass(kind, DivOp | PreluOp) else binary


def _entry_of(kind: type[Operation]) -> Entry | None:
    if issubclass(kind, BinaryOp):
        return Entry(_built_by(kind), short_name(kind))
    return Entry(function, short_name(kind)) if issubclass(kind, FunctionOp) else None


_WRITTEN = {
    "Abs": Entry(unary, "abs"),
    "ArgMax": Entry(arg, "arg_max"),
    "ArgMin": Entry(arg, "arg_min"),
    "AveragePool": Entry(windows.average_pool, "average_pool_2d"),
    "BatchNormalization": Entry(batch_normalization, "batch_normalization"),
    "Cast": Entry(cast, "cast"),
    "Clip": Entry(clip, "relu", "relu6"),
    "Concat": Entry(movement.concat, "concat"),
    "CumSum": Entry(running_sum, "cumulative_sum"),
    "Conv": Entry(windows.convolution, "conv_2d", "depthwise_conv_2d"),
    "ConvInteger": Entry(windows.convolution_of_integers, "conv_integer"),
    "ConvTranspose": Entry(windows.transpose_convolution, "transpose_conv_2d"),
    "DepthToSpace": Entry(movement.depth_to_space, "depth_to_space"),
    "DequantizeLinear": Entry(dequantize, "dequantize"),
    "Dropout": Entry(movement.dropout, "reshape"),
    "Exp": Entry(unary, "exp"),
    "Expand": Entry(movement.expand, "strided"),
    "Flatten": Entry(movement.reshape, "reshape"),
    "Gather": Entry(movement.gather, "gather_along"),
    "GatherND": Entry(movement.gather_nd, "gather_nd"),
    "Gelu": Entry(gelu, "gelu"),
    "Gemm": Entry(gemm, "fully_connected"),
    "GlobalAveragePool": Entry(windows.global_average_pool, "average_pool_2d"),
    "GlobalMaxPool": Entry(windows.global_max_pool, "max_pool_2d"),
    "HardSwish": Entry(unary, "hard_swish"),
    "Identity": Entry(movement.reshape, "reshape"),
    "LeakyRelu": Entry(leaky_relu, "leaky_relu"),
    "Log": Entry(unary, "log"),
    "LogSoftmax": Entry(log_softmax, "log_softmax"),
    "MatMul": Entry(matmul, "fully_connected", "batch_matmul"),
    "MatMulInteger": Entry(matmul_integer, "batch_matmul"),
    "MaxPool": Entry(windows.max_pool, "max_pool_2d"),
    "Mod": Entry(modulo, "floor_mod", "remainder"),
    "Neg": Entry(unary, "neg"),
    "Not": Entry(unary, "logical_not"),
    "Pad": Entry(movement.pad, "pad", "mirrored", "picked"),
    "QuantizeLinear": Entry(quantize, "quantize"),
    "ReduceMax": Entry(reduction, "reduce_max"),
    "ReduceMean": Entry(mean, "mean"),
    "ReduceMin": Entry(reduction, "reduce_min"),
    "ReduceProd": Entry(reduction, "reduce_prod"),
    "ReduceSum": Entry(reduction, "reduce_sum"),
    "Relu": Entry(unary, "relu"),
    "Reshape": Entry(movement.reshape, "reshape"),
    "Resize": Entry(windows.resize, "resize_bilinear", "resize_nearest"),
    "ScatterND": Entry(scatter, "scatter_update"),
    "Sigmoid": Entry(unary, "logistic"),
    "Slice": Entry(movement.slice_, "slice"),
    "Softmax": Entry(softmax, "softmax"),
    "Split": Entry(movement.split, "split"),
    "Sqrt": Entry(unary, "sqrt"),
    "Squeeze": Entry(movement.reshape, "reshape"),
    "Tanh": Entry(unary, "tanh"),
    "Tile": Entry(movement.tile, "strided"),
    "TopK": Entry(top_k, "top_k"),
    "Transpose": Entry(movement.transpose, "transpose"),
    "Unsqueeze": Entry(movement.reshape, "reshape"),
    "Where": Entry(choose, "choose"),
    "memopt.Attention": Entry(attention, "attention"),
    "memopt.Conv3D": Entry(convolution_3d, "conv_3d"),
    "memopt.LayerNormalization": Entry(layer_normalization, "layer_normalization"),
    "memopt.GruLayer": Entry(recurrent_layer, "gru_layer"),
    "memopt.LocalResponse": Entry(local_response, "local_response_normalization"),
    "memopt.LstmLayer": Entry(recurrent_layer, "lstm_layer"),
    "memopt.OneHot": Entry(movement.one_hot, "one_hot"),
    "memopt.RnnLayer": Entry(recurrent_layer, "rnn_layer"),
    "memopt.TreeEnsemble": Entry(trees, "tree_ensemble"),
}
OPERATORS: Final = Table(_WRITTEN, "ONNX", _entry_of)
"""ONNX's operator -> what it becomes."""
