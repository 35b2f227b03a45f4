"""A convolution of a concatenation adds up a convolution of each part (SERENITY's channel-wise
partitioning, equations 3 to 6), all in one buffer.

Before:
    !a = tensor<1x3x3x1xf32, #memgraph.encoding<nhwc>>
    !b = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1x3x3x3xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x1x2x3xf32, #memgraph.encoding<ohwi>>
    !v = tensor<2xf32>
    func.func @main(%a: !a, %b: !b) -> !b {
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0], [0.5, 1.5, -1.0]]],
                                    [[[4.0, -1.0, 2.0], [3.0, 2.0, 1.0]]]]> : !w
      %v = memgraph.constant dense<[1.0, -1.0]> : !v
      %1 = memgraph.concat %a, %b axis 3 : (!a, !b) -> !c
      %2 = memgraph.conv_2d %1, %w, %v window<[1, 2], pad = [0, 1, 0, 0]> groups 1
             activation<relu> : (!c, !w, !v) -> !b
      func.return %2 : !b
    }
After:
    !w1 = tensor<2x1x2x1xf32, #memgraph.encoding<ohwi>>
    !w2 = tensor<2x1x2x2xf32, #memgraph.encoding<ohwi>>
    func.func @main(%a: !a, %b: !b) -> !b {
      %w = memgraph.constant dense<[[[[1.0, 2.0, 3.0], [0.5, 1.5, -1.0]]],
                                    [[[4.0, -1.0, 2.0], [3.0, 2.0, 1.0]]]]> : !w
      %v = memgraph.constant dense<[1.0, -1.0]> : !v
      %w1 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!w) -> !w1
      %1 = memgraph.conv_2d %a, %w1 window<[1, 2], pad = [0, 1, 0, 0]> groups 1 : (!a, !w1) -> !b
      %w2 = memgraph.slice %w starts [0, 0, 0, 1] strides [1, 1, 1, 1] : (!w) -> !w2
      %2 = memgraph.conv_2d %b, %w2 window<[1, 2], pad = [0, 1, 0, 0]> groups 1 : (!b, !w2) -> !b
      %3 = memgraph.accumulate %1, %2, %v biased activation<relu> : (!b, !b, !v) -> !b
      func.return %3 : !b
    }

Reals are added part by part then, so they are rounded in another order; bias and activation come
once, at the end. Integers stay what they were, bit for bit: partial sums are kept in 32 bits, and
requantised once.

Before:
    !a = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale=[0.1, 0.2], zero_point=[0, 0], axis=0>>
    !v = tensor<2xi32, #memgraph.encoding<scale=[0.05, 0.1], zero_point=[0, 0], axis=0>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    func.func @main(%a: !a, %b: !a) -> !y {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : !w
      %v = memgraph.constant dense<[10, 20]> : !v
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
      %2 = memgraph.conv_2d %1, %w, %v window<[1, 1]> groups 1 activation<relu>
             rounding<tflm_double> : (!c, !w, !v) -> !y
      func.return %2 : !y
    }
After:
    !u = tensor<2x1x1x1xi8, #memgraph.encoding<ohwi, scale=[0.1, 0.2], zero_point=[0, 0], axis=0>>
    !s = tensor<1x2x2x2xi32, #memgraph.encoding<nhwc>>
    func.func @main(%a: !a, %b: !a) -> !y {
      %w = memgraph.constant dense<[[[[1, 2]]], [[[3, 4]]]]> : !w
      %v = memgraph.constant dense<[10, 20]> : !v
      %w1 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1] : (!w) -> !u
      %1 = memgraph.conv_2d %a, %w1 window<[1, 1]> groups 1 rounding<tflm_double> : (!a, !u) -> !s
      %w2 = memgraph.slice %w starts [0, 0, 0, 1] strides [1, 1, 1, 1] : (!w) -> !u
      %2 = memgraph.conv_2d %b, %w2 window<[1, 1]> groups 1 rounding<tflm_double> : (!a, !u) -> !s
      %3 = memgraph.accumulate %1, %2, %v biased
             input<nhwc, scale = [5.0e-01], zero_point = [3]>
             weights<ohwi, scale=[0.1, 0.2], zero_point=[0, 0], axis=0>
             activation<relu> rounding<tflm_double> : (!s, !s, !v) -> !y
      func.return %3 : !y
    }

No sum of integers overflows: that of some products is of fewer than `MOST`, and that of all with
the bias is the accumulator of the convolution as it was. Each part dies once its own convolution
has run. But sums of integers take four bytes each, and
there are more operators; so the rule is applied only where the least peak falls.

Matrices over channels, and what is joined of what is joined:

Before:
    !a = tensor<1x2x2x1xf32>
    !b = tensor<1x2x2x2xf32>
    !c = tensor<1x2x2x3xf32>
    !w = tensor<1x3xf32>
    func.func @main(%a: !a, %b: !a, %c: !a) -> !a {
      %w = memgraph.constant dense<[[0.5, -1.5, 2.0]]> : !w
      %1 = memgraph.concat %a, %b axis 3
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!a, !a) -> !b
      %2 = memgraph.concat %1, %c axis 3 : (!b, !a) -> !c
      %3 = memgraph.fully_connected %2, %w keep_dims : (!c, !w) -> !a
      func.return %3 : !a
    }
After:
    !u = tensor<1x1xf32>
    func.func @main(%a: !a, %b: !a, %c: !a) -> !a {
      %w = memgraph.constant dense<[[0.5, -1.5, 2.0]]> : !w
      %w1 = memgraph.slice %w starts [0, 0] strides [1, 1] : (!w) -> !u
      %1 = memgraph.fully_connected %a, %w1 keep_dims : (!a, !u) -> !a
      %w2 = memgraph.slice %w starts [0, 1] strides [1, 1] : (!w) -> !u
      %2 = memgraph.fully_connected %b, %w2 keep_dims : (!a, !u) -> !a
      %w3 = memgraph.slice %w starts [0, 2] strides [1, 1] : (!w) -> !u
      %3 = memgraph.fully_connected %c, %w3 keep_dims : (!a, !u) -> !a
      %4 = memgraph.accumulate %1, %2, %3 : (!a, !a, !a) -> !a
      func.return %4 : !a
    }

What is joined and read elsewhere too is a part as it is:

Before:
    !a = tensor<1x2x2x1xf32>
    !b = tensor<1x2x2x2xf32>
    !c = tensor<1x2x2x3xf32>
    !w = tensor<1x3xf32>
    func.func @main(%a: !a, %b: !a, %c: !a) -> (!a, !b) {
      %w = memgraph.constant dense<[[0.5, -1.5, 2.0]]> : !w
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !b
      %2 = memgraph.concat %1, %c axis 3 : (!b, !a) -> !c
      %3 = memgraph.fully_connected %2, %w keep_dims : (!c, !w) -> !a
      func.return %3, %1 : !a, !b
    }
After:
    !u = tensor<1x2xf32>
    !v = tensor<1x1xf32>
    func.func @main(%a: !a, %b: !a, %c: !a) -> (!a, !b) {
      %w = memgraph.constant dense<[[0.5, -1.5, 2.0]]> : !w
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !b
      %w1 = memgraph.slice %w starts [0, 0] strides [1, 1] : (!w) -> !u
      %2 = memgraph.fully_connected %1, %w1 keep_dims : (!b, !u) -> !a
      %w2 = memgraph.slice %w starts [0, 2] strides [1, 1] : (!w) -> !v
      %3 = memgraph.fully_connected %c, %w2 keep_dims : (!a, !v) -> !a
      %4 = memgraph.accumulate %2, %3 : (!a, !a) -> !a
      func.return %4, %1 : !a, !b
    }

A mean over tensors of one type is the mean of theirs:

Before:
    !a = tensor<1x2x2xf32>
    !c = tensor<2x2x2xf32>
    !m = tensor<2x2xf32>
    func.func @main(%a: !a, %b: !a) -> !m {
      %1 = memgraph.concat %a, %b axis 0 : (!a, !a) -> !c
      %2 = memgraph.mean %1 axes [0] : (!c) -> !m
      func.return %2 : !m
    }
After:
    func.func @main(%a: !a, %b: !a) -> !m {
      %1 = memgraph.mean %a axes [0] : (!a) -> !m
      %2 = memgraph.mean %b axes [0] : (!a) -> !m
      %3 = memgraph.accumulate %1, %2 mean : (!m, !m) -> !m
      func.return %3 : !m
    }

Tensors of several sizes, another dimension:

Left alone:
    !a = tensor<1x2x2xf32>
    !b = tensor<2x2x2xf32>
    !c = tensor<3x2x2xf32>
    !m = tensor<2x2xf32>
    !n = tensor<2x2xf32>
    func.func @main(%a: !a, %b: !b) -> (!m, !n) {
      %1 = memgraph.concat %a, %b axis 0 : (!a, !b) -> !c
      %2 = memgraph.mean %1 axes [0] : (!c) -> !m
      %3 = memgraph.concat %a, %a axis 0 : (!a, !a) -> !b
      %4 = memgraph.mean %3 axes [1] : (!b) -> !n
      func.return %2, %4 : !m, !n
    }

Channels in groups; weights that are not constant; a matrix of more than channels, or of integers:

Left alone:
    !a = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1x2x2x4xf32, #memgraph.encoding<nhwc>>
    !w = tensor<4x1x1x4xf32, #memgraph.encoding<ohwi>>
    !g = tensor<4x1x1x2xf32, #memgraph.encoding<ohwi>>
    !m = tensor<2x16xf32>
    !y = tensor<1x2xf32>
    !i = tensor<1x2xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !j = tensor<1x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !n = tensor<2x4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%a: !a, %b: !a, %w: !w, %i: !i) -> (!c, !c, !y, !i) {
      %g = memgraph.constant dense<1.0> : !g
      %m = memgraph.constant dense<1.0> : !m
      %n = memgraph.constant dense<1> : !n
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
      %2 = memgraph.conv_2d %1, %w window<[1, 1]> groups 1 : (!c, !w) -> !c
      %3 = memgraph.conv_2d %1, %g window<[1, 1]> groups 2 : (!c, !g) -> !c
      %4 = memgraph.fully_connected %1, %m : (!c, !m) -> !y
      %5 = memgraph.concat %i, %i axis 1 : (!i, !i) -> !j
      %6 = memgraph.fully_connected %5, %n rounding<tflm_double> : (!j, !n) -> !i
      func.return %2, %3, %4, %6 : !c, !c, !y, !i
    }

Another axis than the channels; parts that are stored otherwise; a constant part; 16 bits:

Left alone:
    !a = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    !h = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !s = tensor<1x2x2x2xi16, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [0]>>
    !t = tensor<1x2x2x4xi16, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [0]>>
    !w = tensor<2x1x1x4xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
    !u = tensor<2x1x1x2xi8, #memgraph.encoding<ohwi, scale = [5.0e-01], zero_point = [0]>>
    func.func @main(%a: !a, %r: !r, %s: !s) -> (!h, !a, !a, !s) {
      %w = memgraph.constant dense<1> : !w
      %u = memgraph.constant dense<1> : !u
      %1 = memgraph.concat %a, %a axis 1 : (!a, !a) -> !h
      %2 = memgraph.conv_2d %1, %u window<[1, 1]> groups 1 rounding<tflm_double> : (!h, !u) -> !h
      %3 = memgraph.concat %a, %r axis 3 : (!a, !r) -> !c
      %4 = memgraph.conv_2d %3, %w window<[1, 1]> groups 1 rounding<tflm_double> : (!c, !w) -> !a
      %5 = memgraph.constant dense<1> : !a
      %6 = memgraph.concat %a, %5 axis 3 : (!a, !a) -> !c
      %7 = memgraph.conv_2d %6, %w window<[1, 1]> groups 1 rounding<tflm_double> : (!c, !w) -> !a
      %8 = memgraph.concat %s, %s axis 3 : (!s, !s) -> !t
      %9 = memgraph.conv_2d %8, %w window<[1, 1]> groups 1 rounding<tflm_double> : (!t, !w) -> !s
      func.return %2, %4, %7, %9 : !h, !a, !a, !s
    }
"""

