"""An image that is normalized by channels, or groups of them, is so row by row: one operator adds
up what its rows have in common, another one makes of each row what becomes of it, in its
place.

InstanceNormalization is a normalization of height and width, with a scale and a shift of each
channel.

Before:
    !x = tensor<1x2x2x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<2x1x1xf32>
    func.func @main(%x: !x) -> !x {
      %g = memgraph.constant dense<[[[2.0]], [[3.0]]]> : !c
      %b = memgraph.constant dense<[[[0.5]], [[-1.0]]]> : !c
      %1 = memgraph.layer_normalization %x axis 2 epsilon 0.5 : (!x) -> !x
      %2 = memgraph.mul %g, %1 : (!c, !x) -> !x
      %3 = memgraph.add %2, %b activation<relu> {memgraph.names = ["y"]} : (!x, !c) -> !x
      func.return %3 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %g = memgraph.constant dense<[[[2.0]], [[3.0]]]> : !c
      %b = memgraph.constant dense<[[[0.5]], [[-1.0]]]> : !c
      %s = memgraph.group_statistics %x groups 2 : (!x) -> tensor<2x2xf32>
      %h = memgraph.reshape %g : (!c) -> tensor<2xf32>
      %c = memgraph.reshape %b : (!c) -> tensor<2xf32>
      %3 = memgraph.group_normalization %x, %s, %h, %c epsilon 0.5 activation<relu>
             {memgraph.names = ["y"]} : (!x, tensor<2x2xf32>, tensor<2xf32>, tensor<2xf32>) -> !x
      func.return %3 : !x
    }

Exact to the bit but for the order of sums. Groups are taken apart by a reshape; PyTorch writes a
scale of ones and a shift of zeros of each group besides those of each channel:

Before:
    !x = tensor<1x4x2x3xf32, #memgraph.encoding<nchw>>
    !g = tensor<1x2x12xf32>
    !n = tensor<2x1xf32>
    !c = tensor<1x4x1x1xf32>
    func.func @main(%x: !x, %c: !c) -> (!x, !x, !x, !x) {
      %i = memgraph.constant dense<1.0> : !n
      %o = memgraph.constant dense<0.0> : !n
      %1 = memgraph.reshape %x : (!x) -> !g
      %2 = memgraph.layer_normalization %1 axis 2 epsilon 0.5 : (!g) -> !g
      %3 = memgraph.mul %2, %i : (!g, !n) -> !g
      %4 = memgraph.add %3, %o : (!g, !n) -> !g
      %5 = memgraph.reshape %4 : (!g) -> !x
      %6 = memgraph.mul %5, %c : (!x, !c) -> !x
      %7 = memgraph.reshape %6 : (!x) -> !g
      %8 = memgraph.layer_normalization %7 axis 2 epsilon 0.5 : (!g) -> !g
      %9 = memgraph.reshape %8 : (!g) -> !x
      %10 = memgraph.layer_normalization %9 axis 2 epsilon 0.5 : (!x) -> !x
      %11 = memgraph.layer_normalization %10 axis 1 epsilon 0.5 : (!x) -> !x
      func.return %6, %9, %10, %11 : !x, !x, !x, !x
    }
After:
    !s = tensor<2x2xf32>
    !r = tensor<2x4xf32>
    !t = tensor<2x1xf32>
    func.func @main(%x: !x, %c: !c) -> (!x, !x, !x, !x) {
      %i = memgraph.constant dense<1.0> : !n
      %o = memgraph.constant dense<0.0> : !n
      %s = memgraph.group_statistics %x groups 2 : (!x) -> !s
      %d = memgraph.reshape %c : (!c) -> tensor<4xf32>
      %6 = memgraph.group_normalization %x, %s, %d epsilon 0.5 : (!x, !s, tensor<4xf32>) -> !x
      %t = memgraph.group_statistics %6 groups 2 : (!x) -> !s
      %9 = memgraph.group_normalization %6, %t epsilon 0.5 : (!x, !s) -> !x
      %u = memgraph.group_statistics %9 groups 4 : (!x) -> !r
      %10 = memgraph.group_normalization %9, %u epsilon 0.5 : (!x, !r) -> !x
      %v = memgraph.group_statistics %10 groups 1 : (!x) -> !t
      %11 = memgraph.group_normalization %10, %v epsilon 0.5 : (!x, !t) -> !x
      func.return %6, %9, %10, %11 : !x, !x, !x, !x
    }

What is multiplied with numbers of other dimensions, or added to them, stays so, and what comes
behind an activation:

Before:
    !x = tensor<1x2x2x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<2x1x1xf32>
    func.func @main(%f: tensor<12xf32>, %c: !c, %w: tensor<3xf32>) -> (!x, !x, !x, !x) {
      %x = memgraph.reshape %f : (tensor<12xf32>) -> !x
      %1 = memgraph.layer_normalization %x axis 2 epsilon 0.5 : (!x) -> !x
      %2 = memgraph.mul %1, %w : (!x, tensor<3xf32>) -> !x
      %3 = memgraph.layer_normalization %2 axis 2 epsilon 0.5 : (!x) -> !x
      %4 = memgraph.mul %3, %c activation<relu> : (!x, !c) -> !x
      %5 = memgraph.add %4, %c : (!x, !c) -> !x
      %6 = memgraph.layer_normalization %5 axis 2 epsilon 0.5 : (!x) -> !x
      %7 = memgraph.add %6, %c : (!x, !c) -> !x
      %8 = memgraph.mul %6, %c : (!x, !c) -> !x
      %9 = memgraph.layer_normalization %8 axis 2 epsilon 0.5 : (!x) -> !x
      %10 = memgraph.add %9, %c : (!x, !c) -> !x
      func.return %5, %7, %8, %10 : !x, !x, !x, !x
    }
After:
    !s = tensor<2x2xf32>
    !d = tensor<2xf32>
    func.func @main(%f: tensor<12xf32>, %c: !c, %w: tensor<3xf32>) -> (!x, !x, !x, !x) {
      %x = memgraph.reshape %f : (tensor<12xf32>) -> !x
      %s = memgraph.group_statistics %x groups 2 : (!x) -> !s
      %1 = memgraph.group_normalization %x, %s epsilon 0.5 : (!x, !s) -> !x
      %2 = memgraph.mul %1, %w : (!x, tensor<3xf32>) -> !x
      %t = memgraph.group_statistics %2 groups 2 : (!x) -> !s
      %d = memgraph.reshape %c : (!c) -> !d
      %4 = memgraph.group_normalization %2, %t, %d epsilon 0.5 activation<relu>
             : (!x, !s, !d) -> !x
      %5 = memgraph.add %4, %c : (!x, !c) -> !x
      %u = memgraph.group_statistics %5 groups 2 : (!x) -> !s
      %6 = memgraph.group_normalization %5, %u epsilon 0.5 : (!x, !s) -> !x
      %7 = memgraph.add %6, %c : (!x, !c) -> !x
      %8 = memgraph.mul %6, %c : (!x, !c) -> !x
      %v = memgraph.group_statistics %8 groups 2 : (!x) -> !s
      %9 = memgraph.group_normalization %8, %v epsilon 0.5 : (!x, !s) -> !x
      %10 = memgraph.add %9, %c : (!x, !c) -> !x
      func.return %5, %7, %8, %10 : !x, !x, !x, !x
    }

Left alone are several images, what is no image channels first, other forms and numbers, groups of
no whole channels, and groups that are no image again, are read between, or have numbers of their
own:

Left alone:
    !x = tensor<1x4x2x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x4x3x2xf32, #memgraph.encoding<nchw>>
    !m = tensor<2x4x2x3xf32, #memgraph.encoding<nchw>>
    !l = tensor<1x2x3x4xf32, #memgraph.encoding<nhwc>>
    !g = tensor<1x2x12xf32>
    !h = tensor<1x8x3xf32>
    !t = tensor<2x3xf32>
    !n = tensor<2x1xf32>
    !q = tensor<1x4x2x3xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x, %m: !m, %l: !l, %g: !g, %q: !q, %r: !n)
        -> (!m, !l, !x, !x, !x, !x, !g, !y, !x, !x, !g, !x, !l, !q, !x) {
      %1 = memgraph.layer_normalization %m axis 1 epsilon 0.5 : (!m) -> !m
      %2 = memgraph.layer_normalization %l axis 2 epsilon 0.5 : (!l) -> !l
      %3 = memgraph.layer_normalization %x axis 2 epsilon 0.5 around_zero : (!x) -> !x
      %4 = memgraph.layer_normalization %x axis 2 epsilon 0.5 form "quotient" : (!x) -> !x
      %k = memgraph.constant dense<2.0> : !t
      %5 = memgraph.layer_normalization %x, %k axis 2 epsilon 0.5 : (!x, !t) -> !x
      %6 = memgraph.reshape %x : (!x) -> !h
      %7 = memgraph.layer_normalization %6 axis 2 epsilon 0.5 : (!h) -> !h
      %8 = memgraph.reshape %7 : (!h) -> !x
      %9 = memgraph.layer_normalization %g axis 2 epsilon 0.5 : (!g) -> !g
      %10 = memgraph.reshape %x : (!x) -> !g
      %11 = memgraph.layer_normalization %10 axis 2 epsilon 0.5 : (!g) -> !g
      %12 = memgraph.reshape %11 : (!g) -> !y
      %c = memgraph.constant dense<[[2.0], [3.0]]> : !n
      %13 = memgraph.reshape %x : (!x) -> !g
      %14 = memgraph.layer_normalization %13 axis 2 epsilon 0.5 : (!g) -> !g
      %15 = memgraph.mul %14, %c : (!g, !n) -> !g
      %16 = memgraph.reshape %15 : (!g) -> !x
      %17 = memgraph.reshape %x : (!x) -> !g
      %18 = memgraph.layer_normalization %17 axis 2 epsilon 0.5 : (!g) -> !g
      %19 = memgraph.add %18, %c : (!g, !n) -> !g
      %20 = memgraph.reshape %19 : (!g) -> !x
      %21 = memgraph.reshape %x : (!x) -> !g
      %22 = memgraph.layer_normalization %21 axis 2 epsilon 0.5 : (!g) -> !g
      %23 = memgraph.relu %22 : (!g) -> !g
      %24 = memgraph.reshape %22 : (!g) -> !x
      %25 = memgraph.reshape %l : (!l) -> !g
      %26 = memgraph.layer_normalization %25 axis 2 epsilon 0.5 : (!g) -> !g
      %27 = memgraph.reshape %26 : (!g) -> !l
      %28 = memgraph.layer_normalization %q axis 2 epsilon 0.5 rounding<onnx_even> : (!q) -> !q
      %29 = memgraph.reshape %x : (!x) -> !g
      %30 = memgraph.layer_normalization %29 axis 2 epsilon 0.5 : (!g) -> !g
      %31 = memgraph.mul %30, %r : (!g, !n) -> !g
      %32 = memgraph.reshape %31 : (!g) -> !x
      func.return %1, %2, %3, %4, %5, %8, %9, %12, %16, %20, %23, %24, %27, %28, %32
        : !m, !l, !x, !x, !x, !x, !g, !y, !x, !x, !g, !x, !l, !q, !x
    }
"""

