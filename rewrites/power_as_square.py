"""A power of 2 that is known before run time is a square.

Before:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1xf32>
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<2.0> : !c
      %1 = memgraph.pow %x, %c {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %1 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<2.0> : !c
      %1 = memgraph.square %x {memgraph.names = ["y"]} : (!x) -> !x
      func.return %1 : !x
    }

Exact to the bit, for a power is the real one rounded, as far as a library rounds it well. Exporters
write the variance of a normalization so; `powf` takes 50 times as long, and kilobytes of flash.

Any other exponent says another function; and one may be computed, or make more of a base:

Left alone:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1xf32>
    !w = tensor<2xf32>
    !o = tensor<2x1x1x1xf32>
    !y = tensor<2x1x3x2xf32>
    func.func @main(%x: !x, %v: !c) -> (!x, !x, !x, !y) {
      %a = memgraph.constant dense<[2.0, 3.0]> : !w
      %1 = memgraph.pow %x, %a : (!x, !w) -> !x
      %b = memgraph.constant dense<0.5> : !c
      %2 = memgraph.pow %x, %b : (!x, !c) -> !x
      %3 = memgraph.pow %x, %v : (!x, !c) -> !x
      %d = memgraph.constant dense<2.0> : !o
      %4 = memgraph.pow %x, %d : (!x, !o) -> !y
      func.return %1, %2, %3, %4 : !x, !x, !x, !y
    }
"""

from xdsl.dialects.func import FuncOp
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.powers import PowOp
from memopt.dialects.operators.real_functions import SquareOp
from memopt.rewrites import FunctionRule


class PowerAsSquare(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (PowOp,)
    applied = "safe"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        powers = [
            op
            for op in body_of(func).ops
            if isinstance(op, PowOp)
            and op.lhs.type == op.result.type
            and is_constant_expression(op.rhs, GENERIC)
        ]
        if not powers:
            return False
        constants = constants_beside(func)
        squares = [op for op in powers if is_two(constants(op.rhs))]
        for op in squares:
            square = SquareOp.create(operands=[op.lhs], result_types=[op.result.type])
            rewriter.insert(square, InsertPoint.before(op))
            self.replaced(op, square, rewriter)
        return bool(squares)


def is_two(exponents: Array | None) -> bool:
    """Return whether each exponent is 2."""
    return exponents is not None and bool((exponents == 2).all())
