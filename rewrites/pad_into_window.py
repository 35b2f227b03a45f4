"""A pad of height and width becomes the padding of the window that alone reads it.

Before:
    !x = tensor<1x5x4x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x7x6x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x3x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    func.func @main(%x: !x, %w: !w, %b: !b) -> !y {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 2, 1, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.conv_2d %1, %w, %b window<[3, 3], stride = [2, 1], pad = [1, 0, 0, 0]> groups 1
             rounding<tflm_double> : (!p, !w, !b) -> !y
      func.return %2 : !y
    }
After:
    func.func @main(%x: !x, %w: !w, %b: !b) -> !y {
      %2 = memgraph.conv_2d %x, %w, %b
             window<[3, 3], stride = [2, 1], pad = [1, 1, 2, 1]> groups 1
             rounding<tflm_double> : (!x, !w, !b) -> !y
      func.return %2 : !y
    }

The padded tensor is gone, and rows that are padding are no operands of anything. Exact: a
convolution takes what lies outside for real 0, which is stored as the zero point; so the pad's
value is 0 and it changes neither type nor quantization. Only the order of floating-point sums may
be another.

Before:
    !x = tensor<1x2x4x4xf32, #memgraph.encoding<nchw>>
    !q = tensor<1x2x5x6xf32, #memgraph.encoding<nchw>>
    !p = tensor<1x2x6x6xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x1x3x3xf32, #memgraph.encoding<oihw>>
    !y = tensor<1x2x2x4xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x, %w: !w) -> !y {
      %1 = memgraph.pad %x before [0, 0, 0, 1] after [0, 0, 1, 1] value 0.0 : (!x) -> !q
      %2 = memgraph.pad %1 before [0, 0, 1, 0] after [0, 0, 0, 0] value -0.0 : (!q) -> !p
      %3 = memgraph.depthwise_conv_2d %2, %w window<[3, 3], dilation = [2, 1]> groups 2
             : (!p, !w) -> !y
      func.return %3 : !y
    }
After:
    func.func @main(%x: !x, %w: !w) -> !y {
      %3 = memgraph.depthwise_conv_2d %x, %w
             window<[3, 3], dilation = [2, 1], pad = [1, 1, 1, 1]> groups 2 : (!x, !w) -> !y
      func.return %3 : !y
    }

A max pool leaves out what lies outside. So does the pad if its value is the lowest that is stored,
as 0 is after a ReLU of int8, and every window still sees an element:

Before:
    !x = tensor<1x4x5x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    !p = tensor<1x5x7x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    !y = tensor<1x4x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    func.func @main(%x: !x) -> !y {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 1, 1, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.max_pool_2d %1 window<[2, 3], stride = [1, 2]> : (!p) -> !y
      func.return %2 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %2 = memgraph.max_pool_2d %x window<[2, 3], stride = [1, 2], pad = [0, 1, 1, 1]> : (!x) -> !y
      func.return %2 : !y
    }

An average pool counts the pad's elements. Its own padding counts with `count_include_pad` alone:

Before:
    !x = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !p = tensor<1x3x4x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x2x3x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> !y {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.average_pool_2d %1 window<[2, 2]> count_include_pad : (!p) -> !y
      func.return %2 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %2 = memgraph.average_pool_2d %x window<[2, 2], pad = [0, 1, 0, 0]> count_include_pad
             : (!x) -> !y
      func.return %2 : !y
    }

Left alone:
    !x = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !p = tensor<1x3x4x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x2x3x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> (!y, !y) {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.average_pool_2d %1 window<[2, 2]> : (!p) -> !y
      %3 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %4 = memgraph.max_pool_2d %3 window<[2, 2]> : (!p) -> !y
      func.return %2, %4 : !y, !y
    }

Zero is not the lowest here, and a window would see nothing but padding there:

Left alone:
    !x = tensor<1x3x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-127]>>
    !p = tensor<1x3x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-127]>>
    !y = tensor<1x2x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-127]>>
    !z = tensor<1x3x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    !q = tensor<1x5x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    !v = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-128]>>
    func.func @main(%x: !x, %z: !z) -> (!y, !v) {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.max_pool_2d %1 window<[2, 2]> : (!p) -> !y
      %3 = memgraph.pad %z before [0, 2, 0, 0] after [0, 0, 0, 0] value 0.0 : (!z) -> !q
      %4 = memgraph.max_pool_2d %3 window<[2, 2]> : (!q) -> !v
      func.return %2, %4 : !y, !v
    }

Another value, another quantization, channels padded, a second reader, also the caller:

Left alone:
    !x = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    !p = tensor<1x4x6x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x4x6x3xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !v = tensor<4x3x3x3xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !y = tensor<1x2x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [-9]>>
    func.func @main(%x: !x, %r: !r, %w: !w, %v: !v) -> (!y, !y, !y, !y, !p) {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 1, 0] value 1.0 : (!x) -> !p
      %2 = memgraph.conv_2d %1, %w window<[3, 3]> groups 1 rounding<tflm_double> : (!p, !w) -> !y
      %3 = memgraph.pad %r before [0, 0, 1, 0] after [0, 0, 1, 0] value 0.0 : (!r) -> !p
      %4 = memgraph.conv_2d %3, %w window<[3, 3]> groups 1 rounding<tflm_double> : (!p, !w) -> !y
      %5 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 1, 1] value 0.0 : (!x) -> !c
      %6 = memgraph.conv_2d %5, %v window<[3, 3]> groups 1 rounding<tflm_double> : (!c, !v) -> !y
      %7 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 1, 0] value 0.0 : (!x) -> !p
      %8 = memgraph.conv_2d %7, %w window<[3, 3]> groups 1 rounding<tflm_double> : (!p, !w) -> !y
      func.return %2, %4, %6, %8, %7 : !y, !y, !y, !y, !p
    }

A window that would read another layout, weights that are padded, and a pad of constants alone,
which is a constant:

Left alone:
    !x = tensor<1x2x3x4xf32>
    !p = tensor<1x2x4x4xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x2x2x2xf32, #memgraph.encoding<oihw>>
    !k = tensor<2x2x1x2xf32, #memgraph.encoding<oihw>>
    !y = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !z = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x, %w: !w, %k: !k) -> (!y, !z, !y) {
      %1 = memgraph.pad %x before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %2 = memgraph.conv_2d %1, %w window<[2, 2]> groups 1 : (!p, !w) -> !y
      %3 = memgraph.pad %k before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!k) -> !w
      %4 = memgraph.conv_2d %2, %3 window<[2, 2]> groups 1 : (!y, !w) -> !z
      %5 = memgraph.constant dense<1.0> : !x
      %6 = memgraph.pad %5 before [0, 0, 1, 0] after [0, 0, 0, 0] value 0.0 : (!x) -> !p
      %7 = memgraph.conv_2d %6, %w window<[2, 2]> groups 1 : (!p, !w) -> !y
      func.return %2, %4, %7 : !y, !z, !y
    }
"""

