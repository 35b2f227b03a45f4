"""Transpositions after which all bytes are where they were are a reshape.

Before:
    !x = tensor<1x5x3xf32>
    !y = tensor<5x1x3xf32>
    func.func @main(%x: !x, %y: !y) -> (!y, !x) {
      %1 = memgraph.transpose %x permutation [1, 0, 2] : (!x) -> !y
      %2 = memgraph.transpose %y permutation [1, 0, 2] : (!y) -> !x
      func.return %1, %2 : !y, !x
    }
After:
    func.func @main(%x: !x, %y: !y) -> (!y, !x) {
      %1 = memgraph.reshape %x : (!x) -> !y
      %2 = memgraph.reshape %y : (!y) -> !x
      func.return %1, %2 : !y, !x
    }

Dimensions of size 1 may change places, and others that change back behind a reshape:

Before:
    !x = tensor<1x4x6x3xf32>
    !y = tensor<1x24x3xf32>
    func.func @main(%x: !x) -> (!y, tensor<3x4x6xf32>) {
      %1 = memgraph.transpose %x permutation [0, 3, 1, 2] : (!x) -> tensor<1x3x4x6xf32>
      %2 = memgraph.reshape %1 : (tensor<1x3x4x6xf32>) -> tensor<3x8x3xf32>
      %3 = memgraph.transpose %2 permutation [1, 2, 0] {memgraph.names = ["y"]}
             : (tensor<3x8x3xf32>) -> tensor<8x3x3xf32>
      %4 = memgraph.reshape %3 : (tensor<8x3x3xf32>) -> !y
      %5 = memgraph.reshape %1 : (tensor<1x3x4x6xf32>) -> tensor<3x4x6xf32>
      func.return %4, %5 : !y, tensor<3x4x6xf32>
    }
After:
    func.func @main(%x: !x) -> (!y, tensor<3x4x6xf32>) {
      %1 = memgraph.transpose %x permutation [0, 3, 1, 2] : (!x) -> tensor<1x3x4x6xf32>
      %2 = memgraph.reshape %x {memgraph.names = ["y"]} : (!x) -> tensor<8x3x3xf32>
      %3 = memgraph.reshape %2 : (tensor<8x3x3xf32>) -> !y
      %4 = memgraph.reshape %1 : (tensor<1x3x4x6xf32>) -> tensor<3x4x6xf32>
      func.return %3, %4 : !y, tensor<3x4x6xf32>
    }

Exact. Where others change places bytes do, and what is known before run time is no matter:

Left alone:
    !x = tensor<2x6x3xf32>
    func.func @main(%x: !x) -> (tensor<6x2x3xf32>, tensor<2x1xf32>, tensor<3x4x3xf32>) {
      %1 = memgraph.transpose %x permutation [1, 0, 2] : (!x) -> tensor<6x2x3xf32>
      %c = memgraph.constant dense<[[1.0, 2.0]]> : tensor<1x2xf32>
      %2 = memgraph.transpose %c permutation [1, 0] : (tensor<1x2xf32>) -> tensor<2x1xf32>
      %3 = memgraph.reshape %1 : (tensor<6x2x3xf32>) -> tensor<4x3x3xf32>
      %4 = memgraph.transpose %3 permutation [1, 0, 2] : (tensor<4x3x3xf32>) -> tensor<3x4x3xf32>
      func.return %1, %2, %4 : tensor<6x2x3xf32>, tensor<2x1xf32>, tensor<3x4x3xf32>
    }
"""

from collections.abc import Sequence
from math import prod

from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.traits import View
from memopt.rewrites import Rule, erase_unread


class TransposeAsView(Rule):
    """The rule above."""

    exact = "bits"
    needs = (TransposeOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TransposeOp, rewriter: PatternRewriter) -> None:
        if is_constant_expression(op.result, GENERIC) or 0 in shape_of(op.result):
            return
        source = source_of(op)
        if source is None:
            return
        reshape = ReshapeOp.create(operands=[source], result_types=[op.result.type])
        reshape.location = op.location
        rewriter.insert(reshape, InsertPoint.before(op))
        moved = op.input
        self.replaced(op, reshape, rewriter)
        erase_unread([moved], rewriter.erase, lambda maker: order_of(maker) is not None)


Part = tuple[int, int]
"""A dimension, or one of the factors that it is cut into: its size, and the elements from one index
of it to the next in the source."""

Move = tuple[Sequence[int], Sequence[int]]
"""The shape of what is moved, and the order in which its dimensions stand then."""


def order_of(op: Operation) -> Sequence[int] | None:
    """Return the order into which an operation puts the dimensions of its operand, if it does no
    more than that and to give them another shape."""
    if isinstance(op, TransposeOp):
        return [int(k) for k in op.permutation.get_values()]
    return range(len(shape_of(op.operands[0]))) if op.has_trait(View) else None


def source_of(op: TransposeOp) -> SSAValue | None:
    """Return the nearest value whose elements are those of a transposition in their order."""
    moves: list[Move] = []
    value: SSAValue = op.result
    while isinstance(value, OpResult) and (order := order_of(value.op)) is not None:
        value = value.op.operands[0]
        moves.insert(0, (shape_of(value), order))
        if element_of(value) != element_of(op.result):
            return None
        if is_in_order(moves):
            return value
    return None


def is_in_order(moves: Sequence[Move]) -> bool:
    """Return whether the elements of a tensor are in their order after all moves."""
    shape = moves[0][0]
    parts = [(size, prod(shape[k + 1 :])) for k, size in enumerate(shape)]
    for shape, order in moves:
        by_dimension = split(parts, shape)
        if by_dimension is None:
            return False
        parts = [part for k in order for part in by_dimension[k]]
    steps = [prod(size for size, _ in parts[k + 1 :]) for k in range(len(parts))]
    return steps == [step for _, step in parts]


def split(parts: Sequence[Part], shape: Sequence[int]) -> list[list[Part]] | None:
    """Return the parts that each dimension of a shape is made of; None if one needs elements that
    lie at no even distance."""
    rest = list(parts)
    by_dimension: list[list[Part]] = []
    for size in reversed(shape):
        dimension: list[Part] = []
        while size > 1:
            last, step = rest.pop()
            taken = min(last, size)
            if last % taken or size % taken:
                return None
            dimension.insert(0, (taken, step))
            if last > taken:
                rest.append((last // taken, step * taken))
            size //= taken
        by_dimension.insert(0, dimension)
    return by_dimension
