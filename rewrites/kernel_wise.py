"""Operations that compute channel by channel are split over the parts of a concatenation
(SERENITY's kernel-wise partitioning, equations 7 and 8): their results are joined instead of the
operands.

Before:
    !a = tensor<1x4x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<1x1x2x2xi8, #memgraph.encoding<ihwo, scale=[0.1, 0.2], zero_point=[0, 0], axis=3>>
    !v = tensor<2xi32, #memgraph.encoding<scale=[0.05, 0.1], zero_point=[0, 0], axis=0>>
    !y = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    func.func @main(%a: !a, %b: !a) -> !y {
      %w = memgraph.constant dense<[[[[1, 2], [3, 4]]]]> : !w
      %v = memgraph.constant dense<[10, 20]> : !v
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
      %2 = memgraph.depthwise_conv_2d %1, %w, %v window<[1, 2], stride = [2, 2], pad = [0, 1, 0, 0]>
             groups 2 activation<relu> rounding<tflm_double> : (!c, !w, !v) -> !y
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!y) -> !y
      func.return %3 : !y
    }
After:
    !z = tensor<1x2x2x1xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    !w1 = tensor<1x1x2x1xi8, #memgraph.encoding<ihwo, scale=[0.1], zero_point=[0], axis=3>>
    !v1 = tensor<1xi32, #memgraph.encoding<scale=[0.05], zero_point=[0], axis=0>>
    !w2 = tensor<1x1x2x1xi8, #memgraph.encoding<ihwo, scale=[0.2], zero_point=[0], axis=3>>
    !v2 = tensor<1xi32, #memgraph.encoding<scale=[0.1], zero_point=[0], axis=0>>
    func.func @main(%a: !a, %b: !a) -> !y {
      %w = memgraph.constant dense<[[[[1, 2], [3, 4]]]]> : !w
      %v = memgraph.constant dense<[10, 20]> : !v
      %w1 = memgraph.slice %w starts [0, 0, 0, 0] strides [1, 1, 1, 1]
             : (!w) -> !w1
      %v1 = memgraph.slice %v starts [0] strides [1]
             : (!v) -> !v1
      %1 = memgraph.depthwise_conv_2d %a, %w1, %v1
             window<[1, 2], stride = [2, 2], pad = [0, 1, 0, 0]>
             groups 1 activation<relu> rounding<tflm_double> : (!a, !w1, !v1) -> !z
      %w2 = memgraph.slice %w starts [0, 0, 0, 1] strides [1, 1, 1, 1]
             : (!w) -> !w2
      %v2 = memgraph.slice %v starts [1] strides [1]
             : (!v) -> !v2
      %2 = memgraph.depthwise_conv_2d %b, %w2, %v2
             window<[1, 2], stride = [2, 2], pad = [0, 1, 0, 0]>
             groups 1 activation<relu> rounding<tflm_double> : (!a, !w2, !v2) -> !z
      %3 = memgraph.concat %1, %2 axis 3 : (!z, !z) -> !y
      %4 = memgraph.max_pool_2d %3 window<[1, 1]> : (!y) -> !y
      func.return %4 : !y
    }

Exact: each channel is computed as it was, of the same elements, with its own weights. Each part
dies once its own operator has run, and the joined result becomes a virtual tensor (`gather`),
so all of these must take parts. There are more operators then, and results take the place of other
operands; so the rule is applied only where the least peak falls.

Through several operators, and where readers compute a function themselves:

Before:
    !a = tensor<1x2x4x4xf32, #memgraph.encoding<nchw>>
    !c = tensor<1x4x4x4xf32, #memgraph.encoding<nchw>>
    !p = tensor<1x4x2x2xf32, #memgraph.encoding<nchw>>
    func.func @main(%a: !a, %b: !a) -> !p {
      %1 = memgraph.concat %a, %b axis 1 : (!a, !a) -> !c
      %2 = memgraph.relu %1 {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]}
             : (!c) -> !c
      %3 = memgraph.average_pool_2d %2 window<[2, 2], stride = [2, 2]> : (!c) -> !p
      %4 = memgraph.tanh %3 : (!p) -> !p
      func.return %4 : !p
    }
After:
    !q = tensor<1x2x2x2xf32, #memgraph.encoding<nchw>>
    func.func @main(%a: !a, %b: !a) -> !p {
      %1 = memgraph.relu %a {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]}
             : (!a) -> !a
      %2 = memgraph.relu %b {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>]]}
             : (!a) -> !a
      %3 = memgraph.average_pool_2d %1 window<[2, 2], stride = [2, 2]> : (!a) -> !q
      %4 = memgraph.average_pool_2d %2 window<[2, 2], stride = [2, 2]> : (!a) -> !q
      %5 = memgraph.concat %3, %4 axis 1 : (!q, !q) -> !p
      %6 = memgraph.tanh %5 : (!p) -> !p
      func.return %6 : !p
    }

What mixes channels, or has several filters for a group of them; weights that are not constant; an
operand besides; what somebody reads in one piece, also the caller:

Left alone:
    !a = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1x2x2x4xf32, #memgraph.encoding<nhwc>>
    !w = tensor<4x1x1x4xf32, #memgraph.encoding<ohwi>>
    !g = tensor<4x1x1x2xf32, #memgraph.encoding<ohwi>>
    !d = tensor<1x1x1x4xf32, #memgraph.encoding<ihwo>>
    !f = tensor<1x16xf32>
    func.func @main(%a: !a, %b: !a, %d: !d, %x: !c) -> (!c, !c, !c, !c, !f, !c) {
      %w = memgraph.constant dense<1.0> : !w
      %g = memgraph.constant dense<1.0> : !g
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !c
      %2 = memgraph.conv_2d %1, %w window<[1, 1]> groups 1 : (!c, !w) -> !c
      %3 = memgraph.relu %2 : (!c) -> !c
      %4 = memgraph.conv_2d %1, %g window<[1, 1]> groups 2 : (!c, !g) -> !c
      %5 = memgraph.relu %4 : (!c) -> !c
      %6 = memgraph.depthwise_conv_2d %1, %d window<[1, 1]> groups 4 : (!c, !d) -> !c
      %7 = memgraph.relu %6 : (!c) -> !c
      %8 = memgraph.add %1, %x : (!c, !c) -> !c
      %9 = memgraph.relu %8 : (!c) -> !c
      %10 = memgraph.relu %1 : (!c) -> !c
      %11 = memgraph.reshape %10 : (!c) -> !f
      %12 = memgraph.tanh %1 : (!c) -> !c
      func.return %3, %5, %7, %9, %11, %12 : !c, !c, !c, !c, !f, !c
    }

What has lost channels (`constant-channels`), for the claims are of whole operators. Another axis
than the channels; parts that are stored otherwise; a constant part:

Left alone:
    !a = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    !h = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%a: !a, %r: !r) -> (!h, !c, !c, !c, !c) {
      %1 = memgraph.concat %a, %a axis 1 : (!a, !a) -> !h
      %2 = memgraph.max_pool_2d %1 window<[1, 1]> : (!h) -> !h
      %3 = memgraph.max_pool_2d %2 window<[1, 1]> : (!h) -> !h
      %4 = memgraph.concat %a, %r axis 3 : (!a, !r) -> !c
      %5 = memgraph.max_pool_2d %4 window<[1, 1]> : (!c) -> !c
      %6 = memgraph.max_pool_2d %5 window<[1, 1]> : (!c) -> !c
      %7 = memgraph.constant dense<1> : !a
      %8 = memgraph.concat %a, %7 axis 3 : (!a, !a) -> !c
      %9 = memgraph.max_pool_2d %8 window<[1, 1]> : (!c) -> !c
      %10 = memgraph.max_pool_2d %9 window<[1, 1]> : (!c) -> !c
      %11 = memgraph.concat %a, %a axis 3 : (!a, !a) -> !c
      %12 = memgraph.max_pool_2d %11 window<[1, 1]>
              {memgraph.channels = [#memgraph.channels<5, left_out = [2 [-128, 127] unread]>]}
              : (!c) -> !c
      %13 = memgraph.max_pool_2d %12 window<[1, 1]> : (!c) -> !c
      %14 = memgraph.concat %a, %a axis 3
              {memgraph.channels = [#memgraph.channels<5, left_out = [2 [-128, 127] unread]>]}
              : (!a, !a) -> !c
      %15 = memgraph.max_pool_2d %14 window<[1, 1]> : (!c) -> !c
      %16 = memgraph.max_pool_2d %15 window<[1, 1]> : (!c) -> !c
      func.return %3, %6, %10, %13, %16 : !h, !c, !c, !c, !c
    }
"""

