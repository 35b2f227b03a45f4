"""A sum of real numbers over axes, divided by how many each is of, is a mean.

Before:
    !x = tensor<1x3x5xf32>
    !m = tensor<1x3x1xf32>
    !s = tensor<1x3xf32>
    func.func @main(%x: !x) -> (!m, !s) {
      %n = memgraph.constant dense<5.0> : tensor<f32>
      %i = memgraph.constant dense<2.0e-01> : tensor<1xf32>
      %1 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %2 = memgraph.reshape %1 : (!s) -> !m
      %3 = memgraph.div %2, %n {memgraph.names = ["y"]} : (!m, tensor<f32>) -> !m
      %4 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %5 = memgraph.mul %i, %4 : (tensor<1xf32>, !s) -> !s
      func.return %3, %5 : !m, !s
    }
After:
    func.func @main(%x: !x) -> (!m, !s) {
      %n = memgraph.constant dense<5.0> : tensor<f32>
      %i = memgraph.constant dense<2.0e-01> : tensor<1xf32>
      %1 = memgraph.mean %x axes [2] : (!x) -> !s
      %3 = memgraph.reshape %1 {memgraph.names = ["y"]} : (!s) -> !m
      %5 = memgraph.mean %x axes [2] : (!x) -> !s
      func.return %3, %5 : !m, !s
    }

jax writes means so. A product with one over the number is off by at most 2^-23 of the mean, which
is divided by it; the order of the sum is that of the kernel.

Another number, or one that is not known; a number that is divided; an activation; what somebody
else reads; integers; numbers of more dimensions:

Left alone:
    !x = tensor<1x3x5xf32>
    !s = tensor<1x3xf32>
    !i = tensor<1x3x5xi32>
    !t = tensor<1x3xi32>
    !r = tensor<3x1xf32>
    func.func @main(%x: !x, %u: tensor<1xf32>, %i: !i)
        -> (!s, !s, !s, !s, !s, !s, !s, !s, !r, !t, !r, !r, !s, tensor<1x1x3xf32>, !s, !s, !s) {
      %c = memgraph.constant dense<4.0> : tensor<f32>
      %n = memgraph.constant dense<5.0> : tensor<f32>
      %k = memgraph.constant dense<5> : tensor<i32>
      %1 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %2 = memgraph.div %1, %c : (!s, tensor<f32>) -> !s
      %3 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %4 = memgraph.mul %3, %u : (!s, tensor<1xf32>) -> !s
      %5 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %6 = memgraph.div %n, %5 : (tensor<f32>, !s) -> !s
      %7 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %8 = memgraph.div %7, %n activation<relu> : (!s, tensor<f32>) -> !s
      %9 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %10 = memgraph.div %9, %n : (!s, tensor<f32>) -> !s
      %11 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %12 = memgraph.reshape %11 : (!s) -> !r
      %13 = memgraph.div %12, %n : (!r, tensor<f32>) -> !r
      %14 = memgraph.reduce_max %x axes [2] : (!x) -> !s
      %15 = memgraph.div %14, %n : (!s, tensor<f32>) -> !s
      %16 = memgraph.reduce_sum %i axes [2] : (!i) -> !t
      %17 = memgraph.div %16, %k : (!t, tensor<i32>) -> !t
      %18 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %19 = memgraph.reshape %18 : (!s) -> !r
      %20 = memgraph.div %19, %n : (!r, tensor<f32>) -> !r
      %v = memgraph.constant dense<5.0> : tensor<3xf32>
      %21 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %22 = memgraph.div %21, %v : (!s, tensor<3xf32>) -> !s
      %w = memgraph.constant dense<5.0> : tensor<1x1x1xf32>
      %23 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %24 = memgraph.div %23, %w : (!s, tensor<1x1x1xf32>) -> tensor<1x1x3xf32>
      %25 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %26 = memgraph.mul %25, %c : (!s, tensor<f32>) -> !s
      %27 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %28 = memgraph.sub %27, %n : (!s, tensor<f32>) -> !s
      %o = memgraph.constant dense<2.0e-01> : tensor<f32>
      %29 = memgraph.reduce_sum %x axes [2] : (!x) -> !s
      %30 = memgraph.sub %29, %o : (!s, tensor<f32>) -> !s
      func.return %2, %4, %6, %8, %9, %10, %15, %11, %13, %17, %19, %20, %22, %24, %26, %28, %30
        : !s, !s, !s, !s, !s, !s, !s, !s, !r, !t, !r, !r, !s, tensor<1x1x3xf32>, !s, !s, !s
    }
"""

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array, element_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import BinaryOp, DivOp, MulOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.reductions import ReduceSumOp
from memopt.dialects.operators.traits import View
from memopt.rewrites import Rule, erase_unread


class SumAsMean(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (ReduceSumOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryOp, rewriter: PatternRewriter) -> None:
        if op.activation_name or not isinstance(element_of(op.result), Float32Type):
            return
        for value, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            total = sum_of(value)
            if total is None or shape_of(value) != shape_of(op.result):
                continue
            known, count = constants_beside(op)(other), total.count
            if known is None or known.size != 1:
                continue
            if divides(op, value, known, count) or multiplies(op, known, count):
                self._replace(op, total, rewriter)
                return

    def _replace(self, op: BinaryOp, total: ReduceSumOp, rewriter: PatternRewriter) -> None:
        mean = MeanOp.create(
            operands=[total.input],
            result_types=[total.result.type],
            properties=dict(total.properties),
        )
        mean.location = op.location
        rewriter.insert(mean, InsertPoint.before(op))
        last = mean
        if shape_of(total.result) != shape_of(op.result):
            self.derived(mean, op)
            last = ReshapeOp.create(operands=[mean.result], result_types=[op.result.type])
            last.location = op.location
            rewriter.insert(last, InsertPoint.before(op))
        before = [v for v in op.operands if sum_of(v) is total]
        self.replaced(op, last, rewriter)
        erase_unread(before, rewriter.erase)


def divides(op: BinaryOp, value: SSAValue, number: Array, count: int) -> bool:
    """Return whether an operation divides a value by that number, which is the count."""
    return isinstance(op, DivOp) and value is op.lhs and number.item() == count


def multiplies(op: BinaryOp, number: Array, count: int) -> bool:
    """Return whether an operation multiplies by that number, one over the count in float32."""
    return isinstance(op, MulOp) and number.item() == np.float32(1 / count)


def sum_of(value: SSAValue) -> ReduceSumOp | None:
    """Return the sum that a value is, perhaps of another shape, which nothing else reads."""
    while isinstance(op := value.owner, ComputeOp) and op.has_trait(View) and value.has_one_use():
        value = op.operands[0]
    return value.owner if isinstance(value.owner, ReduceSumOp) and value.has_one_use() else None
