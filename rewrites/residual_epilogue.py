"""Sums of products that one element-wise operation alone reads are virtual: it makes them itself.

Before:
    !x = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x3x3x2xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<1> : !w
      %1 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1
             rounding<tflm_double> : (!x, !w) -> !x
      %3 = memgraph.add %x, %2 activation<relu> rounding<tflm_double> : (!x, !x) -> !x
      func.return %3 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<1> : !w
      %1 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3], pad = [1, 1, 1, 1]> groups 1
             rounding<tflm_double>
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!x, !w) -> !x
      %3 = memgraph.add %x, %2 activation<relu> rounding<tflm_double> : (!x, !x) -> !x
      func.return %3 : !x
    }

Exact: every element is made once, rounded to its own scale, and added. The result may take the
place of the other operand, so that a residual block needs two tensors, not three; but what the
convolution reads lives until then. So the rule is applied only where the least peak falls. Where
results may lie over operands (`inplace=on`, as in C) that it never does beside a constant, or for
the second of two sums: without it the result lies over the sum, or over the other one, which takes
no more than the result itself. Otherwise it would, but no kernel makes two sums at once.

Somebody else reads it, also the caller; its reader is no element-wise operation of two, or makes
more elements; weights that are only known at run time; what the file itself says something of:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !p = tensor<1x1x1x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x, %p: !p, %v: !w) -> (!x, !x, !x, !x, !x, !x) {
      %w = memgraph.constant dense<1.0> : !w
      %1 = memgraph.conv_2d %x, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      %2 = memgraph.add %1, %1 : (!x, !x) -> !x
      %3 = memgraph.conv_2d %2, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      %4 = memgraph.relu %3 : (!x) -> !x
      %5 = memgraph.conv_2d %p, %w window<[1, 1]> groups 1 : (!p, !w) -> !p
      %6 = memgraph.add %4, %5 : (!x, !p) -> !x
      %7 = memgraph.conv_2d %x, %v window<[1, 1]> groups 1 : (!x, !w) -> !x
      %8 = memgraph.add %7, %6 : (!x, !x) -> !x
      %9 = memgraph.conv_2d %8, %w window<[1, 1]> groups 1 {memgraph.alias = [[]]} : (!x, !w) -> !x
      %10 = memgraph.add %9, %8 : (!x, !x) -> !x
      %11 = memgraph.conv_2d %10, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      func.return %2, %4, %6, %8, %10, %11 : !x, !x, !x, !x, !x, !x
    }

What works in scratch; what is computed before run time:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    !d = tensor<1x1x1x2xf32, #memgraph.encoding<ihwo>>
    func.func @main(%x: !x) -> (!x, !x) {
      %d = memgraph.constant dense<1.0> : !d
      %w = memgraph.constant dense<1.0> : !w
      %c = memgraph.constant dense<1.0> : !x
      %1 = memgraph.depthwise_conv_2d %x, %d window<[1, 1]> groups 2 in_place : (!x, !d) -> !x
      %2 = memgraph.add %1, %x : (!x, !x) -> !x
      %3 = memgraph.conv_2d %c, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      %4 = memgraph.add %3, %x : (!x, !x) -> !x
      func.return %2, %4 : !x, !x
    }
"""

from xdsl.dialects.func import FuncOp
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.plan import ALIAS, model_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.rewrites import EVERY, Rule
from memopt.rewrites.gather import virtual_aliases


class ResidualEpilogue(Rule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "search"
    virtual = True
    only_lower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if ALIAS in op.attributes or not op.is_made_by_reader:
            return
        if is_constant_expression(op.operands[0], GENERIC) or _works_in_scratch(op):
            return
        if not self.takes(op):
            return
        op.attributes[ALIAS] = virtual_aliases(1)
        self.changed(op, rewriter)


def _works_in_scratch(op: ComputeOp) -> bool:
    func = op.parent_op()
    return isinstance(func, FuncOp) and bool(behaviour_of(op, model_of(func)).workspace)