from typing import Any, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.arithmetic.stored import element_of, numbers_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import WindowAttr
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.window import (
    WindowedOp,
    first_spatial,
    height_and_width,
    sees_elements,
)
from memopt.rewrites import Rule


class PadIntoWindow(Rule):
    """The rule above."""

    exact = "bits"
    needs = (PadOp,)
    applied = "safe"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WindowedOp, rewriter: PatternRewriter) -> None:
        padded = op.operands[0]
        pad = padded.owner
        if not isinstance(pad, PadOp) or not padded.has_one_use():
            return
        if is_constant_expression(padded, GENERIC) or not same_elements(pad.input, padded):
            return
        window = widened(op, pad)
        if window is None or not counts_alike(op, pad, window):
            return
        op.operands[0] = pad.input
        op.properties["window"] = window
        self.changed(op, rewriter)
        rewriter.erase(pad)


def same_elements(before: SSAValue, after: SSAValue) -> bool:
    """Return whether the two mean the same by a stored element, and a window reads both in one
    order."""
    layouts = [encoding_of(v).layout.data or "nhwc" for v in (before, after)]  # as it reads none
    same = element_of(before) == element_of(after) and numbers_of(before) == numbers_of(after)
    return same and layouts[0] == layouts[1]


def widened(op: WindowedOp, pad: PadOp) -> WindowAttr | None:
    """The window with the pad's elements as its own, None where not only its dimensions grow."""
    kernel, stride, dilation, own = cast("WindowAttr", op.properties["window"]).sizes
    n, first = len(kernel), first_spatial(pad.input)
    before, after = integers(pad.before), integers(pad.after)
    spatial = range(first, first + n)
    if any(b or a for i, (b, a) in enumerate(zip(before, after, strict=True)) if i not in spatial):
        return None
    amounts = [*before[first : first + n], *after[first : first + n]]
    return WindowAttr(kernel, stride, dilation, [x + y for x, y in zip(own, amounts, strict=True)])


def counts_alike(op: WindowedOp, pad: PadOp, window: WindowAttr) -> bool:
    """Return whether the window's padding counts as the value that the pad writes."""
    value = float(pad.value.value.data)
    if op.padding == "zero":
        return value == 0.0
    n = len(window.kernel)
    sizes, places = (height_and_width(v, n) for v in (pad.input, op.results[0]))
    return (
        op.padding == "lowest"
        and is_lowest(value, pad.input)
        and sees_elements(window, sizes, places)
    )


def is_lowest(value: float, tensor: SSAValue) -> bool:
    """Return whether no stored element is less than real `value`, which a pad writes: 0 as zero
    point."""
    element = element_of(tensor)
    if not isinstance(element, IntegerType) or value != 0.0:
        return False
    lowest = cast("IntegerType[Any, Any]", element).value_range()[0]
    return set(encoding_of(tensor).zero_points) == {lowest}


def integers(values: DenseArrayBase[Any]) -> list[int]:
    return [int(v) for v in values.get_values()]
