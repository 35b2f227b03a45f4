"""A division by powers of two that are known before run time is a multiplication.

Before:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<2xf32>
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[4.0, -0.125]> : !c
      %1 = memgraph.div %x, %c activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %1 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[4.0, -0.125]> : !c
      %r = memgraph.reciprocal %c : (!c) -> !c
      %1 = memgraph.mul %x, %r activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %1 : !x
    }

Exact to the bit: the reciprocal of a power of two is one, and quotient and product are the same
real number, which is rounded once. Processors multiply in a cycle or few, and divide in many (on a
Cortex-M4 VMUL.F32 takes 1, VDIV.F32 14: ARM 100166, "FPU instruction set").

Any other divisor has no such reciprocal, which would be rounded first; also one of which either is
not normal, for processors may take it for 0; what is known is divided, or only the run time knows:

Left alone:
    !x = tensor<1x1x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<2xf32>
    !o = tensor<1xf32>
    func.func @main(%x: !x, %v: !c) -> (!x, !x, !x, !x, !x, !x) {
      %a = memgraph.constant dense<[4.0, 3.0]> : !c
      %1 = memgraph.div %x, %a : (!x, !c) -> !x
      %b = memgraph.constant dense<1.70141183e+38> : !o
      %2 = memgraph.div %x, %b : (!x, !o) -> !x
      %c = memgraph.constant dense<5.87747175e-39> : !o
      %3 = memgraph.div %x, %c : (!x, !o) -> !x
      %d = memgraph.constant dense<0.0> : !o
      %4 = memgraph.div %x, %d : (!x, !o) -> !x
      %5 = memgraph.div %d, %x : (!o, !x) -> !x
      %6 = memgraph.div %x, %v : (!x, !c) -> !x
      func.return %1, %2, %3, %4, %5, %6 : !x, !x, !x, !x, !x, !x
    }
"""

from xdsl.dialects.builtin import Float32Type
from xdsl.dialects.func import FuncOp
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.stored import Array, element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import DivOp, MulOp
from memopt.dialects.operators.constants import ReciprocalOp
from memopt.rewrites import FunctionRule


class DivisionAsProduct(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (DivOp,)
    applied = "safe"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        divisions = [
            op
            for op in body_of(func).ops
            if isinstance(op, DivOp)
            and all(isinstance(element_of(v), Float32Type) for v in (*op.operands, op.result))
            and is_constant_expression(op.rhs, GENERIC)
        ]
        if not divisions:
            return False
        constants = constants_beside(func)
        replaceable = [op for op in divisions if are_powers_of_two(constants(op.rhs))]
        for op in replaceable:
            self.multiply(op, rewriter)
        return bool(replaceable)

    def multiply(self, op: DivOp, rewriter: PatternRewriter) -> None:
        one_over = ReciprocalOp.create(operands=[op.rhs], result_types=[op.rhs.type])
        product = MulOp.create(
            operands=[op.lhs, one_over.result],
            result_types=[op.result.type],
            properties=dict(op.properties),
        )
        rewriter.insert([one_over, product], InsertPoint.before(op))
        self.replaced(op, product, rewriter)


def are_powers_of_two(divisors: Array | None) -> bool:
    """Return whether each divisor is a power of two that is a normal number of float32, as its
    reciprocal."""
    import numpy as np

    if divisors is None:
        return False
    mantissas, exponents = np.frexp(divisors)  # 2**-126 is 0.5 * 2**-125, the least that is normal
    halves = np.isfinite(divisors) & (abs(mantissas) == 0.5)
    return bool((halves & (abs(exponents - 1) <= 126)).all())
