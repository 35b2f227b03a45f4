"""Products of keys and values, summed over places, are added up place by place, and queries are
multiplied with such sums place by place.

Attention without softmax (linear attention) multiplies keys with values first. Heads stand before
places there, so that no row of a place is left; here they lie beside each other in each place:

Before:
    !x = tensor<1x5x4xf32>
    !h = tensor<1x5x2x2xf32>
    !q = tensor<1x2x5x2xf32>
    !k = tensor<1x2x2x5xf32>
    !m = tensor<1x2x2x2xf32>
    func.func @main(%q: !x, %k: !x, %v: !x) -> !x {
      %1 = memgraph.reshape %k : (!x) -> !h
      %2 = memgraph.transpose %1 permutation [0, 2, 3, 1] : (!h) -> !k
      %3 = memgraph.reshape %v : (!x) -> !h
      %4 = memgraph.transpose %3 permutation [0, 2, 1, 3] : (!h) -> !q
      %5 = memgraph.batch_matmul %2, %4 {memgraph.names = ["kv"]} : (!k, !q) -> !m
      %6 = memgraph.reshape %q : (!x) -> !h
      %7 = memgraph.transpose %6 permutation [0, 2, 1, 3] : (!h) -> !q
      %8 = memgraph.batch_matmul %7, %5 : (!q, !m) -> !q
      %9 = memgraph.transpose %8 permutation [0, 2, 1, 3] : (!q) -> !h
      %10 = memgraph.reshape %9 {memgraph.names = ["y"]} : (!h) -> !x
      func.return %10 : !x
    }
After:
    !a = tensor<1x5x2x1x2xf32>
    func.func @main(%q: !x, %k: !x, %v: !x) -> !x {
      %1 = memgraph.outer_products %k, %v groups 2 : (!x, !x) -> tensor<4x2xf32>
      %2 = memgraph.reshape %1 {memgraph.names = ["kv"]} : (tensor<4x2xf32>) -> !m
      %3 = memgraph.reshape %q : (!x) -> !a
      %4 = memgraph.reshape %2 : (!m) -> tensor<2x2x2xf32>
      %5 = memgraph.batch_matmul %3, %4 : (!a, tensor<2x2x2xf32>) -> !a
      %6 = memgraph.reshape %5 {memgraph.names = ["y"]} : (!a) -> !x
      func.return %6 : !x
    }

Where numbers lie is followed as for an attention. Sums are added up in another order. A sum over
places may also be one of keys alone, as those are by which linear attention divides:

Before:
    !x = tensor<1x5x4xf32>
    !h = tensor<1x5x2x2xf32>
    !q = tensor<2x2x5xf32>
    !s = tensor<1x2x2xf32>
    !m = tensor<2x1x2xf32>
    !r = tensor<2x5x1xf32>
    func.func @main(%q: !x, %k: !h) -> tensor<1x5x2xf32> {
      %1 = memgraph.reduce_sum %k axes [1] : (!h) -> !s
      %2 = memgraph.reshape %1 : (!s) -> !m
      %3 = memgraph.reshape %q : (!x) -> !h
      %4 = memgraph.transpose %3 permutation [0, 2, 3, 1] : (!h) -> tensor<1x2x2x5xf32>
      %5 = memgraph.reshape %4 : (tensor<1x2x2x5xf32>) -> !q
      %6 = memgraph.batch_matmul %5, %2 adj_x adj_y : (!q, !m) -> !r
      %7 = memgraph.reshape %6 : (!r) -> tensor<1x2x5xf32>
      %8 = memgraph.transpose %7 permutation [0, 2, 1] : (tensor<1x2x5xf32>) -> tensor<1x5x2xf32>
      func.return %8 : tensor<1x5x2xf32>
    }
After:
    !a = tensor<1x5x2x1x2xf32>
    !b = tensor<1x5x2x1x1xf32>
    func.func @main(%q: !x, %k: !h) -> tensor<1x5x2xf32> {
      %1 = memgraph.reduce_sum %k axes [1] : (!h) -> !s
      %2 = memgraph.reshape %1 : (!s) -> !m
      %3 = memgraph.reshape %q : (!x) -> !a
      %4 = memgraph.batch_matmul %3, %2 adj_y : (!a, !m) -> !b
      %5 = memgraph.reshape %4 : (!b) -> tensor<1x5x2xf32>
      func.return %5 : tensor<1x5x2xf32>
    }

Left alone is more in `tests/rewrites/unit/left_alone/products-by-place.txt`.
"""

