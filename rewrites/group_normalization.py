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

What is dequantized is added up as it is stored; an image that is so in the shape of groups is
normalized as an image, if it is stored as one again:

Before:
    !q = tensor<1x4x2x3xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x2x12xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !x = tensor<1x4x2x3xf32, #memgraph.encoding<nchw>>
    !g = tensor<1x2x12xf32>
    !n = tensor<2x1xf32>
    !t = tensor<2x1xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<1x4x2x3xi16, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%q: !q, %w: !w) -> (!x, !q, !x) {
      %10 = memgraph.dequantize %w : (!w) -> !x
      %11 = memgraph.layer_normalization %10 axis 2 epsilon 0.5 : (!x) -> !x
      %1 = memgraph.dequantize %q : (!q) -> !x
      %2 = memgraph.layer_normalization %1 axis 2 epsilon 0.5 : (!x) -> !x
      %3 = memgraph.reshape %q : (!q) -> !p
      %4 = memgraph.dequantize %3 : (!p) -> !g
      %5 = memgraph.layer_normalization %4 axis 2 epsilon 0.5 : (!g) -> !g
      %c = memgraph.constant dense<5> : !t
      %6 = memgraph.dequantize %c : (!t) -> !n
      %7 = memgraph.mul %5, %6 : (!g, !n) -> !g
      %8 = memgraph.quantize %7 rounding<onnx_even> : (!g) -> !p
      %9 = memgraph.reshape %8 : (!p) -> !q
      func.return %2, %9, %11 : !x, !q, !x
    }
After:
    !s = tensor<2x4xf32>
    !u = tensor<2x2xf32>
    func.func @main(%q: !q, %w: !w) -> (!x, !q, !x) {
      %10 = memgraph.dequantize %w : (!w) -> !x
      %t = memgraph.group_statistics %10 groups 4 : (!x) -> !s
      %11 = memgraph.group_normalization %10, %t epsilon 0.5 : (!x, !s) -> !x
      %1 = memgraph.dequantize %q : (!q) -> !x
      %s = memgraph.group_statistics %q groups 4 : (!q) -> !s
      %2 = memgraph.group_normalization %1, %s epsilon 0.5 : (!x, !s) -> !x
      %c = memgraph.constant dense<5> : !t
      %u = memgraph.group_statistics %q groups 2 : (!q) -> !u
      %3 = memgraph.dequantize %q : (!q) -> !x
      %7 = memgraph.group_normalization %3, %u epsilon 0.5 : (!x, !u) -> !x
      %r = memgraph.reshape %7 : (!x) -> !g
      %8 = memgraph.quantize %r rounding<onnx_even> : (!g) -> !p
      %9 = memgraph.reshape %8 : (!p) -> !q
      func.return %2, %9, %11 : !x, !q, !x
    }

