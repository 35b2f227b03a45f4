"""A transposition in which only dimensions of size 1 change places moves no byte: it is a reshape.

Before:
    func.func @main(%x: tensor<1x5x3xf32>) -> tensor<5x1x3xf32> {
      %1 = memgraph.transpose %x permutation [1, 0, 2] : (tensor<1x5x3xf32>) -> tensor<5x1x3xf32>
      func.return %1 : tensor<5x1x3xf32>
    }
After:
    func.func @main(%x: tensor<1x5x3xf32>) -> tensor<5x1x3xf32> {
      %1 = memgraph.reshape %x : (tensor<1x5x3xf32>) -> tensor<5x1x3xf32>
      func.return %1 : tensor<5x1x3xf32>
    }

Exact. Where others change places bytes do, and what is known before run time is no matter:

Left alone:
    func.func @main(%x: tensor<2x5x3xf32>) -> (tensor<5x2x3xf32>, tensor<2x1xf32>) {
      %1 = memgraph.transpose %x permutation [1, 0, 2] : (tensor<2x5x3xf32>) -> tensor<5x2x3xf32>
      %c = memgraph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
      %2 = memgraph.transpose %c permutation [1, 0] : (tensor<1x2xf32>) -> tensor<2x1xf32>
      func.return %1, %2 : tensor<5x2x3xf32>, tensor<2x1xf32>
    }
"""

from typing import ClassVar

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.reordering import keeps_bytes
from memopt.rewrites import Applied, Exact, Rule


class TransposeAsView(Rule):
    """The rule above."""

    exact: ClassVar[Exact] = "bits"
    applied: ClassVar[Applied] = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        order = [int(v) for v in op.permutation.get_values()]
        if not keeps_bytes(op.input, order) or is_constant_expression(op.result, GENERIC):
            return
        reshape = ReshapeOp.create(operands=[op.input], result_types=[op.result.type])
        reshape.location = op.location
        rewriter.insert(reshape, InsertPoint.before(op))
        self.replaced(op, reshape, rewriter)
