"""A batch normalization by constants is a product and a sum, with a constant of each channel.

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<2xf32>
    func.func @main(%x: !x) -> !x {
      %scale = memgraph.constant dense<[2.0, -1.0]> : !c
      %shift = memgraph.constant dense<[0.5, 1.0]> : !c
      %mean = memgraph.constant dense<[0.25, -3.0]> : !c
      %variance = memgraph.constant dense<[4.0, 0.5]> : !c
      %1 = memgraph.batch_normalization %x, %scale, %shift, %mean, %variance epsilon 1.0e-05
             {memgraph.names = ["y"]} : (!x, !c, !c, !c, !c) -> !x
      func.return %1 : !x
    }
After:
    !w = tensor<2x1x1xf32>
    func.func @main(%x: !x) -> !x {
      %scale = memgraph.constant dense<[2.0, -1.0]> : !c
      %shift = memgraph.constant dense<[0.5, 1.0]> : !c
      %mean = memgraph.constant dense<[0.25, -3.0]> : !c
      %variance = memgraph.constant dense<[4.0, 0.5]> : !c
      %f, %t = memgraph.normalization_terms %scale, %shift, %mean, %variance epsilon 1.0e-05
             : (!c, !c, !c, !c) -> (!c, !c)
      %fw = memgraph.reshape %f : (!c) -> !w
      %1 = memgraph.mul %x, %fw : (!x, !w) -> !x
      %tw = memgraph.reshape %t : (!c) -> !w
      %2 = memgraph.add %1, %tw {memgraph.names = ["y"]} : (!x, !w) -> !x
      func.return %2 : !x
    }

There are kernels for these, and what makes the operand can take them (`constants-into-weights`).
Reals are rounded elsewhere: with a factor f and a term t the result of an x is off by at most
2^-22 (|f x| + |t|), as each of f, t, product and sum is rounded once.

Of a matrix the constants are rows as they are:

Before:
    !x = tensor<3x2xf32>
    !c = tensor<2xf32>
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[2.0, 1.0]> : !c
      %1 = memgraph.batch_normalization %x, %c, %c, %c, %c epsilon 0.0 : (!x, !c, !c, !c, !c) -> !x
      func.return %1 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %c = memgraph.constant dense<[2.0, 1.0]> : !c
      %f, %t = memgraph.normalization_terms %c, %c, %c, %c epsilon 0.0
             : (!c, !c, !c, !c) -> (!c, !c)
      %1 = memgraph.mul %x, %f : (!x, !c) -> !x
      %2 = memgraph.add %1, %t : (!x, !c) -> !x
      func.return %2 : !x
    }

Numbers that only the run time knows, be it one of the four; and other reals than of 32 bits:

Left alone:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<2xf32>
    !h = tensor<1x2x3x3xf16, #memgraph.encoding<nchw>>
    !d = tensor<2xf16>
    func.func @main(%x: !x, %v: !c, %h: !h) -> (!x, !x, !x, !x, !h) {
      %c = memgraph.constant dense<1.0> : !c
      %d = memgraph.constant dense<1.0> : !d
      %1 = memgraph.batch_normalization %x, %v, %c, %c, %c epsilon 0.0 : (!x, !c, !c, !c, !c) -> !x
      %2 = memgraph.batch_normalization %x, %c, %v, %c, %c epsilon 0.0 : (!x, !c, !c, !c, !c) -> !x
      %3 = memgraph.batch_normalization %x, %c, %c, %v, %c epsilon 0.0 : (!x, !c, !c, !c, !c) -> !x
      %4 = memgraph.batch_normalization %x, %c, %c, %c, %v epsilon 0.0 : (!x, !c, !c, !c, !c) -> !x
      %5 = memgraph.batch_normalization %h, %d, %d, %d, %d epsilon 0.0 : (!h, !d, !d, !d, !d) -> !h
      func.return %1, %2, %3, %4, %5 : !x, !x, !x, !x, !h
    }
"""

from xdsl.dialects.builtin import Float32Type, TensorType, f32
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import AddOp, MulOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.normalization import BatchNormalizationOp, NormalizationTermsOp
from memopt.rewrites import Rule


class NormalizationAsProduct(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (BatchNormalizationOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BatchNormalizationOp, rewriter: PatternRewriter) -> None:
        if not all(isinstance(element_of(v), Float32Type) for v in (*op.operands, op.result)):
            return
        statistics = op.operands[1:]
        if not all(is_constant_expression(v, GENERIC) for v in statistics):
            return

        def inserted(new: Operation) -> Operation:
            rewriter.insert(new, InsertPoint.before(op))
            return new

        def beside(value: SSAValue) -> SSAValue:
            """Numbers of each channel, as they stand beside the operand."""
            wide = [shape_of(value)[0], *(1,) * (len(shape_of(op.input)) - 2)]
            if len(wide) == 1:
                return value
            reshape = ReshapeOp.create(operands=[value], result_types=[TensorType(f32, wide)])
            return inserted(reshape).results[0]

        numbers = TensorType(f32, shape_of(op.scale))
        terms = NormalizationTermsOp.create(
            operands=statistics, result_types=[numbers, numbers], properties={"epsilon": op.epsilon}
        )
        factor, term = inserted(terms).results
        product = MulOp.create(operands=[op.input, beside(factor)], result_types=[op.result.type])
        self.derived(product, op)
        inserted(product)
        total = AddOp.create(operands=[product.result, beside(term)], result_types=[op.result.type])
        self.replaced(op, inserted(total), rewriter)
