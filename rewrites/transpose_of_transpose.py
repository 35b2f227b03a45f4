"""A transposition of a transposition is one, of what that transposes.

Before:
    !x = tensor<1x4x5x2xf32>
    func.func @main(%x: !x) -> tensor<1x4x2x5xf32> {
      %1 = memgraph.transpose %x permutation [0, 3, 1, 2] : (!x) -> tensor<1x2x4x5xf32>
      %2 = memgraph.transpose %1 permutation [0, 2, 1, 3] {memgraph.names = ["y"]}
             : (tensor<1x2x4x5xf32>) -> tensor<1x4x2x5xf32>
      func.return %2 : tensor<1x4x2x5xf32>
    }
After:
    func.func @main(%x: !x) -> tensor<1x4x2x5xf32> {
      %1 = memgraph.transpose %x permutation [0, 1, 3, 2] {memgraph.names = ["y"]}
             : (!x) -> tensor<1x4x2x5xf32>
      func.return %1 : tensor<1x4x2x5xf32>
    }

Exact: each element is moved once. Where the first is read by others too it stays, and both move all
elements, as before:

Left alone:
    !x = tensor<4x5x2xf32>
    !y = tensor<2x4x5xf32>
    func.func @main(%x: !x) -> (tensor<4x2x5xf32>, !y) {
      %1 = memgraph.transpose %x permutation [2, 0, 1] : (!x) -> !y
      %2 = memgraph.transpose %1 permutation [1, 0, 2] : (!y) -> tensor<4x2x5xf32>
      %3 = memgraph.relu %1 : (!y) -> !y
      func.return %2, %3 : tensor<4x2x5xf32>, !y
    }
"""

from xdsl.ir import OpResult
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.quick import numbers
from memopt.dialects.operators.movement import TransposeOp
from memopt.rewrites import Rule


class TransposeOfTranspose(Rule):
    """The rule above."""

    exact = "bits"
    needs = (TransposeOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        before = op.input.op if isinstance(op.input, OpResult) else None
        if not isinstance(before, TransposeOp) or not before.result.has_one_use():
            return
        first, second = (
            [int(v) for v in transpose.permutation.get_values()] for transpose in (before, op)
        )
        op.properties["permutation"] = numbers([first[dimension] for dimension in second])
        op.operands[0] = before.input
        rewriter.erase(before)
        self.changed(op, rewriter)
