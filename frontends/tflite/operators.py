"""Operators of LiteRT's schema as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. What a typed operation says in attributes (axes,
paddings, permutations) it takes from constant operands.
"""

from collections.abc import Mapping
from typing import Final

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.operators.activations import GeluOp, Relu0To1Op, ReluN1To1Op
from memopt.dialects.operators.add_n import AddNOp
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.comparison import ChooseOp, LogicalNotOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.convolution_3d import Conv3DOp
from memopt.dialects.operators.depth_to_space import DepthToSpaceOp
from memopt.dialects.operators.detection import DetectionPostprocessOp, NonMaxSuppressionOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.gathering import GatherAlongOp, GatherNdOp, ScatterNdOp
from memopt.dialects.operators.hybrid import (
    HybridConv2DOp,
    HybridDepthwiseConv2DOp,
    HybridFullyConnectedOp,
    HybridTransposeConv2DOp,
)
from memopt.dialects.operators.landmarks import (
    LandmarksToMatrixOp,
    TransformBilinearOp,
    TransformLandmarksOp,
)
from memopt.dialects.operators.local_response import LocalResponseNormalizationOp
from memopt.dialects.operators.lstm import LstmOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import CopyOp, ReshapeOp, TransposeOp
from memopt.dialects.operators.one_hot import OneHotOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.picked import MirroredOp, PickedOp
from memopt.dialects.operators.pooling import AveragePool2DOp, L2Pool2DOp, MaxPool2DOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.real_functions import AbsOp, ExpOp, LogOp, NegOp, RsqrtOp, SqrtOp
from memopt.dialects.operators.real_lstm import RealLstmOp
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
from memopt.dialects.operators.segments import SegmentSumOp
from memopt.dialects.operators.sequence_rnn import SequenceRnnOp
from memopt.dialects.operators.slices import ConcatOp, ConcatRequantizedOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.space_to_depth import SpaceToDepthOp
from memopt.dialects.operators.spectrum import (
    ComplexAbsOp,
    ImaginaryPartOp,
    RealFft2DOp,
    RealPartOp,
)
from memopt.dialects.operators.stacking import PackOp, UnpackOp
from memopt.dialects.operators.strided import StridedOp
from memopt.dialects.operators.svdf import SvdfOp
from memopt.dialects.operators.top_k import TopKOp
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.unary import HardSwishOp, LogisticOp, Relu6Op, ReluOp, TanhOp
from memopt.dialects.operators.unit_length import L2NormalizationOp, LogSoftmaxOp
from memopt.dialects.operators.unpooling import MaxPoolPlacesOp, MaxUnpoolOp
from memopt.dialects.operators.updating import DynamicUpdateSliceOp
from memopt.frontends.core import walks
from memopt.frontends.core.node import Entry
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.tflite import custom_ops, elementwise, indices, moves, picks, products, rare
from memopt.frontends.tflite.functions import (
    entries,
    function,
    gelu,
    leaky_relu,
    magnitude,
    negation,
    reciprocal_root,
    unary,
)
from memopt.frontends.tflite.node import Kind, Node, rounding
from memopt.frontends.tflite.recurrent import lstm, sequence_rnn, svdf


def densified(node: Node, kind: Kind) -> Operation:
    """A sparse constant is read with all its elements, so what is left is a copy of it."""
    need(node.type(0) == node.result, "another type than its operand")
    return build(kind, (node.operand(0),), node.results, {})


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


def space_to_depth(node: Node, kind: Kind) -> Operation:
    block = node.options["blockSize"]
    need(len(node.shape(0)) == 4 and block > 0, f"blockSize = {block} of {node.shape(0)}")
    properties = {"block": number(node.options["blockSize"])}
    return build(kind, (node.operand(0),), node.results, properties)


