"""A depthwise convolution is computed over its operand, one channel after the other.

Before:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<1x3x3x2xf32, #memgraph.encoding<ihwo>>
    func.func @main(%x: !x, %w: !w) -> !x {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.depthwise_conv_2d %1, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 2
             : (!x, !w) -> !x
      %3 = memgraph.relu %2 : (!x) -> !x
      func.return %3 : !x
    }
After:
    func.func @main(%x: !x, %w: !w) -> !x {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.depthwise_conv_2d %1, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 2 in_place
             : (!x, !w) -> !x
      %3 = memgraph.relu %2 : (!x) -> !x
      func.return %3 : !x
    }

Exact: the same sums, in the same order. Rows of one channel under the window are kept in scratch,
three times the width for 3 x 3, so that the result can be written where the operand is read. That
is a candidate for a place, taken where the operand dies; the scratch is there in any case, so the
rule is applied only where the least peak falls. Channels are no longer multiplied four at a time,
so `slower`: mcunet_vww_int8 with one such operator of 15 takes a fifth more cycles on Cortex-M4.

More filters than channels, a result that is larger, rows that are written before they are read,
several images:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !t = tensor<2x4x4x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
    !z = tensor<1x6x4x2xf32, #memgraph.encoding<nhwc>>
    !v = tensor<1x2x7x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<1x1x1x4xf32, #memgraph.encoding<ihwo>>
    !u = tensor<1x1x1x2xf32, #memgraph.encoding<ihwo>>
    func.func @main(%x: !x, %t: !t, %w: !w, %u: !u) -> (!y, !z, !v, !t) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.depthwise_conv_2d %1, %w window<[1, 1]> groups 2 : (!x, !w) -> !y
      %3 = memgraph.depthwise_conv_2d %1, %u window<[1, 1], pad = [1, 0, 1, 0]> groups 2
             : (!x, !u) -> !z
      %4 = memgraph.depthwise_conv_2d %1, %u window<[1, 1], stride = [2, 1], pad = [0, 1, 0, 2]>
             groups 2 : (!x, !u) -> !v
      %5 = memgraph.depthwise_conv_2d %t, %u window<[1, 1]> groups 2 : (!t, !u) -> !t
      func.return %2, %3, %4, %5 : !y, !z, !v, !t
    }

What is computed before run time:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<1x1x1x2xf32, #memgraph.encoding<ihwo>>
    func.func @main(%w: !w) -> !x {
      %c = memgraph.constant dense<1.0> : !x
      %1 = memgraph.depthwise_conv_2d %c, %w window<[1, 1]> groups 2 : (!x, !w) -> !x
      func.return %1 : !x
    }
"""

from xdsl.dialects.builtin import UnitAttr
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.convolution import DepthwiseConv2DOp
from memopt.rewrites import Rule


class DepthwiseInPlace(Rule):
    """The rule above."""

    exact = "bits"
    needs = (DepthwiseConv2DOp,)
    applied = "search"
    only_lower = True
    slower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DepthwiseConv2DOp, rewriter: PatternRewriter) -> None:
        if op.in_place is not None or not op.fits_in_place:
            return
        if is_constant_expression(op.input, GENERIC) or not self.takes(op):
            return
        op.in_place = UnitAttr()
        self.changed(op, rewriter)
