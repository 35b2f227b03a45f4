"""CONV_2D, DEPTHWISE_CONV_2D, TRANSPOSE_CONV and FULLY_CONNECTED of float32 with int8 weights."""

import math
from typing import Any

from memopt.backends.c.emit.call import Constants, KernelCall, Rows, Table, refuse, size_of
from memopt.backends.c.emit.float32 import float_bias, float_result_range
from memopt.backends.c.emit.registry import kernel
from memopt.backends.c.emit.rowwise import image_call
from memopt.backends.c.kernels.convolution import weight_axes, window_fields
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.hybrid import (
    HybridConv2DOp,
    HybridConvBase,
    HybridDepthwiseConv2DOp,
    HybridFullyConnectedOp,
    HybridOp,
    HybridTransposeConv2DOp,
)

Fields = tuple[tuple[str, Any], ...]
Convolution = HybridConv2DOp | HybridDepthwiseConv2DOp | HybridTransposeConv2DOp
CONVOLUTIONS = (HybridConv2DOp, HybridDepthwiseConv2DOp, HybridTransposeConv2DOp)


def _image(op: HybridConvBase) -> int:
    """Bytes of one image, quantized."""
    return math.prod(shape_of(op.input)[1:])


def _row(op: HybridFullyConnectedOp) -> int:
    return op.matrix[1]


def _filters(op: HybridOp, channels: int, constants: Constants) -> Fields:
    """The fields weights, scale and bias. Refuses weights of run time, and sums that overflow."""
    weights = constants(op.weights)
    if weights is None:
        raise refuse(op, "weights that are only known at run time")
    if 255 * 128 * weights.size // channels >= 1 << 31:
        raise refuse(op, "the int32 accumulator could overflow")
    if isinstance(op, HybridFullyConnectedOp) and op.by_columns is not None:
        weights = np.ascontiguousarray(weights.T)
    return (
        ("weights", Table("int8_t", weights)),
        ("scale", Table("float", np.array(op.scales, np.float32))),
        ("bias", float_bias(op, op.bias, channels, constants)),
    )


@kernel(CONVOLUTIONS, "f32", "nhwc", workspace=_image)
def hybrid_conv_2d(op: Convolution, constants: Constants) -> KernelCall:
    """Images one after the other, in the same scratch."""
    weight_axes(op)
    channels = shape_of(op.result)[3]
    if isinstance(op, HybridDepthwiseConv2DOp) and len(op.scales) != channels:
        raise refuse(op, "weights of one scale, which LiteRT takes of no depthwise convolution")
    rule = ("symmetric", int(op.is_symmetric))
    if isinstance(op, HybridTransposeConv2DOp):
        rule = ("scale_step", int(len(op.scales) > 1))
    fields = (*window_fields(op), *float_result_range(op), rule)
    name = f"{op.name.removeprefix('memgraph.')}_f32"
    return image_call(op, name, (*fields, *_filters(op, channels, constants)))


@kernel(HybridFullyConnectedOp, "f32", workspace=_row)
def hybrid_fully_connected(op: HybridFullyConnectedOp, constants: Constants) -> KernelCall:
    out_n, in_n = op.matrix
    if 0 in (out_n, in_n):
        raise refuse(op, "a tensor without elements")
    return KernelCall(
        "hybrid_fully_connected_f32",
        (
            ("in_n", in_n),
            ("out_n", out_n),
            *float_result_range(op),
            ("symmetric", int(op.asymmetric is None)),
            ("scale_step", int(len(op.scales) > 1)),
            *_filters(op, out_n, constants),
        ),
        (op.input,),
        Rows.of(op, size_of(op.input) // in_n, in_n, out_n),
    )
