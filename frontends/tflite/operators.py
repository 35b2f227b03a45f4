"""Operators of LiteRT's schema as typed operations, where their meaning is exactly that one.

Everything else becomes a `memgraph.opaque`. What a typed operation says in attributes (axes,
paddings, permutations) it takes from constant operands.
"""

from typing import Final

from xdsl.dialects.builtin import IntegerType, UnitAttr
from xdsl.ir import Operation

from memopt.dialects.attributes.quick import number, numbers
from memopt.dialects.operators.base import OfOneOp
from memopt.dialects.operators.binary import BinaryOp
from memopt.frontends.core import walks
from memopt.frontends.core.node import Entry, Table, short_name
from memopt.frontends.core.typed import axis_of, build, need, real
from memopt.frontends.tflite import (
    custom_ops,
    elementwise,
    indices,
    moves,
    picks,
    products,
    rare,
    signal_ops,
)
from memopt.frontends.tflite.functions import (
    built_by,
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


def _entry_of(kind: type[Operation]) -> Entry | None:
    if issubclass(kind, BinaryOp):
        return Entry(elementwise.built_by(kind), short_name(kind))
    return Entry(built_by(kind), short_name(kind)) if issubclass(kind, OfOneOp) else None


_WRITTEN = {
    "ABS": Entry(magnitude, "abs"),
    "ADD_N": Entry(elementwise.plain, "add_n"),
    "ARG_MAX": Entry(arg, "arg_max"),
    "ARG_MIN": Entry(arg, "arg_min"),
    "AVERAGE_POOL_2D": Entry(products.pool, "average_pool_2d"),
    "BATCH_MATMUL": Entry(products.batch_matmul, "batch_matmul", "hybrid_fully_connected"),
    "BATCH_TO_SPACE_ND": Entry(
        moves.batches(walks.batch_to_space, picks.batch_to_space), "strided", "picked"
    ),
    "BROADCAST_TO": Entry(moves.broadcast_to, "strided"),
    "CAST": Entry(unary, "cast"),
    "CONCATENATION": Entry(moves.concat, "concat", "concat_requantized"),
    "COMPLEX_ABS": Entry(elementwise.plain, "complex_abs"),
    "CONV_3D": Entry(rare.convolution_3d, "conv_3d"),
    "CONV_2D": Entry(products.convolution(depthwise=False), "conv_2d", "hybrid_conv_2d"),
    "CUMSUM": Entry(indices.cumulative_sum, "cumulative_sum"),
    "CUSTOM:Convolution2DTransposeBias": Entry(
        custom_ops.transpose_convolution, "transpose_conv_2d"
    ),
    "CUSTOM:Landmarks2TransformMatrix": Entry(
        custom_ops.landmarks_to_matrix, "landmarks_to_matrix"
    ),
    "CUSTOM:MaxPoolingWithArgmax2D": Entry(custom_ops.max_pool_places, "max_pool_places"),
    "CUSTOM:MaxUnpooling2D": Entry(custom_ops.max_unpool, "max_unpool"),
    "CUSTOM:SignalDelay": Entry(signal_ops.delay, "signal_delay"),
    "CUSTOM:SignalEnergy": Entry(signal_ops.energy, "signal_energy"),
    "CUSTOM:SignalFftAutoScale": Entry(signal_ops.fft_auto_scale, "signal_fft_auto_scale"),
    "CUSTOM:SignalFilterBank": Entry(signal_ops.filter_bank, "signal_filter_bank"),
    "CUSTOM:SignalFilterBankLog": Entry(signal_ops.log, "signal_filter_bank_log"),
    "CUSTOM:SignalFilterBankSpectralSubtraction": Entry(
        signal_ops.spectral_subtraction, "signal_filter_bank_spectral_subtraction"
    ),
    "CUSTOM:SignalFilterBankSquareRoot": Entry(
        signal_ops.square_root, "signal_filter_bank_square_root"
    ),
    "CUSTOM:SignalFramer": Entry(signal_ops.framer, "signal_framer"),
    "CUSTOM:SignalIrfft": Entry(signal_ops.transform, "signal_irfft"),
    "CUSTOM:SignalOverlapAdd": Entry(signal_ops.overlap_add, "signal_overlap_add"),
    "CUSTOM:SignalPCAN": Entry(signal_ops.pcan, "signal_pcan"),
    "CUSTOM:SignalRfft": Entry(signal_ops.transform, "signal_rfft"),
    "CUSTOM:SignalStacker": Entry(signal_ops.stacker, "signal_stacker"),
    "CUSTOM:SignalWindow": Entry(signal_ops.window, "signal_window"),
    "CUSTOM:TransformLandmarks": Entry(custom_ops.transformed, "transform_landmarks"),
    "CUSTOM:TransformTensorBilinear": Entry(custom_ops.transformed, "transform_bilinear"),
    "CUSTOM:TFLite_Detection_PostProcess": Entry(
        custom_ops.detection_postprocess, "detection_postprocess"
    ),
    "DENSIFY": Entry(densified, "copy"),
    "DEPTHWISE_CONV_2D": Entry(
        products.convolution(depthwise=True), "depthwise_conv_2d", "hybrid_depthwise_conv_2d"
    ),
    "DEQUANTIZE": Entry(unary, "dequantize"),
    "EMBEDDING_LOOKUP": Entry(moves.embedding_lookup, "gather_along"),
    "DYNAMIC_UPDATE_SLICE": Entry(elementwise.plain, "dynamic_update_slice"),
    "EXP": Entry(function, "exp"),
    "EXPAND_DIMS": Entry(moves.reshape, "reshape"),
    "FILL": Entry(moves.fill, "strided"),
    "FULLY_CONNECTED": Entry(products.fully_connected, "fully_connected", "hybrid_fully_connected"),
    "GATHER": Entry(moves.gather, "gather_along"),
    "GATHER_ND": Entry(elementwise.plain, "gather_nd"),
    "GELU": Entry(gelu, "gelu"),
    "HARD_SWISH": Entry(unary, "hard_swish"),
    "IMAG": Entry(elementwise.plain, "imaginary_part"),
    "L2_NORMALIZATION": Entry(vectors, "l2_normalization"),
    "L2_POOL_2D": Entry(products.pool, "l2_pool_2d"),
    "LEAKY_RELU": Entry(leaky_relu, "leaky_relu"),
    "LOG": Entry(function, "log"),
    "LOCAL_RESPONSE_NORMALIZATION": Entry(rare.local_response, "local_response_normalization"),
    "LOGICAL_NOT": Entry(elementwise.plain, "logical_not"),
    "LOG_SOFTMAX": Entry(vectors, "log_softmax"),
    "MAX_POOL_2D": Entry(products.pool, "max_pool_2d"),
    "MEAN": Entry(over_axes, "mean"),
    "MIRROR_PAD": Entry(picks.mirror_pad, "mirrored"),
    "NEG": Entry(negation, "neg"),
    "NON_MAX_SUPPRESSION_V4": Entry(rare.non_max_suppression, "non_max_suppression"),
    "NON_MAX_SUPPRESSION_V5": Entry(rare.non_max_suppression, "non_max_suppression"),
    "ONE_HOT": Entry(indices.one_hot, "one_hot"),
    "PACK": Entry(moves.stack, "pack"),
    "PAD": Entry(moves.pad, "pad", "picked"),
    "PADV2": Entry(picks.pad, "picked"),
    "QUANTIZE": Entry(unary, "quantize"),
    "REAL": Entry(elementwise.plain, "real_part"),
    "REDUCE_ALL": Entry(over_axes, "reduce_min"),
    "REDUCE_ANY": Entry(over_axes, "reduce_max"),
    "REDUCE_MAX": Entry(over_axes, "reduce_max"),
    "REDUCE_MIN": Entry(over_axes, "reduce_min"),
    "REDUCE_PROD": Entry(over_axes, "reduce_prod"),
    "RELU_0_TO_1": Entry(unary, "relu_0_to_1"),
    "RELU_N1_TO_1": Entry(unary, "relu_n1_to_1"),
    "RESHAPE": Entry(moves.reshape, "reshape"),
    "RFFT2D": Entry(rare.spectrum, "real_fft_2d"),
    "RESIZE_BILINEAR": Entry(moves.resize, "resize_bilinear"),
    "RESIZE_NEAREST_NEIGHBOR": Entry(moves.resize, "resize_nearest"),
    "REVERSE_V2": Entry(moves.reverse, "strided"),
    "RSQRT": Entry(reciprocal_root, "rsqrt"),
    "SCATTER_ND": Entry(indices.scatter, "scatter_nd"),
    "SEGMENT_SUM": Entry(rare.segments, "segment_sum"),
    "SELECT": Entry(elementwise.choice, "choose"),
    "SELECT_V2": Entry(elementwise.plain, "choose"),
    "SLICE": Entry(moves.slice_, "slice"),
    "SOFTMAX": Entry(softmax, "softmax"),
    "SPACE_TO_BATCH_ND": Entry(
        moves.batches(walks.space_to_batch, picks.space_to_batch), "strided", "picked"
    ),
    "SPLIT": Entry(moves.split(data=1, axis=0), "split"),
    "SPLIT_V": Entry(moves.split(data=0, axis=2), "split"),
    "SQRT": Entry(function, "sqrt"),
    "SQUEEZE": Entry(moves.reshape, "reshape"),
    "STRIDED_SLICE": Entry(moves.strided_slice, "slice", "strided"),
    "SUM": Entry(over_axes, "reduce_sum"),
    "SVDF": Entry(svdf, "svdf"),
    "TILE": Entry(moves.tile, "strided"),
    "TOPK_V2": Entry(indices.top_k, "top_k"),
    "TRANSPOSE": Entry(moves.transpose, "transpose"),
    "TRANSPOSE_CONV": Entry(
        products.transpose_convolution, "transpose_conv_2d", "hybrid_transpose_conv_2d"
    ),
    "UNIDIRECTIONAL_SEQUENCE_LSTM": Entry(lstm, "lstm", "real_lstm"),
    "UNIDIRECTIONAL_SEQUENCE_RNN": Entry(sequence_rnn, "sequence_rnn"),
    "UNPACK": Entry(moves.stack, "unpack"),
    "UNSORTED_SEGMENT_SUM": Entry(rare.segments, "segment_sum"),
    "ZEROS_LIKE": Entry(picks.zeros, "picked"),
}
OPERATORS: Final = Table(_WRITTEN, "TFLITE", _entry_of)
"""LiteRT's operator -> what it becomes."""
