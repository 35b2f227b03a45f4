"""ONNX operators as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. Arithmetic on integers with a quantization stays opaque
too: ONNX computes with the stored integers, the typed operations with the real numbers that they
stand for. What only moves elements is the same in both.
"""

import math
from collections.abc import Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import (
    AnyFloat,
    Float32Type,
    IntegerType,
    UnitAttr,
)
from xdsl.ir import Operation

from memopt.dialects.attributes import RoundingAttr, RuntimeType
from memopt.dialects.operators.activations import GeluOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.binary import AddOp, DivOp, MaximumOp, MinimumOp, MulOp, SubOp
from memopt.dialects.operators.comparison import (
    ChooseOp,
    EqualOp,
    GreaterEqualOp,
    GreaterOp,
    LessEqualOp,
    LessOp,
    LogicalAndOp,
    LogicalNotOp,
    LogicalOrOp,
)
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.depth_to_space import DepthToSpaceOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.gathering import GatherAlongOp, GatherNdOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.normalization import BatchNormalizationOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.powers import FloorModOp, PowOp
from memopt.dialects.operators.prelu import PreluOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.real_functions import (
    AbsOp,
    AtanOp,
    CeilOp,
    CosOp,
    ErfOp,
    ExpOp,
    FloorOp,
    LogOp,
    NegOp,
    RoundOp,
    SinOp,
    SqrtOp,
)
from memopt.dialects.operators.rectifiers import EluOp, LeakyReluOp
from memopt.dialects.operators.reductions import (
    ArgMaxOp,
    ArgMinOp,
    ReduceMaxOp,
    ReduceMinOp,
    ReduceProdOp,
    ReduceSumOp,
)
from memopt.dialects.operators.resize import ResizeBilinearOp, ResizeNearestOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.strided import StridedOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.unary import (
    HardSwishOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    TanhOp,
)
from memopt.dialects.operators.unit_length import LogSoftmaxOp
from memopt.dialects.quick import number, numbers
from memopt.frontends.core import walks
from memopt.frontends.core.node import Entry
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.core.types import quantization
from memopt.frontends.core.windows import start_of
from memopt.frontends.onnx import windows
from memopt.frontends.onnx.node import Node, plain

Kind = type[Operation]


def same_meaning(node: Node, indices: Sequence[int]) -> None:
    """Operands `indices` and all results stand for the same numbers. Raises NotTyped."""
    first = quantization(node.type(indices[0]))
    types = [*(node.type(i) for i in indices), *node.results]
    need(all(quantization(t) == first for t in types))
    need(first is None or first.axis.data < 0)
    need(not any(isinstance(t.element_type, RuntimeType) for t in types))


def floating(node: Node) -> None:
    plain(node)
    need(isinstance(node.type(0).element_type, AnyFloat))


WHOLE = (IntegerType(32), IntegerType(64))  # that are divided

# -- element-wise -------------------------------------------------------------------------------


def binary(node: Node, kind: Kind) -> Operation:
    plain(node)
    need(len(node.types) == 2)
    return build(kind, (node.operand(0), node.operand(1)), (node.result,), {})


def quotient(node: Node, kind: Kind) -> Operation:
    """Div of reals, and of integers without what is behind the point."""
    plain(node)
    need(isinstance(node.element(0), AnyFloat) or node.element(0) in WHOLE)
    return binary(node, kind)


def unary(node: Node, kind: Kind) -> Operation:
    plain(node)
    return build(kind, (node.operand(0),), (node.result,), {})


def elu(node: Node, kind: Kind) -> Operation:
    """Elu, where it goes to -1."""
    need(node.get("alpha", 1.0) == 1.0)
    return unary(node, kind)


def leaky_relu(node: Node, kind: Kind) -> Operation:
    plain(node)
    alpha = node.get("alpha", 0.01)
    need(0 <= alpha < math.inf)
    return build(kind, (node.operand(0),), (node.result,), {"alpha": real(alpha)})


def clip(node: Node, relu: Kind, relu6: Kind) -> Operation:
    """Clip to 0 .. 6 or 0 .. infinity."""
    plain(node)
    low = float(node.constant(1).reshape(-1)[0]) if node.has(1) else -math.inf
    high = float(node.constant(2).reshape(-1)[0]) if node.has(2) else math.inf
    need(low == 0 and high in (6, math.inf))
    return build(relu6 if high == 6 else relu, (node.operand(0),), (node.result,), {})


def choose(node: Node, kind: Kind) -> Operation:
    plain(node)
    return build(kind, node.operands, (node.result,), {})


def power(node: Node, kind: Kind) -> Operation:
    floating(node)
    need(node.element(0) == node.element(1))
    return binary(node, kind)


def modulo(node: Node, kind: Kind) -> Operation:
    """Mod with the divisor's sign."""
    need(not node.get("fmod", 0) and node.element(0) in WHOLE)
    return binary(node, kind)