from xdsl.dialects.builtin import Float32Type, TensorType, f32
from xdsl.ir import Attribute, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.analysis.constants import constants_beside
from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.quick import number
from memopt.dialects.memgraph.tensors import channels_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.binary import AddOp, MulOp
from memopt.dialects.operators.group_normalization import (
    STATISTICS,
    GroupNormalizationOp,
    GroupStatisticsOp,
)
from memopt.dialects.operators.layer_normalization import LayerNormalizationOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.reordering import is_channels_first
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.layer_normalization import only_user, other


class GroupNormalization(Rule):
    """The rule above."""

    exact = "bits"
    needs = (LayerNormalizationOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayerNormalizationOp, rewriter: PatternRewriter) -> None:
        if op.how or op.around_zero is not None or op.terms:
            return
        image = image_of(op)
        parts = None if image is None else image_again(op, image)
        if image is None or parts is None:
            return
        terms: list[SSAValue] = []
        for kind in (MulOp, AddOp):
            term = next_term(parts[-1], kind, channels_of(image))
            if term is None:
                break
            terms.append(other(term, parts[-1].results[0]))
            parts.append(term)
        *inside, last = parts
        operations = normalized(op, image, terms, last)
        for new in operations:
            new.location = last.location
            rewriter.insert(new, InsertPoint.before(last))
        operands = list(last.operands)
        self.replaced(last, operations[-1], rewriter)
        erase_unread(operands, rewriter.erase, (op.input.owner, *inside).__contains__)


