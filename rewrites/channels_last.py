"""Images lie channels last (NHWC), as kernels for small devices read them, with a transposition at
each border.

What works on images, and what is next to that and may work on them in any order, takes them so:
axes and weights are put in that order, weights before run time. A tensor that comes from or goes to
anything else is transposed once; where only dimensions of size 1 change places it is a view.

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x4x3x3xf32, #memgraph.encoding<nchw>>
    !g = tensor<1x4x1x1xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x2x1x1xf32, #memgraph.encoding<oihw>>
    func.func @main(%x: !x) -> tensor<1x4xf32> {
      %w = memgraph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : !w
      %1 = memgraph.conv_2d %x, %w window<[1, 1]> groups 1 : (!x, !w) -> !x
      %2 = memgraph.concat %1, %x axis 1 : (!x, !x) -> !y
      %3 = memgraph.average_pool_2d %2 window<[3, 3]> : (!y) -> !g
      %4 = memgraph.reshape %3 {memgraph.names = ["z"]} : (!g) -> tensor<1x4xf32>
      func.return %4 : tensor<1x4xf32>
    }
After:
    !p = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !q = tensor<1x3x3x4xf32, #memgraph.encoding<nhwc>>
    !h = tensor<1x1x1x4xf32, #memgraph.encoding<nhwc>>
    !v = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    func.func @main(%x: !x) -> tensor<1x4xf32> {
      %w = memgraph.constant dense<[[[[1.0]], [[2.0]]], [[[3.0]], [[4.0]]]]> : !w
      %a = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !p
      %v = memgraph.reshape %w : (!w) -> !v
      %1 = memgraph.conv_2d %a, %v window<[1, 1]> groups 1 : (!p, !v) -> !p
      %2 = memgraph.concat %1, %a axis 3 : (!p, !p) -> !q
      %3 = memgraph.average_pool_2d %2 window<[3, 3]> : (!q) -> !h
      %b = memgraph.reshape %3 : (!h) -> !g
      %4 = memgraph.reshape %b {memgraph.names = ["z"]} : (!g) -> tensor<1x4xf32>
      func.return %4 : tensor<1x4xf32>
    }

Constants get the dimensions of images, and what is no image stays as it is:

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x2x1x1xf32, #memgraph.encoding<oihw>>
    !b = tensor<2xf32>
    !o = tensor<1x1x1x1xf32>
    !k = tensor<2x1x1xf32>
    func.func @main(%x: !x, %w: !w, %b: !b, %o: !o) -> tensor<1x2xf32> {
      %1 = memgraph.conv_2d %x, %w, %b window<[1, 1]> groups 1 : (!x, !w, !b) -> !x
      %2 = memgraph.mul %1, %o : (!x, !o) -> !x
      %k = memgraph.constant dense<[[[1.0]], [[2.0]]]> : !k
      %3 = memgraph.add %2, %k : (!x, !k) -> !x
      %4 = memgraph.mean %3 axes [2, 3] : (!x) -> tensor<1x2xf32>
      func.return %4 : tensor<1x2xf32>
    }
After:
    !p = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !v = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    !l = tensor<1x2x1x1xf32, #memgraph.encoding<>>
    !m = tensor<1x1x1x2xf32, #memgraph.encoding<>>
    func.func @main(%x: !x, %w: !w, %b: !b, %o: !o) -> tensor<1x2xf32> {
      %a = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !p
      %v = memgraph.reshape %w : (!w) -> !v
      %1 = memgraph.conv_2d %a, %v, %b window<[1, 1]> groups 1 : (!p, !v, !b) -> !p
      %2 = memgraph.mul %1, %o : (!p, !o) -> !p
      %k = memgraph.constant dense<[[[1.0]], [[2.0]]]> : !k
      %l = memgraph.reshape %k : (!k) -> !l
      %m = memgraph.reshape %l : (!l) -> !m
      %3 = memgraph.add %2, %m : (!p, !m) -> !p
      %4 = memgraph.mean %3 axes [1, 2] : (!p) -> tensor<1x2xf32>
      func.return %4 : tensor<1x2xf32>
    }

What makes images smaller or larger, element by element, stays at the side where they are larger:

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !q = tensor<1x2x3x3xi8, #memgraph.encoding<nchw, scale = [5.0e-01], zero_point = [3]>>
    !s = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    func.func @main(%x: !x) -> (!x, !s, !s) {
      %1 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !q
      %2 = memgraph.max_pool_2d %1 window<[1, 1]> : (!q) -> !q
      %3 = memgraph.dequantize %2 : (!q) -> !x
      %4 = memgraph.max_pool_2d %2 window<[1, 1]> : (!q) -> !q
      %5 = memgraph.dequantize %4 : (!q) -> !x
      %6 = memgraph.max_pool_2d %5 window<[2, 2]> : (!x) -> !s
      %7 = memgraph.max_pool_2d %x window<[2, 2]> : (!x) -> !s
      func.return %3, %6, %7 : !x, !s, !s
    }
After:
    !y = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !p = tensor<1x3x3x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !t = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> (!x, !s, !s) {
      %1 = memgraph.quantize %x rounding<onnx_even> : (!x) -> !q
      %a = memgraph.transpose %1 permutation [0, 2, 3, 1] : (!q) -> !p
      %2 = memgraph.max_pool_2d %a window<[1, 1]> : (!p) -> !p
      %b = memgraph.transpose %2 permutation [0, 3, 1, 2] : (!p) -> !q
      %3 = memgraph.dequantize %b : (!q) -> !x
      %4 = memgraph.max_pool_2d %2 window<[1, 1]> : (!p) -> !p
      %5 = memgraph.dequantize %4 : (!p) -> !y
      %6 = memgraph.max_pool_2d %5 window<[2, 2]> : (!y) -> !t
      %c = memgraph.transpose %6 permutation [0, 3, 1, 2] : (!t) -> !s
      %d = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !y
      %7 = memgraph.max_pool_2d %d window<[2, 2]> : (!y) -> !t
      %e = memgraph.transpose %7 permutation [0, 3, 1, 2] : (!t) -> !s
      func.return %3, %c, %e : !x, !s, !s
    }

What broadcasts to images gets their dimensions, too, if only the run time knows it:

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<2x1x1xf32>
    !r = tensor<3x3xf32>
    func.func @main(%x: !x, %c: !c, %r: !r) -> tensor<1x2xf32> {
      %1 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %2 = memgraph.add %1, %c : (!x, !c) -> !x
      %3 = memgraph.mul %r, %2 : (!r, !x) -> !x
      %4 = memgraph.mean %3 axes [2, 3] : (!x) -> tensor<1x2xf32>
      func.return %4 : tensor<1x2xf32>
    }
After:
    !p = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !l = tensor<1x2x1x1xf32, #memgraph.encoding<>>
    !m = tensor<1x1x1x2xf32, #memgraph.encoding<>>
    !s = tensor<1x1x3x3xf32, #memgraph.encoding<>>
    !t = tensor<1x3x3x1xf32, #memgraph.encoding<>>
    func.func @main(%x: !x, %c: !c, %r: !r) -> tensor<1x2xf32> {
      %a = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !p
      %1 = memgraph.max_pool_2d %a window<[1, 1]> : (!p) -> !p
      %l = memgraph.reshape %c : (!c) -> !l
      %m = memgraph.reshape %l : (!l) -> !m
      %2 = memgraph.add %1, %m : (!p, !m) -> !p
      %s = memgraph.reshape %r : (!r) -> !s
      %t = memgraph.reshape %s : (!s) -> !t
      %3 = memgraph.mul %t, %2 : (!t, !p) -> !p
      %4 = memgraph.mean %3 axes [1, 2] : (!p) -> tensor<1x2xf32>
      func.return %4 : tensor<1x2xf32>
    }

What also reads tensors that are no images takes its images as they were:

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x4x3x3xf32, #memgraph.encoding<nchw>>
    !z = tensor<1x2x3x3xf32>
    func.func @main(%x: !x, %z: !z) -> (!y, !x, !z) {
      %1 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %2 = memgraph.concat %1, %z axis 1 : (!x, !z) -> !y
      %3 = memgraph.add %1, %z : (!x, !z) -> !x
      %4 = memgraph.relu %1 : (!x) -> !z
      func.return %2, %3, %4 : !y, !x, !z
    }
After:
    !p = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %z: !z) -> (!y, !x, !z) {
      %a = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !p
      %1 = memgraph.max_pool_2d %a window<[1, 1]> : (!p) -> !p
      %b = memgraph.transpose %1 permutation [0, 3, 1, 2] : (!p) -> !x
      %2 = memgraph.concat %b, %z axis 1 : (!x, !z) -> !y
      %3 = memgraph.add %b, %z : (!x, !z) -> !x
      %4 = memgraph.relu %b : (!x) -> !z
      func.return %2, %3, %4 : !y, !x, !z
    }

What is left of an image where dimensions of size 1 stay goes back, too:

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !m = tensor<1x1x1x3xf32>
    func.func @main(%x: !x) -> !m {
      %1 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %2 = memgraph.mean %1 axes [1, 2] keep_dims : (!x) -> !m
      func.return %2 : !m
    }
After:
    !p = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !n = tensor<1x1x3x1xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> !m {
      %a = memgraph.transpose %x permutation [0, 2, 3, 1] : (!x) -> !p
      %1 = memgraph.max_pool_2d %a window<[1, 1]> : (!p) -> !p
      %2 = memgraph.mean %1 axes [1, 3] keep_dims : (!p) -> !n
      %3 = memgraph.reshape %2 : (!n) -> !m
      func.return %3 : !m
    }

Not where no operation works on images, or one has no such form: an unknown operator, a tensor of
four dimensions that is no image.

Left alone:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !z = tensor<1x2x3x3xf32>
    !y = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %z: !z, %y: !y) -> (!x, !y) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.add %1, %z : (!x, !z) -> !x
      %3 = memgraph.opaque "Elu"(%2) : (!x) -> !x
      %4 = memgraph.max_pool_2d %y window<[1, 1]> : (!y) -> !y
      func.return %3, %4 : !x, !y
    }
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.builtin import TensorType
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import is_named, name_of, rename
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, elements_of, encoding_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.movement import ReshapeOp, TransposeOp
from memopt.dialects.operators.reordering import (
    FIRST,
    LAST,
    is_channels_first,
    keeps_bytes,
    reordered_type,
)
from memopt.dialects.operators.traits import Pointwise, Spatial, Weights
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.rewrites import FunctionRule


class ChannelsLast(FunctionRule):
    """The rule above."""

    exact = "bits"
    needs = (Spatial,)
    applied = "kernels"
    keeps_claims = False

    def rewrite_function(self, func: FuncOp, rewriter: PatternRewriter) -> bool:
        chosen = convertible(func)
        turned = Turned(rewriter)
        for op in chosen:
            self.changed(turned.convert(op), rewriter)
        for op in reversed(chosen):
            turned.leave(op)
        return bool(chosen)


def convertible(func: FuncOp) -> list[ComputeOp]:
    """In block order, what works on images and can channels last, and what shares one with that."""
    able = [op for op in body_of(func).ops if isinstance(op, ComputeOp) and has_form(op)]
    waiting = [op for op in able if op.has_trait(Spatial)]
    chosen, possible = set[Operation](waiting), set[Operation](able)
    while waiting:
        op = waiting.pop()
        images = [v for v in (*op.operands, *op.results) if is_channels_first(v)]
        around = [v.op for v in images if isinstance(v, OpResult)]
        around += [use.operation for v in images for use in v.uses]
        for other in around:
            if isinstance(other, ComputeOp) and other in possible and other not in chosen:
                chosen.add(other)
                waiting.append(other)
    while border := [op for op in able if op in chosen and is_better_outside(op, chosen)]:
        chosen.difference_update(border)
    return [op for op in able if op in chosen]


def is_better_outside(op: ComputeOp, chosen: set[Operation]) -> bool:
    """Return whether fewer bytes are transposed if the operation stays channels first: at the
    border, on the side where tensors are larger."""
    if not op.has_trait(Pointwise) or len(op.operands) != 1:
        return False
    before, after = (bytes_of(v.type) or 0 for v in (op.operands[0], op.results[0]))
    if before > after:
        return op.operands[0].owner not in chosen
    return before < after and all(u.operation not in chosen for u in op.results[0].uses)


def has_form(op: ComputeOp) -> bool:
    """Return whether the operation can work on images channels last."""
    images = [v for v in (*op.operands, *op.results) if is_channels_first(v)]
    if not images or op.reordered(LAST) is None or is_constant_expression(op.results[0], GENERIC):
        return False
    if op.has_trait(Spatial):
        return is_channels_first(op.operands[0]) and is_channels_first(op.results[0])
    if not op.has_trait(Pointwise):
        return all(map(is_channels_first, op.operands))
    return is_channels_first(op.results[0]) and all(
        is_channels_first(v) or broadcasts(v) or is_constant_expression(v, GENERIC)
        for v in op.operands
    )


def broadcasts(value: SSAValue) -> bool:
    """Return whether a tensor has one element, or can get the dimensions that images have."""
    return elements_of(value) == 1 or len(shape_of(value)) < len(LAST)


def is_turned(result: SSAValue) -> bool:
    """Return whether a result of a converted operation has the dimensions of its images, which some
    operations state themselves: a mean that keeps its dimensions says nothing of those that are
    left."""
    return len(shape_of(result)) == len(LAST)


@dataclass
class Turned:
    """Values that were put channels last, by the values that they replace."""

    rewriter: PatternRewriter
    of: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def convert(self, op: ComputeOp) -> ComputeOp:
        """Insert the operation that works on images channels last, before the one that is."""
        properties = op.reordered(LAST)
        assert properties is not None
        operands = [self.operand(op, k) for k in range(len(op.operands))]
        types = [reordered_type(r, LAST, "nhwc") if is_turned(r) else r.type for r in op.results]
        new = type(op).create(
            operands=operands,
            result_types=types,
            properties=dict(properties),
            attributes=dict(op.attributes),
        )
        new.location = op.location
        self.rewriter.insert(new, InsertPoint.before(op))
        for old, result in zip(op.results, new.results, strict=True):
            result.name_hint = old.name_hint
            self.of[old] = result
        return new

    def operand(self, op: ComputeOp, index: int) -> SSAValue:
        value = op.operands[index]
        if index == 1 and op.has_trait(Weights):
            return self.weights(op, value)
        if value in self.of:
            return self.of[value]
        if is_channels_first(value):
            self.of[value] = self.moved(value, LAST, reordered_type(value, LAST, "nhwc"), op)
            return self.of[value]
        if not op.has_trait(Pointwise) or elements_of(value) == 1:
            return value
        wide = self.widened(value, op)
        return self.moved(wide, LAST, reordered_type(wide, LAST, ""), op)

    def weights(self, op: ComputeOp, value: SSAValue) -> SSAValue:
        layouts = op.get_trait(Weights)
        assert layouts is not None
        before, after = layouts.nchw, layouts.nhwc
        order = [before.index(letter) for letter in after]
        if isinstance(op, TransposeConv2DOp) and (groups := op.groups.value.data) > 1:
            return self.of_groups(op, value, groups)
        return self.moved(value, order, reordered_type(value, order, after), op)

    def of_groups(self, op: TransposeConv2DOp, value: SSAValue, groups: int) -> SSAValue:
        """Return weights of all channels in and one group's out (iohw) as those of all channels out
        and one group's in (ohwi)."""
        channels, filters, *taps = shape_of(value)
        depth, old = channels // groups, encoding_of(value)

        def typed(layout: str, *shape: int) -> AnyTensor:
            encoding = EncodingAttr(layout, old.scales, old.zero_points)
            return TensorType(element_of(value), shape, encoding)

        apart = typed("", groups, depth, filters, *taps)
        parts = self.inserted(ReshapeOp.create(operands=[value], result_types=[apart]), op)
        moved = self.moved(parts, (0, 2, 3, 4, 1), typed("", groups, filters, *taps, depth), op)
        flat = typed("ohwi", groups * filters, *taps, depth)
        return self.inserted(ReshapeOp.create(operands=[moved], result_types=[flat]), op)

    def widened(self, value: SSAValue, op: Operation) -> SSAValue:
        """Return the value with dimensions of size 1 in front, four in all."""
        shape = shape_of(value)
        wide = TensorType(element_of(value), [*(1,) * (4 - len(shape)), *shape], encoding_of(value))
        return self.inserted(ReshapeOp.create(operands=[value], result_types=[wide]), op)

    def moved(
        self, value: SSAValue, order: Sequence[int], made: Attribute, op: Operation
    ) -> SSAValue:
        """The value with its dimensions in that order, of the type `made`, before `op`."""
        if keeps_bytes(value, order):
            return self.inserted(ReshapeOp.create(operands=[value], result_types=[made]), op)
        properties: Mapping[str, Attribute] = {"permutation": numbers(order)}
        return self.inserted(
            TransposeOp.create(operands=[value], result_types=[made], properties=properties), op
        )

    def inserted(self, new: Operation, op: Operation) -> SSAValue:
        self.rewriter.insert(new, InsertPoint.before(op))
        return new.results[0]

    def leave(self, op: ComputeOp) -> None:
        """Erase what was converted, once nobody that was converted reads it: who else does reads
        the image as it lay."""
        for old in op.results:
            new = self.of[old]
            assert isinstance(new, OpResult)
            if is_turned(old) and old.uses:
                back = self.moved(new, FIRST, old.type, op)
                assert isinstance(back, OpResult)
                if is_named(old):
                    rename(back.op, {0: name_of(old)})
                    rename(new.op, {new.index: f"{name_of(old)}_nhwc"})
                new = back
            old.replace_all_uses_with(new)
        self.rewriter.erase(op)
