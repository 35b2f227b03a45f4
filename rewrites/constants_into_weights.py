"""A product, a quotient or a sum with constants, one of each channel, goes into the weights and the
bias of the sums of products that alone make its other operand.

Before:
    !x = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !y = tensor<1x2x2x3xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x2x2x1xf32, #memgraph.encoding<oihw>>
    !v = tensor<2x1x1xf32>
    !c = tensor<2xf32>
    !z = tensor<1x2x2x3xf32>
    func.func @main(%x: !x) -> !z {
      %w = memgraph.constant dense<[[[[1.0], [2.0]], [[0.5], [-1.5]]],
                                    [[[4.0], [-1.0]], [[3.0], [2.0]]]]> : !w
      %b = memgraph.constant dense<[1.0, -1.0]> : !c
      %1 = memgraph.conv_2d %x, %w, %b window<[2, 1]> groups 1 : (!x, !w, !c) -> !y
      %f = memgraph.constant dense<[[[2.0]], [[0.3]]]> : !v
      %2 = memgraph.mul %1, %f {memgraph.names = ["y"]} : (!y, !v) -> !z
      %3 = memgraph.tanh %2 : (!z) -> !z
      func.return %3 : !z
    }
After:
    func.func @main(%x: !x) -> !z {
      %w = memgraph.constant dense<[[[[1.0], [2.0]], [[0.5], [-1.5]]],
                                    [[[4.0], [-1.0]], [[3.0], [2.0]]]]> : !w
      %b = memgraph.constant dense<[1.0, -1.0]> : !c
      %f = memgraph.constant dense<[[[2.0]], [[0.3]]]> : !v
      %g = memgraph.reshape %f : (!v) -> !c
      %u = memgraph.scaled %w, %g axis 0 : (!w, !c) -> !w
      %d = memgraph.scaled %b, %g axis 0 : (!c, !c) -> !c
      %2 = memgraph.conv_2d %x, %u, %d window<[2, 1]> groups 1 {memgraph.names = ["y"]}
             : (!x, !w, !c) -> !y
      %3 = memgraph.tanh %2 : (!y) -> !z
      func.return %3 : !z
    }

The tensor in between is gone and nothing is computed for it; a batch normalization behind a
convolution comes as that (`normalization-as-product`). Reals are rounded elsewhere: weights and
bias once more for each constant that went into them. So a sum of products p and a bias b is off by
at most 2^-24 (|p1| + ... + |b|) more for each constant, which is what float32 may have it off for
one addition; unless a weight leaves the range of float32.

The constant may stand first, and be one number for all; the activation is that of what is left.
Where there is no bias, what is added becomes one:

Before:
    !x = tensor<2x3x4xf32>
    !y = tensor<2x3x2xf32>
    !w = tensor<2x4xf32>
    !o = tensor<1xf32>
    !v = tensor<1x1x2xf32>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[1.0, 2.0, -0.5, 0.7], [4.0, 0.1, 1.0, -1.0]]> : !w
      %o = memgraph.constant dense<[0.3]> : !o
      %t = memgraph.constant dense<[[[0.7, -0.2]]]> : !v
      %1 = memgraph.fully_connected %x, %w keep_dims : (!x, !w) -> !y
      %2 = memgraph.mul %o, %1 : (!o, !y) -> !y
      %3 = memgraph.add %2, %t activation<relu> : (!y, !v) -> !y
      func.return %3 : !y
    }
After:
    !b = tensor<2xf32>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[1.0, 2.0, -0.5, 0.7], [4.0, 0.1, 1.0, -1.0]]> : !w
      %o = memgraph.constant dense<[0.3]> : !o
      %t = memgraph.constant dense<[[[0.7, -0.2]]]> : !v
      %u = memgraph.scaled %w, %o axis 0 : (!w, !o) -> !w
      %b = memgraph.reshape %t : (!v) -> !b
      %3 = memgraph.fully_connected %x, %u, %b keep_dims activation<relu> : (!x, !w, !b) -> !y
      func.return %3 : !y
    }

Where it is divided by constants, weights and bias are, each rounded once; to a bias one number can
be added:

Before:
    !x = tensor<3x2xf32>
    !c = tensor<2xf32>
    !w = tensor<2x2xf32>
    !o = tensor<1xf32>
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[1.0, 2.0], [4.0, 0.1]]> : !w
      %c = memgraph.constant dense<[0.3, -5.0]> : !c
      %o = memgraph.constant dense<[0.7]> : !o
      %1 = memgraph.fully_connected %x, %w, %c : (!x, !w, !c) -> !x
      %2 = memgraph.div %1, %c : (!x, !c) -> !x
      %3 = memgraph.add %2, %o : (!x, !o) -> !x
      func.return %3 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[1.0, 2.0], [4.0, 0.1]]> : !w
      %c = memgraph.constant dense<[0.3, -5.0]> : !c
      %o = memgraph.constant dense<[0.7]> : !o
      %u = memgraph.divided %w, %c axis 0 : (!w, !c) -> !w
      %d = memgraph.divided %c, %c axis 0 : (!c, !c) -> !c
      %e = memgraph.shifted %d, %o axis 0 : (!c, !o) -> !c
      %2 = memgraph.fully_connected %x, %u, %e : (!x, !w, !c) -> !x
      func.return %2 : !x
    }

Channels last the filters of a depthwise convolution stand in the last dimension:

Before:
    !x = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !y = tensor<1x2x3x4xf32, #memgraph.encoding<nhwc>>
    !w = tensor<1x2x1x4xf32, #memgraph.encoding<ihwo>>
    !c = tensor<4xf32>
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0, 4.0]], [[0.5, -1.0, 2.0, 0.25]]]]> : !w
      %b = memgraph.constant dense<[1.0, -1.0, 0.5, 0.0]> : !c
      %1 = memgraph.depthwise_conv_2d %x, %w, %b window<[2, 1]> groups 2 : (!x, !w, !c) -> !y
      %2 = memgraph.mul %1, %b : (!y, !c) -> !y
      %3 = memgraph.add %2, %b : (!y, !c) -> !y
      func.return %3 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0, 4.0]], [[0.5, -1.0, 2.0, 0.25]]]]> : !w
      %b = memgraph.constant dense<[1.0, -1.0, 0.5, 0.0]> : !c
      %u = memgraph.scaled %w, %b axis 3 : (!w, !c) -> !w
      %d = memgraph.scaled %b, %b axis 0 : (!c, !c) -> !c
      %e = memgraph.shifted %d, %b axis 0 : (!c, !c) -> !c
      %3 = memgraph.depthwise_conv_2d %x, %u, %e window<[2, 1]> groups 2 : (!x, !w, !c) -> !y
      func.return %3 : !y
    }

Weights that nothing is multiplied with may have other readers:

Before:
    !x = tensor<3x2xf32>
    !c = tensor<2xf32>
    !w = tensor<2x2xf32>
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[1.0, 2.0], [4.0, 0.1]]> : !w
      %c = memgraph.constant dense<[0.3, -5.0]> : !c
      %1 = memgraph.fully_connected %x, %w : (!x, !w) -> !x
      %2 = memgraph.add %c, %1 : (!c, !x) -> !x
      %3 = memgraph.fully_connected %2, %w : (!x, !w) -> !x
      func.return %3 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %w = memgraph.constant dense<[[1.0, 2.0], [4.0, 0.1]]> : !w
      %c = memgraph.constant dense<[0.3, -5.0]> : !c
      %2 = memgraph.fully_connected %x, %w, %c : (!x, !w, !c) -> !x
      %3 = memgraph.fully_connected %2, %w : (!x, !w) -> !x
      func.return %3 : !x
    }

Somebody else reads what is multiplied, also the caller; it is clamped before; it is no sum of
products; the other operand is not constant, or has a number of each pixel, of each row, or so many
that the result is larger; what divides a constant:

Left alone:
    !x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    !c = tensor<2xf32>
    !p = tensor<2x2x1xf32>
    !r = tensor<2x1x1xf32>
    !n = tensor<3x1x1x2xf32>
    !z = tensor<3x2x2x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %v: !c) -> (!x, !x, !x, !x, !x, !x, !x, !z, !x) {
      %c = memgraph.constant dense<2.0> : !c
      %w1 = memgraph.constant dense<1.0> : !w
      %1 = memgraph.conv_2d %x, %w1 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %2 = memgraph.mul %1, %c : (!x, !c) -> !x
      %w2 = memgraph.constant dense<2.0> : !w
      %3 = memgraph.conv_2d %x, %w2 window<[1, 1]> groups 1 activation<relu> : (!x, !w) -> !x
      %4 = memgraph.add %3, %c : (!x, !c) -> !x
      %5 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %6 = memgraph.mul %5, %c : (!x, !c) -> !x
      %w3 = memgraph.constant dense<3.0> : !w
      %7 = memgraph.conv_2d %x, %w3 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %8 = memgraph.mul %7, %v : (!x, !c) -> !x
      %p = memgraph.constant dense<2.0> : !p
      %w4 = memgraph.constant dense<4.0> : !w
      %9 = memgraph.conv_2d %x, %w4 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %10 = memgraph.mul %9, %p : (!x, !p) -> !x
      %r = memgraph.constant dense<2.0> : !r
      %w5 = memgraph.constant dense<5.0> : !w
      %11 = memgraph.conv_2d %x, %w5 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %12 = memgraph.add %11, %r : (!x, !r) -> !x
      %n = memgraph.constant dense<2.0> : !n
      %w6 = memgraph.constant dense<6.0> : !w
      %13 = memgraph.conv_2d %x, %w6 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %14 = memgraph.mul %13, %n : (!x, !n) -> !z
      %w7 = memgraph.constant dense<7.0> : !w
      %15 = memgraph.conv_2d %x, %w7 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %16 = memgraph.div %c, %15 : (!c, !x) -> !x
      func.return %1, %2, %4, %6, %8, %10, %12, %14, %16 : !x, !x, !x, !x, !x, !x, !x, !z, !x
    }

Weights that are multiplied and that somebody else reads too, for there would be two of them; that
only the run time knows; that are stored in fewer bytes; a bias that is not constant; one number
that is added where there is no bias; a result that is laid out in another way; a matrix that makes
several pixels at once:

Left alone:
    !x = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !m = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    !w = tensor<2x1x1x2xf32, #memgraph.encoding<ohwi>>
    !q = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
    !c = tensor<2xf32>
    !o = tensor<1xf32>
    !k = tensor<4x4xf32>
    func.func @main(%x: !x, %v: !w, %b: !c) -> (!x, !x, !x, !x, !x, !x, !m, !x) {
      %c = memgraph.constant dense<2.0> : !c
      %w1 = memgraph.constant dense<1.0> : !w
      %1 = memgraph.conv_2d %x, %w1 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %2 = memgraph.mul %1, %c : (!x, !c) -> !x
      %3 = memgraph.conv_2d %x, %w1 window<[1, 1]> groups 1 activation<relu> : (!x, !w) -> !x
      %4 = memgraph.conv_2d %x, %v window<[1, 1]> groups 1 : (!x, !w) -> !x
      %5 = memgraph.mul %4, %c : (!x, !c) -> !x
      %q = memgraph.constant dense<3> : !q
      %w2 = memgraph.dequantize %q : (!q) -> !w
      %6 = memgraph.conv_2d %x, %w2 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %7 = memgraph.mul %6, %c : (!x, !c) -> !x
      %w3 = memgraph.constant dense<3.0> : !w
      %8 = memgraph.conv_2d %x, %w3, %b window<[1, 1]> groups 1 : (!x, !w, !c) -> !x
      %9 = memgraph.mul %8, %c : (!x, !c) -> !x
      %o = memgraph.constant dense<4.0> : !o
      %w4 = memgraph.constant dense<4.0> : !w
      %10 = memgraph.conv_2d %x, %w4 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %11 = memgraph.add %10, %o : (!x, !o) -> !x
      %w5 = memgraph.constant dense<5.0> : !w
      %12 = memgraph.conv_2d %x, %w5 window<[1, 1]> groups 1 : (!x, !w) -> !x
      %13 = memgraph.mul %12, %c : (!x, !c) -> !m
      %k = memgraph.constant dense<6.0> : !k
      %14 = memgraph.fully_connected %x, %k : (!x, !k) -> !x
      %15 = memgraph.mul %14, %c : (!x, !c) -> !x
      func.return %2, %3, %5, %7, %9, %11, %13, %15 : !x, !x, !x, !x, !x, !x, !m, !x
    }

Integers, which would have to be requantised, and other reals than of 32 bits:

Left alone:
    !x = tensor<1x1x1x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !c = tensor<2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x1x1x2xf16, #memgraph.encoding<nhwc>>
    !v = tensor<2x1x1x2xf16, #memgraph.encoding<ohwi>>
    !d = tensor<2xf16>
    func.func @main(%x: !x, %h: !h) -> (!x, !h) {
      %w = memgraph.constant dense<3> : !w
      %c = memgraph.constant dense<4> : !c
      %1 = memgraph.conv_2d %x, %w window<[1, 1]> groups 1 rounding<tflm_double> : (!x, !w) -> !x
      %2 = memgraph.mul %1, %c rounding<tflm_double> : (!x, !c) -> !x
      %v = memgraph.constant dense<3.0> : !v
      %d = memgraph.constant dense<4.0> : !d
      %3 = memgraph.conv_2d %h, %v window<[1, 1]> groups 1 : (!h, !v) -> !h
      %4 = memgraph.mul %3, %d : (!h, !d) -> !h
      func.return %2, %4 : !x, !h
    }
"""

