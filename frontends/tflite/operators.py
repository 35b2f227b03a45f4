"""Operators of LiteRT's schema as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. What a typed operation says in attributes (axes,
paddings, permutations) it takes from constant operands.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from xdsl.dialects.builtin import (
    Float32Type,
    IntegerType,
    StringAttr,
    UnitAttr,
)
from xdsl.ir import Operation

from memopt.dialects.attributes import RoundingAttr, WindowAttr
from memopt.dialects.operators.activations import GeluOp, Relu0To1Op, ReluN1To1Op
from memopt.dialects.operators.add_n import AddNOp
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
    NotEqualOp,
)
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.depth_to_space import DepthToSpaceOp
from memopt.dialects.operators.detection import DetectionPostprocessOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.gathering import GatherAlongOp, GatherNdOp, ScatterNdOp
from memopt.dialects.operators.hybrid import (
    HybridConv2DOp,
    HybridDepthwiseConv2DOp,
    HybridFullyConnectedOp,
    HybridTransposeConv2DOp,
)
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.one_hot import OneHotOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.picked import MirroredOp, PickedOp
from memopt.dialects.operators.pooling import AveragePool2DOp, L2Pool2DOp, MaxPool2DOp
from memopt.dialects.operators.powers import FloorDivOp, FloorModOp, PowOp
from memopt.dialects.operators.prelu import PreluOp, SquaredDifferenceOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.real_functions import (
    AbsOp,
    CeilOp,
    CosOp,
    ExpOp,
    FloorOp,
    LogOp,
    NegOp,
    RoundOp,
    RsqrtOp,
    SignOp,
    SinOp,
    SqrtOp,
    SquareOp,
)
from memopt.dialects.operators.real_lstm import RealLstmOp
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
from memopt.dialects.operators.running import CumulativeSumOp
from memopt.dialects.operators.slices import ConcatOp, ConcatRequantizedOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.space_to_depth import SpaceToDepthOp
from memopt.dialects.operators.stacking import PackOp, UnpackOp
from memopt.dialects.operators.strided import StridedOp
from memopt.dialects.operators.svdf import SvdfOp
from memopt.dialects.operators.top_k import TopKOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.unary import (
    HardSwishOp,
    LogisticOp,
    Relu6Op,
    ReluOp,
    TanhOp,
)
from memopt.dialects.operators.unit_length import L2NormalizationOp, LogSoftmaxOp
from memopt.dialects.quick import number, numbers
from memopt.frontends.core import walks
from memopt.frontends.core.node import Entry
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.core.types import ELEMENTS, is_quantized
from memopt.frontends.core.windows import same_padding
from memopt.frontends.tflite import customs, indices, moves, picks
from memopt.frontends.tflite.functions import (
    function,
    gelu,
    leaky_relu,
    magnitude,
    negation,
    real_function,
    reciprocal_root,
    unary,
)
from memopt.frontends.tflite.node import (
    Kind,
    Node,
    activation,
    matrix_rounding,
    rounding,
    same_arithmetic,
)
from memopt.frontends.tflite.recurrent import lstm, svdf

# -- windows ------------------------------------------------------------------------------------


def window_of(node: Node, kernel: Sequence[int]) -> WindowAttr:
    """The explicit window: SAME padding depends on the sizes, an odd element goes to the end."""
    o = node.options
    stride = (o["strideH"], o["strideW"])
    dilation = (o.get("dilationHFactor", 1), o.get("dilationWFactor", 1))
    sizes = (*stride, *dilation, *kernel)
    need(all(v >= 1 for v in sizes), "a window, stride or dilation below 1")
    source, out = node.shape(0)[1:3], node.result.get_shape()[1:3]
    before, after = [0, 0], [0, 0]
    if o["padding"] == 0:  # SAME
        for i in range(2):
            whole = out[i] == -(-source[i] // stride[i])  # else no runtime pads as much
            need(whole, f"SAME padding of {source[i]} to {out[i]} by strides of {stride[i]}")
            sizes = source[i], out[i], kernel[i], stride[i], dilation[i]
            before[i], after[i] = same_padding(*sizes)
    return WindowAttr(kernel, stride, dilation, (*before, *after))


def is_hybrid(node: Node) -> bool:
    """Whether reals are multiplied with stored weights."""
    reals = all(isinstance(t.element_type, Float32Type) for t in (node.type(0), node.result))
    return reals and node.element(1) == ELEMENTS["int8"]


def convolution(depthwise: bool) -> Callable[[Node, Kind, Kind], Operation]:
    def builder(node: Node, plain: Kind, hybrid: Kind) -> Operation:
        kind = hybrid if is_hybrid(node) else plain
        if kind is plain:
            same_arithmetic(node, 0, 1)
        source, weights = node.shape(0), node.shape(1)
        need(len(source) == len(weights) == 4, f"{len(source)} dimensions (4 have one)")
        need(len(node.types) <= 3, f"{len(node.types)} operands (up to 3 have one)")
        channels, inner, outer = source[3], weights[3], node.result.get_shape()[3]
        if depthwise:
            fits = weights[0] == 1 and inner == outer and channels > 0 and outer % channels == 0
            need(fits, f"weights of {list(weights)} for {channels} channels")
            groups = channels
        else:
            fits = inner > 0 and channels % inner == 0 and weights[0] == outer
            need(fits, f"weights of {list(weights)} for {channels} channels")
            groups = channels // inner
        return build(
            kind,
            (node.operand(0), node.operand(1), node.optional(2)),
            node.results,
            {
                "window": window_of(node, weights[1:3]),
                "groups": number(groups),
                "activation": activation(node),
                "rounding": rounding(node),
            },
        )

    return builder


def densified(node: Node, kind: Kind) -> Operation:
    """A sparse constant is read with all its elements, so what is left is a copy of it."""
    need(node.type(0) == node.result, "another type than its operand")
    return build(kind, (node.operand(0),), node.results, {})


def pool(node: Node, kind: Kind) -> Operation:
    need(len(node.shape(0)) == 4, f"{len(node.shape(0))} dimensions (4 have one)")
    kernel = (node.options["filterHeight"], node.options["filterWidth"])
    properties = {"window": window_of(node, kernel), "activation": activation(node)}
    return build(kind, (node.operand(0),), node.results, properties)


def fully_connected(node: Node, plain: Kind, hybrid: Kind) -> Operation:
    o, kind = node.options, hybrid if is_hybrid(node) else plain
    need(o["weightsFormat"] == 0, f"weightsFormat = {o['weightsFormat']} (0 has one)")
    need(len(node.types) <= 3, f"{len(node.types)} operands (up to 3 have one)")
    if kind is plain:
        same_arithmetic(node, 0, 1)
    is_asymmetric = kind is hybrid and o.get("asymmetricQuantizeInputs")
    return build(
        kind,
        (node.operand(0), node.operand(1), node.optional(2)),
        node.results,
        {
            "keep_dims": UnitAttr() if o["keepNumDims"] else None,
            "asymmetric": UnitAttr() if is_asymmetric else None,
            "activation": activation(node),
            "rounding": matrix_rounding(node),
        },
    )


# -- element-wise -------------------------------------------------------------------------------


def one_type(node: Node) -> None:
    """Both operands and the result are of one type. Raises NotTyped."""
    types = node.element(0), node.element(1), node.result.element_type
    need(len(set(types)) == 1, f"on {types[0]} and {types[1]} to {types[2]} (one type has one)")


def binary(node: Node, kind: Kind) -> Operation:
    one_type(node)
    short = node.result.element_type == IntegerType(16) and node.options.get("potScaleInt16")
    need(not short, "potScaleInt16 = true (false has one)")
    properties = {"activation": activation(node), "rounding": rounding(node)}
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def whole_quotient(node: Node, kind: Kind) -> Operation:
    """Of float32, and of int32 that stand for themselves."""
    plain = node.result.element_type == IntegerType(32) and not is_quantized(node.result)
    known = plain or isinstance(node.result.element_type, Float32Type)
    need(known, f"on {node.result.element_type} (f32 has one)")
    return binary(node, kind)


def quotient(node: Node, kind: Kind) -> Operation:
    """Of bytes with a quantization, too."""
    is_byte = node.result.element_type in (ELEMENTS["int8"], ELEMENTS["uint8"])
    return (binary if is_byte and is_quantized(node.result) else whole_quotient)(node, kind)


def power(node: Node, kind: Kind) -> Operation:
    """Of float32 alone."""
    element = node.result.element_type
    need(isinstance(element, Float32Type), f"on {element} (f32 has one)")
    return binary(node, kind)


def truth(node: Node, kind: Kind) -> Operation:
    """Of two of one type; stored integers are rounded as runtimes do."""
    need(node.element(0) == node.element(1), f"on {node.element(0)} and {node.element(1)}")
    stored = any(is_quantized(node.type(i)) for i in (0, 1))
    rule = RoundingAttr.new((StringAttr("tflm_double"),)) if stored else None
    return build(kind, (node.operand(0), node.operand(1)), node.results, {"rounding": rule})


def plain(node: Node, kind: Kind) -> Operation:
    """All operands, without attributes."""
    return build(kind, node.operands, node.results, {})


def choice(node: Node, kind: Kind) -> Operation:
    """SELECT of a vector of conditions takes the first dimension, which is no broadcast."""
    same = node.shape(1) == node.shape(2) == node.result.get_shape()
    need(same, "operands of different shapes")
    rows = node.shape(0) == node.shape(1)[:1] != node.shape(1)
    fits = rows or node.shape(0) == node.shape(1) or not node.shape(0)
    need(fits, f"a condition of shape {list(node.shape(0))}")
    properties = {"of_rows": UnitAttr() if rows else None}
    return build(kind, node.operands, node.results, properties)


def batch_matmul(node: Node, kind: Kind) -> Operation:
    one_type(node)
    properties = {
        "adj_x": UnitAttr() if node.options["adjX"] else None,
        "adj_y": UnitAttr() if node.options["adjY"] else None,
        "rounding": rounding(node),
    }
    return build(kind, (node.operand(0), node.operand(1)), node.results, properties)


def vectors(node: Node, kind: Kind) -> Operation:
    """Along the last axis, without an activation."""
    kind_of = node.options.get("fusedActivationFunction", 0)
    need(kind_of == 0, f"activation {kind_of} (none has one)")
    need(bool(node.shape(0)), "no dimensions")
    need(node.element(0) == node.result.element_type, "another type than its operand")
    return build(kind, (node.operand(0),), node.results, {})


def arg(node: Node, kind: Kind) -> Operation:
    """Indices of int32 or int64 along an axis that is known."""
    axes = node.constant(1)
    need(len(axes) == 1, f"{len(axes)} axes (1 has one)")
    known = node.result.element_type in (IntegerType(32), IntegerType(64))
    need(known, f"indices of {node.result.element_type} (i32 and i64 have one)")
    properties = {"axis": number(axis_of(axes[0], len(node.shape(0))))}
    return build(kind, (node.operand(0),), node.results, properties)


def softmax(node: Node, kind: Kind) -> Operation:
    axis = axis_of(-1, len(node.shape(0)))
    beta = node.options["beta"]
    need(abs(beta) < float("inf"), f"beta = {beta}")
    properties = {"axis": number(axis), "beta": real(beta)}
    return build(kind, (node.operand(0),), node.results, properties)


def over_axes(node: Node, kind: Kind) -> Operation:
    need(node.element(0) == node.result.element_type, "another type than its operand")
    rank = len(node.shape(0))
    axes = [axis_of(a, rank) for a in node.constant(1)]
    need(len(set(axes)) == len(axes), f"axes = {axes}")
    properties = {
        "axes": numbers(axes),
        "keep_dims": UnitAttr() if node.options["keepDims"] else None,
        "rounding": rounding(node),
    }
    return build(kind, (node.operand(0),), node.results, properties)


def transpose_convolution(node: Node, plain: Kind, hybrid: Kind) -> Operation:
    """Operands are the result's shape, weights, image and bias: of bytes, of float, or of int16
    with a bias of 64 bits or none."""
    source, wide = node.element(2), node.element(2) == ELEMENTS["int16"]
    reals = source == node.result.element_type == ELEMENTS["float32"]
    kind = hybrid if reals and node.element(1) == ELEMENTS["int8"] else plain
    if kind is plain:
        same_arithmetic(node, 1, 2)
    known = reals or wide or source in (ELEMENTS["int8"], ELEMENTS["uint8"])
    need(known, f"on {source} (f32, i8, ui8 and i16 have one)")
    need(len(node.types) <= 4, f"{len(node.types)} operands (up to 4 have one)")
    fits = not (wide and node.has(3)) or node.element(3) == ELEMENTS["int64"]
    need(fits, "a bias of int16 that is not of 64 bits")
    shape = node.constant(0)
    need(tuple(shape) == node.result.get_shape(), f"a shape of {shape}, which its result has not")
    need(len(node.shape(1)) == 4, f"weights of {len(node.shape(1))} dimensions (4 have one)")
    o, kernel = node.options, node.shape(1)[1:3]
    stride, pad = (o["strideH"], o["strideW"]), [(0, 0), (0, 0)]
    need(min(stride) >= 1, f"strides of {list(stride)}")
    if o["padding"] == 0:  # SAME
        sizes = zip(node.result.get_shape()[1:3], kernel, stride, strict=True)
        pad = [same_padding(out, -(-out // s), k, s, 1) for out, k, s in sizes]
    (top, bottom), (left, right) = pad
    return build(
        kind,
        (node.operand(2), node.operand(1), node.optional(3)),
        node.results,
        {
            "window": WindowAttr(kernel, stride, (1, 1), (top, left, bottom, right)),
            "groups": number(1),
            "activation": activation(node),
            "rounding": rounding(node),
        },
    )


def space_to_depth(node: Node, kind: Kind) -> Operation:
    block = node.options["blockSize"]
    need(len(node.shape(0)) == 4 and block > 0, f"blockSize = {block} of {node.shape(0)}")
    properties = {"block": number(node.options["blockSize"])}
    return build(kind, (node.operand(0),), node.results, properties)


OPERATORS: Final[Mapping[str, Entry]] = {
    "ABS": Entry(magnitude, AbsOp),
    "ADD": Entry(binary, AddOp),
    "ADD_N": Entry(plain, AddNOp),
    "ARG_MAX": Entry(arg, ArgMaxOp),
    "ARG_MIN": Entry(arg, ArgMinOp),
    "AVERAGE_POOL_2D": Entry(pool, AveragePool2DOp),
    "BATCH_MATMUL": Entry(batch_matmul, BatchMatmulOp),
    "BATCH_TO_SPACE_ND": Entry(
        moves.batches(walks.batch_to_space, picks.batch_to_space), StridedOp, PickedOp
    ),
    "BROADCAST_TO": Entry(moves.broadcast_to, StridedOp),
    "CAST": Entry(unary, CastOp),
    "CEIL": Entry(real_function, CeilOp),
    "CONCATENATION": Entry(moves.concat, ConcatOp, ConcatRequantizedOp),
    "CONV_2D": Entry(convolution(depthwise=False), Conv2DOp, HybridConv2DOp),
    "COS": Entry(real_function, CosOp),
    "CUMSUM": Entry(indices.cumulative_sum, CumulativeSumOp),
    "CUSTOM:Convolution2DTransposeBias": Entry(customs.transpose_convolution, TransposeConv2DOp),
    "CUSTOM:TFLite_Detection_PostProcess": Entry(
        customs.detection_postprocess, DetectionPostprocessOp
    ),
    "DENSIFY": Entry(densified, CopyOp),
    "DEPTHWISE_CONV_2D": Entry(
        convolution(depthwise=True), DepthwiseConv2DOp, HybridDepthwiseConv2DOp
    ),
    "DEPTH_TO_SPACE": Entry(moves.depth_to_space, DepthToSpaceOp),
    "DEQUANTIZE": Entry(unary, DequantizeOp),
    "DIV": Entry(quotient, DivOp),
    "ELU": Entry(unary, EluOp),
    "EMBEDDING_LOOKUP": Entry(moves.embedding_lookup, GatherAlongOp),
    "EQUAL": Entry(truth, EqualOp),
    "EXP": Entry(function, ExpOp),
    "EXPAND_DIMS": Entry(moves.reshape, ReshapeOp),
    "FILL": Entry(moves.fill, StridedOp),
    "FLOOR": Entry(real_function, FloorOp),
    "FLOOR_DIV": Entry(whole_quotient, FloorDivOp),
    "FLOOR_MOD": Entry(whole_quotient, FloorModOp),
    "FULLY_CONNECTED": Entry(fully_connected, FullyConnectedOp, HybridFullyConnectedOp),
    "GATHER": Entry(moves.gather, GatherAlongOp),
    "GATHER_ND": Entry(plain, GatherNdOp),
    "GELU": Entry(gelu, GeluOp),
    "GREATER": Entry(truth, GreaterOp),
    "GREATER_EQUAL": Entry(truth, GreaterEqualOp),
    "HARD_SWISH": Entry(unary, HardSwishOp),
    "L2_NORMALIZATION": Entry(vectors, L2NormalizationOp),
    "L2_POOL_2D": Entry(pool, L2Pool2DOp),
    "LEAKY_RELU": Entry(leaky_relu, LeakyReluOp),
    "LOG": Entry(function, LogOp),
    "LOGISTIC": Entry(unary, LogisticOp),
    "LESS": Entry(truth, LessOp),
    "LESS_EQUAL": Entry(truth, LessEqualOp),
    "LOGICAL_AND": Entry(truth, LogicalAndOp),
    "LOGICAL_NOT": Entry(plain, LogicalNotOp),
    "LOGICAL_OR": Entry(truth, LogicalOrOp),
    "LOG_SOFTMAX": Entry(vectors, LogSoftmaxOp),
    "MAXIMUM": Entry(binary, MaximumOp),
    "MAX_POOL_2D": Entry(pool, MaxPool2DOp),
    "MEAN": Entry(over_axes, MeanOp),
    "MINIMUM": Entry(binary, MinimumOp),
    "MIRROR_PAD": Entry(picks.mirror_pad, MirroredOp),
    "MUL": Entry(binary, MulOp),
    "NEG": Entry(negation, NegOp),
    "NOT_EQUAL": Entry(truth, NotEqualOp),
    "ONE_HOT": Entry(indices.one_hot, OneHotOp),
    "PACK": Entry(moves.stack, PackOp),
    "PAD": Entry(moves.pad, PadOp, PickedOp),
    "PADV2": Entry(picks.pad, PickedOp),
    "POW": Entry(power, PowOp),
    "PRELU": Entry(binary, PreluOp),
    "QUANTIZE": Entry(unary, QuantizeOp),
    "REDUCE_ALL": Entry(over_axes, ReduceMinOp),
    "REDUCE_ANY": Entry(over_axes, ReduceMaxOp),
    "REDUCE_MAX": Entry(over_axes, ReduceMaxOp),
    "REDUCE_MIN": Entry(over_axes, ReduceMinOp),
    "REDUCE_PROD": Entry(over_axes, ReduceProdOp),
    "RELU": Entry(unary, ReluOp),
    "RELU6": Entry(unary, Relu6Op),
    "RELU_0_TO_1": Entry(unary, Relu0To1Op),
    "RELU_N1_TO_1": Entry(unary, ReluN1To1Op),
    "RESHAPE": Entry(moves.reshape, ReshapeOp),
    "RESIZE_BILINEAR": Entry(moves.resize, ResizeBilinearOp),
    "RESIZE_NEAREST_NEIGHBOR": Entry(moves.resize, ResizeNearestOp),
    "REVERSE_V2": Entry(moves.reverse, StridedOp),
    "ROUND": Entry(real_function, RoundOp),
    "RSQRT": Entry(reciprocal_root, RsqrtOp),
    "SCATTER_ND": Entry(indices.scatter, ScatterNdOp),
    "SELECT": Entry(choice, ChooseOp),
    "SELECT_V2": Entry(plain, ChooseOp),
    "SIGN": Entry(real_function, SignOp),
    "SIN": Entry(real_function, SinOp),
    "SLICE": Entry(moves.slice_, SliceOp),
    "SOFTMAX": Entry(softmax, SoftmaxOp),
    "SPACE_TO_BATCH_ND": Entry(
        moves.batches(walks.space_to_batch, picks.space_to_batch), StridedOp, PickedOp
    ),
    "SPACE_TO_DEPTH": Entry(space_to_depth, SpaceToDepthOp),
    "SPLIT": Entry(moves.split(data=1, axis=0), SplitOp),
    "SPLIT_V": Entry(moves.split(data=0, axis=2), SplitOp),
    "SQRT": Entry(function, SqrtOp),
    "SQUARE": Entry(real_function, SquareOp),
    "SQUARED_DIFFERENCE": Entry(binary, SquaredDifferenceOp),
    "SQUEEZE": Entry(moves.reshape, ReshapeOp),
    "STRIDED_SLICE": Entry(moves.strided_slice, SliceOp, StridedOp),
    "SUB": Entry(binary, SubOp),
    "SUM": Entry(over_axes, ReduceSumOp),
    "SVDF": Entry(svdf, SvdfOp),
    "TILE": Entry(moves.tile, StridedOp),
    "TANH": Entry(unary, TanhOp),
    "TOPK_V2": Entry(indices.top_k, TopKOp),
    "TRANSPOSE": Entry(moves.transpose, TransposeOp),
    "TRANSPOSE_CONV": Entry(transpose_convolution, TransposeConv2DOp, HybridTransposeConv2DOp),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Entry(lstm, LstmOp, RealLstmOp),
    "UNPACK": Entry(moves.stack, UnpackOp),
    "ZEROS_LIKE": Entry(picks.zeros, PickedOp),
}
"""LiteRT's operator -> what it becomes."""
