"""Recurrent layers multiply with weights as they are stored, in 8 bits, and not with the real
numbers that these stand for: constants take a quarter of the bytes.

Before:
    !x = tensor<1x3x2xf32>
    !w = tensor<2x2x2xi8, #memgraph.encoding<scale = [0.5], zero_point = [3]>>
    !r = tensor<1x2x2xui8, #memgraph.encoding<scale = [0.5, 2.0], zero_point = [7, 128], axis = 1>>
    !g = tensor<1x2x2xf32>
    !f = tensor<2x2xf32>
    !b = tensor<2xf32>
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[[1, -2], [3, 4]], [[-1, 2], [-3, 4]]]> : !w
      %r = memgraph.constant dense<[[[17, 2], [30, 254]]]> : !r
      %b = memgraph.constant dense<[0.5, -1.0]> : !b
      %1 = memgraph.dequantize %w : (!w) -> tensor<2x2x2xf32>
      %2 = memgraph.slice %1 starts [1, 0, 0] strides [1, 1, 1] : (tensor<2x2x2xf32>) -> !g
      %3 = memgraph.reshape %2 : (!g) -> !f
      %4 = memgraph.dequantize %r : (!r) -> !g
      %5 = memgraph.reshape %4 : (!g) -> !f
      %6 = memgraph.rnn_layer %x, %3, %5, %b activation<tanh> {memgraph.names = ["y"]}
             : (!x, !f, !f, !b) -> !x
      func.return %6 : !x
    }
After:
    !v = tensor<1x2x2xi8, #memgraph.encoding<scale = [0.5], zero_point = [3]>>
    !u = tensor<2x2xi8, #memgraph.encoding<scale = [0.5], zero_point = [3]>>
    !s = tensor<2x2xui8, #memgraph.encoding<scale = [0.5, 2.0], zero_point = [7, 128], axis = 0>>
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[[1, -2], [3, 4]], [[-1, 2], [-3, 4]]]> : !w
      %r = memgraph.constant dense<[[[17, 2], [30, 254]]]> : !r
      %b = memgraph.constant dense<[0.5, -1.0]> : !b
      %2 = memgraph.slice %w starts [1, 0, 0] strides [1, 1, 1] : (!w) -> !v
      %3 = memgraph.reshape %2 : (!v) -> !u
      %5 = memgraph.reshape %r : (!r) -> !s
      %6 = memgraph.rnn_layer %x, %3, %5, %b activation<tanh> {memgraph.names = ["y"]}
             : (!x, !u, !s, !b) -> !x
      func.return %6 : !x
    }

Not where one of two weights is real, is stored in 16 bits, or only known at run time, nor where
scales are not those of rows, or the rows are taken in another order.

Left alone:
    !x = tensor<1x3x2xf32>
    !y = tensor<1x3x2xf32>
    !f = tensor<2x2xf32>
    !w = tensor<2x2xi8, #memgraph.encoding<scale = [0.5], zero_point = [3]>>
    !h = tensor<2x2xi16, #memgraph.encoding<scale = [0.5], zero_point = [0]>>
    !c = tensor<1x2x2xi8, #memgraph.encoding<scale = [0.5, 2.0], zero_point = [3, 0], axis = 2>>
    !r = tensor<2x2xi8, #memgraph.encoding<scale = [0.5, 2.0], zero_point = [3, 0], axis = 0>>
    !t = tensor<4xi8, #memgraph.encoding<scale = [0.5, 2., 1., 4.], zero_point = [0], axis = 0>>
    !k = tensor<3x2xi8, #memgraph.encoding<scale = [0.5, 2., 1.], zero_point = [0], axis = 0>>
    func.func @main(%x: !x, %v: !w, %g: !f) -> (!y, !y, !y, !y, !y, !y, !y, !y) {
      %b = memgraph.constant dense<0.5> : tensor<2xf32>
      %w = memgraph.constant dense<[[1, 2], [3, 4]]> : !w
      %1 = memgraph.dequantize %w : (!w) -> !f
      %h = memgraph.constant dense<[[1, 2], [3, 4]]> : !h
      %2 = memgraph.dequantize %h : (!h) -> !f
      %c = memgraph.constant dense<[[[1, 2], [3, 4]]]> : !c
      %0 = memgraph.dequantize %c : (!c) -> tensor<1x2x2xf32>
      %3 = memgraph.reshape %0 : (tensor<1x2x2xf32>) -> !f
      %r = memgraph.constant dense<[[1, 2], [3, 4]]> : !r
      %4 = memgraph.dequantize %r : (!r) -> !f
      %5 = memgraph.slice %4 starts [1, 0] strides [-1, 1] : (!f) -> !f
      %6 = memgraph.dequantize %v : (!w) -> !f
      %t = memgraph.constant dense<[1, 2, 3, 4]> : !t
      %7 = memgraph.dequantize %t : (!t) -> tensor<4xf32>
      %8 = memgraph.reshape %7 : (tensor<4xf32>) -> !f
      %k = memgraph.constant dense<[[1, 2], [3, 4], [5, 6]]> : !k
      %9 = memgraph.dequantize %k : (!k) -> tensor<3x2xf32>
      %10 = memgraph.slice %9 starts [0, 0] strides [1, 1] : (tensor<3x2xf32>) -> !f
      %11 = memgraph.rnn_layer %x, %1, %2, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %12 = memgraph.rnn_layer %x, %1, %3, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %13 = memgraph.rnn_layer %x, %1, %5, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %14 = memgraph.rnn_layer %x, %1, %6, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %15 = memgraph.rnn_layer %x, %8, %1, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %16 = memgraph.rnn_layer %x, %1, %10, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %17 = memgraph.rnn_layer %x, %g, %1, %b activation<tanh> : (!x, !f, !f, tensor<2xf32>) -> !y
      %18 = memgraph.rnn_layer %x, %w, %w, %b activation<tanh> : (!x, !w, !w, tensor<2xf32>) -> !y
      func.return %11, %12, %13, %14, %15, %16, %17, %18 : !y, !y, !y, !y, !y, !y, !y, !y
    }
"""

