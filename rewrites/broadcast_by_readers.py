"""A broadcast tensor is read as it was before by operators that broadcast.

Exporters of jax, and of PyTorch by dynamo, write down each broadcast.

Before:
    !x = tensor<1x3x4xf32>
    !m = tensor<1x3x1xf32>
    !c = tensor<4xf32>
    func.func @main(%x: !x, %m: !m, %c: !c) -> (!x, !x) {
      %1 = memgraph.strided %m start 0 sizes [3, 4] steps [1, 0] : (!m) -> !x
      %2 = memgraph.sub %x, %1 {memgraph.names = ["y"]} : (!x, !x) -> !x
      %3 = memgraph.strided %c start 0 sizes [3, 4] steps [0, 1] : (!c) -> !x
      %4 = memgraph.mul %3, %2 : (!x, !x) -> !x
      func.return %2, %4 : !x, !x
    }
After:
    func.func @main(%x: !x, %m: !m, %c: !c) -> (!x, !x) {
      %2 = memgraph.sub %x, %m {memgraph.names = ["y"]} : (!x, !m) -> !x
      %4 = memgraph.mul %c, %2 : (!c, !x) -> !x
      func.return %2, %4 : !x, !x
    }

Exact to the bit: each element is made of the same two numbers.

What is repeated in another way than operators broadcast; an operator of which no operand would have
the result's shape; integers; images beside tensors that are none; a copy of as many elements; what
has more dimensions:

Left alone:
    !x = tensor<1x2x4xf32>
    !c = tensor<1x1x2xf32>
    !i = tensor<1x2x4xi32>
    !j = tensor<4xi32>
    !l = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !d = tensor<2xf32>
    !u = tensor<1x1x1x4xf32>
    func.func @main(%x: !x, %c: !c, %r: !x, %i: !i, %j: !j, %l: !l, %d: !d, %u: !u)
        -> (!x, !x, !i, !l, !x, !x, !x) {
      %1 = memgraph.strided %c start 0 sizes [2, 2, 2] steps [0, 1, 0] : (!c) -> !x
      %2 = memgraph.sub %x, %1 : (!x, !x) -> !x
      %e = memgraph.reshape %c : (!c) -> tensor<1x2x1xf32>
      %3 = memgraph.strided %e start 0 sizes [2, 4] steps [1, 0] : (tensor<1x2x1xf32>) -> !x
      %4 = memgraph.mul %3, %e : (!x, tensor<1x2x1xf32>) -> !x
      %5 = memgraph.strided %j start 0 sizes [2, 4] steps [0, 1] : (!j) -> !i
      %6 = memgraph.add %i, %5 : (!i, !i) -> !i
      %7 = memgraph.strided %d start 0 sizes [4, 2] steps [0, 1] : (!d) -> !l
      %8 = memgraph.add %l, %7 : (!l, !l) -> !l
      %9 = memgraph.strided %r start 0 sizes [8] steps [1] : (!x) -> !x
      %10 = memgraph.add %x, %9 : (!x, !x) -> !x
      %11 = memgraph.strided %e start 0 sizes [4, 2] steps [0, 1] : (tensor<1x2x1xf32>) -> !x
      %12 = memgraph.add %x, %11 : (!x, !x) -> !x
      %13 = memgraph.strided %u start 0 sizes [2, 4] steps [0, 1] : (!u) -> !x
      %14 = memgraph.add %x, %13 : (!x, !x) -> !x
      func.return %2, %4, %6, %8, %10, %12, %14 : !x, !x, !i, !l, !x, !x, !x
    }
"""

from xdsl.dialects.builtin import Float32Type
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.memgraph.tensors import elements_of, encoding_of, shape_of
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.strided import StridedOp
from memopt.rewrites import Rule, erase_unread


class BroadcastByReaders(Rule):
    """The rule above."""

    exact = "bits"
    needs = (StridedOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryOp, rewriter: PatternRewriter) -> None:
        for k, value in enumerate(op.operands):
            source = before_broadcast(value)
            if source is None:
                continue
            shapes = shape_of(source), shape_of(op.operands[1 - k])
            if np.broadcast_shapes(*shapes) == shape_of(op.result):
                op.operands[k] = source
                self.changed(op, rewriter)
                erase_unread([value], rewriter.erase, value.owner.__eq__)
                return


def before_broadcast(value: SSAValue) -> SSAValue | None:
    """Return the value of float32 that another one repeats as numpy does, None if it does not."""
    op = value.owner
    if not isinstance(op, StridedOp) or not isinstance(element_of(value), Float32Type):
        return None
    source, shape = op.input, shape_of(value)
    if encoding_of(source) != encoding_of(value) or elements_of(source) == elements_of(value):
        return None
    own = shape_of(source)
    ones = (1,) * (len(shape) - len(own)) + own
    if len(ones) > len(shape) or any(n not in (1, m) for n, m in zip(ones, shape, strict=True)):
        return None
    index = np.arange(elements_of(source)).reshape(own)
    return (
        source if np.array_equal(op.evaluate([index])[0], np.broadcast_to(index, shape)) else None
    )
