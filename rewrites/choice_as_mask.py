"""Scores of which a choice hides some are those plus a mask.

Before:
    !q = tensor<3x4xf32>
    !s = tensor<3x3xf32>
    !b = tensor<3x3xi1>
    func.func @main(%q: !q, %b: !b) -> (!q, !q) {
      %1 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %c = memgraph.constant dense<0.5> : tensor<f32>
      %2 = memgraph.mul %1, %c : (!s, tensor<f32>) -> !s
      %m = memgraph.constant
             dense<[[false, true, true], [false, false, true], [false, false, false]]> : !b
      %n = memgraph.constant dense<-1.0e+04> : tensor<1xf32>
      %3 = memgraph.choose %m, %n, %2 : (!b, tensor<1xf32>, !s) -> !s
      %4 = memgraph.softmax %3 axis 1 beta 1.0 : (!s) -> !s
      %5 = memgraph.batch_matmul %4, %q : (!s, !q) -> !q
      %i = memgraph.constant dense<"0x000080FF"> : tensor<f32>
      %6 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %7 = memgraph.choose %b, %6, %i : (!b, !s, tensor<f32>) -> !s
      %8 = memgraph.softmax %7 axis 1 beta 1.0 : (!s) -> !s
      %9 = memgraph.batch_matmul %8, %q : (!s, !q) -> !q
      func.return %5, %9 : !q, !q
    }
After:
    func.func @main(%q: !q, %b: !b) -> (!q, !q) {
      %1 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %c = memgraph.constant dense<0.5> : tensor<f32>
      %2 = memgraph.mul %1, %c : (!s, tensor<f32>) -> !s
      %m = memgraph.constant
             dense<[[false, true, true], [false, false, true], [false, false, false]]> : !b
      %z = memgraph.constant dense<0.0> : tensor<f32>
      %n = memgraph.constant dense<-1.0e+04> : tensor<f32>
      %o = memgraph.choose %m, %n, %z : (!b, tensor<f32>, tensor<f32>) -> !s
      %3 = memgraph.add %2, %o : (!s, !s) -> !s
      %4 = memgraph.softmax %3 axis 1 beta 1.0 : (!s) -> !s
      %5 = memgraph.batch_matmul %4, %q : (!s, !q) -> !q
      %6 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %y = memgraph.constant dense<0.0> : tensor<f32>
      %i = memgraph.constant dense<"0x000080FF"> : tensor<f32>
      %p = memgraph.choose %b, %y, %i : (!b, tensor<f32>, tensor<f32>) -> !s
      %7 = memgraph.add %6, %p : (!s, !s) -> !s
      %8 = memgraph.softmax %7 axis 1 beta 1.0 : (!s) -> !s
      %9 = memgraph.batch_matmul %8, %q : (!s, !q) -> !q
      func.return %5, %9 : !q, !q
    }

Exact of finite scores where what is hidden is minus infinity, whose power of e is 0; a finite
number of at most -10,000 instead makes float32's 0 where scores of a query differ by less than
9,896. The rule is for products-as-attention, which reads scores plus a mask; a mask that is known
is made before run time.

A number that is not far enough below; a query of which a finite number hides all, or may:

Left alone:
    !q = tensor<3x4xf32>
    !s = tensor<3x3xf32>
    !b = tensor<3x3xi1>
    func.func @main(%q: !q, %b: !b) -> (!q, !q, !q) {
      %1 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %m = memgraph.constant
             dense<[[true, false, false], [true, true, false], [true, true, true]]> : !b
      %n = memgraph.constant dense<-9.0e+03> : tensor<f32>
      %3 = memgraph.choose %m, %1, %n : (!b, !s, tensor<f32>) -> !s
      %4 = memgraph.softmax %3 axis 1 beta 1.0 : (!s) -> !s
      %5 = memgraph.batch_matmul %4, %q : (!s, !q) -> !q
      %6 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %k = memgraph.constant dense<-1.0e+04> : tensor<f32>
      %7 = memgraph.choose %m, %k, %6 : (!b, tensor<f32>, !s) -> !s
      %8 = memgraph.softmax %7 axis 1 beta 1.0 : (!s) -> !s
      %9 = memgraph.batch_matmul %8, %q : (!s, !q) -> !q
      %10 = memgraph.batch_matmul %q, %q adj_y : (!q, !q) -> !s
      %11 = memgraph.choose %b, %10, %k : (!b, !s, tensor<f32>) -> !s
      %12 = memgraph.softmax %11 axis 1 beta 1.0 : (!s) -> !s
      %13 = memgraph.batch_matmul %12, %q : (!s, !q) -> !q
      func.return %5, %9, %13 : !q, !q, !q
    }
"""