from math import prod

from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of, integer_type
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.quantization import DequantizeOp
from memopt.dialects.operators.recurrent_layers import RecurrentLayerOp
from memopt.dialects.operators.slices import SliceOp
from memopt.dialects.operators.traits import View
from memopt.rewrites import Rule, erase_unread

BYTES = (8, False), (8, True)


class StoredWeights(Rule):
    """The rule above."""

    exact = "bits"
    needs = (RecurrentLayerOp,)
    applied = "safe"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: RecurrentLayerOp, rewriter: PatternRewriter) -> None:
        before = op.weights, op.recurrent
        first, second = (stored(value) for value in before)
        if first is None or second is None:
            return
        for operand, (value, moves) in enumerate((first, second), 1):
            for move in moves:
                new = type(move).create(
                    operands=[value],
                    result_types=[stored_type(value, move)],
                    properties=move.properties,
                )
                rewriter.insert(new, InsertPoint.before(op))
                value = new.results[0]
            op.operands[operand] = value
        self.changed(op, rewriter)
        erase_unread(before, rewriter.erase)


def stored(weights: SSAValue) -> tuple[SSAValue, list[ComputeOp]] | None:
    """Return the constants of 8 bits that are dequantized, and what moves them then; None where
    there are none, or where scales would not be those of rows."""
    moves: list[ComputeOp] = []
    value = weights
    while isinstance(value.owner, ComputeOp) and keeps_order(value.owner):
        moves.insert(0, value.owner)
        value = value.owner.operands[0]
    if not isinstance(value.owner, DequantizeOp):
        return None
    source = value.owner.input
    if integer_type(element_of(source)) not in BYTES:
        return None
    if not is_constant_expression(source, GENERIC):
        return None
    axis: int | None = encoding_of(source).axis.data
    for move in moves:
        axis = None if axis is None else axis_behind(move, axis)
    return (source, moves) if axis in (-1, 0) else None


def keeps_order(op: ComputeOp) -> bool:
    """Return whether `op` gives elements of its operand as they are, in their order."""
    return op.has_trait(View) or isinstance(op, SliceOp)


def axis_behind(move: ComputeOp, axis: int) -> int | None:
    """Return the dimension along which scales stand behind an operation, None if there is none."""
    before, after = shape_of(move.operands[0]), shape_of(move.results[0])
    if axis < 0:
        return axis
    if isinstance(move, SliceOp):
        first, step = (int(v.get_values()[axis]) for v in (move.starts, move.strides))
        return axis if (first, step, after[axis]) == (0, 1, before[axis]) else None
    places = range(len(after))
    same = [
        d for d in places if prod(after[:d]) == prod(before[:axis]) and after[d] == before[axis]
    ]
    return same[0] if same else None


def stored_type(value: SSAValue, move: ComputeOp) -> AnyTensor:
    """Return the type of stored integers behind an operation that moves them."""
    old = encoding_of(value)
    axis = axis_behind(move, old.axis.data)
    assert axis is not None
    encoding = EncodingAttr("", old.scales, old.zero_points, axis)
    return TensorType(element_of(value), shape_of(move.results[0]), encoding)