def gelu(node: Node, kind: Kind) -> Operation:
    floating(node)
    way = node.get("approximate", "none")
    need(way in ("none", "tanh"))
    properties = {"approximate": UnitAttr() if way == "tanh" else None}
    return build(kind, (node.operand(0),), (node.result,), properties)


def of_reals(node: Node, kind: Kind) -> Operation:
    """A function of real numbers alone."""
    floating(node)
    return unary(node, kind)


def cast(node: Node, kind: Kind) -> Operation:
    """Cast between numbers; to a float below 16 bits it may saturate, which is not ours."""
    plain(node)
    elements = (node.type(0).element_type, node.result.element_type)
    numbers = (IntegerType, AnyFloat)
    need(all(isinstance(e, numbers) for e in elements))
    need(not any(isinstance(e, AnyFloat) and e.bitwidth < 16 for e in elements))  # may saturate
    return build(kind, (node.operand(0),), (node.result,), {})


def quantize(node: Node, kind: Kind) -> Operation:
    """float32 to integers; the annotation of the result says how. Raises NotTyped."""
    need(isinstance(node.type(0).element_type, Float32Type))
    need(quantization(node.result) is not None and node.get("stated") == "result")
    properties = {"rounding": RoundingAttr("onnx_even")}
    return build(kind, (node.operand(0),), (node.result,), properties)


def dequantize(node: Node, kind: Kind) -> Operation:
    need(isinstance(node.result.element_type, Float32Type))
    need(quantization(node.type(0)) is not None and node.get("stated") == "operand")
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
    need(axis_of(node.get("axis", -1), rank) == rank - 1)
    return build(kind, (node.operand(0),), (node.result,), {})


def reduction(node: Node, kind: Kind) -> Operation:
    """Over axes that are an attribute or an operand, as the opset has it."""
    plain(node)
    rank = len(node.shape(0))
    axes = node.integers(1) if node.has(1) else list(node.get("axes") or [])
    axes = [axis_of(a, rank) for a in axes]
    need(len(set(axes)) == len(axes))
    if not axes:
        need(not node.get("noop_with_empty_axes"))
        axes = list(range(rank))
    keep = UnitAttr() if node.get("keepdims", 1) else None
    properties = {"axes": numbers(sorted(axes)), "keep_dims": keep}
    return build(kind, (node.operand(0),), (node.result,), properties)


def gemm(node: Node, kind: Kind) -> Operation:
    """Gemm without scaling, as fully connected; B is transposed if it does not come so."""
    floating(node)
    need(not node.get("transA") and node.get("alpha", 1.0) == 1.0)
    need(not node.has(2) or (node.get("beta", 1.0) == 1.0))
    columns = node.result.get_shape()[1]
    need(not node.has(2) or node.shape(2) == (columns,))
    weights = node.operand(1) if node.get("transB") else node.transpose(1)
    operands = (node.operand(0), weights, node.optional(2))
    return build(kind, operands, (node.result,), {})


def matmul(node: Node, kind: Kind, batches: Kind) -> Operation:
    """Rows times a constant matrix, which is transposed once and for all, or any two matrices."""
    floating(node)
    a, b = node.shape(0), node.shape(1)
    if len(b) != 2 or not node.is_constant(1):
        return build(batches, (node.operand(0), node.operand(1)), (node.result,), {})
    need(len(a) >= 2)
    need(node.result.get_shape() == (*a[:-1], b[1]))
    keep = UnitAttr() if len(a) > 2 else None
    operands = (node.operand(0), node.transpose(1))
    return build(kind, operands, (node.result,), {"keep_dims": keep})


def matmul_integer(node: Node, kind: Kind) -> Operation:
    """A product of integers of 8 bits without zero points."""
    plain(node)
    need(len(node.types) == 2 and min(len(node.shape(0)), len(node.shape(1))) >= 2)
    return build(kind, (node.operand(0), node.operand(1)), (node.result,), {})


def batch_normalization(node: Node, kind: Kind) -> Operation:
    """BatchNormalization of float32 with the statistics that are given: outside training."""
    plain(node)
    need(not node.get("training_mode") and len(node.types) == 5)
    need(all(isinstance(node.element(i), Float32Type) for i in range(5)))
    properties = {"epsilon": real(node.get("epsilon", 1e-5))}
    return build(kind, node.operands, (node.result,), properties)


def mean(node: Node, kind: Kind) -> Operation:
    floating(node)
    return reduction(node, kind)


def arg(node: Node, kind: Kind) -> Operation:
    """Without the axis, the first of equal ones."""
    plain(node)
    need(not node.get("keepdims", 1) and not node.get("select_last_index", 0))
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0),), (node.result,), {"axis": number(axis)})


