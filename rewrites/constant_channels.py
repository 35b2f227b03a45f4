"""Channels that nobody reads, and those that are constant, go; tensors get narrower.

Before:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !h = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    !v = tensor<2x1x1x4xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !c = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]], [[[3, 4]]], [[[5, 6]]]]> : !w
      %b = memgraph.constant dense<[10, 200, 30, 9000]> : !b
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !h
      %v = memgraph.constant dense<[[[[7, 2, 0, 1]]], [[[8, -1, 0, -3]]]]> : !v
      %c = memgraph.constant dense<[5, 6]> : !c
      %2 = memgraph.conv_2d %1, %v, %c window<[1, 1]> groups 1 rounding<tflm_double>
             : (!h, !v, !c) -> !y
      func.return %2 : !y
    }
After:
    !a1 = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    !w2 = tensor<1x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b2 = tensor<1xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !w4 = tensor<2x1x1x1xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]], [[[3, 4]]], [[[5, 6]]]]> : !w
      %b = memgraph.constant dense<[10, 200, 30, 9000]> : !b
      %0 = memgraph.take %w axis 0 kept [0] : (!w) -> !w2
      %1 = memgraph.take %b axis 0 kept [0] : (!b) -> !b2
      %2 = memgraph.conv_2d %x, %0, %1 window<[1, 1]> groups 1 rounding<tflm_double>
             {memgraph.channels = [#memgraph.channels<4, left_out = [1 [11, 11] zero_weights,
             2 [-98, 81] unread, 3 [127, 127] interval]>]} : (!x, !w2, !b2) -> !a1
      %v = memgraph.constant dense<[[[[7, 2, 0, 1]]], [[[8, -1, 0, -3]]]]> : !v
      %c = memgraph.constant dense<[5, 6]> : !c
      %3 = memgraph.fold_into_bias %v, %c axis 3 values [0, 20, 0, 136] : (!v, !c) -> !c
      %4 = memgraph.take %v axis 3 kept [0] : (!v) -> !w4
      %5 = memgraph.conv_2d %2, %4, %3 window<[1, 1]> groups 1 rounding<tflm_double>
             : (!a1, !w4, !c) -> !y
      func.return %5 : !y
    }

Filter 1 of the first convolution is zero, so what it makes is the bias, requantized: a constant,
which the second convolution takes into its own bias. Nobody looks at channel 2. Channel 3 has one
value only, for its bias is so large that the type ends. Exact: a sum is the same whether what a
constant adds to it stands in the bias or not; `sum(|w| |x|) + |b|` is an int32 before, so it is
afterwards. Each operation says what was left out of its results, with the stored values that the
channel would have and the reason (`#memgraph.channels`); weights stay in the file as they were.

What works channel by channel loses the channel with its operands and results: depthwise
convolutions, pools, functions, sums, concatenations and others, constants among the operands too.
The channels that go are the most for which all readers can do without; one of each tensor stays.

Before:
    !x = tensor<1x2x2x2xui8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !m = tensor<2x1x2x2xui8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [128]>>
    !w = tensor<1x3x3x2xui8, #memgraph.encoding<ihwo, scale = [1.0e-01], zero_point = [128]>>
    !k = tensor<2xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !v = tensor<1x8xui8, #memgraph.encoding<scale = [1.0e-01], zero_point = [128]>>
    !f = tensor<1x8xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<1x1xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%0: !x) -> !y {
      %m = memgraph.constant dense<[[[[128, 131], [128, 132]]], [[[128, 128], [128, 128]]]]>
             : !m
      %x = memgraph.conv_2d %0, %m window<[1, 2], pad = [0, 0, 0, 1]> groups 1
             rounding<tflite_single>
             : (!x, !m) -> !x
      %w = memgraph.constant dense<130> : !w
      %1 = memgraph.depthwise_conv_2d %x, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 2
             activation<relu> rounding<tflite_single> : (!x, !w) -> !x
      %k = memgraph.constant dense<[7, 9]> : !k
      %2 = memgraph.add %1, %k rounding<tflite_single> : (!x, !k) -> !x
      %3 = memgraph.reshape %2 : (!x) -> !f
      %v = memgraph.constant dense<131> : !v
      %4 = memgraph.fully_connected %3, %v rounding<tflite_single> : (!f, !v) -> !y
      func.return %4 : !y
    }
After:
    !a1 = tensor<1x2x2x1xui8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !a2 = tensor<1x4xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w1 = tensor<1x1x2x2xui8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [128]>>
    !w3 = tensor<1x3x3x1xui8, #memgraph.encoding<ihwo, scale = [1.0e-01], zero_point = [128]>>
    !b5 = tensor<1xui8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w7 = tensor<1x4xui8, #memgraph.encoding<scale = [1.0e-01], zero_point = [128]>>
    !b7 = tensor<1xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    func.func @main(%0: !x) -> !y {
      %m = memgraph.constant dense<[[[[128, 131], [128, 132]]], [[[128, 128], [128, 128]]]]>
             : !m
      %1 = memgraph.take %m axis 0 kept [0] : (!m) -> !w1
      %x = memgraph.conv_2d %0, %1 window<[1, 2], pad = [0, 0, 0, 1]> groups 1
             rounding<tflite_single> {memgraph.channels = [#memgraph.channels<2,
             left_out = [1 [3, 3] zero_weights]>]} : (!x, !w1) -> !a1
      %w = memgraph.constant dense<130> : !w
      %2 = memgraph.take %w axis 3 kept [0] : (!w) -> !w3
      %3 = memgraph.depthwise_conv_2d %x, %2 window<[3, 3], pad = [1, 1, 1, 1]>
             groups 1 activation<relu> rounding<tflite_single>
             {memgraph.channels = [#memgraph.channels<2, left_out = [1 [3, 3] constant_inputs]>]}
             : (!a1, !w3) -> !a1
      %k = memgraph.constant dense<[7, 9]> : !k
      %4 = memgraph.take %k axis 0 kept [0] : (!k) -> !b5
      %5 = memgraph.add %3, %4 rounding<tflite_single>
             {memgraph.channels = [#memgraph.channels<2, left_out = [1 [9, 9] constant_inputs]>]}
             : (!a1, !b5) -> !a1
      %6 = memgraph.reshape %5 {memgraph.channels = [#memgraph.channels<8, left_out =
             [1 [9, 9] constant_inputs, 3 [9, 9] constant_inputs, 5 [9, 9] constant_inputs,
             7 [9, 9] constant_inputs]>]} : (!a1) -> !a2
      %v = memgraph.constant dense<131> : !v
      %7 = memgraph.fold_into_bias %v axis 1 values [0, 6, 0, 6, 0, 6, 0, 6] : (!v) -> !b7
      %8 = memgraph.take %v axis 1 kept [0, 2, 4, 6] : (!v) -> !w7
      %9 = memgraph.fully_connected %6, %8, %7 rounding<tflite_single> : (!a2, !w7, !b7) -> !y
      func.return %9 : !y
    }

Of float32 only what is zero goes, for zeros may be added or not (the sign of a sum that is zero is
not told), while another constant in the bias would be rounded elsewhere; and what nobody reads, but
only where all is finite: zero times an infinity is none, and the NaN stays. So there must be a
range that the caller promises (`--input-range`), or real numbers that are made of stored integers.
Ends are wide enough for whatever a kernel rounds, in any order.

Before:
    !x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<4x1x1x2xf32, #memgraph.encoding<ohwi>>
    !b = tensor<4xf32>
    !h = tensor<1x2x2x4xf32, #memgraph.encoding<nhwc>>
    !v = tensor<2x1x1x4xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> !x {
      %w = memgraph.constant dense<[[[[1.0, 2.0]]], [[[0.0, 0.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]]]>
             : !w
      %b = memgraph.constant dense<[1.0, 0.0, -8.0, 5.0]> : !b
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 activation<relu>
             : (!x, !w, !b) -> !h
      %v = memgraph.constant dense<[[[[7.0, 2.0, 5.0, 0.0]]], [[[8.0, -1.0, 3.0, 0.0]]]]> : !v
      %2 = memgraph.conv_2d %1, %v window<[1, 1]> groups 1 : (!h, !v) -> !x
      func.return %2 : !x
    }
After:
    !a1 = tensor<1x2x2x1xf32, #memgraph.encoding<nhwc>>
    !w1 = tensor<1x1x1x2xf32, #memgraph.encoding<ohwi>>
    !b1 = tensor<1xf32>
    !v1 = tensor<2x1x1x1xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> !x {
      %w = memgraph.constant dense<[[[[1.0, 2.0]]], [[[0.0, 0.0]]], [[[3.0, 4.0]]], [[[5.0, 6.0]]]]>
             : !w
      %b = memgraph.constant dense<[1.0, 0.0, -8.0, 5.0]> : !b
      %0 = memgraph.take %w axis 0 kept [0] : (!w) -> !w1
      %1 = memgraph.take %b axis 0 kept [0] : (!b) -> !b1
      %2 = memgraph.conv_2d %x, %0, %1 window<[1, 1]> groups 1 activation<relu>
             {memgraph.channels = [#memgraph.channels<4, left_out = [1 [0.0, 0.0] zero_weights,
             2 [0.0, 0.0] interval, 3 [0.0, 16.00002098083496] unread]>]}
             : (!x, !w1, !b1) -> !a1
      %v = memgraph.constant dense<[[[[7.0, 2.0, 5.0, 0.0]]], [[[8.0, -1.0, 3.0, 0.0]]]]> : !v
      %3 = memgraph.take %v axis 3 kept [0] : (!v) -> !v1
      %4 = memgraph.conv_2d %2, %3 window<[1, 1]> groups 1 : (!a1, !v1) -> !x
      func.return %4 : !x
    }

A constant real number that is not zero, and a channel that would be zero even at the end of the
range, of which a kernel may be off:

Left alone:
    !x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x {memgraph.range = #memgraph.range<-1.0, 1.0>}) -> (!x, !x) {
      %w = memgraph.constant dense<[[[[1.0, 2.0]]], [[[3.0, 4.0]]]]> : !w
      %b = memgraph.constant dense<[1.0, -7.0]> : tensor<2xf32>
      %c = memgraph.constant dense<[1.0, 14.0]> : tensor<2xf32>
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 activation<relu>
             : (!x, !w, tensor<2xf32>) -> !x
      %2 = memgraph.conv_2d %1, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      %3 = memgraph.conv_2d %x, %w, %c window<[1, 1]> groups 1 activation<relu6>
             : (!x, !w, tensor<2xf32>) -> !x
      %4 = memgraph.conv_2d %3, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      func.return %2, %4 : !x, !x
    }

A constant that is not the zero point, where its weights meet padding; what else reads the channel
and cannot do without: the caller, a softmax, a sum whose other operand varies:

Left alone:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !v = tensor<1x2x2x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !y = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !s = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [3.90625e-03], zero_point = [-128]>>
    func.func @main(%x: !x) -> (!x, !y, !s, !y) {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]]]> : !w
      %b = memgraph.constant dense<[10, 200]> : !b
      %u = memgraph.constant dense<1> : !v
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %2 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %3 = memgraph.conv_2d %2, %u window<[2, 2], pad = [0, 0, 1, 1]> groups 1
             rounding<tflm_double> : (!x, !v) -> !y
      %4 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %5 = memgraph.softmax %4 axis 3 beta 1.0 : (!x) -> !s
      %6 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %7 = memgraph.add %6, %x rounding<tflm_double> : (!x, !x) -> !x
      %8 = memgraph.conv_2d %7, %u window<[2, 2], pad = [0, 0, 1, 1]> groups 1
             rounding<tflm_double> : (!x, !v) -> !y
      func.return %1, %3, %5, %8 : !x, !y, !s, !y
    }

A sum that might leave an int32, of which nobody knows what it makes; weights that are given at run
time; reals in no range; what was narrowed before, whose claims count channels as they were:

Left alone:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<2xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !v = tensor<1x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !c = tensor<1xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !u = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x, %g: !w, %r: !r) -> (!y, !y, !r) {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]]]> : !w
      %b = memgraph.constant dense<[10, 200]> : !b
      %v = memgraph.constant dense<[[[[1, 2]]]]> : !v
      %c = memgraph.constant dense<[2147483647]> : !c
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %2 = memgraph.conv_2d %1, %v, %c window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !v, !c) -> !y
      %3 = memgraph.conv_2d %x, %g, %b window<[1, 1]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !x
      %4 = memgraph.conv_2d %3, %v window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !v) -> !y
      %u = memgraph.constant dense<[[[[1.0, 2.0]]], [[[0.0, 0.0]]]]> : !u
      %5 = memgraph.conv_2d %r, %u window<[1, 1]> groups 1 : (!r, !u) -> !r
      %6 = memgraph.conv_2d %5, %u window<[1, 1]> groups 1 : (!r, !u) -> !r
      func.return %2, %4, %6 : !y, !y, !r
    }

Left alone:
    !x = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !v = tensor<1x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !y = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[0, 0]]]]> : !w
      %v = memgraph.constant dense<[[[[1, 2]]]]> : !v
      %1 = memgraph.conv_2d %x, %w window<[1, 1]> groups 1 rounding<tflm_double>
             {memgraph.channels = [#memgraph.channels<3, left_out = [2 [4, 4] interval]>]}
             : (!x, !w) -> !x
      %2 = memgraph.conv_2d %1, %v window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !v) -> !y
      func.return %2 : !y
    }
"""

