"""A window over a single row slides down a single column instead.

A convolution over time comes as one over a picture one pixel high, in which every frame is a place
of the only row. One pixel wide it is the same bytes, and every frame is a row: it can be computed
when it comes, and kept where a window slides. Reshapes around it, which turned the sequence into a
picture, turn it into the other one.

Before:
    !x = tensor<1x9x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x1x9x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x1x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !v = tensor<4x3x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !q = tensor<1x1x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    !y = tensor<1x4x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [-9]>>
    !r = tensor<1x9x1x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !s = tensor<1x4x1x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    func.func @main(%x: !x, %w: !w, %b: !b) -> !y {
      %1 = memgraph.reshape %x : (!x) -> !p
      %2 = memgraph.conv_2d %1, %w, %b window<[1, 3], stride = [1, 2], pad = [0, 0, 0, 1]> groups 1
             rounding<tflm_double> : (!p, !w, !b) -> !q
      %3 = memgraph.reshape %2 : (!q) -> !y
      func.return %3 : !y
    }
After:
    func.func @main(%x: !x, %w: !w, %b: !b) -> !y {
      %1 = memgraph.reshape %x : (!x) -> !r
      %2 = memgraph.reshape %w : (!w) -> !v
      %3 = memgraph.conv_2d %1, %2, %b window<[3, 1], stride = [2, 1], pad = [0, 0, 1, 0]> groups 1
             rounding<tflm_double> : (!r, !v, !b) -> !s
      %4 = memgraph.reshape %3 : (!s) -> !y
      func.return %4 : !y
    }

Of two in a row nothing stands between them, and a mean of all places reads them either way:

Before:
    !x = tensor<1x1x8x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x1x4x2xf32, #memgraph.encoding<nhwc>>
    !z = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !r = tensor<1x8x1x2xf32, #memgraph.encoding<nhwc>>
    !s = tensor<1x4x1x2xf32, #memgraph.encoding<nhwc>>
    !t = tensor<1x3x1x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> tensor<1x2xf32> {
      %1 = memgraph.max_pool_2d %x window<[1, 2], stride = [2, 2]> : (!x) -> !y
      %2 = memgraph.average_pool_2d %1 window<[1, 2]> : (!y) -> !z
      %3 = memgraph.mean %2 axes [1, 2] : (!z) -> tensor<1x2xf32>
      func.return %3 : tensor<1x2xf32>
    }
After:
    func.func @main(%x: !x) -> tensor<1x2xf32> {
      %1 = memgraph.reshape %x : (!x) -> !r
      %2 = memgraph.max_pool_2d %1 window<[2, 1], stride = [2, 1]> : (!r) -> !s
      %3 = memgraph.average_pool_2d %2 window<[2, 1]> : (!s) -> !t
      %4 = memgraph.mean %3 axes [1, 2] : (!t) -> tensor<1x2xf32>
      func.return %4 : tensor<1x2xf32>
    }

Who reads the picture otherwise reads it as it was:

Before:
    !x = tensor<1x8x2xf32>
    !p = tensor<1x1x8x2xf32, #memgraph.encoding<nhwc>>
    !q = tensor<1x8x1x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> (tensor<1x1x2xf32>, !p, !p) {
      %1 = memgraph.reshape %x : (!x) -> !p
      %2 = memgraph.max_pool_2d %1 window<[1, 1]> : (!p) -> !p
      %3 = memgraph.mean %2 axes [2] : (!p) -> tensor<1x1x2xf32>
      %4 = memgraph.opaque "Sort"(%2) : (!p) -> !p
      %5 = memgraph.relu %1 : (!p) -> !p
      func.return %3, %4, %5 : tensor<1x1x2xf32>, !p, !p
    }
After:
    func.func @main(%x: !x) -> (tensor<1x1x2xf32>, !p, !p) {
      %1 = memgraph.reshape %x : (!x) -> !p
      %2 = memgraph.reshape %x : (!x) -> !q
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!q) -> !q
      %4 = memgraph.reshape %3 : (!q) -> !p
      %5 = memgraph.mean %4 axes [2] : (!p) -> tensor<1x1x2xf32>
      %6 = memgraph.opaque "Sort"(%4) : (!p) -> !p
      %7 = memgraph.relu %1 : (!p) -> !p
      func.return %5, %6, %7 : tensor<1x1x2xf32>, !p, !p
    }

Exact: the same taps in the same order. Left alone is what is higher, or padded above or below, what
is one place wide, and channels first:

Left alone:
    !x = tensor<1x2x8x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x2x7x2xf32, #memgraph.encoding<nhwc>>
    !u = tensor<1x1x8x2xf32, #memgraph.encoding<nhwc>>
    !v = tensor<1x2x8x2xf32, #memgraph.encoding<nhwc>>
    !n = tensor<1x2x1x8xf32, #memgraph.encoding<nchw>>
    !m = tensor<1x2x1x7xf32, #memgraph.encoding<nchw>>
    !o = tensor<1x1x1x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %u: !u, %n: !n, %o: !o) -> (!y, !v, !m, !o) {
      %1 = memgraph.max_pool_2d %x window<[1, 2]> : (!x) -> !y
      %2 = memgraph.max_pool_2d %u window<[1, 1], pad = [0, 0, 1, 0]> : (!u) -> !v
      %3 = memgraph.max_pool_2d %n window<[1, 2]> : (!n) -> !m
      %4 = memgraph.max_pool_2d %o window<[1, 1]> : (!o) -> !o
      func.return %1, %2, %3, %4 : !y, !v, !m, !o
    }
"""

