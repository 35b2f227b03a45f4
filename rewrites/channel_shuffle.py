"""A transposition between two reshapes that moves nothing but channels is a permutation of these.

ShuffleNets take the channels of groups in turn. PyTorch gives the groups a dimension, exchanges it
with the one behind it, and joins the two again; no row of an image is left in between.

Before:
    !x = tensor<1x6x2x2xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x2x2x6xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %y: !y) -> (!x, !y) {
      %1 = memgraph.reshape %x : (!x) -> tensor<1x2x3x2x2xf32>
      %2 = memgraph.transpose %1 permutation [0, 2, 1, 3, 4]
             : (tensor<1x2x3x2x2xf32>) -> tensor<1x3x2x2x2xf32>
      %3 = memgraph.reshape %2 {memgraph.names = ["a"]} : (tensor<1x3x2x2x2xf32>) -> !x
      %4 = memgraph.reshape %y : (!y) -> tensor<4x3x1x2xf32>
      %5 = memgraph.transpose %4 permutation [0, 3, 2, 1]
             : (tensor<4x3x1x2xf32>) -> tensor<4x2x1x3xf32>
      %6 = memgraph.reshape %5 : (tensor<4x2x1x3xf32>) -> !y
      func.return %3, %6 : !x, !y
    }
After:
    func.func @main(%x: !x, %y: !y) -> (!x, !y) {
      %3 = memgraph.channel_permutation %x groups 2 {memgraph.names = ["a"]} : (!x) -> !x
      %6 = memgraph.channel_permutation %y groups 3 : (!y) -> !y
      func.return %3, %6 : !x, !y
    }

Exact: the same elements at the same places. Left alone is what others read too, what moves pixels,
or more than two dimensions, or none, what ends as a tensor of another type, and what is known
before run time:

Left alone:
    !x = tensor<1x6x2x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x6x3x2xf32, #memgraph.encoding<nchw>>
    !g = tensor<1x2x3x2x3xf32>
    !h = tensor<1x3x2x2x3xf32>
    !k = tensor<2x3x6xf32>
    !l = tensor<2x6x3xf32>
    !m = tensor<2x3x2x3xf32>
    !n = tensor<3x2x2x3xf32>
    !o = tensor<2x2x3x3xf32>
    !p = tensor<3x2x3x2xf32>
    func.func @main(%x: !x, %g: !g) -> (!x, !h, !x, !x, !x, !x, !x, !x, !y, !x, !x) {
      %1 = memgraph.reshape %x : (!x) -> !g
      %2 = memgraph.transpose %1 permutation [0, 2, 1, 3, 4] : (!g) -> !h
      %3 = memgraph.reshape %2 : (!h) -> !x
      %4 = memgraph.relu %2 : (!h) -> !h
      %5 = memgraph.transpose %g permutation [0, 2, 1, 3, 4] : (!g) -> !h
      %6 = memgraph.reshape %5 : (!h) -> !x
      %7 = memgraph.reshape %x : (!x) -> !k
      %8 = memgraph.transpose %7 permutation [0, 2, 1] : (!k) -> !l
      %9 = memgraph.reshape %8 : (!l) -> !x
      %10 = memgraph.reshape %x : (!x) -> !m
      %11 = memgraph.transpose %10 permutation [1, 2, 0, 3] : (!m) -> !n
      %12 = memgraph.reshape %11 : (!n) -> !x
      %13 = memgraph.reshape %x : (!x) -> !m
      %14 = memgraph.transpose %13 permutation [2, 0, 1, 3] : (!m) -> !o
      %15 = memgraph.reshape %14 : (!o) -> !x
      %16 = memgraph.reshape %x : (!x) -> !m
      %17 = memgraph.transpose %16 permutation [1, 0, 3, 2] : (!m) -> !p
      %18 = memgraph.reshape %17 : (!p) -> !x
      %19 = memgraph.reshape %x : (!x) -> !g
      %20 = memgraph.transpose %19 permutation [0, 1, 2, 3, 4] : (!g) -> !g
      %21 = memgraph.reshape %20 : (!g) -> !x
      %22 = memgraph.reshape %x : (!x) -> !g
      %23 = memgraph.transpose %22 permutation [0, 2, 1, 3, 4] : (!g) -> !h
      %24 = memgraph.reshape %23 : (!h) -> !y
      %c = memgraph.constant dense<2.0> : !x
      %25 = memgraph.reshape %c : (!x) -> !g
      %26 = memgraph.transpose %25 permutation [0, 2, 1, 3, 4] : (!g) -> !h
      %27 = memgraph.reshape %26 : (!h) -> !x
      %28 = memgraph.reshape %x : (!x) -> !m
      %29 = memgraph.transpose %28 permutation [0, 3, 2, 1]
              : (!m) -> tensor<2x3x2x3xf32>
      %30 = memgraph.reshape %29 : (tensor<2x3x2x3xf32>) -> !x
      func.return %3, %4, %6, %9, %12, %15, %18, %21, %24, %27, %30
        : !x, !h, !x, !x, !x, !x, !x, !x, !y, !x, !x
    }
"""

from math import prod

from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.tensors import channel_axis, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.channel_permutation import ChannelPermutationOp
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.layer_normalization import made_by


class ChannelShuffle(Rule):
    """The rule above."""

    exact = "bits"
    needs = (TransposeOp,)
    applied = "kernels"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        transpose = op.input.owner
        if not isinstance(transpose, TransposeOp) or not transpose.result.has_one_use():
            return
        before = made_by(transpose.input, ReshapeOp)
        if before is None or before.input.type != op.result.type:
            return
        groups = groups_of(transpose, op)
        if groups is None or is_constant_expression(op.result, GENERIC):
            return
        permutation = ChannelPermutationOp.create(
            operands=[before.input],
            result_types=[op.result.type],
            properties={"groups": number(groups)},
        )
        permutation.location = op.location
        rewriter.insert(permutation, InsertPoint.before(op))
        self.replaced(op, permutation, rewriter)
        erase_unread([transpose.result], rewriter.erase, (transpose, before).__contains__)


def groups_of(transpose: TransposeOp, image: ReshapeOp) -> int | None:
    """Return how many groups of channels of an image a transposition takes in turn; None if it
    moves anything else."""
    shape, axis = shape_of(image.result), channel_axis(image.result)
    outside = prod(shape[:axis]), prod(shape[axis + 1 :])
    sizes = exchanged(transpose)
    if sizes is None or (sizes[0], sizes[3]) != outside:
        return None
    return sizes[1]


def exchanged(transpose: TransposeOp) -> tuple[int, int, int, int] | None:
    """Return (before, first, second, behind) where it exchanges two stretches of dimensions that
    have so many elements, with as many before and behind; None where it does anything else."""
    shape = shape_of(transpose.input)
    moved = [int(d) for d in transpose.permutation.get_values() if shape[int(d)] != 1]
    large = sorted(moved)
    order = [large.index(d) for d in moved]
    start = next((i for i, d in enumerate(order) if i != d), None)
    if start is None:
        return None
    middle = order[start]
    end = middle + order.index(start) - start
    stretches = (range(start), range(start, middle), range(middle, end), range(end, len(order)))
    if order != [*stretches[0], *stretches[2], *stretches[1], *stretches[3]]:
        return None
    before, first, second, behind = (prod(shape[large[i]] for i in s) for s in stretches)
    return before, first, second, behind
