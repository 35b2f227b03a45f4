"""Sequences beside images one pixel wide are such images themselves.

A convolution over time comes as one over images one pixel wide, with a reshape before and after it.
What works element by element, or along an axis, between two of them does so on the images: then
`channels-last` turns all of it, and nothing stands between two convolutions but bytes as they are.

Before:
    !x = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    !s = tensor<1x2x5xf32>
    !y = tensor<1x4x5xf32>
    !t = tensor<1x1x5xf32>
    !c = tensor<1x2x1xf32>
    func.func @main(%x: !x, %z: !s, %m: tensor<2x5xf32>) -> (tensor<1x2xf32>, !y, !t, !t) {
      %c = memgraph.constant dense<[[[1.0], [2.0]]]> : !c
      %1 = memgraph.reshape %x : (!x) -> !s
      %2 = memgraph.add %1, %z {memgraph.names = ["a"]} : (!s, !s) -> !s
      %k = memgraph.constant dense<3.0> : tensor<f32>
      %s = memgraph.mul %2, %k : (!s, tensor<f32>) -> !s
      %3 = memgraph.mul %s, %c : (!s, !c) -> !s
      %4 = memgraph.mean %3 axes [2] {memgraph.names = ["m"]} : (!s) -> tensor<1x2xf32>
      %5 = memgraph.concat %1, %3 axis 1 {memgraph.names = ["y"]} : (!s, !s) -> !y
      %6 = memgraph.sub %3, %m : (!s, tensor<2x5xf32>) -> !s
      %7, %8 = memgraph.split %6 axis 1 {memgraph.names = ["p", "q"]} : (!s) -> (!t, !t)
      func.return %4, %5, %7, %8 : tensor<1x2xf32>, !y, !t, !t
    }
After:
    !k = tensor<1x2x1x1xf32, #memgraph.encoding<>>
    !z = tensor<1x4x5x1xf32, #memgraph.encoding<nchw>>
    !n = tensor<2x5x1xf32, #memgraph.encoding<>>
    !u = tensor<1x1x5x1xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x, %z: !s, %m: tensor<2x5xf32>) -> (tensor<1x2xf32>, !y, !t, !t) {
      %c = memgraph.constant dense<[[[1.0], [2.0]]]> : !c
      %1 = memgraph.reshape %z : (!s) -> !x
      %2 = memgraph.add %x, %1 {memgraph.names = ["a"]} : (!x, !x) -> !x
      %k = memgraph.constant dense<3.0> : tensor<f32>
      %s = memgraph.mul %2, %k : (!x, tensor<f32>) -> !x
      %l = memgraph.reshape %c : (!c) -> !k
      %3 = memgraph.mul %s, %l : (!x, !k) -> !x
      %4 = memgraph.mean %3 axes [2, 3] {memgraph.names = ["m"]} : (!x) -> tensor<1x2xf32>
      %5 = memgraph.concat %x, %3 axis 1 {memgraph.names = ["y_image"]} : (!x, !x) -> !z
      %6 = memgraph.reshape %5 {memgraph.names = ["y"]} : (!z) -> !y
      %n = memgraph.reshape %m : (tensor<2x5xf32>) -> !n
      %7 = memgraph.sub %3, %n : (!x, !n) -> !x
      %8, %9 = memgraph.split %7 axis 1 {memgraph.names = ["p_image", "q_image"]} : (!x) -> (!u, !u)
      %10 = memgraph.reshape %8 {memgraph.names = ["p"]} : (!u) -> !t
      %11 = memgraph.reshape %9 {memgraph.names = ["q"]} : (!u) -> !t
      func.return %4, %6, %10, %11 : tensor<1x2xf32>, !y, !t, !t
    }

What only images one pixel wide are made of comes after the reshape, too:

Before:
    !x = tensor<1x2x5xf32>
    !q = tensor<1x2x5xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x2x5x1xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> !q {
      %1 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !q
      %2 = memgraph.reshape %1 : (!q) -> !p
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!p) -> !p
      %4 = memgraph.reshape %3 : (!p) -> !q
      %5 = memgraph.relu %4 : (!q) -> !q
      func.return %5 : !q
    }
After:
    !i = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x) -> !q {
      %1 = memgraph.reshape %x : (!x) -> !i
      %2 = memgraph.quantize %1 rounding<onnx_even> : (!i) -> !p
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!p) -> !p
      %4 = memgraph.relu %3 : (!p) -> !p
      %5 = memgraph.reshape %4 : (!p) -> !q
      func.return %5 : !q
    }

A pad and a slice leave the new dimension as it is:

Before:
    !x = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    !p = tensor<1x2x8xf32>
    !h = tensor<1x2x3xf32>
    func.func @main(%x: !x) -> (!p, !h) {
      %1 = memgraph.reshape %x : (!x) -> tensor<1x2x5xf32>
      %2 = memgraph.pad %1 before [0, 0, 2] after [0, 0, 1] value 1.0
             : (tensor<1x2x5xf32>) -> !p
      %3 = memgraph.slice %1 starts [0, 0, 4] strides [1, 1, -2] : (tensor<1x2x5xf32>) -> !h
      func.return %2, %3 : !p, !h
    }
After:
    !i = tensor<1x2x8x1xf32, #memgraph.encoding<nchw>>
    !j = tensor<1x2x3x1xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x) -> (!p, !h) {
      %1 = memgraph.pad %x before [0, 0, 2, 0] after [0, 0, 1, 0] value 1.0 : (!x) -> !i
      %2 = memgraph.reshape %1 : (!i) -> !p
      %3 = memgraph.slice %x starts [0, 0, 4, 0] strides [1, 1, -2, 1] : (!x) -> !j
      %4 = memgraph.reshape %3 : (!j) -> !h
      func.return %2, %4 : !p, !h
    }

Exact: the same elements in the same order. Left alone is what is made of no image one pixel wide,
and what takes a tensor as it is:

Left alone:
    !x = tensor<1x2x1x5xf32, #memgraph.encoding<nchw>>
    !l = tensor<1x5x1x2xf32, #memgraph.encoding<nhwc>>
    !i = tensor<1x2x5x1xf32, #memgraph.encoding<nchw>>
    !s = tensor<1x2x5xf32>
    !t = tensor<1x5x2xf32>
    !m = tensor<2x5xf32>
    !w = tensor<1x1x2x5xf32>
    func.func @main(%x: !x, %l: !l, %i: !i, %w: !w, %s: !s)
        -> (!s, !t, !t, !s, tensor<10xf32>, !m, !w) {
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
      %11 = memgraph.reshape %7 : (!s) -> !m
      %12 = memgraph.add %7, %w : (!s, !w) -> !w
      %14 = memgraph.relu %s : (!s) -> !s
      %15 = memgraph.relu %s : (!s) -> !s
      %16 = memgraph.reshape %15 : (!s) -> !m
      func.return %2, %4, %6, %8, %10, %11, %12 : !s, !t, !t, !s, tensor<10xf32>, !m, !w
    }
"""

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.tensors import encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.reordering import NEW, is_width_lost
from memopt.rewrites import Rule, erase_unread

