"""An operator of whose results nobody reads any, nor anything made of them, is not computed.

Before:
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %1 = memgraph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
      %2 = memgraph.add %1, %x : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %3, %4 = memgraph.split %2 axis 0 : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %c = memgraph.constant dense<2.0> : tensor<4xf32>
      %5 = memgraph.add %3, %c : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      func.return %1 : tensor<8xf32>
    }
After:
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
      %1 = memgraph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
      func.return %1 : tensor<8xf32>
    }

The least peak does not rise: in any order, without the operator, each tensor is there in no more
steps. But an argument that nobody reads any more is there in the first step, whatever runs first:
what reads one that others do not is left alone, with what it reads and what reads it. So is what
has one result that is read, and operators of which nobody knows what else they do:

Left alone:
    func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32>) -> tensor<4xf32> {
      %1, %2 = memgraph.split %x axis 0 : (tensor<8xf32>) -> (tensor<4xf32>, tensor<4xf32>)
      %3 = memgraph.opaque "Print"(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %4 = memgraph.relu %x : (tensor<8xf32>) -> tensor<8xf32>
      %5 = memgraph.add %4, %y : (tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
      %6 = memgraph.tanh %5 : (tensor<8xf32>) -> tensor<8xf32>
      func.return %1 : tensor<4xf32>
    }
"""

from collections.abc import Iterable, Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult
from xdsl.pattern_rewriter import PatternRewriter

from memopt.dialects.memgraph.functions import body_of, read_values
from memopt.dialects.operators.base import ComputeOp
from memopt.rewrites import EVERY, FunctionRule, erase_unread


class DeadOperators(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "safe"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        dead = dead_operators(func)
        for op in reversed(dead):
            self.changed(op, rewriter)
            operands = list(op.operands)
            rewriter.erase(op)
            erase_unread(operands, rewriter.erase, lambda o: not isinstance(o, ComputeOp))
        return bool(dead)


def dead_operators(func: FuncOp) -> list[Operation]:
    """The operators that the rule erases, in block order."""
    block = body_of(func)
    operations = list(block.ops)
    needed = _read_by(operations, [op for op in operations if not isinstance(op, ComputeOp)])
    returned = _read_by(operations, [op for op in operations if not op.results])
    dead = [op for op in operations if op not in needed]
    alone = {a for a in block.args if not any(use.operation in returned for use in a.uses)}
    spared: set[Operation] = set()
    for op in dead:  # what reads such an argument, and what reads that
        if any(v in alone or v.owner in spared for v in op.operands):
            spared.add(op)
    for op in reversed(dead):  # and what those read
        if op in spared:
            spared.update(v.op for v in op.operands if isinstance(v, OpResult))
    return [op for op in dead if op not in spared]


def _read_by(operations: Sequence[Operation], readers: Iterable[Operation]) -> set[Operation]:
    """The readers, and what makes what they read."""
    needed = set(readers)
    for op in reversed(operations):
        if op in needed:
            needed.update(v.op for v in read_values(op) if isinstance(v, OpResult))
    return needed