from math import prod
from typing import cast

from xdsl.dialects.builtin import Float32Type
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter

from memopt.analysis.constants import Constants, constants_beside
from memopt.analysis.moved_elements import moves, together
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.tensors import elements_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.batch_products import BatchMatmulOp, OuterProductsOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.rewrites import FunctionRule, erase_unread
from memopt.rewrites.products_as_attention import Builder, Heads, heads_of, like, moved_from


class ProductsByPlace(FunctionRule):
    """The rule above."""

    exact = "rounding"
    needs = (BatchMatmulOp,)
    applied = "kernels"

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        products = [op for op in body_of(func).ops if isinstance(op, BatchMatmulOp)]
        constants = constants_beside(func)
        return bool(sum(self._by_place(op, constants, rewriter) for op in products))

    def _by_place(self, op: BatchMatmulOp, constants: Constants, rewriter: PatternRewriter) -> bool:
        values = op.lhs, op.rhs, op.result
        if not all(isinstance(element_of(v), Float32Type) and elements_of(v) for v in values):
            return False
        if (both := summed_over_places(op, constants)) is not None:
            build = Builder(self, op, op, rewriter)
            read = [build.channels_of(part, constants) for part in both]
            rows, _, columns = op.sizes
            groups = both[0].heads
            type_ = like(op.result, (groups * rows, columns))
            product = build.inserted(OuterProductsOp, read, type_, {"groups": number(groups)})
            end: Operation = op
        elif (query := multiplied_with_sum(op, constants)) is not None:
            part, result = query
            end = cast("OpResult", result).op
            build = Builder(self, op, end, rewriter)
            rows, depth, columns = op.sizes
            lhs = build.channels_of(part, constants)
            lhs = build.inserted(ReshapeOp, [lhs], like(lhs, (1, rows, part.heads, 1, depth)), {})
            rhs = build.of_shape(op.rhs, part.heads, *shape_of(op.rhs)[-2:])
            type_ = like(op.result, (1, rows, part.heads, 1, columns))
            properties = {k: v for k, v in op.properties.items() if k == "adj_y"}
            product = build.inserted(BatchMatmulOp, [lhs, rhs], type_, properties)
        else:
            return False
        before = list(end.operands)
        as_it_was = build.inserted(ReshapeOp, [product], end.results[0].type, {})
        self.replaced(end, as_it_was.op, rewriter)
        erase_unread(before, rewriter.erase)
        return True


def summed_over_places(op: BatchMatmulOp, constants: Constants) -> tuple[Heads, Heads] | None:
    """Return both operands of a product whose sums are over places, if it is smaller than either;
    None where the numbers of a place do not lie beside each other."""
    rows, places, columns = op.sizes
    batches = shape_of(op.result)[:-2]
    count = prod(batches)
    if elements_of(op.result) >= min(elements_of(op.lhs), elements_of(op.rhs)):
        return None
    sides = (op.lhs, rows, op.adj_x is None), (op.rhs, columns, op.adj_y is not None)
    parts = [
        heads_of(v, batches, (places, channels), turned, moved_from(v, constants, no_function))
        for v, channels, turned in sides
    ]
    lhs, rhs = parts
    if lhs is None or rhs is None or not lhs.heads == rhs.heads == count:
        return None
    return lhs, rhs


def multiplied_with_sum(op: BatchMatmulOp, constants: Constants) -> tuple[Heads, SSAValue] | None:
    """Return the left operand of a product with what is added up over places, and the value into
    which the result is moved, if the numbers of a place lie beside each other in both."""
    batches = shape_of(op.result)[:-2]
    count, (rows, depth, _) = prod(batches), op.sizes
    if prod(shape_of(op.rhs)[:-2]) != count or not is_sum(op.rhs):
        return None
    if op.rows_read(0, 0) is not None:  # it is so
        return None
    sources = moved_from(op.lhs, constants, no_function)
    lhs = heads_of(op.lhs, batches, (rows, depth), op.adj_x is not None, sources)
    result = together(op.result, count, rows)
    if lhs is None or lhs.heads != count or result is None:
        return None
    return lhs, result


def is_sum(value: SSAValue) -> bool:
    """Return whether a value is moved from what an operator adds up over rows."""
    while moves(op := cast("Operation", value.owner)):
        value = op.operands[0]
    return isinstance(op, ComputeOp) and op.accumulates


def no_function(value: SSAValue, constants: Constants) -> None:
    """Return None: no value is followed as a function of another."""
