"""A ReLU of a ReLU is the first one.

Before:
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %1 = memgraph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      %2 = memgraph.relu %1 : (tensor<4xf32>) -> tensor<4xf32>
      func.return %2 : tensor<4xf32>
    }
After:
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %1 = memgraph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<4xf32>
    }

Not that of a ReLU6, which is no bound for the first one.

Left alone:
    func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
      %1 = memgraph.relu %x : (tensor<4xf32>) -> tensor<4xf32>
      %2 = memgraph.relu6 %1 : (tensor<4xf32>) -> tensor<4xf32>
      func.return %2 : tensor<4xf32>
    }
"""

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.operators.unary import ReluOp
from memopt.rewrites import Rule


class ReluTwice(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ReluOp,)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReluOp, rewriter: PatternRewriter) -> None:
        first = op.input.owner
        if isinstance(first, ReluOp) and op.input.type == op.result.type:
            rewriter.replace(op, [], [op.input])