# -- data movement ------------------------------------------------------------------------------


def reshape(node: Node, kind: Kind) -> Operation:
    """Whatever leaves the elements in their order; the type of the result has the shape."""
    same_meaning(node, (0,))
    return build(kind, (node.operand(0),), (node.result,), {})


def dropout(node: Node, kind: Kind) -> Operation:
    """Nothing, outside training."""
    training = node.has(2) and bool(node.constant(2).reshape(-1)[0])
    need(not training and len(node.results) == 1)
    return reshape(node, kind)


def transpose(node: Node, kind: Kind) -> Operation:
    """Transpose; without `perm` it reverses the dimensions."""
    same_meaning(node, (0,))
    rank = len(node.shape(0))
    order = node.get("perm")
    properties = {"permutation": numbers(list(range(rank))[::-1] if order is None else order)}
    return build(kind, (node.operand(0),), (node.result,), properties)


def gather(node: Node, kind: Kind) -> Operation:
    """Of indices from zero on, known ones or int32."""
    same_meaning(node, (0,))
    need(node.is_constant(1) or node.element(1) == IntegerType(32))
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0), node.operand(1)), node.results, {"axis": number(axis)})


def gather_nd(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    need(not node.get("batch_dims", 0))
    need(node.is_constant(1) or node.element(1) == IntegerType(32))
    return build(kind, (node.operand(0), node.operand(1)), node.results, {})


def walked(node: Node, kind: Kind, walk: walks.Walk) -> Operation:
    same_meaning(node, (0,))
    start, sizes, steps = walk
    properties = {
        "start": number(start),
        "sizes": numbers(sizes),
        "steps": numbers(steps),
    }
    return build(kind, (node.operand(0),), node.results, properties)


def expand(node: Node, kind: Kind) -> Operation:
    """As far as the result's type says."""
    need(node.is_constant(1))
    return walked(node, kind, walks.broadcast(node.shape(0), node.result.get_shape()))


def tile(node: Node, kind: Kind) -> Operation:
    return walked(node, kind, walks.tile(node.shape(0), node.integers(1)))


def depth_to_space(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    need(len(node.shape(0)) == 4 and node.get("mode", "DCR") in ("DCR", "CRD"))
    properties = {
        "block": number(node.get("blocksize", 0)),
        "by_channel": UnitAttr() if node.get("mode", "DCR") == "CRD" else None,
    }
    return build(kind, (node.operand(0),), node.results, properties)


def concat(node: Node, kind: Kind) -> Operation:
    indices = range(len(node.types))
    same_meaning(node, indices)
    axis = axis_of(node.get("axis"), len(node.result.get_shape()))
    operands = [node.operand(i) for i in indices]
    return build(kind, operands, (node.result,), {"axis": number(axis)})


def split(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    need(all(node.outputs) and (not node.has(1) or node.is_constant(1)))
    axis = axis_of(node.get("axis", 0), len(node.shape(0)))
    return build(kind, (node.operand(0),), node.results, {"axis": number(axis)})


def slice_(node: Node, kind: Kind) -> Operation:
    same_meaning(node, (0,))
    shape = node.shape(0)
    starts, ends = node.integers(1), node.integers(2)
    axes = node.integers(3) if node.has(3) else list(range(len(starts)))
    steps = node.integers(4) if node.has(4) else [1] * len(starts)
    need(len(starts) == len(ends) == len(axes) == len(steps))
    axes = [axis_of(a, len(shape)) for a in axes]
    need(len(set(axes)) == len(axes) and 0 not in steps)
    begin, strides = [0] * len(shape), [1] * len(shape)
    for start, axis, step in zip(starts, axes, steps, strict=True):
        n = shape[axis]
        begin[axis] = start_of(start, n, step)
        strides[axis] = step
    properties = {"starts": numbers(begin), "strides": numbers(strides)}
    return build(kind, (node.operand(0),), (node.result,), properties)


def pad(node: Node, kind: Kind) -> Operation:
    plain(node)
    need(node.get("mode", "constant") == "constant")
    rank = len(node.shape(0))
    pads = node.integers(1)
    axes = [axis_of(a, rank) for a in node.integers(3)] if node.has(3) else list(range(rank))
    need(len(pads) == 2 * len(axes) and len(set(axes)) == len(axes))
    value = float(node.constant(2).reshape(-1)[0]) if node.has(2) else 0.0
    need(math.isfinite(value) and real(value).value.data == value)
    before, after = [0] * rank, [0] * rank
    for i, axis in enumerate(axes):
        before[axis], after[axis] = pads[i], pads[i + len(axes)]
    properties = {
        "before": numbers(before),
        "after": numbers(after),
        "value": real(value),
    }
    return build(kind, (node.operand(0),), (node.result,), properties)


OPERATORS: Final[Mapping[str, Entry]] = {
    "Abs": Entry(unary, AbsOp),
    "Add": Entry(binary, AddOp),
    "And": Entry(binary, LogicalAndOp),
    "ArgMax": Entry(arg, ArgMaxOp),
    "ArgMin": Entry(arg, ArgMinOp),
    "Atan": Entry(of_reals, AtanOp),
    "AveragePool": Entry(windows.average_pool, AveragePool2DOp),
    "BatchNormalization": Entry(batch_normalization, BatchNormalizationOp),
    "Cast": Entry(cast, CastOp),
    "Ceil": Entry(unary, CeilOp),
    "Clip": Entry(clip, ReluOp, Relu6Op),
    "Concat": Entry(concat, ConcatOp),
    "Conv": Entry(windows.convolution, Conv2DOp, DepthwiseConv2DOp),
    "ConvTranspose": Entry(windows.transpose_convolution, TransposeConv2DOp),
    "Cos": Entry(of_reals, CosOp),
    "DepthToSpace": Entry(depth_to_space, DepthToSpaceOp),
    "DequantizeLinear": Entry(dequantize, DequantizeOp),
    "Div": Entry(quotient, DivOp),
    "Dropout": Entry(dropout, ReshapeOp),
    "Elu": Entry(elu, EluOp),
    "Equal": Entry(binary, EqualOp),
    "Erf": Entry(of_reals, ErfOp),
    "Exp": Entry(unary, ExpOp),
    "Expand": Entry(expand, StridedOp),
    "Flatten": Entry(reshape, ReshapeOp),
    "Floor": Entry(unary, FloorOp),
    "Gather": Entry(gather, GatherAlongOp),
    "GatherND": Entry(gather_nd, GatherNdOp),
    "Gelu": Entry(gelu, GeluOp),
    "Gemm": Entry(gemm, FullyConnectedOp),
    "GlobalAveragePool": Entry(windows.global_average_pool, AveragePool2DOp),
    "GlobalMaxPool": Entry(windows.global_max_pool, MaxPool2DOp),
    "Greater": Entry(binary, GreaterOp),
    "GreaterOrEqual": Entry(binary, GreaterEqualOp),
    "HardSwish": Entry(unary, HardSwishOp),
    "Identity": Entry(reshape, ReshapeOp),
    "LeakyRelu": Entry(leaky_relu, LeakyReluOp),
    "Less": Entry(binary, LessOp),
    "LessOrEqual": Entry(binary, LessEqualOp),
    "Log": Entry(unary, LogOp),
    "LogSoftmax": Entry(log_softmax, LogSoftmaxOp),
    "MatMul": Entry(matmul, FullyConnectedOp, BatchMatmulOp),
    "MatMulInteger": Entry(matmul_integer, BatchMatmulOp),
    "Max": Entry(binary, MaximumOp),
    "MaxPool": Entry(windows.max_pool, MaxPool2DOp),
    "Min": Entry(binary, MinimumOp),
    "Mod": Entry(modulo, FloorModOp),
    "Mul": Entry(binary, MulOp),
    "Neg": Entry(unary, NegOp),
    "Not": Entry(unary, LogicalNotOp),
    "Or": Entry(binary, LogicalOrOp),
    "PRelu": Entry(quotient, PreluOp),
    "Pad": Entry(pad, PadOp),
    "Pow": Entry(power, PowOp),
    "QuantizeLinear": Entry(quantize, QuantizeOp),
    "ReduceMax": Entry(reduction, ReduceMaxOp),
    "ReduceMean": Entry(mean, MeanOp),
    "ReduceMin": Entry(reduction, ReduceMinOp),
    "ReduceProd": Entry(reduction, ReduceProdOp),
    "ReduceSum": Entry(reduction, ReduceSumOp),
    "Relu": Entry(unary, ReluOp),
    "Reshape": Entry(reshape, ReshapeOp),
    "Resize": Entry(windows.resize, ResizeBilinearOp, ResizeNearestOp),
    "Round": Entry(unary, RoundOp),
    "Sigmoid": Entry(unary, LogisticOp),
    "Sin": Entry(of_reals, SinOp),
    "Slice": Entry(slice_, SliceOp),
    "Softmax": Entry(softmax, SoftmaxOp),
    "Split": Entry(split, SplitOp),
    "Sqrt": Entry(unary, SqrtOp),
    "Squeeze": Entry(reshape, ReshapeOp),
    "Sub": Entry(binary, SubOp),
    "Tanh": Entry(unary, TanhOp),
    "Tile": Entry(tile, StridedOp),
    "Transpose": Entry(transpose, TransposeOp),
    "Unsqueeze": Entry(reshape, ReshapeOp),
    "Where": Entry(choose, ChooseOp),
}
"""ONNX's operator -> what it becomes."""
