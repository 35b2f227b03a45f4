"""Channels that are picked of products with constants are the products with some of the weights.

A transformer's queries, keys and values are often one product: those of each head beside each
other, or all queries first. Who picks them apart makes them one by one, with the columns that they
are of, and nothing is moved at run time.

Before:
    !x = tensor<1x3x2xf32>
    !y = tensor<3x4xf32>
    !z = tensor<1x3x4xf32>
    !h = tensor<1x3x2xf32>
    func.func @main(%x: !x) -> (!h, !h) {
      %w = memgraph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]>
         : tensor<4x2xf32>
      %b = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %1 = memgraph.fully_connected %x, %w, %b activation<relu>
             : (!x, tensor<4x2xf32>, tensor<4xf32>) -> !y
      %2 = memgraph.reshape %1 : (!y) -> !z
      %3 = memgraph.picked %2 shape [1, 3, 4] sizes [1, 3, 2] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 2, 3, 1] {memgraph.names = ["q"]} : (!z) -> !h
      %4 = memgraph.slice %2 starts [0, 0, 0] strides [1, 1, 2] {memgraph.names = ["k"]}
             : (!z) -> !h
      func.return %3, %4 : !h, !h
    }
After:
    !w = tensor<2x2xf32>
    !c = tensor<2xf32>
    func.func @main(%x: !x) -> (!h, !h) {
      %w = memgraph.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]]>
         : tensor<4x2xf32>
      %b = memgraph.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
      %1 = memgraph.picked %w shape [4] sizes [2] terms [0, 0] numbers [3, 1]
             : (tensor<4x2xf32>) -> !w
      %2 = memgraph.picked %b shape [4] sizes [2] terms [0, 0] numbers [3, 1]
             : (tensor<4xf32>) -> !c
      %3 = memgraph.fully_connected %x, %1, %2 activation<relu> {memgraph.names = ["q"]}
             : (!x, !w, !c) -> !h
      %4 = memgraph.picked %w shape [4] sizes [2] terms [0, 0] numbers [0, 2]
             : (tensor<4x2xf32>) -> !w
      %5 = memgraph.picked %b shape [4] sizes [2] terms [0, 0] numbers [0, 2]
             : (tensor<4xf32>) -> !c
      %6 = memgraph.fully_connected %x, %4, %5 activation<relu> {memgraph.names = ["k"]}
             : (!x, !w, !c) -> !h
      func.return %3, %6 : !h, !h
    }

Each filter's scale goes with it:

Before:
    !x = tensor<1x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !y = tensor<1x3xi8, #memgraph.encoding<scale = [2.0], zero_point = [-3]>>
    !h = tensor<1x2xi8, #memgraph.encoding<scale = [2.0], zero_point = [-3]>>
    !w = tensor<3x2xi8, #memgraph.encoding<scale = [2.0, 4.0, 1.0], zero_point = [0], axis = 0>>
    func.func @main(%x: !x) -> !h {
      %w = memgraph.constant dense<[[1, -2], [3, 4], [-5, 6]]> : !w
      %1 = memgraph.fully_connected %x, %w rounding<onnx_even> : (!x, !w) -> !y
      %2 = memgraph.slice %1 starts [0, 2] strides [1, -1] : (!y) -> !h
      func.return %2 : !h
    }
After:
    !v = tensor<2x2xi8, #memgraph.encoding<scale = [1.0, 4.0], zero_point = [0], axis = 0>>
    func.func @main(%x: !x) -> !h {
      %w = memgraph.constant dense<[[1, -2], [3, 4], [-5, 6]]> : !w
      %1 = memgraph.picked %w shape [3] sizes [2] terms [0, 0] numbers [2, 1] : (!w) -> !v
      %2 = memgraph.fully_connected %x, %1 rounding<onnx_even> : (!x, !v) -> !h
      func.return %2 : !h
    }

Exact: each element is the same sum of the same products. Somebody reads the products themselves;
more channels are picked than there are; what is picked is no channel, or filled; weights that
others read too, or that are not known; a bias that is not; another quantization. More stands in
`tests/rewrites/unit/left_alone/channels-into-weights.txt`.

Left alone:
    !x = tensor<1x3x2xf32>
    !h = tensor<1x3x1xf32>
    !g = tensor<1x2x2xf32>
    !w = tensor<2x2xf32>
    !f = tensor<1x2x3xf32>
    !i = tensor<1x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !j = tensor<1x1xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !k = tensor<1x1xi8, #memgraph.encoding<scale = [2.0], zero_point = [3]>>
    !v = tensor<2x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%x: !x, %m: !w, %c: tensor<2xf32>, %i: !i)
        -> (!h, !x, !h, !x, !g, !g, !h, !h, !x, !h, !h, !g, !x, !k) {
      %w1 = memgraph.constant dense<1.0> : !w
      %1 = memgraph.fully_connected %x, %w1 : (!x, !w) -> !x
      %2 = memgraph.slice %1 starts [0, 0, 1] strides [1, 1, 1] : (!x) -> !h
      %w2 = memgraph.constant dense<2.0> : !w
      %3 = memgraph.fully_connected %x, %w2 : (!x, !w) -> !x
      %4 = memgraph.slice %3 starts [0, 0, 1] strides [1, 1, 1] : (!x) -> !h
      %5 = memgraph.slice %3 starts [0, 0, 1] strides [1, 1, -1] : (!x) -> !x
      %w3 = memgraph.constant dense<3.0> : !w
      %6 = memgraph.fully_connected %x, %w3 : (!x, !w) -> !x
      %7 = memgraph.slice %6 starts [0, 1, 0] strides [1, 1, 1] : (!x) -> !g
      %w4 = memgraph.constant dense<4.0> : !w
      %8 = memgraph.fully_connected %x, %w4 : (!x, !w) -> !x
      %9 = memgraph.picked %8 shape [1, 3, 2] sizes [1, 2, 2] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 2, 1, 0, 1] : (!x) -> !g
      %w5 = memgraph.constant dense<5.0> : !w
      %10 = memgraph.fully_connected %x, %w5 : (!x, !w) -> !x
      %11 = memgraph.slice %10 starts [0, 0, 1] strides [1, 1, 1] : (!x) -> !h
      %12 = memgraph.fully_connected %x, %w5 activation<relu> : (!x, !w) -> !x
      %13 = memgraph.slice %12 starts [0, 0, 1] strides [1, 1, 1] : (!x) -> !h
      %14 = memgraph.fully_connected %x, %m : (!x, !w) -> !x
      %15 = memgraph.picked %14 shape [1, 3, 2] sizes [1, 3, 2] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 2, 1, 0] : (!x) -> !x
      %w6 = memgraph.constant dense<6.0> : !w
      %16 = memgraph.fully_connected %x, %w6, %c : (!x, !w, tensor<2xf32>) -> !x
      %17 = memgraph.slice %16 starts [0, 0, 1] strides [1, 1, 1] : (!x) -> !h
      %w7 = memgraph.constant dense<7.0> : !w
      %18 = memgraph.fully_connected %x, %w7 : (!x, !w) -> !x
      %19 = memgraph.picked %18 shape [1, 3, 2] sizes [1, 3, 1] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 2, 2] : (!x) -> !h
      %w8 = memgraph.constant dense<8.0> : !w
      %20 = memgraph.fully_connected %x, %w8 : (!x, !w) -> !x
      %22 = memgraph.reshape %20 : (!x) -> !f
      %23 = memgraph.slice %22 starts [0, 0, 0] strides [1, 1, 1] : (!f) -> !g
      %w9 = memgraph.constant dense<9.0> : !w
      %24 = memgraph.fully_connected %x, %w9 : (!x, !w) -> !x
      %25 = memgraph.relu %24 : (!x) -> !x
      %v = memgraph.constant dense<1> : !v
      %26 = memgraph.fully_connected %i, %v rounding<onnx_even> : (!i, !v) -> !i
      %27 = memgraph.slice %26 starts [0, 1] strides [1, 1] : (!i) -> !k
      func.return %2, %1, %4, %5, %7, %9, %11, %13, %15, %17, %19, %23, %25, %27
        : !h, !x, !h, !x, !g, !g, !h, !h, !x, !h, !h, !g, !x, !k
    }
"""

