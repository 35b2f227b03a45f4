"""Sequences beside images one pixel wide are such images themselves.

A convolution over time comes as one over images one pixel wide, with a reshape before and after it.
What works element by element, or along an axis, between two of them does so on the images: then
`channels-last` turns all of it, and nothing stands between two convolutions but bytes as they are.

Before:
    !x = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    !s = tensor<1x2x5xf32>
    !y = tensor<1x4x5xf32>
    func.func @main(%x: !x, %z: !s) -> (tensor<1x2xf32>, !y) {
      %c = memgraph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
      %1 = memgraph.reshape %x : (!x) -> !s
      %2 = memgraph.add %1, %z : (!s, !s) -> !s
      %3 = memgraph.mul %2, %c : (!s, tensor<2x1xf32>) -> !s
      %4 = memgraph.mean %3 axes [2] : (!s) -> tensor<1x2xf32>
      %5 = memgraph.concat %1, %3 axis 1 {memgraph.names = ["y"]} : (!s, !s) -> !y
      func.return %4, %5 : tensor<1x2xf32>, !y
    }
After:
    !k = tensor<2x1x1xf32, #memgraph.encoding<>>
    !z = tensor<1x4x5x1xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x, %z: !s) -> (tensor<1x2xf32>, !y) {
      %c = memgraph.constant dense<[[1.0], [2.0]]> : tensor<2x1xf32>
      %1 = memgraph.reshape %z : (!s) -> !x
      %2 = memgraph.add %x, %1 : (!x, !x) -> !x
      %k = memgraph.reshape %c : (tensor<2x1xf32>) -> !k
      %3 = memgraph.mul %2, %k : (!x, !k) -> !x
      %4 = memgraph.mean %3 axes [2, 3] : (!x) -> tensor<1x2xf32>
      %5 = memgraph.concat %x, %3 axis 1 {memgraph.names = ["y_image"]} : (!x, !x) -> !z
      %6 = memgraph.reshape %5 {memgraph.names = ["y"]} : (!z) -> !y
      func.return %4, %6 : tensor<1x2xf32>, !y
    }

What only images one pixel wide are made of comes after the reshape, too:

Before:
    !x = tensor<1x2x5xf32>
    !q = tensor<1x2x5xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x2x5x1xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> !p {
      %1 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !q
      %2 = memgraph.reshape %1 : (!q) -> !p
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!p) -> !p
      func.return %3 : !p
    }
After:
    !i = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x) -> !p {
      %1 = memgraph.reshape %x : (!x) -> !i
      %2 = memgraph.quantize %1 rounding<onnx_even> : (!i) -> !p
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!p) -> !p
      func.return %3 : !p
    }

Exact: the same elements in the same order. Left alone is what is made of no image one pixel wide,
and what takes a tensor as it is:

Left alone:
    !x = tensor<1x2x1x5xf32, #memgraph.encoding<nchw>>
    !l = tensor<1x5x1x2xf32, #memgraph.encoding<nhwc>>
    !i = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    !s = tensor<1x2x5xf32>
    !t = tensor<1x5x2xf32>
    func.func @main(%x: !x, %l: !l, %i: !i) -> (!s, !t, !t, !s, tensor<10xf32>) {
      %1 = memgraph.reshape %x : (!x) -> !s
      %2 = memgraph.relu %1 : (!s) -> !s
      %3 = memgraph.reshape %l : (!l) -> !t
      %4 = memgraph.relu %3 : (!t) -> !t
      %5 = memgraph.reshape %i : (!i) -> !t
      %6 = memgraph.relu %5 : (!t) -> !t
      %7 = memgraph.reshape %i : (!i) -> !s
      %8 = memgraph.opaque "Sort"(%7) : (!s) -> !s
      %9 = memgraph.reshape %i : (!i) -> tensor<10xf32>
      %10 = memgraph.relu %9 : (tensor<10xf32>) -> tensor<10xf32>
      func.return %2, %4, %6, %8, %10 : !s, !t, !t, !s, tensor<10xf32>
    }
"""

from typing import ClassVar

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.tensors import elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.reordering import NEW, is_channels_first
from memopt.dialects.operators.traits import Pointwise, Spatial, View
from memopt.rewrites import Applied, Exact, Rule, erase_unread

SEQUENCE = 3  # dimensions
WITH_WIDTH = (0, 1, 2, NEW)
"""Dimensions of a sequence in those of an image one pixel wide, channels first."""