from collections.abc import Sequence
from typing import cast

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, IntegerType, TensorType, i64
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.analysis.channels import Gone, claims, filters_of, removable
from memopt.analysis.constants import Constants, constants_beside
from memopt.analysis.intervals import Intervals, intervals
from memopt.dialects.arithmetic.scalars import float32
from memopt.dialects.arithmetic.stored import is_stored, per_tensor
from memopt.dialects.attributes.channels import CHANNELS, NARROWED, ChannelsAttr, is_slimmed
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.attributes.rewrites import CHANGED
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import (
    AnyTensor,
    channel_axis,
    channels_of,
    encoding_of,
    shape_of,
)
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.constants import FoldIntoBiasOp, TakeOp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.rewrites import EVERY, FunctionRule


class ConstantChannels(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "safe"
    claims = True

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        block = body_of(func)
        if any(is_slimmed(op) for op in block.ops):  # its claims count channels as they were
            return False
        constants = constants_beside(func)
        known = intervals(func, constants)
        gone = removable(func, known, constants, self.channel_multiple)
        if not gone:
            return False
        said = {v: claims(v, gone[v], known, constants) for v in gone if isinstance(v, OpResult)}
        touched = [op for op in block.ops if any(v in gone for v in (*op.operands, *op.results))]
        for op in touched:
            slim_constants(op, gone, known, constants)
        for op in touched:
            self._claim(op, said, rewriter)
        for value in gone:
            channels = (~gone[value]).nonzero()[0].tolist()
            type_ = slim_type(value, channel_axis(value), channels)
            Rewriter.replace_value_with_new_type(value, type_)
        return True

    def _claim(
        self, op: Operation, said: dict[OpResult, ChannelsAttr], rewriter: PatternRewriter
    ) -> None:
        """Say what goes of an operation's results, and that it is no more the file's."""
        if any(v in said for v in op.results):
            widths = (said.get(v) or ChannelsAttr(channels_of(v)) for v in op.results)
            op.attributes[CHANNELS] = ArrayAttr(list(widths))
        self.changed(op, rewriter)
        if CHANGED in op.attributes:
            op.attributes[NARROWED] = op.attributes.pop(CHANGED)


def slim_constants(op: Operation, gone: Gone, found: Intervals, constants: Constants) -> None:
    """Let an operation read constants of the channels that are left, before types change."""
    if not isinstance(op, WeighingOp):
        _slim_by_channel(op, gone, constants)
        return
    source, result = op.operands[0], op.results[0]
    if filters_of(op, constants) is not None:
        _slim_mixing(op, gone, found, constants)
    elif source in gone:  # each filter reads one channel
        op.properties["groups"] = IntegerAttr(int((~gone[source]).sum()), i64)
    if result in gone:
        channels = (~gone[result]).nonzero()[0].tolist()
        _take(op, 1, op.filter_axis, channels)
        if len(op.operands) > 2:
            _take(op, 2, len(shape_of(op.operands[2])) - 1, channels)


def _slim_mixing(op: WeighingOp, gone: Gone, found: Intervals, constants: Constants) -> None:
    """The channels that are left; what the others add goes into the bias."""
    import numpy as np

    source, result = op.operands[0], op.results[0]
    lost, filters = gone.get(source), filters_of(op, constants)
    assert filters is not None
    if lost is None:
        return
    remaining = ~gone[result] if result in gone else np.ones(len(filters.weights), bool)
    places = shape_of(op.operands[1])[op.depth_axis] // len(lost)
    if is_stored(source):  # of real numbers only zeros go
        values = np.where(lost, found.of[source].low - per_tensor(op, source)[1], 0)
        used = (filters.weights[remaining] != 0).any((0, 2))
        values = np.where(used, values, 0)  # nobody looks at the others: these add nothing
        if values.any():
            _fold(op, np.tile(values, places).tolist())
    _take(op, 1, op.depth_axis, (~np.tile(lost, places)).nonzero()[0].tolist())


def _fold(op: WeighingOp, values: list[int]) -> None:
    """Add what constant channels make to the bias, or let there be one."""
    source, weights, *bias = op.operands
    folded = FoldIntoBiasOp(
        operands=[weights, bias],
        result_types=[bias[0].type if bias else bias_type(op)],
        properties={"axis": IntegerAttr(op.depth_axis, i64), "values": numbers(values)},
    )
    insert_before(op, folded)
    op.operands = (source, weights, folded.result)


def bias_type(op: WeighingOp) -> AnyTensor:
    """The type of a bias where there was none: int32, in steps of input times weights."""
    source, weights = op.operands[:2]
    encoding, step = encoding_of(weights), per_tensor(op, source)[0]
    scales = [float32(step * scale) for scale in encoding.scales]
    axis = 0 if encoding.axis.data >= 0 else -1
    biases = EncodingAttr("", scales, [0] * len(scales), axis)
    return TensorType(IntegerType(32), [shape_of(weights)[op.filter_axis]], biases)


def _slim_by_channel(op: Operation, gone: Gone, constants: Constants) -> None:
    """Constants that an operation reads channel by channel."""
    assert isinstance(op, ComputeOp)
    result = op.results[0]
    for i, value in enumerate(op.operands):
        if constants(value) is not None and result in gone:
            read = op.channels_read(i, 0)
            assert read is not None
            remaining: list[int] = (~gone[result]).nonzero()[0].tolist()
            needed = sorted({read[c] for c in remaining})
            _take(op, i, channel_axis(value), needed)


def _take(op: Operation, operand: int, axis: int, kept: list[int]) -> None:
    """Let an operation read only these indices of a constant, if these are not all."""
    value = op.operands[operand]
    if len(kept) == shape_of(value)[axis]:
        return
    taken = TakeOp(
        operands=[value],
        result_types=[slim_type(value, axis, kept)],
        properties={"axis": IntegerAttr(axis, i64), "kept": numbers(kept)},
    )
    insert_before(op, taken)
    op.operands[operand] = taken.result


def insert_before(op: Operation, made: Operation) -> None:
    Rewriter.insert_op(made, InsertPoint.before(op))


def slim_type(value: SSAValue, axis: int, kept: Sequence[int]) -> Attribute:
    """A tensor's type with these indices of a dimension."""
    tensor, shape, encoding = cast("AnyTensor", value.type), shape_of(value), encoding_of(value)
    if encoding.axis.data == axis:
        scales, zeros = encoding.scales, encoding.zero_points
        encoding = EncodingAttr(
            encoding.layout.data, [scales[i] for i in kept], [zeros[i] for i in kept], axis
        )
    shape = (*shape[:axis], len(kept), *shape[axis + 1 :])
    has_encoding = isinstance(tensor.encoding, EncodingAttr)
    return TensorType(tensor.element_type, shape, encoding if has_encoding else tensor.encoding)