from collections.abc import Iterator, Sequence

from xdsl.ir import Operation, SSAValue, Use
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import numbers_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.tensors import shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.fully_connected import FullyConnectedOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.picked import PickedOp, PickingOp, picks_along
from memopt.dialects.operators.slices import SliceOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.constant_channels import slim_type


class ChannelsIntoWeights(Rule):
    """The rule above."""

    exact = "bits"
    needs = (PickingOp, SliceOp)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: FullyConnectedOp, rewriter: PatternRewriter) -> None:
        bias, width = op.bias, shape_of(op.weights)[0]
        is_own = is_constant_expression(op.weights, GENERIC) and op.weights.has_one_use()
        if not is_own or shape_of(op.result)[-1:] != (width,):
            return
        if bias is not None and not is_vector(bias):
            return
        uses = list(uses_of(op.result))
        channels = [channels_of(use) for use in uses]
        if not all(channels) or sum(map(len, channels)) > width:
            return
        for use, picked in zip(uses, channels, strict=True):
            reader = use.operation
            parts = [of_constant(v, picked, reader, rewriter) for v in op.operands[1:]]
            part = FullyConnectedOp.create(
                operands=[op.input, *parts],
                result_types=[reader.results[0].type],
                properties=dict(op.properties),
            )
            part.location = reader.location
            rewriter.insert(part, InsertPoint.before(reader))
            before = list(reader.operands)
            self.replaced(reader, part, rewriter)
            erase_unread(before, rewriter.erase)