from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, Float32Type, TensorType, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import Constants, constants_beside
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.batch_products import BatchMatmulOp
from memopt.dialects.operators.binary import AddOp
from memopt.dialects.operators.comparison import ChooseOp
from memopt.dialects.operators.softmax import SoftmaxOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.mask_as_causal import FAR, is_mask, masked_by
from memopt.rewrites.products_as_attention import is_over_last
from memopt.rewrites.stored_products_as_attention import function_of


class ChoiceAsMask(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (ChooseOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ChooseOp, rewriter: PatternRewriter) -> None:
        reader = op.result.get_user_of_unique_use()
        if not isinstance(reader, SoftmaxOp):
            return
        shape = shape_of(op.result)
        if not is_over_last(reader) or not is_mask(op.condition, shape) or op.of_rows is not None:
            return
        constants = constants_beside(op)
        for scores, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            if shape_of(scores) != shape or not is_product(scores, constants):
                continue
            far = far_below(other, constants)
            if far is not None and (far == -np.inf or shows_some(op, scores, constants)):
                self._add(op, scores, far, rewriter)
                return

    def _add(self, op: ChooseOp, scores: SSAValue, far: float, rewriter: PatternRewriter) -> None:
        """Replace a choice by a sum."""

        def inserted(new: Operation) -> SSAValue:
            new.location = op.location
            self.derived(new, op)
            rewriter.insert(new, InsertPoint.before(op))
            return new.results[0]

        zero, hidden = (inserted(scalar(x)) for x in (0.0, far))
        chosen = [zero, hidden] if scores is op.lhs else [hidden, zero]
        type_ = TensorType[Attribute](f32, shape_of(op.condition))
        mask = ChooseOp.create(operands=[op.condition, *chosen], result_types=[type_])
        total = AddOp.create(operands=[scores, inserted(mask)], result_types=[op.result.type])
        inserted(total)
        before = list(op.operands)
        self.replaced(op, total, rewriter)
        erase_unread(before, rewriter.erase)


def scalar(value: float) -> ConstantOp:
    """Return a constant of one number."""
    type_ = TensorType(f32, ())
    return ConstantOp(DenseIntOrFPElementsAttr.from_list(type_, [value]), type_)


def is_product(value: SSAValue, constants: Constants) -> bool:
    """Return whether a value of float32 is a product of matrices, or element by element a function
    of one, or one plus a known mask, that nothing else reads."""
    if not isinstance(element_of(value), Float32Type):
        return False
    while value.has_one_use() and not isinstance(value.owner, BatchMatmulOp):
        source, masked = function_of(value, constants), masked_by(value, constants)
        if source is not None:
            value = source.value
        elif masked is not None and constants(masked[1]) is not None:
            value = masked[0]
        else:
            return False
    return value.has_one_use()


def far_below(value: SSAValue, constants: Constants) -> float | None:
    """Return the only number of a constant that is far below scores, None if it is no such."""
    array = constants(value)
    numbers = set[float]() if array is None else set(map(float, array.reshape(-1)))
    return min(numbers) if len(numbers) == 1 and min(numbers) <= FAR else None


def shows_some(op: ChooseOp, scores: SSAValue, constants: Constants) -> bool:
    """Return whether it is known that a choice hides not all scores of any query."""
    condition = constants(op.condition)
    if condition is None:
        return False
    return bool((condition if scores is op.lhs else ~condition).any(-1).all())