from dataclasses import dataclass

from xdsl.dialects.builtin import AnyFloat, Float32Type, IntegerAttr, TensorType, f32, i64
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.tensors import channel_axis, elements_of, shape_of
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.binary import BinaryOp
from memopt.dialects.operators.constants import PerChannelOp
from memopt.dialects.operators.movement import ReshapeOp
from memopt.dialects.operators.traits import Spatial
from memopt.dialects.operators.weighing import WeighingOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.relu_into_producer import joined_type

OPERATOR = "memgraph.operator"


class ConstantsIntoWeights(Rule):
    """The rule above."""

    exact = "rounding"
    needs = (BinaryOp,)
    applied = "kernels"
    keeps_claims = False

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: BinaryOp, rewriter: PatternRewriter) -> None:
        pairs = [(op.lhs, op.rhs), (op.rhs, op.lhs)]
        for value, constant in pairs if op.COMMUTES else pairs[:1]:
            site = Site.of(op, value, constant)
            if site is not None:
                self.fold(op, site, rewriter)
                return

    def fold(self, op: BinaryOp, site: "Site", rewriter: PatternRewriter) -> None:
        def inserted(new: Operation) -> SSAValue:
            rewriter.insert(new, InsertPoint.before(op))
            return new.results[0]

        def flat(value: SSAValue) -> SSAValue:
            """The numbers of a constant, one after the other."""
            while isinstance(value.owner, ReshapeOp):
                value = value.owner.input
            if len(shape_of(value)) == 1:
                return value
            type_ = TensorType(f32, [elements_of(value)])
            return inserted(ReshapeOp.create(operands=[value], result_types=[type_]))

        def computed(value: SSAValue, axis: int) -> SSAValue:
            properties = {"axis": IntegerAttr(axis, i64)}
            return inserted(
                site.form.create(
                    operands=[value, numbers], result_types=[value.type], properties=properties
                )
            )

        source, weights, bias = site.producer.weighed
        numbers = flat(site.constant)
        if site.form.LINEAR:
            weights = computed(weights, site.producer.filter_axis)
        if bias is not None:
            bias = computed(flat(bias), 0)
        elif not site.form.LINEAR:
            bias = numbers
        last = {"activation": op.activation} if op.activation is not None else {}
        folded = type(site.producer).create(
            operands=[v for v in (source, weights, bias) if v is not None],
            result_types=[joined_type(site.producer.results[0], op.result) or op.result.type],
            properties={**site.producer.properties, **last},
        )
        inserted(folded)
        self.replaced(op, folded, rewriter)
        if OPERATOR in site.producer.attributes:
            folded.attributes[OPERATOR] = site.producer.attributes[OPERATOR]
        rewriter.erase(site.producer)
        erase_unread([site.constant], rewriter.erase, lambda o: isinstance(o, ReshapeOp))