def is_vector(bias: SSAValue) -> bool:
    """Return whether a bias is a constant of one dimension."""
    return is_constant_expression(bias, GENERIC) and len(shape_of(bias)) == 1


def uses_of(products: SSAValue) -> Iterator[Use]:
    """Yield the uses of products, behind reshapes that somebody reads and that leave the channels
    of each beside each other."""
    for use in products.uses:
        reader = use.operation
        if isinstance(reader, ReshapeOp) and reader.result.uses and is_by_channel(reader):
            yield from uses_of(reader.result)
        else:
            yield use


def is_by_channel(op: ReshapeOp) -> bool:
    """Return whether the last dimension stays as it is."""
    return shape_of(op.result)[-1:] == shape_of(op.operands[0])[-1:]


def channels_of(use: Use) -> Sequence[int]:
    """Return the channels of all vectors that an operation picks, none where it does more."""
    op = use.operation
    along = op.along if isinstance(op, ComputeOp) and use.index == 0 else None
    if along is None or numbers_of(op.operands[0]) != numbers_of(op.results[0]):
        return ()
    *before, width = shape_of(op.operands[0])
    *others, channels = along
    is_of_all = all(list(v) == list(range(n)) for v, n in zip(others, before, strict=True))
    return channels if is_of_all and set(channels) <= set(range(width)) else ()


def of_constant(
    constant: SSAValue, channels: Sequence[int], op: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """Return these indices of the first dimension of a constant, picked before an operation."""
    first, *rest = shape_of(constant)
    picks = picks_along((first, *rest), [channels, *map(range, rest)])
    type_ = slim_type(constant, 0, channels)
    part = PickedOp.create(operands=[constant], result_types=[type_], properties=picks)
    rewriter.insert(part, InsertPoint.before(op))
    return part.result
