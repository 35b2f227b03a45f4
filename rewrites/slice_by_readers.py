"""A slice is virtual: its readers read the operand, at an offset and pixel by pixel.

Before:
    !x = tensor<1x4x4x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !v = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    func.func @main(%x: !x, %w: !w, %v: !v) -> (!y, !h) {
      %1, %2 = memgraph.split %x axis 3 : (!x) -> (!h, !h)
      %3 = memgraph.conv_2d %1, %w, %v window<[3, 3]> groups 1 rounding<tflm_double>
             : (!h, !w, !v) -> !y
      %4 = memgraph.max_pool_2d %2 window<[1, 1]> : (!h) -> !h
      func.return %3, %4 : !y, !h
    }
After:
    func.func @main(%x: !x, %w: !w, %v: !v) -> (!y, !h) {
      %1, %2 = memgraph.split %x axis 3
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>],
                                [#memgraph.alias<operand = 0, kind = virtual>]]}
             : (!x) -> (!h, !h)
      %3 = memgraph.conv_2d %1, %w, %v window<[3, 3]> groups 1 rounding<tflm_double>
             : (!h, !w, !v) -> !y
      %4 = memgraph.max_pool_2d %2 window<[1, 1]> : (!h) -> !h
      func.return %3, %4 : !y, !h
    }

Exact: who reads the operand reads the same numbers. But all of it lives until its slices are read,
where a copy of a small one would have let it die; so a slice is left to its readers only where the
least peak does not rise. One stretch of the operand is a view instead (slice-as-view).

Rows and columns may be taken with a step, and of what is virtual or a slice itself:

Before:
    !x = tensor<1x2x5x5xf32, #memgraph.encoding<nchw>>
    !h = tensor<1x2x3x4xf32, #memgraph.encoding<nchw>>
    !q = tensor<1x2x3x2xf32, #memgraph.encoding<nchw>>
    !c = tensor<1x4x3x2xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x) -> !c {
      %1 = memgraph.slice %x starts [0, 0, 0, 1] strides [1, 1, 2, 1] : (!x) -> !h
      %2 = memgraph.slice %1 starts [0, 0, 0, 0] strides [1, 1, 1, 2] : (!h) -> !q
      %3 = memgraph.relu %2 : (!q) -> !q
      %4 = memgraph.concat %2, %3 axis 1
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!q, !q) -> !c
      %5 = memgraph.relu %4 : (!c) -> !c
      func.return %5 : !c
    }
After:
    func.func @main(%x: !x) -> !c {
      %1 = memgraph.slice %x starts [0, 0, 0, 1] strides [1, 1, 2, 1]
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!x) -> !h
      %2 = memgraph.slice %1 starts [0, 0, 0, 0] strides [1, 1, 1, 2]
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!h) -> !q
      %3 = memgraph.relu %2 : (!q) -> !q
      %4 = memgraph.concat %2, %3 axis 1
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!q, !q) -> !c
      %5 = memgraph.relu %4 : (!c) -> !c
      func.return %5 : !c
    }

Somebody reads all of it in one piece, also the caller; a part that nobody reads; every second
channel; backwards; numbers that mean something else; weights; one stretch:

Left alone:
    !x = tensor<1x3x3x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x3x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x3x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    !s = tensor<1x1x3x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !f = tensor<1x18xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> (!f, !h, !h, !h, !x, !r, !h, !s) {
      %1 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !h
      %2 = memgraph.reshape %1 : (!h) -> !f
      %3 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !h
      %4, %5 = memgraph.split %x axis 3 : (!x) -> (!h, !h)
      %6 = memgraph.max_pool_2d %4 window<[1, 1]> : (!h) -> !h
      %7 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 2] : (!x) -> !h
      %8 = memgraph.max_pool_2d %7 window<[1, 1]> : (!h) -> !h
      %9 = memgraph.slice %x starts [0, 0, 2, 0] strides [1, 1, -1, 1] : (!x) -> !x
      %10 = memgraph.max_pool_2d %9 window<[1, 1]> : (!x) -> !x
      %11 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !r
      %12 = memgraph.max_pool_2d %11 window<[1, 1]> : (!r) -> !r
      %13 = memgraph.constant dense<1> : !x
      %14 = memgraph.slice %13 starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !h
      %15 = memgraph.max_pool_2d %14 window<[1, 1]> : (!h) -> !h
      %16 = memgraph.slice %x starts [0, 1, 0, 0] strides [1, 1, 1, 1] : (!x) -> !s
      %17 = memgraph.max_pool_2d %16 window<[1, 1]> : (!s) -> !s
      func.return %2, %3, %6, %8, %10, %12, %15, %17 : !f, !h, !h, !h, !x, !r, !h, !s
    }
"""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import channel_axis, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.slices import element_steps
from memopt.dialects.operators.traits import Cuts
from memopt.rewrites import Rule
from memopt.rewrites.gather import is_alike, is_read, reads_parts, virtual_aliases
from memopt.rewrites.slice_as_view import stretches


class SliceByReaders(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Cuts,)
    applied = "search"
    virtual = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if ALIAS in op.attributes or stretches(op) is not None:
            return
        if not all(takes_pixels(op, r) and is_alike(op.operands[0], v) for r, v in results_of(op)):
            return
        if not all(is_read(v, reads_parts) for v in op.results) or not self.takes(op):
            return
        op.attributes[ALIAS] = virtual_aliases(1, len(op.results))
        self.changed(op, rewriter)


def results_of(op: ComputeOp) -> list[tuple[int, SSAValue]]:
    return list(enumerate(op.results))


def takes_pixels(op: ComputeOp, result: int) -> bool:
    """Return whether a result is channels that lie one behind the other, of pixels at even
    distances."""
    places = op.lies_at(result, 0)
    if places is None:
        return False
    source, own = op.operands[0], shape_of(op.results[result])
    last = channel_axis(source)
    beside = own[last] < 2 or places[1][last] == element_steps(source)[last]
    return beside and all(by > 0 for by, count in zip(places[1], own, strict=True) if count > 1)