from collections.abc import Sequence
from itertools import accumulate

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint

from memopt.dialects.attributes.channels import channels_of_result
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.quick import numbers
from memopt.dialects.memgraph.plan import ALIAS, makes_virtual
from memopt.dialects.memgraph.tensors import channel_axis, channels_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.slices import ConcatOp, SliceOp
from memopt.dialects.operators.traits import Concatenates
from memopt.dialects.operators.weighing import WeighingOp
from memopt.rewrites import Rule, erase_unread
from memopt.rewrites.constant_channels import slim_type
from memopt.rewrites.gather import is_read, joined, reads_parts, virtual_aliases


class KernelWise(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Concatenates,)
    applied = "search"
    virtual = True
    only_lower = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        joining = joined(op.operands[0]) if op.operands else None
        if joining is None or (ALIAS in op.attributes and not makes_virtual(op)):
            return
        channels = channels_of_parts(op, joining)
        if channels is None or not is_read(op.results[0], takes_parts) or not self.takes(op):
            return
        partial_ops: list[ComputeOp] = []
        for part, own in zip(joining.operands, channels, strict=True):
            rewriter.insertion_point = InsertPoint.before(op)
            partial_ops.append(of_part(op, part, own, rewriter))
            self.derived(partial_ops[-1], op)
        result = op.results[0]
        joint = ConcatOp(
            operands=[[m.results[0] for m in partial_ops]],
            result_types=[result.type],
            properties={"axis": IntegerAttr(channel_axis(result), i64)},
        )
        if makes_virtual(op):
            joint.attributes[ALIAS] = virtual_aliases(len(joint.operands))
        rewriter.insert(joint)
        self.replaced(op, joint, rewriter)
        erase_unread(joining.results, rewriter.erase, lambda o: o is joining)