@dataclass(frozen=True)
class Site:
    """Operation with a constant, the producer whose weights may take the constant, and the form of
    it."""

    form: type[PerChannelOp]
    producer: WeighingOp
    constant: SSAValue

    @classmethod
    def of(cls, op: BinaryOp, value: SSAValue, constant: SSAValue) -> "Site | None":
        """None where the rule is not legal, or one operand not the constant and the other not sums
        of products."""
        producer = value.owner
        if (
            op.OF_CONSTANT is None
            or not isinstance(producer, WeighingOp)
            or not producer.takes_activation
        ):
            return None
        if not value.has_one_use() or joined_type(value, op.result) is None:
            return None
        _, weights, bias = producer.weighed
        reals = all(
            isinstance(element_of(v), Float32Type) for v in (*producer.operands, value, constant)
        )
        if not reals or not is_constant_expression(constant, GENERIC):
            return None
        if op.OF_CONSTANT.LINEAR and not is_kept_once(weights):
            return None
        if bias is not None and not is_constant_expression(bias, GENERIC):
            return None
        has_all = bias is not None or op.OF_CONSTANT.LINEAR
        if (elements_of(constant) == 1 and has_all) or is_of_filters(constant, producer):
            return cls(op.OF_CONSTANT, producer, constant)
        return None


def is_of_filters(constant: SSAValue, made: WeighingOp) -> bool:
    """Return whether the constant has one number for each filter, along the channels that these
    make."""
    result = made.results[0]
    shape = shape_of(result)
    axis = channel_axis(result) if made.has_trait(Spatial) else len(shape) - 1
    if shape[axis] != shape_of(made.operands[1])[made.filter_axis]:
        return False
    beside = tuple(n if i == axis else 1 for i, n in enumerate(shape))
    return (*(1,) * (len(shape) - len(shape_of(constant))), *shape_of(constant)) == beside


def is_kept_once(weights: SSAValue) -> bool:
    """Return whether weights are constant and stored as reals, for one reader alone: so that the
    computed ones take their place, and are no second table, or a larger one."""
    while isinstance(weights, OpResult) and weights.has_one_use():
        if isinstance(weights.op, ConstantOp):
            return isinstance(element_of(weights), AnyFloat)
        if not is_constant_expression(weights, GENERIC):
            return False
        weights = weights.op.operands[0]
    return False
