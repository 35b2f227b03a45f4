"""The mean of squares minus the square of the mean is the mean of squared differences from it.

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !s = tensor<1x3xf32>
    func.func @main(%x: !x) -> (!m, !m, !s) {
      %z = memgraph.constant dense<0.0> : tensor<f32>
      %1 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %2 = memgraph.square %x : (!x) -> !x
      %3 = memgraph.mean %2 axes [2] keep_dims : (!x) -> !m
      %4 = memgraph.mul %1, %1 : (!m, !m) -> !m
      %5 = memgraph.sub %3, %4 {memgraph.names = ["y"]} : (!m, !m) -> !m
      %6 = memgraph.mean %x axes [2] : (!x) -> !s
      %7 = memgraph.mul %x, %x : (!x, !x) -> !x
      %8 = memgraph.mean %7 axes [2] : (!x) -> !s
      %9 = memgraph.square %6 : (!s) -> !s
      %10 = memgraph.sub %8, %9 : (!s, !s) -> !s
      %11 = memgraph.maximum %z, %10 : (tensor<f32>, !s) -> !s
      func.return %1, %5, %11 : !m, !m, !s
    }
After:
    func.func @main(%x: !x) -> (!m, !m, !s) {
      %1 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %2 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %5 = memgraph.mean %2 axes [2] keep_dims {memgraph.names = ["y"]} : (!x) -> !m
      %6 = memgraph.mean %x axes [2] keep_dims : (!x) -> !m
      %9 = memgraph.squared_difference %x, %6 : (!x, !m) -> !x
      %10 = memgraph.mean %9 axes [2] keep_dims : (!x) -> !m
      %11 = memgraph.reshape %10 : (!m) -> !s
      func.return %1, %5, %11 : !m, !m, !s
    }

flax and haiku write variances so, over the last dimensions of a normalization
(`layer-normalization` makes one operator of it). Of n numbers the difference is off by at most
(n + 4) 2^-24 of the mean of squares, which are large where the mean is; squared differences by
(n + 4) 2^-24 of the variance. No such mean is below 0.

What makes another number of what is below stays:

Before:
    !x = tensor<1x2xf32>
    !m = tensor<1x1xf32>
    func.func @main(%x: !x, %u: !m) -> (!m, !m, !m, tensor<1x1x1xf32>) {
      %z = memgraph.constant dense<0.0> : tensor<f32>
      %o = memgraph.constant dense<1.0> : tensor<f32>
      %w = memgraph.constant dense<0.0> : tensor<1x1x1xf32>
      %1 = memgraph.mean %x axes [1] keep_dims : (!x) -> !m
      %2 = memgraph.square %x : (!x) -> !x
      %3 = memgraph.mean %2 axes [1] keep_dims : (!x) -> !m
      %4 = memgraph.square %1 : (!m) -> !m
      %5 = memgraph.sub %3, %4 : (!m, !m) -> !m
      %6 = memgraph.maximum %5, %o : (!m, tensor<f32>) -> !m
      %7 = memgraph.square %x : (!x) -> !x
      %8 = memgraph.mean %7 axes [1] keep_dims : (!x) -> !m
      %9 = memgraph.square %1 : (!m) -> !m
      %10 = memgraph.sub %8, %9 : (!m, !m) -> !m
      %11 = memgraph.maximum %10, %u : (!m, !m) -> !m
      %12 = memgraph.square %x : (!x) -> !x
      %13 = memgraph.mean %12 axes [1] keep_dims : (!x) -> !m
      %14 = memgraph.square %1 : (!m) -> !m
      %15 = memgraph.sub %13, %14 : (!m, !m) -> !m
      %16 = memgraph.minimum %15, %z : (!m, tensor<f32>) -> !m
      %17 = memgraph.square %x : (!x) -> !x
      %18 = memgraph.mean %17 axes [1] keep_dims : (!x) -> !m
      %19 = memgraph.square %1 : (!m) -> !m
      %20 = memgraph.sub %18, %19 : (!m, !m) -> !m
      %21 = memgraph.maximum %20, %w : (!m, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
      func.return %6, %11, %16, %21 : !m, !m, !m, tensor<1x1x1xf32>
    }
After:
    func.func @main(%x: !x, %u: !m) -> (!m, !m, !m, tensor<1x1x1xf32>) {
      %z = memgraph.constant dense<0.0> : tensor<f32>
      %o = memgraph.constant dense<1.0> : tensor<f32>
      %w = memgraph.constant dense<0.0> : tensor<1x1x1xf32>
      %1 = memgraph.mean %x axes [1] keep_dims : (!x) -> !m
      %4 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %5 = memgraph.mean %4 axes [1] keep_dims : (!x) -> !m
      %6 = memgraph.maximum %5, %o : (!m, tensor<f32>) -> !m
      %9 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %10 = memgraph.mean %9 axes [1] keep_dims : (!x) -> !m
      %11 = memgraph.maximum %10, %u : (!m, !m) -> !m
      %14 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %15 = memgraph.mean %14 axes [1] keep_dims : (!x) -> !m
      %16 = memgraph.minimum %15, %z : (!m, tensor<f32>) -> !m
      %19 = memgraph.squared_difference %x, %1 : (!x, !m) -> !x
      %20 = memgraph.mean %19 axes [1] keep_dims : (!x) -> !m
      %21 = memgraph.maximum %20, %w : (!m, tensor<1x1x1xf32>) -> tensor<1x1x1xf32>
      func.return %6, %11, %16, %21 : !m, !m, !m, tensor<1x1x1xf32>
    }

More that is left alone stands in `tests/rewrites/unit/left_alone/moments-as-variance.txt`.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import Float32Type, TensorType, UnitAttr, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import MaximumOp, SubOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.prelu import SquaredDifferenceOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.layer_normalization import made_by, other, squared


class MomentsAsVariance(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (SubOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: SubOp, rewriter: PatternRewriter) -> None:
        mean = mean_of_moments(op)
        if mean is None:
            return
        last, keeps, x = not_below_zero(op), mean.keep_dims is not None, mean.input
        if not keeps:
            mean = self._kept(mean, rewriter)
        squares = SquaredDifferenceOp.create(
            operands=[x, mean.result], result_types=[TensorType(f32, shape_of(x))]
        )
        variance: Operation = MeanOp.create(
            operands=[squares.result], result_types=[mean.result.type], properties=mean.properties
        )
        operations: list[Operation] = [squares, variance]
        if not keeps:
            variance = reshaped(variance.results[0], shape_of(op.result))
            operations.append(variance)
        for new in operations:
            new.location = op.location
            self.derived(new, op)
        rewriter.insert(operations, InsertPoint.before(last))
        before = list(dict.fromkeys((*op.operands, *last.operands)))
        self.replaced(last, variance, rewriter)
        erase_unread(before, rewriter.erase)

    def _kept(self, mean: MeanOp, rewriter: PatternRewriter) -> MeanOp:
        """Return the mean whose axes stay as 1, in the place of one whose axes do not."""
        shape, axis = shape_of(mean.input), min(mean.numbers)
        type_ = TensorType(f32, (*shape[:axis], *(1,) * (len(shape) - axis)))
        with_ones = MeanOp.create(
            operands=[mean.input],
            result_types=[type_],
            properties={**mean.properties, "keep_dims": UnitAttr()},
        )
        own = reshaped(with_ones.result, shape_of(mean.result))
        with_ones.location = own.location = mean.location
        self.derived(with_ones, mean)
        rewriter.insert([with_ones, own], InsertPoint.before(mean))
        self.replaced(mean, own, rewriter)
        return with_ones


def reshaped(value: SSAValue, shape: Sequence[int]) -> ReshapeOp:
    """Return the operation that gives a value of float32 another shape."""
    return ReshapeOp.create(operands=[value], result_types=[TensorType(f32, shape)])


def mean_of_moments(op: SubOp) -> MeanOp | None:
    """Return the mean of x if the difference is the mean of x * x minus the square of that."""
    squares, root = made_by(op.lhs, MeanOp), squared(op.rhs.owner)
    mean = None if root is None else made_by(root, MeanOp)
    if squares is None or mean is None or op.activation_name:
        return None
    if not op.lhs.has_one_use() or not op.rhs.has_one_use():
        return None
    if mean.properties != squares.properties or not is_of_last(mean):
        return None
    is_square = squares.input.has_one_use() and squared(squares.input.owner) is mean.input
    return mean if is_square and isinstance(element_of(mean.input), Float32Type) else None


def is_of_last(mean: MeanOp) -> bool:
    """Return whether a mean is over the last dimensions."""
    rank, axes = len(shape_of(mean.input)), sorted(mean.numbers)
    return axes == list(range(rank - len(axes), rank))


def not_below_zero(op: SubOp) -> ComputeOp:
    """Return the operation that alone reads a difference to make 0 of what is below, or it."""
    reader = op.result.get_user_of_unique_use()
    if not isinstance(reader, MaximumOp):
        return op
    known = constants_beside(op)(other(reader, op.result))
    is_zero = known is not None and bool((known == 0).all())
    return reader if is_zero and shape_of(reader.result) == shape_of(op.result) else op