from collections.abc import Sequence
from itertools import accumulate
from math import prod

from xdsl.dialects.builtin import IntegerType, TensorType, UnitAttr, f32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.arithmetic.stored import element_of, integer_type, is_stored, numbers_of
from memopt.dialects.attributes.channels import is_slimmed
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import EncodingAttr
from memopt.dialects.memgraph.plan import ALIAS, makes_virtual
from memopt.dialects.memgraph.tensors import channels_of, encoding_of, shape_of
from memopt.dialects.operators.accumulation import AccumulateOp, sum_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.convolution import Conv2DOp
from memopt.dialects.operators.mean import MeanOp
from memopt.dialects.operators.slices import ConcatOp
from memopt.dialects.operators.traits import Concatenates
from memopt.dialects.operators.weighing import WeighingOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.gather import is_alike, joined
from memopt.rewrites.kernel_wise import channels_of_constant

MOST = 1 << 15
"""Products of bytes, each below 2^16, whose sum is an int32 whatever they are."""


class ChannelWise(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Concatenates,)
    applied = "search"
    virtual = True
    only_lower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: WeighingOp | MeanOp, rewriter: PatternRewriter) -> None:
        parts = stacked(op) if isinstance(op, MeanOp) else parts_weighed(op)
        if len(parts) < 2 or ALIAS in op.attributes or sum_of(op) or claims_channels(op):
            return
        if not self.takes(op):
            return
        rewriter.insertion_point = InsertPoint.before(op)
        ends = list(accumulate(map(channels_of, parts)))
        sums: list[SSAValue] = []
        for part, end in zip(parts, ends, strict=True):
            operands = [part]
            if isinstance(op, WeighingOp):
                channels, axis = range(end - channels_of(part), end), op.depth_axis
                weights = channels_of_constant(op.operands[1], axis, channels)
                operands.append(rewriter.insert(weights).result)
            partial = type(op).create(
                operands=operands,
                result_types=[partial_type(op)],
                properties={k: v for k, v in op.properties.items() if k != "activation"},
            )
            sums.append(rewriter.insert(partial).results[0])
            self.derived(partial, op)
        joined_value = op.operands[0]
        self.replaced(op, rewriter.insert(added_up(op, sums)), rewriter)
        erase_unread([joined_value], rewriter.erase)


