"""A function of each element is virtual: its readers read the operand and apply it.

Before:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>
    !y = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %w: !w) -> (!y, !x) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3]> groups 1 : (!x, !w) -> !y
      %3 = memgraph.add %x, %1 : (!x, !x) -> !x
      func.return %2, %3 : !y, !x
    }
After:
    func.func @main(%x: !x, %w: !w) -> (!y, !x) {
      %1 = memgraph.relu %x
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]} : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3]> groups 1 : (!x, !w) -> !y
      %3 = memgraph.add %x, %1 : (!x, !x) -> !x
      func.return %2, %3 : !y, !x
    }

Exact: each reader computes of the same elements the same numbers; what its own padding counts as it
adds afterwards. The function is computed as often as an element is read, and the operand lives
until it has been; so the rule is applied only where the least peak falls.

Somebody reads it in one piece, also the caller; of several tensors; of weights; what is stored in
other bytes than the operand; what the file itself says something of:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !q = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !f = tensor<1x32xf32>
    func.func @main(%x: !x, %z: !x) -> (!x, !f, !x, !q, !x) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.tanh %x : (!x) -> !x
      %3 = memgraph.reshape %2 : (!x) -> !f
      %4 = memgraph.add %x, %z : (!x, !x) -> !x
      %5 = memgraph.max_pool_2d %4 window<[1, 1]> : (!x) -> !x
      %6 = memgraph.quantize %x rounding<tflm_double> : (!x) -> !q
      %7 = memgraph.max_pool_2d %6 window<[1, 1]> : (!q) -> !q
      %8 = memgraph.relu %x {memgraph.alias = [[]]} : (!x) -> !x
      %9 = memgraph.max_pool_2d %8 window<[1, 1]> : (!x) -> !x
      func.return %1, %3, %5, %7, %9 : !x, !f, !x, !q, !x
    }
"""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.traits import Pointwise
from memopt.rewrites import Rule
from memopt.rewrites.gather import is_read, reads_parts, virtual_aliases


class FunctionByReaders(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Pointwise,)
    applied = "search"
    virtual = True
    only_lower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if not op.is_function or ALIAS in op.attributes:
            return
        source, result = op.operands[0], op.results[0]
        if bytes_of(source.type) != bytes_of(result.type):
            return
        if is_constant_expression(source, GENERIC):
            return
        if not is_read(result, reads_parts) or not self.takes(op):
            return
        op.attributes[ALIAS] = virtual_aliases(1)
        self.changed(op, rewriter)
