"""Queries and keys that are turned by their places are turned before they are split into heads.

Rotary positions come behind the transposition that puts heads first. What is computed of each place
by itself may come before it, place by place: then `products-as-attention` sees the products, and a
row is a place of all heads.

Before:
    !x = tensor<1x3x2x4xf32>
    !h = tensor<1x2x3x4xf32>
    !p = tensor<1x2x3x2xf32>
    !c = tensor<1x1x3x4xf32>
    !s = tensor<3x4xf32>
    func.func @main(%x: !x) -> (!h, !h) {
      %c = memgraph.constant dense<5.0e-01> : !c
      %s = memgraph.constant dense<2.5e-01> : !s
      %k = memgraph.constant dense<2.0> : tensor<f32>
      %1 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %2 = memgraph.slice %1 starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!h) -> !p
      %3 = memgraph.slice %1 starts [0, 0, 0, 2] strides [1, 1, 1, 1] : (!h) -> !p
      %4 = memgraph.neg %3 : (!p) -> !p
      %5 = memgraph.concat %4, %2 axis 3 : (!p, !p) -> !h
      %6 = memgraph.mul %1, %c : (!h, !c) -> !h
      %7 = memgraph.mul %5, %s : (!h, !s) -> !h
      %8 = memgraph.add %6, %7 {memgraph.names = ["q"]} : (!h, !h) -> !h
      %9 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %10, %11 = memgraph.split %9 axis 3 : (!h) -> (!p, !p)
      %12 = memgraph.mul %11, %k : (!p, tensor<f32>) -> !p
      %13 = memgraph.concat %12, %10 axis 3 : (!p, !p) -> !h
      func.return %8, %13 : !h, !h
    }
After:
    !q = tensor<1x3x2x2xf32, #memgraph.encoding<>>
    !y = tensor<1x3x2x4xf32, #memgraph.encoding<>>
    !d = tensor<1x3x1x4xf32, #memgraph.encoding<>>
    !t = tensor<1x1x3x4xf32, #memgraph.encoding<>>
    func.func @main(%x: !x) -> (!h, !h) {
      %c = memgraph.constant dense<5.0e-01> : !c
      %s = memgraph.constant dense<2.5e-01> : !s
      %k = memgraph.constant dense<2.0> : tensor<f32>
      %1 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!x) -> !q
      %2 = memgraph.slice %x starts [0, 0, 0, 2] strides [1, 1, 1, 1] : (!x) -> !q
      %3 = memgraph.neg %2 : (!q) -> !q
      %4 = memgraph.concat %3, %1 axis 3 : (!q, !q) -> !y
      %5 = memgraph.transpose %c permutation [0, 2, 1, 3] : (!c) -> !d
      %6 = memgraph.mul %x, %5 : (!x, !d) -> !y
      %7 = memgraph.reshape %s : (!s) -> !t
      %8 = memgraph.transpose %7 permutation [0, 2, 1, 3] : (!t) -> !d
      %9 = memgraph.mul %4, %8 : (!y, !d) -> !y
      %10 = memgraph.add %6, %9 : (!y, !y) -> !y
      %11 = memgraph.transpose %10 permutation [0, 2, 1, 3] {memgraph.names = ["q"]} : (!y) -> !h
      %12, %13 = memgraph.split %x axis 3 : (!x) -> (!q, !q)
      %14 = memgraph.mul %13, %k : (!q, tensor<f32>) -> !q
      %15 = memgraph.concat %14, %12 axis 3 : (!q, !q) -> !y
      %16 = memgraph.transpose %15 permutation [0, 2, 1, 3] : (!y) -> !h
      func.return %11, %16 : !h, !h
    }

Exact: the same elements of the same ones. Left alone is what nothing is taken apart and joined for,
what is made of two transpositions, or of one of other dimensions, or of something that is computed,
what is read elsewhere too, and what comes after an operation that looks at all places:

Left alone:
    !x = tensor<1x3x2x4xf32>
    !h = tensor<1x2x3x4xf32>
    !p = tensor<1x2x3x2xf32>
    !g = tensor<1x4x3x2xf32>
    !f = tensor<1x4x3x4xf32>
    !u = tensor<1x2x3x6xf32>
    !v = tensor<1x1x2x3x4xf32>
    !w = tensor<1x1x2x3x8xf32>
    func.func @main(%x: !x, %z: !x, %p: !p) -> (!h, !h, !f, !u, !h, !h, !p, !h, !h, !w) {
      %1 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %2 = memgraph.relu %1 : (!h) -> !h
      %3 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %4 = memgraph.transpose %z permutation [0, 2, 1, 3] : (!x) -> !h
      %5, %6 = memgraph.split %3 axis 3 : (!h) -> (!p, !p)
      %7, %8 = memgraph.split %4 axis 3 : (!h) -> (!p, !p)
      %9 = memgraph.concat %5, %8 axis 3 : (!p, !p) -> !h
      %10 = memgraph.concat %6, %7 axis 3 : (!p, !p) -> !h
      %11 = memgraph.add %9, %10 : (!h, !h) -> !h
      %12 = memgraph.transpose %x permutation [0, 3, 1, 2] : (!x) -> !g
      %13 = memgraph.concat %12, %12 axis 3 : (!g, !g) -> !f
      %14 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %15, %16 = memgraph.split %14 axis 3 : (!h) -> (!p, !p)
      %17 = memgraph.concat %16, %p axis 3 : (!p, !p) -> !h
      %18 = memgraph.concat %15, %17 axis 3 : (!p, !h) -> !u
      %19 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %20, %21 = memgraph.split %19 axis 3 : (!h) -> (!p, !p)
      %22 = memgraph.concat %21, %20 axis 3 : (!p, !p) -> !h
      %23 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %24, %25 = memgraph.split %23 axis 3 : (!h) -> (!p, !p)
      %26 = memgraph.concat %25, %24 axis 3 : (!p, !p) -> !h
      %27 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %28 = memgraph.softmax %27 axis 3 beta 1.0 : (!h) -> !h
      %29, %30 = memgraph.split %28 axis 3 : (!h) -> (!p, !p)
      %31 = memgraph.concat %30, %29 axis 3 : (!p, !p) -> !h
      %c = memgraph.constant dense<2.0> : tensor<1x1x1x1x1xf32>
      %32 = memgraph.transpose %x permutation [0, 2, 1, 3] : (!x) -> !h
      %33 = memgraph.mul %32, %c : (!h, tensor<1x1x1x1x1xf32>) -> !v
      %34 = memgraph.concat %33, %33 axis 4 : (!v, !v) -> !w
      func.return %2, %11, %13, %18, %19, %22, %24, %26, %31, %34
        : !h, !h, !f, !u, !h, !h, !p, !h, !h, !w
    }
"""

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.tensors import elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.reordering import reordered_type
from memopt.dialects.operators.traits import Concatenates, Cuts, Pointwise
from memopt.rewrites import NAMES, Rule

