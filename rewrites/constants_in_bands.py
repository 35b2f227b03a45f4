"""Products, sums and functions between two reshapes that undo each other work on the image itself,
with constants of each channel and row (sub-spectral normalization of BC-ResNet).

Before:
    !x = tensor<2x2x4x3xf32, #memgraph.encoding<nchw>>
    !b = tensor<2x4x2x3xf32>
    !c = tensor<4x1x1xf32>
    !w = tensor<1x1x1x3xf32>
    func.func @main(%x: !x) -> !x {
      %f = memgraph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : !c
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0]]]]> : !w
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.reshape %1 : (!x) -> !b
      %3 = memgraph.mul %2, %f {memgraph.names = ["y"]} : (!b, !c) -> !b
      %4 = memgraph.add %3, %w : (!b, !w) -> !b
      %5 = memgraph.reshape %4 : (!b) -> !x
      %6 = memgraph.relu %5 : (!x) -> !x
      func.return %6 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %f = memgraph.constant dense<[[[1.0]], [[2.0]], [[3.0]], [[4.0]]]> : !c
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0]]]]> : !w
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.reshape %f : (!c) -> tensor<1x4x1x1xf32>
      %3 = memgraph.picked %2 shape [1, 4, 1] sizes [1, 4, 2] terms [0, 0, 1, 1, 2, 2]
             numbers [0, 0, 1, 2, 3, 0, 0] : (tensor<1x4x1x1xf32>) -> tensor<1x4x2x1xf32>
      %4 = memgraph.reshape %3 : (tensor<1x4x2x1xf32>) -> tensor<1x2x4x1xf32>
      %5 = memgraph.mul %1, %4 {memgraph.names = ["y"]} : (!x, tensor<1x2x4x1xf32>) -> !x
      %6 = memgraph.add %5, %w : (!x, !w) -> !x
      %7 = memgraph.reshape %6 : (!x) -> !b
      %8 = memgraph.reshape %7 : (!b) -> !x
      %9 = memgraph.relu %8 : (!x) -> !x
      func.return %9 : !x
    }

Exact: every element meets the same constant. So the image keeps its rows, once `reshape-of-reshape`
has taken what is left. A constant is as often there as the rows of its band; where it would have as
many elements as the image, a second reader takes bands, what comes behind is no image, another one,
or of what only the run time knows, nothing is done:

Left alone:
    !x = tensor<1x2x4x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x4x2x3xf32, #memgraph.encoding<nchw>>
    !b = tensor<1x4x2x3xf32>
    !z = tensor<1x2x4x3xf32, #memgraph.encoding<nhwc>>
    !s = tensor<1x2x4x3xf32>
    !w = tensor<1x1x1x3xf32>
    func.func @main(%x: !x, %s: !s, %v: !w) -> (!x, !x, !b, !b, !y, !x, !s, !z) {
      %c = memgraph.constant dense<0.5> : !b
      %w = memgraph.constant dense<0.5> : !w
      %1 = memgraph.reshape %x : (!x) -> !b
      %2 = memgraph.mul %1, %c : (!b, !b) -> !b
      %3 = memgraph.reshape %2 : (!b) -> !x
      %4 = memgraph.add %1, %w : (!b, !w) -> !b
      %5 = memgraph.reshape %4 : (!b) -> !x
      %6 = memgraph.mul %4, %w : (!b, !w) -> !b
      %7 = memgraph.sub %1, %w : (!b, !w) -> !b
      %8 = memgraph.reshape %7 : (!b) -> !y
      %9 = memgraph.mul %1, %v : (!b, !w) -> !b
      %10 = memgraph.reshape %9 : (!b) -> !x
      %11 = memgraph.reshape %s : (!s) -> !b
      %12 = memgraph.mul %11, %w : (!b, !w) -> !b
      %13 = memgraph.reshape %12 : (!b) -> !s
      %14 = memgraph.add %1, %w : (!b, !w) -> !b
      %15 = memgraph.reshape %14 : (!b) -> !z
      func.return %3, %5, %6, %4, %8, %10, %13, %15 : !x, !x, !b, !b, !y, !x, !s, !z
    }

Nor where something between is not element by element, has more dimensions, or scales of channels,
or where the bytes of the bands stand for other numbers:

Left alone:
    !x = tensor<1x2x4x3xf32, #memgraph.encoding<nchw>>
    !b = tensor<1x4x2x3xf32>
    !m = tensor<1x1x4x2x3xf32>
    !w = tensor<1x1x1x3xf32>
    !v = tensor<1x1x1x1x3xf32>
    !c = tensor<4xf32>
    !q = tensor<1x2x4x3xi8,
      #memgraph.encoding<nchw, scale = [1.0, 2.0], zero_point = [0, 0], axis = 1>>
    !r = tensor<1x4x2x3xi8, #memgraph.encoding<scale = [1.0, 2.0], zero_point = [0, 0], axis = 2>>
    !s = tensor<1x2x4x3xi8, #memgraph.encoding<nchw, scale = [1.0], zero_point = [0]>>
    !d = tensor<1x4x2x3xi8, #memgraph.encoding<scale = [2.0], zero_point = [0]>>
    func.func @main(%x: !x, %q: !q, %s: !s) -> (!x, !x, !x, !x, !x) {
      %w = memgraph.constant dense<0.5> : !w
      %v = memgraph.constant dense<0.5> : !v
      %c = memgraph.constant dense<0.5> : !c
      %1 = memgraph.reshape %x : (!x) -> !b
      %2 = memgraph.mul %1, %w : (!b, !w) -> !b
      %3 = memgraph.softmax %2 axis 3 beta 1.0 : (!b) -> !b
      %4 = memgraph.reshape %3 : (!b) -> !x
      %5 = memgraph.add %1, %v : (!b, !v) -> !m
      %6 = memgraph.reshape %5 : (!m) -> !x
      %7 = memgraph.batch_normalization %1, %c, %c, %c, %c epsilon 0.0 : (!b, !c, !c, !c, !c) -> !b
      %8 = memgraph.reshape %7 : (!b) -> !x
      %9 = memgraph.reshape %q : (!q) -> !r
      %10 = memgraph.dequantize %9 : (!r) -> !b
      %11 = memgraph.reshape %10 : (!b) -> !x
      %12 = memgraph.reshape %s : (!s) -> !d
      %13 = memgraph.dequantize %12 : (!d) -> !b
      %14 = memgraph.reshape %13 : (!b) -> !x
      func.return %4, %6, %8, %11, %14 : !x, !x, !x, !x, !x
    }
"""

