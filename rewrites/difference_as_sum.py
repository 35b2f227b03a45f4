"""A difference of real numbers and constants is a sum with the constants negated.

Before:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<2xf32>
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[4.0, -0.1]> : !c
      %1 = memgraph.sub %x, %c activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %1 : !x
    }
After:
    !o = tensor<1xf32>
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[4.0, -0.1]> : !c
      %o = memgraph.constant dense<-1.0> : !o
      %n = memgraph.scaled %c, %o axis 0 : (!c, !o) -> !c
      %1 = memgraph.add %x, %n activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %1 : !x
    }

Exact to the bit: IEEE 754 defines x - c as x + (-c), zeros with their signs and infinities too, and
a number times -1 is that number with the other sign. A sum may stand in a bias
(`constants-into-weights`).

Constants that are subtracted from, what only the run time knows, a single number without
dimensions, and integers, of which a sum is another one:

Left alone:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<2xf32>
    !z = tensor<f32>
    !q = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x, %v: !c, %q: !q) -> (!x, !x, !x, !q, !c) {
      %c = memgraph.constant dense<[4.0, 3.0]> : !c
      %1 = memgraph.sub %c, %x : (!c, !x) -> !x
      %2 = memgraph.sub %x, %v : (!x, !c) -> !x
      %z = memgraph.constant dense<1.5> : !z
      %3 = memgraph.sub %x, %z : (!x, !z) -> !x
      %k = memgraph.constant dense<[4, 3, 2, 1]> : !q
      %4 = memgraph.sub %q, %k rounding<tflm_double> : (!q, !q) -> !q
      %5 = memgraph.sub %c, %c : (!c, !c) -> !c
      func.return %1, %2, %3, %4, %5 : !x, !x, !x, !q, !c
    }
"""

from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    Float32Type,
    IntegerAttr,
    TensorType,
    f32,
    i64,
)
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import AddOp, SubOp
from memopt.dialects.operators.constants import ScaledOp
from memopt.rewrites import Rule


class DifferenceAsSum(Rule):
    """The rule above."""

    exact = "bits"
    needs = (SubOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubOp, rewriter: PatternRewriter) -> None:
        values = (*op.operands, op.result)
        if not all(isinstance(element_of(v), Float32Type) for v in values):
            return
        if not shape_of(op.rhs) or not is_constant_expression(op.rhs, GENERIC):
            return
        if is_constant_expression(op.lhs, GENERIC) or not self.takes(op):
            return
        type_ = TensorType(f32, [1])
        minus = ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [-1.0]), type_)
        negated = ScaledOp.create(
            operands=[op.rhs, minus.result],
            result_types=[op.rhs.type],
            properties={"axis": IntegerAttr(0, i64)},
        )
        added = AddOp.create(
            operands=[op.lhs, negated.result],
            result_types=[op.result.type],
            properties=dict(op.properties),
        )
        rewriter.insert([minus, negated, added], InsertPoint.before(op))
        self.replaced(op, added, rewriter)
