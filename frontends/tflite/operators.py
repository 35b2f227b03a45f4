"""Operators of LiteRT's schema as typed operations, where their meaning is exactly that one.

`typed(node)` answers None for everything else; it then becomes a `memgraph.opaque`. What a typed
operation says in attributes (axes, paddings, permutations) it takes from constant operands.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, cast

from xdsl.dialects.builtin import (
    IntegerType,
    StringAttr,
    TensorType,
    UnitAttr,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.utils.exceptions import VerifyException

from memopt.dialects.attributes import ActivationAttr, EncodingAttr, RoundingAttr, WindowAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.operators.binary import AddOp, MaximumOp, MinimumOp, MulOp, SubOp
from memopt.dialects.operators.convolution import Conv2DOp, DepthwiseConv2DOp
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.pooling import AveragePool2DOp, MaxPool2DOp
from memopt.dialects.operators.quantization import CastOp, DequantizeOp, QuantizeOp
from memopt.dialects.operators.resize import ResizeBilinearOp, ResizeNearestOp
from memopt.dialects.operators.slices import ConcatOp, SliceOp, SplitOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.dialects.operators.unary import HardSwishOp, LogisticOp, Relu6Op, ReluOp, TanhOp
from memopt.dialects.tensors import shape_of
from memopt.frontends.core.typed import NotTyped, axis_of, build, integer_list, need, number, real
from memopt.frontends.tflite.types import ELEMENTS

ACTIVATIONS = {1: "relu", 2: "relu_n1_to_1", 3: "relu6", 4: "tanh", 5: "sign_bit"}
SPATIAL = frozenset(  # operand 0 and the result are NHWC
    {
        "AVERAGE_POOL_2D",
        "CONV_2D",
        "DEPTHWISE_CONV_2D",
        "MAX_POOL_2D",
        "RESIZE_BILINEAR",
        "RESIZE_NEAREST_NEIGHBOR",
    }
)
WEIGHT_LAYOUTS = {"CONV_2D": "ohwi", "DEPTHWISE_CONV_2D": "ihwo"}


@dataclass(frozen=True)
class Node:
    """One operator on its way into the IR. `constant(i)` is operand i as integers, or NotTyped."""

    name: str
    operands: Sequence[SSAValue | None]
    results: Sequence[TensorType[Attribute]]
    options: dict[str, Any]
    constant: Callable[[int], list[int]]

    def operand(self, index: int) -> SSAValue:
        value = self.operands[index] if index < len(self.operands) else None
        if value is None:
            raise NotTyped
        return value

    def shape(self, index: int) -> tuple[int, ...]:
        return shape_of(self.operand(index))

    def element(self, index: int) -> Attribute:
        return cast("TensorType[Attribute]", self.operand(index).type).element_type

    @property
    def result(self) -> TensorType[Attribute]:
        return self.results[0]


Builder = Callable[[Node], Operation]


def typed(node: Node) -> Operation | None:
    """The typed operation that means the same, or None."""
    build = BUILDERS.get(node.name)
    if build is None:
        return None
    try:
        op = build(node)
        op.verify_()
    except (NotTyped, VerifyException, MemoptError, KeyError):
        return None  # KeyError: the file gives no options, or a newer schema's
    return op


def activation(node: Node) -> ActivationAttr | None:
    kind = node.options.get("fusedActivationFunction", 0)
    if kind == 0:
        return None
    need(kind in ACTIVATIONS)
    return ActivationAttr.new((StringAttr(ACTIVATIONS[kind]),))


def rounding(node: Node) -> RoundingAttr | None:
    """What a quantized result is computed with: int8 and int16 as TFLM does, uint8 as LiteRT."""
    encoding, element = node.result.encoding, node.result.element_type
    if not (isinstance(encoding, EncodingAttr) and encoding.quantized):
        return None
    name = "tflite_single" if element == ELEMENTS["UINT8"] else "tflm_double"
    return RoundingAttr.new((StringAttr(name),))


def same_arithmetic(node: Node, *indices: int) -> None:
    """Operands and result are all float, or all quantized integers: no hybrid arithmetic."""
    elements = [node.element(i) for i in indices]
    integer = [isinstance(e, IntegerType) for e in (*elements, node.result.element_type)]
    need(all(integer) or not any(integer))
    if all(integer):
        for type_ in (node.result, *(node.operand(i).type for i in indices)):
            encoding = cast("TensorType[Attribute]", type_).encoding
            need(isinstance(encoding, EncodingAttr) and encoding.quantized)


# -- windows ------------------------------------------------------------------------------------


def window_of(node: Node, kernel: Sequence[int]) -> WindowAttr:
    """The explicit window: SAME padding depends on the sizes, an odd element goes to the end."""
    o = node.options
    stride = (o["strideH"], o["strideW"])
    dilation = (o.get("dilationHFactor", 1), o.get("dilationWFactor", 1))
    need(all(v >= 1 for v in (*stride, *dilation, *kernel)))
    source, out = node.shape(0)[1:3], node.result.get_shape()[1:3]
    before, after = [0, 0], [0, 0]
    if o["padding"] == 0:  # SAME
        for i in range(2):
            span = dilation[i] * (kernel[i] - 1) + 1
            total = max((out[i] - 1) * stride[i] + span - source[i], 0)
            before[i], after[i] = total // 2, total - total // 2
    return WindowAttr(kernel, stride, dilation, (*before, *after))


def convolution(kind: type[Operation], depthwise: bool) -> Builder:
    def builder(node: Node) -> Operation:
        same_arithmetic(node, 0, 1)
        source, weights = node.shape(0), node.shape(1)
        need(len(source) == len(weights) == 4 and len(node.operands) <= 3)
        channels, inner, outer = source[3], weights[3], node.result.get_shape()[3]
        if depthwise:
            need(weights[0] == 1 and inner == outer and channels > 0 and outer % channels == 0)
            groups = channels
        else:
            need(inner > 0 and channels % inner == 0 and weights[0] == outer)
            groups = channels // inner
        bias = node.operands[2] if len(node.operands) == 3 else None
        return build(
            kind,
            (node.operand(0), node.operand(1), bias),
            node.results,
            {
                "window": window_of(node, weights[1:3]),
                "groups": number(groups),
                "activation": activation(node),
                "rounding": rounding(node),
            },
        )

    return builder


def pool(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        need(len(node.shape(0)) == 4)
        kernel = (node.options["filterHeight"], node.options["filterWidth"])
        properties = {"window": window_of(node, kernel), "activation": activation(node)}
        return build(kind, (node.operand(0),), node.results, properties)

    return builder


def fully_connected(node: Node) -> Operation:
    same_arithmetic(node, 0, 1)
    o = node.options
    need(o["weightsFormat"] == 0 and len(node.results) == 1 and len(node.operands) <= 3)
    bias = node.operands[2] if len(node.operands) == 3 else None
    return build(
        FullyConnectedOp,
        (node.operand(0), node.operand(1), bias),
        node.results,
        {
            "keep_dims": UnitAttr() if o["keepNumDims"] else None,
            "activation": activation(node),
            "rounding": rounding(node),
        },
    )


# -- element-wise -------------------------------------------------------------------------------


def binary(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        need(node.element(0) == node.element(1) == node.result.element_type)
        need(node.result.element_type != IntegerType(16) or not node.options.get("potScaleInt16"))
        properties = {"activation": activation(node), "rounding": rounding(node)}
        return build(kind, (node.operand(0), node.operand(1)), node.results, properties)

    return builder


def unary(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        return build(kind, (node.operand(0),), node.results, {"rounding": rounding(node)})

    return builder


def softmax(node: Node) -> Operation:
    axis = axis_of(-1, len(node.shape(0)))
    beta = node.options["beta"]
    need(abs(beta) < float("inf"))
    properties = {"axis": number(axis), "beta": real(beta)}
    return build(SoftmaxOp, (node.operand(0),), node.results, properties)


def mean(node: Node) -> Operation:
    rank = len(node.shape(0))
    axes = [axis_of(a, rank) for a in node.constant(1)]
    need(len(set(axes)) == len(axes))
    properties = {
        "axes": integer_list(axes),
        "keep_dims": UnitAttr() if node.options["keepDims"] else None,
        "rounding": rounding(node),
    }
    return build(MeanOp, (node.operand(0),), node.results, properties)


# -- data movement ------------------------------------------------------------------------------


def reshape(node: Node) -> Operation:
    need(node.element(0) == node.result.element_type)
    if node.name != "SQUEEZE" and len(node.operands) > 1:
        node.constant(1)  # a shape that is computed makes it another operator
    return build(ReshapeOp, (node.operand(0),), node.results, {})


def concat(node: Node) -> Operation:
    need(all(v is not None for v in node.operands) and bool(node.operands))
    axis = axis_of(node.options["axis"], len(node.result.get_shape()))
    properties = {
        "axis": number(axis),
        "activation": activation(node),
        "rounding": rounding(node),
    }
    return build(ConcatOp, node.operands, node.results, properties)


def split(data: int, axis: int) -> Builder:
    def builder(node: Node) -> Operation:
        values = node.constant(axis)
        need(len(values) == 1)
        properties = {"axis": number(axis_of(values[0], len(node.shape(data))))}
        return build(SplitOp, (node.operand(data),), node.results, properties)

    return builder


def slice_(node: Node) -> Operation:
    starts = node.constant(1)
    node.constant(2)
    properties = {"starts": integer_list(starts), "strides": integer_list([1] * len(starts))}
    return build(SliceOp, (node.operand(0),), node.results, properties)


def strided_slice(node: Node) -> Operation:
    o, shape = node.options, node.shape(0)
    need(not (o["ellipsisMask"] or o["newAxisMask"] or o["shrinkAxisMask"] or o.get("offset")))
    begin, strides = node.constant(1), node.constant(3)
    node.constant(2)
    need(len(begin) == len(strides) == len(shape) and all(s > 0 for s in strides))
    starts = [
        0 if o["beginMask"] >> i & 1 else min(max(b + n if b < 0 else b, 0), n)
        for i, (b, n) in enumerate(zip(begin, shape, strict=True))
    ]
    properties = {"starts": integer_list(starts), "strides": integer_list(strides)}
    return build(SliceOp, (node.operand(0),), node.results, properties)


def pad(node: Node) -> Operation:
    need(len(node.operands) == 2)  # PADV2 names a value of its own and stays opaque
    flat = node.constant(1)
    properties = {
        "before": integer_list(flat[0::2]),
        "after": integer_list(flat[1::2]),
        "value": real(0.0),
    }
    return build(PadOp, (node.operand(0),), node.results, properties)


def transpose(node: Node) -> Operation:
    rank = len(node.shape(0))
    order = [axis_of(a, rank) for a in node.constant(1)]
    properties = {"permutation": integer_list(order)}
    return build(TransposeOp, (node.operand(0),), node.results, properties)


def resize(kind: type[Operation]) -> Builder:
    def builder(node: Node) -> Operation:
        size = node.constant(1)
        need(len(node.shape(0)) == 4 and tuple(size) == node.result.get_shape()[1:3])
        properties = {
            "align_corners": UnitAttr() if node.options["alignCorners"] else None,
            "half_pixel_centers": UnitAttr() if node.options["halfPixelCenters"] else None,
        }
        return build(kind, (node.operand(0),), node.results, properties)

    return builder


BUILDERS: dict[str, Builder] = {
    "ADD": binary(AddOp),
    "AVERAGE_POOL_2D": pool(AveragePool2DOp),
    "CAST": unary(CastOp),
    "CONCATENATION": concat,
    "CONV_2D": convolution(Conv2DOp, depthwise=False),
    "DEPTHWISE_CONV_2D": convolution(DepthwiseConv2DOp, depthwise=True),
    "DEQUANTIZE": unary(DequantizeOp),
    "EXPAND_DIMS": reshape,
    "FULLY_CONNECTED": fully_connected,
    "HARD_SWISH": unary(HardSwishOp),
    "LOGISTIC": unary(LogisticOp),
    "MAXIMUM": binary(MaximumOp),
    "MAX_POOL_2D": pool(MaxPool2DOp),
    "MEAN": mean,
    "MINIMUM": binary(MinimumOp),
    "MUL": binary(MulOp),
    "PAD": pad,
    "QUANTIZE": unary(QuantizeOp),
    "RELU": unary(ReluOp),
    "RELU6": unary(Relu6Op),
    "RESHAPE": reshape,
    "RESIZE_BILINEAR": resize(ResizeBilinearOp),
    "RESIZE_NEAREST_NEIGHBOR": resize(ResizeNearestOp),
    "SLICE": slice_,
    "SOFTMAX": softmax,
    "SPLIT": split(data=1, axis=0),
    "SPLIT_V": split(data=0, axis=2),
    "SQUEEZE": reshape,
    "STRIDED_SLICE": strided_slice,
    "SUB": binary(SubOp),
    "TANH": unary(TanhOp),
    "TRANSPOSE": transpose,
}