Left alone:
    !q = tensor<1x4x2x3xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x4x2x3xi16, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [0]>>
    !k = tensor<1x2x12xi16, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>
    !y = tensor<1x4x3x2xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !z = tensor<1x4x2x3xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !p = tensor<1x2x12xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !g = tensor<1x2x12xf32>
    func.func @main(%q: !q, %h: !h) -> (!y, !p, !z, !q) {
      %1 = memgraph.reshape %q : (!q) -> !p
      %2 = memgraph.dequantize %1 : (!p) -> !g
      %3 = memgraph.layer_normalization %2 axis 2 epsilon 0.5 : (!g) -> !g
      %4 = memgraph.quantize %3 rounding<onnx_even> : (!g) -> !p
      %5 = memgraph.reshape %4 : (!p) -> !y
      %6 = memgraph.layer_normalization %2 axis 2 epsilon 0.5 : (!g) -> !g
      %7 = memgraph.quantize %6 rounding<onnx_even> : (!g) -> !p
      %8 = memgraph.layer_normalization %2 axis 2 epsilon 0.5 : (!g) -> !g
      %9 = memgraph.quantize %8 rounding<onnx_even> : (!g) -> !p
      %10 = memgraph.reshape %9 : (!p) -> !z
      %11 = memgraph.reshape %h : (!h) -> !k
      %12 = memgraph.dequantize %11 : (!k) -> !g
      %13 = memgraph.layer_normalization %12 axis 2 epsilon 0.5 : (!g) -> !g
      %14 = memgraph.quantize %13 rounding<onnx_even> : (!g) -> !p
      %15 = memgraph.reshape %14 : (!p) -> !q
      func.return %5, %7, %10, %15 : !y, !p, !z, !q
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
from memopt.dialects.arithmetic.even_rounding import real_type
from memopt.dialects.arithmetic.stored import element_of, is_stored
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
from memopt.dialects.operators.quantization import DequantizeOp, QuantizeOp
from memopt.dialects.operators.reordering import is_channels_first
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.layer_normalization import only_user, other
from memopt.rewrites.qdq_fold import per_tensor


class GroupNormalization(Rule):
    """The rule above."""

    exact = "bits"
    needs = (LayerNormalizationOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LayerNormalizationOp, rewriter: PatternRewriter) -> None:
        if op.how or op.around_zero is not None or op.terms or is_stored(op.input):
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
        goes = (op.input.owner, *inside)
        erase_unread(
            operands, rewriter.erase, lambda o: o in goes or isinstance(o, ReshapeOp | DequantizeOp)
        )


def normalized(
    op: LayerNormalizationOp, image: SSAValue, terms: list[SSAValue], last: ComputeOp
) -> list[ComputeOp]:
    """Return the operations that make what `last` does, the last one in its place."""
    statistics = GroupStatisticsOp.create(
        operands=[stored_image(image) or image],
        result_types=[TensorType(f32, [STATISTICS, op.vectors])],
        properties={"groups": number(op.vectors)},
    )
    flat = TensorType(f32, [channels_of(image)])
    views = [ReshapeOp.create(operands=[term], result_types=[flat]) for term in terms]
    again: list[ComputeOp] = []
    if is_stored(image):
        real = real_type(image)
        again = [DequantizeOp.create(operands=[image], result_types=[real])]
        image = again[0].results[0]
    properties: dict[str, Attribute] = {"epsilon": op.epsilon}
    if last.activation_name:
        properties["activation"] = last.properties["activation"]
    normalization = GroupNormalizationOp.create(
        operands=[image, statistics.result, *(view.result for view in views)],
        result_types=[image.type],
        properties=properties,
    )
    operations = [statistics, *views, *again, normalization]
    if normalization.result.type != last.results[0].type:
        view = ReshapeOp.create(
            operands=[normalization.result], result_types=[last.results[0].type]
        )
        operations.append(view)
    operations[-1].results[0].name_hint = last.results[0].name_hint
    return operations


def stored_image(image: SSAValue) -> SSAValue | None:
    """Return the integers of 8 bits and one scale that an image of reals is dequantized from."""
    op = image.owner
    return op.input if isinstance(op, DequantizeOp) and per_tensor(op.input) else None


def image_of(op: LayerNormalizationOp) -> SSAValue | None:
    """Return the single image, channels first, of which whole channels are normalized: of reals, or
    the stored one that they are dequantized from in the shape of groups."""
    image = op.input
    for _ in range(2):
        view = image.owner
        if is_channels_first(image) or not isinstance(view, ReshapeOp | DequantizeOp):
            break
        image = view.input
    is_known = isinstance(element_of(image), Float32Type) or per_tensor(image)
    if not is_channels_first(image) or not is_known:
        return None
    divides = shape_of(image)[0] == 1 and channels_of(image) % op.vectors == 0
    return image if divides else None


def image_again(op: LayerNormalizationOp, image: SSAValue) -> list[ComputeOp] | None:
    """Return the operations, this one first, by which what is normalized is an image again, or is
    stored to be one again; None if it is not."""
    parts: list[ComputeOp] = [op]
    if op.result.type == image.type:
        return parts
    for kind, nothing in ((MulOp, 1.0), (AddOp, 0.0)):
        step = only_user(parts[-1].results[0], kind)
        if step is not None and is_all(other(step, parts[-1].results[0]), nothing, op):
            parts.append(step)
    view = only_user(parts[-1].results[0], ReshapeOp)
    if view is not None and view.result.type == image.type:
        return [*parts, view]
    quantize = only_user(parts[-1].results[0], QuantizeOp)
    view = None if quantize is None else only_user(quantize.result, ReshapeOp)
    if view is None or not is_channels_first(view.result):
        return None
    return parts if shape_of(view.result) == shape_of(image) else None


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