def parts_weighed(op: WeighingOp) -> list[SSAValue]:
    """Return the joined tensors over whose channels `op` sums products; nothing for other
    operands."""
    joining = joined(op.operands[0])
    parts = parts_of(joining) if joining is not None and adds_channels(op) else []
    return parts if all(map(channels_of, parts)) else []


def stacked(op: MeanOp) -> list[SSAValue]:
    """The tensors of one type that a mean of floats is over; none where it is over other things."""
    maker, axes = op.input.owner, op.axes.get_values()
    if not isinstance(maker, ConcatOp) or maker.activation_name or element_of(op.result) != f32:
        return []
    parts = list(maker.inputs)
    alike = all(v.type == parts[0].type and is_alike(v, op.input) for v in parts)
    return parts if alike and maker.axis.value.data in axes else []


def claims_channels(op: Operation) -> bool:
    """Return whether channels of the function were left out because of intervals of other tensors,
    which cannot be derived of partial sums."""
    return op.parent is not None and any(is_slimmed(other) for other in op.parent.ops)


def adds_channels(op: WeighingOp) -> bool:
    """Return whether an element of the result is a sum over all channels of a pixel of floats, or
    of bytes so few that no sum leaves an int32; with constants."""
    source, weights, bias = op.weighed
    constants = [weights] if bias is None else [weights, bias]
    if not all(is_constant_expression(v, GENERIC) for v in constants):
        return False
    if not op.reads_parts(0) or shape_of(weights)[op.depth_axis] != channels_of(source):
        return False
    if {element_of(v) for v in (*op.operands, *op.results)} == {f32}:
        return True
    stored = all(map(is_stored, (source, weights, *op.results)))
    bytes_ = all((integer_type(element_of(v)) or (0,))[0] == 8 for v in (source, *op.results))
    products = prod(shape_of(weights)) // max(shape_of(weights)[op.filter_axis], 1)
    one = len(numbers_of(source)[0]) == 1
    return isinstance(op, Conv2DOp) and stored and bytes_ and one and products < MOST


