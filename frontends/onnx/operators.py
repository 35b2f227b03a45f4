"""ONNX operators as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. Arithmetic on integers with a quantization stays opaque
too: ONNX computes with the stored integers, the typed operations with the real numbers that they
stand for. What only moves elements is the same in both.
"""

import math
from collections.abc import Callable, Mapping
from typing import Final

from xdsl.dialects.builtin import AnyFloat, Float32Type, IntegerType, StringAttr, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.operators import RoundingAttr
from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.operators import operations
from memopt.dialects.operators.activations import GeluOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.binary import BinaryOp, DivOp
from memopt.dialects.operators.comparison import ChooseOp, LogicalNotOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.convolution_3d import Conv3DOp
from memopt.dialects.operators.convolution_integer import ConvIntegerOp
from memopt.dialects.operators.depth_to_space import DepthToSpaceOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.gathering import GatherAlongOp, GatherNdOp
from memopt.dialects.operators.local_response import LocalResponseNormalizationOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.normalization import BatchNormalizationOp
from memopt.dialects.operators.one_hot import OneHotOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.picked import MirroredOp, PickedOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.powers import FloorModOp, RealBentOp, RemainderOp
from memopt.dialects.operators.prelu import PreluOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.real_functions import AbsOp, ExpOp, LogOp, NegOp, SqrtOp
from memopt.dialects.operators.rectifiers import LeakyReluOp
from memopt.dialects.operators.reductions import (
    ArgMaxOp,
    ArgMinOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from memopt.dialects.operators.resize import ResizeBilinearOp, ResizeNearestOp
from memopt.dialects.operators.running import CumulativeSumOp
from memopt.dialects.operators.scatter_update import ScatterUpdateOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.strided import StridedOp
from memopt.dialects.operators.top_k import TopKOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.tree_ensemble import TreeEnsembleOp
from memopt.dialects.operators.unary import (
    FunctionOp,
    HardSwishOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    TanhOp,
)
from memopt.dialects.operators.unit_length import LogSoftmaxOp
from memopt.frontends.core.node import Entry
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
    made = node.result.element_type
    need(isinstance(made, Float32Type), f"to {made} (f32 has one)")
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


def local_response(node: Node, kind: Kind) -> Operation:
    """Return the operation of an expanded LRN: along the last axis."""
    floating(node)
    reals = {name: real(node.get(name)) for name in ("bias", "alpha", "beta")}
    properties = {"radius": number(node.get("radius")), **reals}
    return build(kind, (node.operand(0),), (node.result,), properties)


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
    if issubclass(kind, RealBentOp):
        return power
    return quotient if issubclass(kind, DivOp | PreluOp) else binary


PAIRS = [op for op in operations() if issubclass(op, BinaryOp) and op.ONNX]
FUNCTIONS = [op for op in operations() if issubclass(op, FunctionOp) and op.ONNX]
OPERATORS: Final[Mapping[str, Entry]] = {
    **{op.ONNX: Entry(function, op) for op in FUNCTIONS},
    **{op.ONNX: Entry(_built_by(op), op) for op in PAIRS},
    "Abs": Entry(unary, AbsOp),
    "ArgMax": Entry(arg, ArgMaxOp),
    "ArgMin": Entry(arg, ArgMinOp),
    "AveragePool": Entry(windows.average_pool, AveragePool2DOp),
    "BatchNormalization": Entry(batch_normalization, BatchNormalizationOp),
    "Cast": Entry(cast, CastOp),
    "Clip": Entry(clip, ReluOp, Relu6Op),
    "Concat": Entry(movement.concat, ConcatOp),
    "CumSum": Entry(running_sum, CumulativeSumOp),
    "Conv": Entry(windows.convolution, Conv2DOp, DepthwiseConv2DOp),
    "ConvInteger": Entry(windows.convolution_of_integers, ConvIntegerOp),
    "ConvTranspose": Entry(windows.transpose_convolution, TransposeConv2DOp),
    "DepthToSpace": Entry(movement.depth_to_space, DepthToSpaceOp),
    "DequantizeLinear": Entry(dequantize, DequantizeOp),
    "Dropout": Entry(movement.dropout, ReshapeOp),
    "Exp": Entry(unary, ExpOp),
    "Expand": Entry(movement.expand, StridedOp),
    "Flatten": Entry(movement.reshape, ReshapeOp),
    "Gather": Entry(movement.gather, GatherAlongOp),
    "GatherND": Entry(movement.gather_nd, GatherNdOp),
    "Gelu": Entry(gelu, GeluOp),
    "Gemm": Entry(gemm, FullyConnectedOp),
    "GlobalAveragePool": Entry(windows.global_average_pool, AveragePool2DOp),
    "GlobalMaxPool": Entry(windows.global_max_pool, MaxPool2DOp),
    "HardSwish": Entry(unary, HardSwishOp),
    "Identity": Entry(movement.reshape, ReshapeOp),
    "LeakyRelu": Entry(leaky_relu, LeakyReluOp),
    "Log": Entry(unary, LogOp),
    "LogSoftmax": Entry(log_softmax, LogSoftmaxOp),
    "MatMul": Entry(matmul, FullyConnectedOp, BatchMatmulOp),
    "MatMulInteger": Entry(matmul_integer, BatchMatmulOp),
    "MaxPool": Entry(windows.max_pool, MaxPool2DOp),
    "Mod": Entry(modulo, FloorModOp, RemainderOp),
    "Neg": Entry(unary, NegOp),
    "Not": Entry(unary, LogicalNotOp),
    "Pad": Entry(movement.pad, PadOp, MirroredOp, PickedOp),
    "QuantizeLinear": Entry(quantize, QuantizeOp),
    "ReduceMax": Entry(reduction, ReduceMaxOp),
    "ReduceMean": Entry(mean, MeanOp),
    "ReduceMin": Entry(reduction, ReduceMinOp),
    "ReduceProd": Entry(reduction, ReduceProdOp),
    "ReduceSum": Entry(reduction, ReduceSumOp),
    "Relu": Entry(unary, ReluOp),
    "Reshape": Entry(movement.reshape, ReshapeOp),
    "Resize": Entry(windows.resize, ResizeBilinearOp, ResizeNearestOp),
    "ScatterND": Entry(scatter, ScatterUpdateOp),
    "Sigmoid": Entry(unary, LogisticOp),
    "Slice": Entry(movement.slice_, SliceOp),
    "Softmax": Entry(softmax, SoftmaxOp),
    "Split": Entry(movement.split, SplitOp),
    "Sqrt": Entry(unary, SqrtOp),
    "Squeeze": Entry(movement.reshape, ReshapeOp),
    "Tanh": Entry(unary, TanhOp),
    "Tile": Entry(movement.tile, StridedOp),
    "TopK": Entry(top_k, TopKOp),
    "Transpose": Entry(movement.transpose, TransposeOp),
    "Unsqueeze": Entry(movement.reshape, ReshapeOp),
    "Where": Entry(choose, ChooseOp),
    "memopt.Conv3D": Entry(convolution_3d, Conv3DOp),
    "memopt.LocalResponse": Entry(local_response, LocalResponseNormalizationOp),
    "memopt.OneHot": Entry(movement.one_hot, OneHotOp),
    "memopt.TreeEnsemble": Entry(trees, TreeEnsembleOp),
}
"""ONNX's operator -> what it becomes."""