HEADS = (0, 2, 1, 3)
"""Heads in the place of places, and places in that of heads again."""


class RotationBeforeHeads(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Concatenates,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        source, steps = rotation(op)
        if source is None or op.parent is None:
            return
        by_place = dict[SSAValue, SSAValue]({source.result: source.input})
        in_order = [each for each in op.parent.ops if isinstance(each, ComputeOp) and each in steps]
        for step in in_order:
            new = type(step).create(
                operands=[by_place.get(v) or constant(v, op, rewriter) for v in step.operands],
                result_types=[reordered_type(r, HEADS, "") for r in step.results],
                properties=dict(step.reordered(HEADS) or {}),
                attributes={k: v for k, v in step.attributes.items() if k not in NAMES},
            )
            new.location = step.location
            rewriter.insert(new, InsertPoint.before(op))
            self.changed(new, rewriter)
            by_place |= zip(step.results, new.results, strict=True)
        result = op.results[0]
        self.replaced(op, transposed(by_place[result], result.type, op, rewriter), rewriter)
        for step in (*reversed(in_order[:-1]), source):
            rewriter.erase(step)


def rotation(last: ComputeOp) -> tuple[TransposeOp | None, set[ComputeOp]]:
    """Return the transposition that puts heads first, and all that is computed of its result alone
    up to `last`, with a concatenation in it; None where something else is read, or reads of it."""
    steps, waiting, sources = {last}, [last], set[TransposeOp]()
    while waiting:
        op = waiting.pop()
        if not is_by_place(op):
            return None, set()
        makers = [v.owner for v in op.operands if not is_constant_expression(v, GENERIC)]
        for maker in makers:
            if isinstance(maker, TransposeOp):
                sources.add(maker)
            elif not isinstance(maker, ComputeOp):
                return None, set()
            elif maker not in steps:
                steps.add(maker)
                waiting.append(maker)
    inside = (r for op in (*sources, *steps) if op is not last for r in op.results)
    is_read_here = all(use.operation in steps for r in inside for use in r.uses)
    source = sources.pop() if len(sources) == 1 else None
    if source is None or not is_read_here or len(last.results) > 1:
        return None, set()
    is_of_heads = tuple(source.permutation.get_values()) == HEADS
    joins = any(op.has_trait(Concatenates) for op in steps)
    return (source, steps) if is_of_heads and joins else (None, set())


def is_by_place(op: ComputeOp) -> bool:
    """Return whether an operation may work on other dimensions: it makes elements of elements, or
    takes apart and joins tensors."""
    moves = any(map(op.has_trait, (Pointwise, Concatenates, Cuts)))
    return moves and len(shape_of(op.results[0])) == len(HEADS) and op.reordered(HEADS) is not None


def constant(value: SSAValue, op: Operation, rewriter: PatternRewriter) -> SSAValue:
    """Return a constant that is broadcast to heads before places as one to places before heads."""
    shape = shape_of(value)
    if elements_of(value) == 1:
        return value
    if len(shape) < len(HEADS):
        ones = [1] * (len(HEADS) - len(shape))
        wide = TensorType(element_of(value), [*ones, *shape], encoding_of(value))
        reshape = ReshapeOp.create(operands=[value], result_types=[wide])
        rewriter.insert(reshape, InsertPoint.before(op))
        value = reshape.result
    return transposed(value, reordered_type(value, HEADS, ""), op, rewriter).result


def transposed(
    value: SSAValue, type_: Attribute, op: Operation, rewriter: PatternRewriter
) -> TransposeOp:
    """Return the operation, before `op`, that exchanges heads and places."""
    properties = {"permutation": numbers(HEADS)}
    new = TransposeOp.create(operands=[value], result_types=[type_], properties=properties)
    rewriter.insert(new, InsertPoint.before(op))
    return new