OPERATORS: Final[Mapping[str, Entry]] = {
    **entries(),
    **elementwise.entries(),
    "ABS": Entry(magnitude, AbsOp),
    "ADD_N": Entry(elementwise.plain, AddNOp),
    "ARG_MAX": Entry(arg, ArgMaxOp),
    "ARG_MIN": Entry(arg, ArgMinOp),
    "AVERAGE_POOL_2D": Entry(products.pool, AveragePool2DOp),
    "BATCH_MATMUL": Entry(products.batch_matmul, BatchMatmulOp, HybridFullyConnectedOp),
    "BATCH_TO_SPACE_ND": Entry(
        moves.batches(walks.batch_to_space, picks.batch_to_space), StridedOp, PickedOp
    ),
    "BROADCAST_TO": Entry(moves.broadcast_to, StridedOp),
    "CAST": Entry(unary, CastOp),
    "CONCATENATION": Entry(moves.concat, ConcatOp, ConcatRequantizedOp),
    "COMPLEX_ABS": Entry(elementwise.plain, ComplexAbsOp),
    "CONV_3D": Entry(rare.convolution_3d, Conv3DOp),
    "CONV_2D": Entry(products.convolution(depthwise=False), Conv2DOp, HybridConv2DOp),
    "CUMSUM": Entry(indices.cumulative_sum, CumulativeSumOp),
    "CUSTOM:Convolution2DTransposeBias": Entry(custom_ops.transpose_convolution, TransposeConv2DOp),
    "CUSTOM:Landmarks2TransformMatrix": Entry(custom_ops.landmarks_to_matrix, LandmarksToMatrixOp),
    "CUSTOM:MaxPoolingWithArgmax2D": Entry(custom_ops.max_pool_places, MaxPoolPlacesOp),
    "CUSTOM:MaxUnpooling2D": Entry(custom_ops.max_unpool, MaxUnpoolOp),
    "CUSTOM:TransformLandmarks": Entry(custom_ops.transformed, TransformLandmarksOp),
    "CUSTOM:TransformTensorBilinear": Entry(custom_ops.transformed, TransformBilinearOp),
    "CUSTOM:TFLite_Detection_PostProcess": Entry(
        custom_ops.detection_postprocess, DetectionPostprocessOp
    ),
    "DENSIFY": Entry(densified, CopyOp),
    "DEPTHWISE_CONV_2D": Entry(
        products.convolution(depthwise=True), DepthwiseConv2DOp, HybridDepthwiseConv2DOp
    ),
    "DEPTH_TO_SPACE": Entry(moves.depth_to_space, DepthToSpaceOp),
    "DEQUANTIZE": Entry(unary, DequantizeOp),
    "EMBEDDING_LOOKUP": Entry(moves.embedding_lookup, GatherAlongOp),
    "DYNAMIC_UPDATE_SLICE": Entry(elementwise.plain, DynamicUpdateSliceOp),
    "EXP": Entry(function, ExpOp),
    "EXPAND_DIMS": Entry(moves.reshape, ReshapeOp),
    "FILL": Entry(moves.fill, StridedOp),
    "FULLY_CONNECTED": Entry(products.fully_connected, FullyConnectedOp, HybridFullyConnectedOp),
    "GATHER": Entry(moves.gather, GatherAlongOp),
    "GATHER_ND": Entry(elementwise.plain, GatherNdOp),
    "GELU": Entry(gelu, GeluOp),
    "HARD_SWISH": Entry(unary, HardSwishOp),
    "IMAG": Entry(elementwise.plain, ImaginaryPartOp),
    "L2_NORMALIZATION": Entry(vectors, L2NormalizationOp),
    "L2_POOL_2D": Entry(products.pool, L2Pool2DOp),
    "LEAKY_RELU": Entry(leaky_relu, LeakyReluOp),
    "LOG": Entry(function, LogOp),
    "LOGISTIC": Entry(unary, LogisticOp),
    "LOCAL_RESPONSE_NORMALIZATION": Entry(rare.local_response, LocalResponseNormalizationOp),
    "LOGICAL_NOT": Entry(elementwise.plain, LogicalNotOp),
    "LOG_SOFTMAX": Entry(vectors, LogSoftmaxOp),
    "MAX_POOL_2D": Entry(products.pool, MaxPool2DOp),
    "MEAN": Entry(over_axes, MeanOp),
    "MIRROR_PAD": Entry(picks.mirror_pad, MirroredOp),
    "NEG": Entry(negation, NegOp),
    "NON_MAX_SUPPRESSION_V4": Entry(rare.non_max_suppression, NonMaxSuppressionOp),
    "NON_MAX_SUPPRESSION_V5": Entry(rare.non_max_suppression, NonMaxSuppressionOp),
    "ONE_HOT": Entry(indices.one_hot, OneHotOp),
    "PACK": Entry(moves.stack, PackOp),
    "PAD": Entry(moves.pad, PadOp, PickedOp),
    "PADV2": Entry(picks.pad, PickedOp),
    "QUANTIZE": Entry(unary, QuantizeOp),
    "REAL": Entry(elementwise.plain, RealPartOp),
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
    "RFFT2D": Entry(rare.spectrum, RealFft2DOp),
    "RESIZE_BILINEAR": Entry(moves.resize, ResizeBilinearOp),
    "RESIZE_NEAREST_NEIGHBOR": Entry(moves.resize, ResizeNearestOp),
    "REVERSE_V2": Entry(moves.reverse, StridedOp),
    "RSQRT": Entry(reciprocal_root, RsqrtOp),
    "SCATTER_ND": Entry(indices.scatter, ScatterNdOp),
    "SEGMENT_SUM": Entry(rare.segments, SegmentSumOp),
    "SELECT": Entry(elementwise.choice, ChooseOp),
    "SELECT_V2": Entry(elementwise.plain, ChooseOp),
    "SLICE": Entry(moves.slice_, SliceOp),
    "SOFTMAX": Entry(softmax, SoftmaxOp),
    "SPACE_TO_BATCH_ND": Entry(
        moves.batches(walks.space_to_batch, picks.space_to_batch), StridedOp, PickedOp
    ),
    "SPACE_TO_DEPTH": Entry(space_to_depth, SpaceToDepthOp),
    "SPLIT": Entry(moves.split(data=1, axis=0), SplitOp),
    "SPLIT_V": Entry(moves.split(data=0, axis=2), SplitOp),
    "SQRT": Entry(function, SqrtOp),
    "SQUEEZE": Entry(moves.reshape, ReshapeOp),
    "STRIDED_SLICE": Entry(moves.strided_slice, SliceOp, StridedOp),
    "SUM": Entry(over_axes, ReduceSumOp),
    "SVDF": Entry(svdf, SvdfOp),
    "TILE": Entry(moves.tile, StridedOp),
    "TANH": Entry(unary, TanhOp),
    "TOPK_V2": Entry(indices.top_k, TopKOp),
    "TRANSPOSE": Entry(moves.transpose, TransposeOp),
    "TRANSPOSE_CONV": Entry(
        products.transpose_convolution, TransposeConv2DOp, HybridTransposeConv2DOp
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Entry(lstm, LstmOp, RealLstmOp),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Entry(sequence_rnn, SequenceRnnOp),
    "UNPACK": Entry(moves.stack, UnpackOp),
    "UNSORTED_SEGMENT_SUM": Entry(rare.segments, SegmentSumOp),
    "ZEROS_LIKE": Entry(picks.zeros, PickedOp),
}
"""LiteRT's operator -> what it becomes."""
