"""Elements at one index that is known before run time are a slice.

Before:
    !x = tensor<2x5x3xf32>
    func.func @main(%x: !x) -> tensor<2x3xf32> {
      %i = memgraph.constant dense<-1> : tensor<i64>
      %1 = memgraph.gather_along %x, %i axis 1 from_end {memgraph.names = ["y"]}
             : (!x, tensor<i64>) -> tensor<2x3xf32>
      func.return %1 : tensor<2x3xf32>
    }
After:
    func.func @main(%x: !x) -> tensor<2x3xf32> {
      %i = memgraph.constant dense<-1> : tensor<i64>
      %1 = memgraph.slice %x starts [0, 4, 0] strides [1, 1, 1] : (!x) -> tensor<2x1x3xf32>
      %2 = memgraph.reshape %1 {memgraph.names = ["y"]} : (tensor<2x1x3xf32>) -> tensor<2x3xf32>
      func.return %2 : tensor<2x3xf32>
    }

Exact: the same elements. Not of several indices, of some that only the run time knows, or of what
is known itself:

Left alone:
    !x = tensor<2x5x3xf32>
    func.func @main(%x: !x, %i: tensor<i64>) -> (tensor<2x2x3xf32>, tensor<2x3xf32>, tensor<f32>) {
      %c = memgraph.constant dense<[1, 4]> : tensor<2xi64>
      %1 = memgraph.gather_along %x, %c axis 1 : (!x, tensor<2xi64>) -> tensor<2x2x3xf32>
      %2 = memgraph.gather_along %x, %i axis 1 : (!x, tensor<i64>) -> tensor<2x3xf32>
      %t = memgraph.constant dense<[1.0, 2.0]> : tensor<2xf32>
      %j = memgraph.constant dense<1> : tensor<i64>
      %3 = memgraph.gather_along %t, %j axis 0 : (tensor<2xf32>, tensor<i64>) -> tensor<f32>
      func.return %1, %2, %3 : tensor<2x2x3xf32>, tensor<2x3xf32>, tensor<f32>
    }
"""

from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import AnyTensor, elements_of, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.gathering import GatherAlongOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.slices import SliceOp
from memopt.rewrites import FunctionRule


class GatherAsSlice(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (GatherAlongOp,)
    applied = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        known = [op for op in body_of(func).ops if isinstance(op, GatherAlongOp) and is_known(op)]
        if not known:
            return False
        constants = constants_beside(func)
        for op in known:
            index = constants(op.indices)
            assert index is not None
            self.take(op, int(op.places(index).item()), rewriter)
        return True

    def take(self, op: GatherAlongOp, index: int, rewriter: PatternRewriter) -> None:
        """Put a slice at that index in place of the operation."""
        shape, axis = shape_of(op.input), op.axis.value.data
        at = min(max(index, 0), shape[axis] - 1)
        starts = [at if d == axis else 0 for d in range(len(shape))]
        sizes = [1 if d == axis else n for d, n in enumerate(shape)]
        kind = TensorType(element_of(op.input), sizes, cast("AnyTensor", op.input.type).encoding)
        properties = {"starts": numbers(starts), "strides": numbers([1] * len(shape))}
        part = SliceOp.create(operands=[op.input], result_types=[kind], properties=properties)
        view = ReshapeOp.create(operands=[part.result], result_types=[op.result.type])
        for new in (part, view):
            new.location = op.location
            rewriter.insert(new, InsertPoint.before(op))
        self.replaced(op, view, rewriter)


def is_known(op: GatherAlongOp) -> bool:
    """Return whether a run-time tensor is read at one index that is known before."""
    one = elements_of(op.indices) == 1 and is_constant_expression(op.indices, GENERIC)
    return one and not is_constant_expression(op.input, GENERIC)