from collections.abc import Sequence
from math import prod
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.picked import PickedOp, picks_along
from memopt.dialects.operators.traits import Elementwise
from memopt.rewrites import Rule
from memopt.rewrites.sequences_as_images import reshape_around, reshaped


class ConstantsInBands(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ReshapeOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        varying = varying_operand(op)
        shown = varying.op if isinstance(varying, OpResult) else None
        if not isinstance(shown, ReshapeOp):
            return
        image, bands = shown.input, shown.result
        if not encoding_of(image).layout.data or not is_shown_back(op, image):
            return
        if shape_of(bands) != shape_of(op.results[0]):
            return
        alike = [v for v in op.operands if v is not bands]
        if any(encoding_of(v).axis.data >= 0 for v in (*alike, image, bands, op.results[0])):
            return
        if as_image(bands, image) != image.type:  # bytes that stand for other numbers
            return
        spread = Spread.between(shape_of(bands), shape_of(image))
        elements = prod(shape_of(image))
        if any(prod(spread.shapes(shape_of(v))[1]) >= elements for v in alike):
            return
        operands = [image if v is bands else spread.over(v, op, rewriter) for v in op.operands]
        type_ = as_image(op.results[0], image)
        reshape_around(self, op, operands, [type_], op.properties, "image", rewriter)


def varying_operand(op: Operation) -> SSAValue | None:
    """Return the operand of an elementwise operation that is not known before run time, if it is
    one."""
    if not op.has_trait(Elementwise):
        return None
    varying = [v for v in op.operands if not is_constant_expression(v, GENERIC)]
    return varying[0] if len(varying) == 1 else None


def is_shown_back(op: Operation, image: SSAValue) -> bool:
    """Return whether the only reader of an operation, or of the pointwise ones behind it, takes the
    result as an image of the same form again."""
    while len(uses := list(op.results[0].uses)) == 1:
        reader = uses[0].operation
        if isinstance(reader, ReshapeOp):
            layout = encoding_of(reader.result).layout == encoding_of(image).layout
            return layout and shape_of(reader.result) == shape_of(image)
        if varying_operand(reader) is None:
            return False
        op = reader
    return False


def as_image(value: SSAValue, image: SSAValue) -> Attribute:
    """Return the type of the elements of `value` in the form of an image."""
    old, layout = encoding_of(value), encoding_of(image).layout.data
    encoding = EncodingAttr(layout, old.scales, old.zero_points)
    return TensorType(element_of(value), shape_of(image), encoding)


class Spread:
    """How what is broadcast to bands becomes what is broadcast to the image that they show."""

    def __init__(self, bands: Sequence[int], image: Sequence[int], first: int, last: int) -> None:
        """Dimensions from `first` to `last`, counted from the end, have other sizes."""
        self.bands, self.image, self.first, self.last = bands, image, first, last

    @staticmethod
    def between(bands: Sequence[int], image: Sequence[int]) -> "Spread":
        """Return it for two shapes of as many elements."""
        least = min(len(bands), len(image))
        first = next((k for k in range(least) if bands[k] != image[k]), least)
        rest = least - first
        last = next((k for k in range(rest) if bands[-1 - k] != image[-1 - k]), rest)
        return Spread(bands, image, first, last)

    def shapes(self, constant: Sequence[int]) -> tuple[list[int], list[int], list[int]]:
        """Return the shape of a constant beside the bands, with all elements where sizes differ,
        and beside the image."""
        own = [*[1] * (len(self.bands) - len(constant)), *constant]
        first, last = self.first, len(own) - self.last
        behind = own[last:]
        inner = self.bands[first:last] if own[first:last] != [1] * (last - first) else None
        wide = own if inner is None else [*own[:first], *inner, *behind]
        image_sizes = self.image[first : len(self.image) - self.last]
        beside = [1] * len(image_sizes) if inner is None else image_sizes
        return own, wide, [*own[:first], *beside, *behind]

    def over(self, value: SSAValue, op: Operation, rewriter: PatternRewriter) -> SSAValue:
        """Return a constant as it stands beside the image, made before an operation."""
        own, wide, beside = self.shapes(shape_of(value))
        old = cast("AnyTensor", value.type).encoding
        plain = (
            EncodingAttr("", old.scales, old.zero_points) if isinstance(old, EncodingAttr) else old
        )

        def typed(shape: Sequence[int]) -> Attribute:
            return TensorType(element_of(value), shape, plain)

        constant = reshaped(value, typed(own), op, rewriter)
        if own != wide:
            along = [range(n) if n == k else [0] * n for n, k in zip(wide, own, strict=True)]
            picked = PickedOp.create(
                operands=[constant], result_types=[typed(wide)], properties=picks_along(own, along)
            )
            rewriter.insert(picked, InsertPoint.before(op))
            constant = picked.result
        return reshaped(constant, typed(beside), op, rewriter)