from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.pooling import PoolBase
from memopt.dialects.operators.traits import View
from memopt.dialects.operators.window import WindowedOp
from memopt.rewrites import Rule
from memopt.rewrites.pad_into_window import integers


class FramesAsRows(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ConvBase, PoolBase)
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WindowedOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ConvBase | PoolBase) or not is_sequence(op):
            return
        before, old = op.operands[0], op.results[0]
        kernel, stride, dilation, pad = cast("WindowAttr", op.properties["window"]).sizes
        window = WindowAttr(
            (kernel[1], 1), (stride[1], 1), (dilation[1], 1), (pad[1], 0, pad[3], 0)
        )
        images = 2 if isinstance(op, ConvBase) else 1  # weights lie like the image
        operands = [turned(v, op, rewriter) for v in op.operands[:images]]
        new = type(op).create(
            operands=[*operands, *op.operands[images:]],
            result_types=[turned_type(old.type)],
            properties={**op.properties, "window": window},
            attributes=dict(op.attributes),
        )
        result = new.results[0]
        result.name_hint = old.name_hint
        rewriter.insert(new, InsertPoint.before(op))
        self.changed(new, rewriter)
        for use in list(old.uses):
            if reads_bytes(use.operation):
                use.operation.operands[use.index] = result
                self.changed(use.operation, rewriter)
        back = as_type(result, old.type, op, rewriter) if list(old.uses) else result
        rewriter.replace(op, [], [back])
        if isinstance(before, OpResult) and not before.uses:  # a reshape, of which it is the other
            rewriter.erase(before.op)


def is_sequence(op: WindowedOp) -> bool:
    """Return whether a window sees one row of several places alone."""
    source, result = op.operands[0], op.results[0]
    kernel, _, _, pad = cast("WindowAttr", op.properties["window"]).sizes
    shape = shape_of(source)
    if len(kernel) != 2 or encoding_of(source).layout.data not in ("", "nhwc"):
        return False
    flat = kernel[0] == shape[1] == shape_of(result)[1] == 1 and shape[2] > 1
    return flat and pad[0] == pad[2] == 0


def reads_bytes(op: Operation) -> bool:
    """Return whether the direction in which places lie makes no difference to an operation: it
    reshapes them, or takes all of both directions together."""
    axes = op.properties.get("axes")
    together = axes is not None and {1, 2} <= set(integers(cast("DenseArrayBase[Any]", axes)))
    return isinstance(op, ComputeOp) and (op.has_trait(View) or together)


def turned_type(type_: Attribute) -> AnyTensor:
    """Return the type one place wide instead of one place high."""
    tensor = cast("AnyTensor", type_)
    first, height, width, last = tensor.get_shape()
    return TensorType(tensor.element_type, [first, width, height, last], tensor.encoding)


def turned(value: SSAValue, op: Operation, rewriter: PatternRewriter) -> SSAValue:
    """Return the same bytes one place wide, for an operation to read; of a reshape, its operand."""
    maker = value.op if isinstance(value, OpResult) else None
    source = maker.input if isinstance(maker, ReshapeOp) else value
    return as_type(source, turned_type(value.type), op, rewriter)


def as_type(
    value: SSAValue, type_: Attribute, op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """The value in another shape, itself if it has that."""
    if value.type == type_:
        return value
    reshape = ReshapeOp.create(operands=[value], result_types=[type_])
    reshape.results[0].name_hint = value.name_hint
    rewriter.insert(reshape, InsertPoint.before(op))
    return reshape.results[0]