SEQUENCE = 3  # dimensions
WITH_WIDTH = (0, 1, 2, NEW)
"""Dimensions of a sequence in those of an image one pixel wide, channels first."""


class SequencesAsImages(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ReshapeOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if isinstance(op, ReshapeOp):
            self.skip(op, rewriter)
            return
        properties = op.reordered(WITH_WIDTH) if takes_sequences(op) else None
        if properties is None or not (any(map(image_of, op.operands)) or feeds_images(op)):
            return
        operands = [reshaped(v, wide_type(v), op, rewriter) for v in op.operands]
        types = [wide_type(r) if is_sequence(r) else r.type for r in op.results]
        reshape_around(self, op, operands, types, properties, "image", rewriter)

    def skip(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        """Let who reads a reshaped image as the image that it was read that."""
        image = image_of(op.input)
        if image is not None and image.type == op.result.type:
            flat = op.input
            self.changed(op, rewriter)
            rewriter.replace(op, [], [image])
            erase_flat([flat], rewriter)


def reshape_around(
    rule: Rule,
    op: ComputeOp,
    operands: Sequence[SSAValue],
    types: Sequence[Attribute],
    properties: Mapping[str, Attribute],
    what: str,
    rewriter: PatternRewriter,
) -> None:
    """Let an operation work on operands of other shapes; its results, named after `what` they are
    now, have their old ones behind it."""
    new = type(op).create(
        operands=operands,
        result_types=types,
        properties=dict(properties),
        attributes=dict(op.attributes),
    )
    new.location = op.location
    rewriter.insert(new, InsertPoint.before(op))
    rule.changed(new, rewriter)
    sources = list(op.operands)
    rewriter.replace(op, [], [shown_as(old, new, what, rewriter) for old in op.results])
    erase_flat(sources, rewriter)


def shown_as(old: OpResult, new: Operation, what: str, rewriter: PatternRewriter) -> SSAValue:
    """Return the same result of an operation that takes the place of another, for who reads it with
    its old shape; what is returned has the name."""
    result = new.results[old.index]
    result.name_hint = old.name_hint
    back = reshaped(result, old.type, old.op, rewriter)
    is_returned = any(isinstance(use.operation, ReturnOp) for use in old.uses)
    if isinstance(back, OpResult) and back is not result and is_named(old) and is_returned:
        rename(back.op, {0: name_of(old)})
        rename(new, {old.index: f"{name_of(old)}_{what}"})
    return back


def reshaped(
    value: SSAValue, type_: Attribute, before: Operation, rewriter: PatternRewriter
) -> SSAValue:
    """Return a value with another shape, which it gets before an operation."""
    if value.type == type_:
        return value
    reshape = ReshapeOp.create(operands=[value], result_types=[type_])
    rewriter.insert(reshape, InsertPoint.before(before))
    return reshape.result


def takes_sequences(op: ComputeOp) -> bool:
    """Return whether an operation makes tensors of sequences and what is broadcast to them."""
    return max((len(shape_of(v)) for v in op.operands), default=0) == SEQUENCE


def is_sequence(value: SSAValue) -> bool:
    """Return whether a tensor has the dimensions of a sequence."""
    return len(shape_of(value)) == SEQUENCE


def image_of(value: SSAValue) -> SSAValue | None:
    """Return the image one pixel wide, channels first, that a tensor is without its width."""
    op = value.op if isinstance(value, OpResult) else None
    return op.input if isinstance(op, ReshapeOp) and is_width_lost(op.input, value) else None


def erase_flat(flat: Sequence[SSAValue], rewriter: PatternRewriter) -> None:
    """Erase reshapes that nobody reads any more."""
    erase_unread(flat, rewriter.erase, lambda maker: isinstance(maker, ReshapeOp))


def feeds_images(op: ComputeOp) -> bool:
    """Return whether all that reads the result takes it as an image one pixel wide."""
    result = op.results[0]
    readers = [use.operation for use in result.uses]
    return bool(readers) and all(
        isinstance(reader, ReshapeOp) and is_width_lost(reader.result, result) for reader in readers
    )


def wide_type(value: SSAValue) -> Attribute:
    """Return the type with a width of 1: of a sequence that of an image, of constants and of what
    is broadcast that of dimensions beside one."""
    shape, old = shape_of(value), encoding_of(value)
    if not shape:
        return value.type
    is_image = is_sequence(value) and not is_constant_expression(value, GENERIC)
    encoding = EncodingAttr("nchw" if is_image else "", old.scales, old.zero_points, old.axis.data)
    return TensorType(element_of(value), [*shape, 1], encoding)