def normalized(
    op: LayerNormalizationOp, image: SSAValue, terms: list[SSAValue], last: ComputeOp
) -> list[ComputeOp]:
    """Return the operations that make what `last` does, the last one in its place."""
    statistics = GroupStatisticsOp.create(
        operands=[image],
        result_types=[TensorType(f32, [STATISTICS, op.vectors])],
        properties={"groups": number(op.vectors)},
    )
    flat = TensorType(f32, [channels_of(image)])
    views = [ReshapeOp.create(operands=[term], result_types=[flat]) for term in terms]
    properties: dict[str, Attribute] = {"epsilon": op.epsilon}
    if last.activation_name:
        properties["activation"] = last.properties["activation"]
    normalization = GroupNormalizationOp.create(
        operands=[image, statistics.result, *(view.result for view in views)],
        result_types=[last.results[0].type],
        properties=properties,
    )
    normalization.result.name_hint = last.results[0].name_hint
    return [statistics, *views, normalization]


def image_of(op: LayerNormalizationOp) -> SSAValue | None:
    """Return the single image of reals, channels first, of which whole channels are normalized."""
    view, image = op.input.owner, op.input
    if isinstance(view, ReshapeOp) and not is_channels_first(image):
        image = view.input
    if not is_channels_first(image) or not isinstance(element_of(image), Float32Type):
        return None
    divides = shape_of(image)[0] == 1 and channels_of(image) % op.vectors == 0
    return image if divides else None