def takes_parts(reader: Operation, operand: int) -> bool:
    """Return whether the reader reads parts, or joins channels of its operands, and so may be
    virtual itself."""
    joins = isinstance(reader, ConcatOp) and joined(reader.result) is reader
    return joins or reads_parts(reader, operand)


def channels_of_parts(op: ComputeOp, whole: ComputeOp) -> list[list[int]] | None:
    """The channels of the only result that are made of each part of operand 0, one part after the
    other; None where it is not so, or another operand is more than a constant for each channel."""
    if len(op.results) != 1 or not op.reads_parts(0):
        return None
    if any(channels_of_result(v) for v in (*op.results, *whole.operands, *whole.results)):
        return None
    if any(channel_axis(v) != channel_axis(op.operands[0]) for v in op.results):
        return None
    if len(op.operands) > 1 and not isinstance(op, WeighingOp):
        return None
    if not all(is_constant_expression(v, GENERIC) for v in op.operands[1:]):
        return None
    read = op.channels_read(0, 0)
    if read is None or list(read) != sorted(read):
        return None
    ends = list(accumulate(channels_of(v) for v in whole.operands))
    starts = [0, *ends[:-1]]
    channels = [
        [c for c, of in enumerate(read) if start <= of < end]
        for start, end in zip(starts, ends, strict=True)
    ]
    return channels if all(channels) else None


def of_part(
    op: ComputeOp, part: SSAValue, channels: Sequence[int], rewriter: PatternRewriter
) -> ComputeOp:
    """The operator for one part of its operand, which makes these channels of its result."""
    result, operands = op.results[0], [part, *op.operands[1:]]
    properties: dict[str, Attribute] = dict(op.properties)
    if isinstance(op, WeighingOp):
        properties["groups"] = IntegerAttr(channels_of(part), i64)
        axes = [op.filter_axis, *(len(shape_of(v)) - 1 for v in op.operands[2:])]
        for i, axis in enumerate(axes, 1):
            operands[i] = rewriter.insert(channels_of_constant(operands[i], axis, channels)).result
    partial = type(op).create(
        operands=operands,
        result_types=[slim_type(result, channel_axis(result), channels)],
        properties=properties,
        attributes={ALIAS: op.attributes[ALIAS]} if ALIAS in op.attributes else {},
    )
    rewriter.insert(partial)
    return partial


def channels_of_constant(value: SSAValue, axis: int, channels: Sequence[int]) -> SliceOp:
    """These indices of a dimension of a constant, which follow one another. A `memgraph.take` would
    claim that the others never matter."""
    rank = len(shape_of(value))
    starts = [channels[0] if i == axis else 0 for i in range(rank)]
    return SliceOp(
        operands=[value],
        result_types=[slim_type(value, axis, channels)],
        properties={"starts": numbers(starts), "strides": numbers([1] * rank)},
    )
