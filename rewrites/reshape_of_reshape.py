"""A reshape of a reshape is one of what that reshapes, or nothing where it has the shape again.

Before:
    !x = tensor<1x6x2xf32>
    !y = tensor<6x1x2xf32>
    !f = tensor<12xf32>
    func.func @main(%x: !x) -> (!f, !x, !x) {
      %1 = memgraph.reshape %x : (!x) -> !y
      %2 = memgraph.reshape %1 {memgraph.names = ["a"]} : (!y) -> !f
      %3 = memgraph.relu %2 : (!f) -> !f
      %4 = memgraph.reshape %1 : (!y) -> !x
      %5 = memgraph.relu %4 : (!x) -> !x
      %6 = memgraph.reshape %1 {memgraph.names = ["b"]} : (!y) -> !x
      func.return %3, %5, %6 : !f, !x, !x
    }
After:
    func.func @main(%x: !x) -> (!f, !x, !x) {
      %1 = memgraph.reshape %x {memgraph.names = ["a"]} : (!x) -> !f
      %2 = memgraph.relu %1 : (!f) -> !f
      %3 = memgraph.relu %x : (!x) -> !x
      %4 = memgraph.reshape %x {memgraph.names = ["b"]} : (!x) -> !x
      func.return %2, %3, %4 : !f, !x, !x
    }

Exact: no byte moves. So rows of a tensor stay rows where only a shape between has others. What is
reshaped once stays, and what the caller gets back keeps its name:

Left alone:
    !x = tensor<1x6x2xf32>
    !y = tensor<6x1x2xf32>
    func.func @main(%x: !x, %y: !y) -> (!y, !x) {
      %1 = memgraph.reshape %x : (!x) -> !y
      %2 = memgraph.relu %1 : (!y) -> !y
      %3 = memgraph.relu %y : (!y) -> !y
      %4 = memgraph.reshape %3 : (!y) -> !x
      func.return %2, %4 : !y, !x
    }
"""

from xdsl.dialects.func import ReturnOp
from xdsl.ir import OpResult
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.operators.movement import ReshapeOp
from memopt.rewrites import Rule, erase_unread


class ReshapeOfReshape(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ReshapeOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        before = op.input.op if isinstance(op.input, OpResult) else None
        if not isinstance(before, ReshapeOp):
            return
        self.changed(op, rewriter)
        returned = any(isinstance(use.operation, ReturnOp) for use in op.result.uses)
        if before.input.type == op.result.type and not returned:
            rewriter.replace(op, [], [before.input])
        else:
            op.operands[0] = before.input
        erase_unread([before.result], rewriter.erase, lambda maker: maker is before)