def image_again(op: LayerNormalizationOp, image: SSAValue) -> list[ComputeOp] | None:
    """Return the operations, this one first, by which what is normalized is an image again; None if
    it is not."""
    parts: list[ComputeOp] = [op]
    if op.result.type == image.type:
        return parts
    for kind, nothing in ((MulOp, 1.0), (AddOp, 0.0)):
        step = only_user(parts[-1].results[0], kind)
        if step is not None and is_all(other(step, parts[-1].results[0]), nothing, op):
            parts.append(step)
    view = only_user(parts[-1].results[0], ReshapeOp)
    return [*parts, view] if view is not None and view.result.type == image.type else None


def is_all(value: SSAValue, real: float, op: ComputeOp) -> bool:
    """Return whether all elements of a constant are that number."""
    numbers = constants_beside(op)(value)
    return numbers is not None and bool((numbers == real).all())


def next_term(op: ComputeOp, kind: type[MulOp | AddOp], channels: int) -> MulOp | AddOp | None:
    """Return the operation of that kind that alone reads what an operation without activation
    makes, with a number for each channel."""
    result = op.results[0]
    if op.activation_name or not result.has_one_use():
        return None
    term = next(iter(result.uses)).operation
    if not isinstance(term, kind):
        return None
    shape = shape_of(other(term, result))
    return term if shape in ((channels, 1, 1), (1, channels, 1, 1)) else None
