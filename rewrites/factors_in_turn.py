"""A difference that is multiplied by a product of a factor and constants is so one after the other.

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<4xf32>
    func.func @main(%x: !x, %m: !m, %r: !m) -> (!x, !x) {
      %c = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : !c
      %1 = memgraph.sub %x, %m : (!x, !m) -> !x
      %2 = memgraph.mul %r, %c : (!m, !c) -> !x
      %3 = memgraph.mul %1, %2 {memgraph.names = ["y"]} : (!x, !x) -> !x
      %4 = memgraph.sub %x, %m : (!x, !m) -> !x
      %5 = memgraph.mul %c, %r : (!c, !m) -> !x
      %6 = memgraph.mul %5, %4 activation<relu> : (!x, !x) -> !x
      func.return %3, %6 : !x, !x
    }
After:
    func.func @main(%x: !x, %m: !m, %r: !m) -> (!x, !x) {
      %c = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : !c
      %1 = memgraph.sub %x, %m : (!x, !m) -> !x
      %2 = memgraph.mul %1, %r : (!x, !m) -> !x
      %3 = memgraph.mul %2, %c {memgraph.names = ["y"]} : (!x, !c) -> !x
      %4 = memgraph.sub %x, %m : (!x, !m) -> !x
      %5 = memgraph.mul %4, %r : (!x, !m) -> !x
      %6 = memgraph.mul %5, %c activation<relu> : (!x, !c) -> !x
      func.return %3, %6 : !x, !x
    }

flax and haiku multiply one over the root of a variance by the scale first, which is a tensor of all
elements. As many products, each rounded once: the result is off by at most 2^-22 of it, where no
product is so small or large that float32 has it not.

Factors of which one has all elements, or of which none or each is constant; an activation of the
first product, or another reader; what is no difference of that shape; other reals:

Left alone:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<4xf32>
    !h = tensor<1x3x4xf16>
    !g = tensor<1x3x1xf16>
    func.func @main(%x: !x, %m: !m, %r: !m, %v: !c, %w: !x, %h: !h, %g: !g)
        -> (!x, !x, !x, !x, !x, !x, !h, !x, !x) {
      %c = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : !c
      %d = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf16>
      %1 = memgraph.sub %x, %m : (!x, !m) -> !x
      %2 = memgraph.mul %w, %c : (!x, !c) -> !x
      %3 = memgraph.mul %1, %2 : (!x, !x) -> !x
      %4 = memgraph.mul %r, %v : (!m, !c) -> !x
      %5 = memgraph.mul %1, %4 : (!x, !x) -> !x
      %6 = memgraph.mul %r, %c activation<relu> : (!m, !c) -> !x
      %7 = memgraph.mul %1, %6 : (!x, !x) -> !x
      %8 = memgraph.mul %r, %c : (!m, !c) -> !x
      %9 = memgraph.mul %1, %8 : (!x, !x) -> !x
      %10 = memgraph.mul %r, %c : (!m, !c) -> !x
      %11 = memgraph.mul %x, %10 : (!x, !x) -> !x
      %12 = memgraph.sub %h, %g : (!h, !g) -> !h
      %13 = memgraph.mul %g, %d : (!g, tensor<4xf16>) -> !h
      %14 = memgraph.mul %12, %13 : (!h, !h) -> !h
      %15 = memgraph.sub %m, %r : (!m, !m) -> !m
      %16 = memgraph.mul %r, %c : (!m, !c) -> !x
      %17 = memgraph.mul %15, %16 : (!m, !x) -> !x
      %e = memgraph.constant dense<[[[1.0], [2.0], [3.0]]]> : !m
      %18 = memgraph.mul %e, %c : (!m, !c) -> !x
      %19 = memgraph.mul %1, %18 : (!x, !x) -> !x
      func.return %3, %5, %7, %9, %8, %11, %14, %17, %19
        : !x, !x, !x, !x, !x, !x, !h, !x, !x
    }
"""

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import MulOp, SubOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.layer_normalization import made_by


class FactorsInTurn(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (MulOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp, rewriter: PatternRewriter) -> None:
        if not isinstance(element_of(op.result), Float32Type):
            return
        for value, product in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
            factors = factors_of(product)
            if factors is None or not is_difference(value, op):
                continue
            first = MulOp.create(operands=[value, factors[0]], result_types=[value.type])
            last = MulOp.create(
                operands=[first.result, factors[1]],
                result_types=[op.result.type],
                properties=op.properties,
            )
            for new in (first, last):
                new.location = op.location
                rewriter.insert(new, InsertPoint.before(op))
            self.derived(first, op)
            self.replaced(op, last, rewriter)
            erase_unread([product], rewriter.erase, product.owner.__eq__)
            return


def factors_of(value: SSAValue) -> tuple[SSAValue, SSAValue] | None:
    """Return a factor and the constants, each of fewer elements, that a product is of which nothing
    else reads; None if it is none."""
    op = made_by(value, MulOp)
    if op is None or not value.has_one_use():
        return None
    if any(elements_of(factor) == elements_of(value) for factor in op.operands):
        return None
    for factor, known in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if is_constant_expression(known, GENERIC) and not is_constant_expression(factor, GENERIC):
            return factor, known
    return None


def is_difference(value: SSAValue, op: MulOp) -> bool:
    """Return whether a factor of a product is a difference of its shape."""
    return made_by(value, SubOp) is not None and shape_of(value) == shape_of(op.result)
