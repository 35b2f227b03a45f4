"""An operator of little work runs again for who reads it row by row after others read all of it.

Before:
    !x = tensor<1x4x2xf32>
    !w = tensor<2x2xf32>
    func.func @main(%x: !x) -> !x {
      %q = memgraph.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : !w
      %k = memgraph.constant dense<[[-1.0, 2.0], [0.5, 1.0]]> : !w
      %v = memgraph.constant dense<[[0.5, 2.0], [3.0, -1.0]]> : !w
      %1 = memgraph.tanh %x : (!x) -> !x
      %2 = memgraph.layer_normalization %1 axis 2 epsilon 1.0e-05 {memgraph.names = ["n"]}
             : (!x) -> !x
      %3 = memgraph.fully_connected %2, %q keep_dims : (!x, !w) -> !x
      %4 = memgraph.fully_connected %2, %k keep_dims : (!x, !w) -> !x
      %5 = memgraph.fully_connected %2, %v keep_dims : (!x, !w) -> !x
      %6 = memgraph.relu %3 : (!x) -> !x
      %7 = memgraph.relu %4 : (!x) -> !x
      %8 = memgraph.attention %6, %7, %5 heads 1 scale 1.0 : (!x, !x, !x) -> !x
      %9 = memgraph.add %1, %8 : (!x, !x) -> !x
      func.return %9 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %q = memgraph.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : !w
      %k = memgraph.constant dense<[[-1.0, 2.0], [0.5, 1.0]]> : !w
      %v = memgraph.constant dense<[[0.5, 2.0], [3.0, -1.0]]> : !w
      %1 = memgraph.tanh %x : (!x) -> !x
      %2 = memgraph.layer_normalization %1 axis 2 epsilon 1.0e-05 {memgraph.names = ["n"]}
             : (!x) -> !x
      %a = memgraph.layer_normalization %1 axis 2 epsilon 1.0e-05
             {memgraph.names = ["n_again"], memgraph.again} : (!x) -> !x
      %3 = memgraph.fully_connected %a, %q keep_dims : (!x, !w) -> !x
      %4 = memgraph.fully_connected %2, %k keep_dims : (!x, !w) -> !x
      %5 = memgraph.fully_connected %2, %v keep_dims : (!x, !w) -> !x
      %6 = memgraph.relu %3 : (!x) -> !x
      %7 = memgraph.relu %4 : (!x) -> !x
      %8 = memgraph.attention %6, %7, %5 heads 1 scale 1.0 : (!x, !x, !x) -> !x
      %9 = memgraph.add %1, %8 : (!x, !x) -> !x
      func.return %9 : !x
    }

Exact. Keys and values are there as a whole before the first query is answered, each query only
then; so the tensor that all three are made of would have to wait, or the queries. Beside what it is
made of, which waits for another reader anyway, a row of it is enough. It is computed twice; so the
rule is applied only where the least peak of rows falls.

What the caller gets is there as a whole, too:

Before:
    !x = tensor<1x4x2xf32>
    !w = tensor<2x2xf32>
    func.func @main(%x: !x) -> (!x, !x) {
      %w = memgraph.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : !w
      %1 = memgraph.tanh %x : (!x) -> !x
      %2 = memgraph.fully_connected %1, %w keep_dims : (!x, !w) -> !x
      %3 = memgraph.add %x, %1 : (!x, !x) -> !x
      func.return %2, %3 : !x, !x
    }
After:
    func.func @main(%x: !x) -> (!x, !x) {
      %w = memgraph.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : !w
      %1 = memgraph.tanh %x : (!x) -> !x
      %a = memgraph.tanh %x {memgraph.again} : (!x) -> !x
      %2 = memgraph.fully_connected %1, %w keep_dims : (!x, !w) -> !x
      %3 = memgraph.add %x, %a : (!x, !x) -> !x
      func.return %2, %3 : !x, !x
    }

Nobody else reads what it is made of; all readers are read as a whole; none of them is:

Left alone:
    !x = tensor<1x4x2xf32>
    !w = tensor<2x2xf32>
    func.func @main(%x: !x, %z: !x) -> (!x, !x, !x) {
      %w = memgraph.constant dense<[[1.0, 2.0], [0.5, -1.0]]> : !w
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.fully_connected %1, %w keep_dims : (!x, !w) -> !x
      %3 = memgraph.attention %2, %1, %1 heads 1 scale 1.0 : (!x, !x, !x) -> !x
      %4 = memgraph.relu %z : (!x) -> !x
      %5 = memgraph.tanh %4 : (!x) -> !x
      %6 = memgraph.attention %z, %5, %4 heads 1 scale 1.0 : (!x, !x, !x) -> !x
      %7 = memgraph.tanh %z : (!x) -> !x
      %8 = memgraph.add %7, %6 : (!x, !x) -> !x
      %9 = memgraph.sub %7, %6 : (!x, !x) -> !x
      func.return %3, %8, %9 : !x, !x, !x
    }
"""

from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Use
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.tensors import elements_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.rewrites import EVERY, Rule
from memopt.rewrites.equal_operators import AGAIN

CHEAP = 4
"""Multiplications for an element of what is computed twice, at most."""


class ComputedAgain(Rule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "search"
    virtual = True  # it is worth what it is in rows
    only_lower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if not is_cheap(op) or ALIAS in op.attributes or op.operands[0].has_one_use():
            return
        uses = list(op.results[0].uses)
        later = [use for use in uses if not is_read_whole(use)]
        if len(later) in (0, len(uses)) or not self.takes(op):
            return
        again = op.clone()
        again.location = op.location
        again.attributes[AGAIN] = UnitAttr()
        rewriter.insert(again, InsertPoint.after(op))
        if is_named(op.results[0]):
            rename(again, {0: f"{name_of(op.results[0])}_again"})
        for use in later:
            use.operation.operands[use.index] = again.results[0]
        self.derived(again, op)
        self.changed(again, rewriter)


def is_cheap(op: ComputeOp) -> bool:
    """Return whether an operation makes each row of one row of one tensor, with little work."""
    is_row_by_row = reads_one(op) and op.rows_needed(0, 0) == range(1)
    return is_row_by_row and op.macs() <= CHEAP * elements_of(op.results[0])


def reads_one(op: ComputeOp) -> bool:
    """Return whether only the first operand is not known before run time."""
    return all(is_constant_expression(v, GENERIC) for v in op.operands[1:])


def is_read_whole(use: Use) -> bool:
    """Return whether something needs all of a tensor at once, or of what is made of it alone, row
    by row."""
    waiting = [use]
    while waiting:
        reader, operand = waiting[-1].operation, waiting.pop().index
        if not isinstance(reader, ComputeOp) or reader.rows_needed(operand, 0) is None:
            return True
        if reads_one(reader) and reader.rows_mode != "part":
            waiting += reader.results[0].uses
    return False