class SequencesAsImages(Rule):
    """The rule above."""

    exact: ClassVar[Exact] = "bits"
    applied: ClassVar[Applied] = "kernels"
    keeps_claims: ClassVar[bool] = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, ReshapeOp):
            self.skip(op, rewriter)
            return
        properties = op.reordered(WITH_WIDTH) if takes_sequences(op) else None
        if properties is None or not (any(map(is_flat, op.operands)) or feeds_images(op)):
            return
        old = op.results[0]
        new = type(op).create(
            operands=[self.widened(v, op, rewriter) for v in op.operands],
            result_types=[wide_type(old) if len(shape_of(old)) == SEQUENCE else old.type],
            properties=dict(properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        new.results[0].name_hint = old.name_hint
        rewriter.insert(new, InsertPoint.before(op))
        self.changed(new, rewriter)
        result = new.results[0]
        if result.type != old.type:
            result = self.reshaped(result, old.type, op, rewriter)
            if is_named(old) and any(isinstance(use.operation, ReturnOp) for use in old.uses):
                rename(result.op, {0: name_of(old)})
                rename(new, {0: f"{name_of(old)}_image"})
        flat = [v for v in op.operands if is_flat(v)]
        rewriter.replace(op, [], [result])
        erase_unread(flat, rewriter.erase, lambda maker: isinstance(maker, ReshapeOp))

    def skip(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        """Let who reads a reshaped image as the image that it was read that."""
        before = op.input.op if isinstance(op.input, OpResult) else None
        if not isinstance(before, ReshapeOp) or not is_flat(op.input):
            return
        if before.input.type == op.result.type:
            self.changed(op, rewriter)
            rewriter.replace(op, [], [before.input])
            erase_unread([before.result], rewriter.erase, lambda maker: maker is before)

    def widened(self, value: SSAValue, op: ComputeOp, rewriter: PatternRewriter) -> SSAValue:
        """Return an operand as it stands beside images; an image where it is one, reshaped."""
        type_ = wide_type(value)
        if isinstance(value, OpResult) and is_flat(value) and value.op.operands[0].type == type_:
            return value.op.operands[0]
        return value if type_ == value.type else self.reshaped(value, type_, op, rewriter)

    def reshaped(
        self, value: SSAValue, type_: Attribute, op: ComputeOp, rewriter: PatternRewriter
    ) -> OpResult:
        reshape = ReshapeOp.create(operands=[value], result_types=[type_])
        rewriter.insert(reshape, InsertPoint.before(op))
        return reshape.result


def takes_sequences(op: ComputeOp) -> bool:
    """Return whether an operation makes one tensor of sequences and what is broadcast to them."""
    values = (*op.operands, *op.results)
    if len(op.results) != 1 or op.has_trait(View) or op.has_trait(Spatial):
        return False
    if any(encoding_of(v).layout.data or encoding_of(v).axis.data >= 0 for v in values):
        return False
    ranks = [len(shape_of(v)) for v in op.operands]
    return max(ranks, default=0) == SEQUENCE and (op.has_trait(Pointwise) or min(ranks) == SEQUENCE)


def is_flat(value: SSAValue) -> bool:
    """Return whether a tensor is an image one pixel wide, channels first, without its width."""
    op = value.op if isinstance(value, OpResult) else None
    return isinstance(op, ReshapeOp) and is_width_lost(op.input, value)


def feeds_images(op: ComputeOp) -> bool:
    """Return whether all that reads the result takes it as an image one pixel wide."""
    result = op.results[0]
    readers = [use.operation for use in result.uses]
    return bool(readers) and all(
        isinstance(reader, ReshapeOp) and is_width_lost(reader.result, result) for reader in readers
    )


def is_width_lost(image: SSAValue, sequence: SSAValue) -> bool:
    """Return whether a sequence has the dimensions of an image channels first but for a width of
    1."""
    if not is_channels_first(image):
        return False
    *sequence_shape, width = shape_of(image)
    return width == 1 and shape_of(sequence) == tuple(sequence_shape)


def wide_type(value: SSAValue) -> Attribute:
    """Return the type with a width of 1: of a sequence that of an image, of constants and of what
    is broadcast that of dimensions beside one."""
    shape, old = shape_of(value), encoding_of(value)
    if elements_of(value) == 1 and len(shape) < SEQUENCE:
        return value.type
    is_image = len(shape) == SEQUENCE and not is_constant_expression(value, GENERIC)
    encoding = EncodingAttr("nchw" if is_image else "", old.scales, old.zero_points)
    return TensorType(element_of(value), [*shape, 1], encoding)