def parts_of(whole: ComputeOp) -> list[SSAValue]:
    """Return the operands that `whole` joins; for one that is joined itself and read by `whole`
    alone, or virtual, its parts."""
    parts: list[SSAValue] = []
    for part in whole.operands:
        inner = joined(part)
        alone = all(use.operation is whole for use in part.uses)
        if inner is not None and (alone or makes_virtual(inner)):
            parts += parts_of(inner)
        else:
            parts.append(part)
    return parts


def partial_type(op: ComputeOp) -> Attribute:
    """The type of partial sums: reals as the result, integers of 32 bits."""
    result = op.results[0]
    if not is_stored(result):
        return result.type
    layout = encoding_of(result).layout.data
    return TensorType(IntegerType(32), shape_of(result), EncodingAttr(layout))


def added_up(op: WeighingOp | MeanOp, parts: Sequence[SSAValue]) -> AccumulateOp:
    """Return the operation that adds up the parts with the activation and the bias of `op`."""
    if isinstance(op, MeanOp):
        types, mean = [op.result.type], {"mean": UnitAttr()}
        return AccumulateOp(operands=[parts], result_types=types, properties=mean)
    source, weights, bias = op.weighed
    inherited = ("activation", "rounding")
    properties = {k: op.properties[k] for k in inherited if k in op.properties}
    if bias is not None:
        properties["biased"] = UnitAttr()
    if is_stored(source):
        properties |= {"input": encoding_of(source), "weights": encoding_of(weights)}
    return AccumulateOp(
        operands=[[*parts, *([] if bias is None else [bias])]],
        result_types=[op.results[0].type],
        properties=properties,
    )
