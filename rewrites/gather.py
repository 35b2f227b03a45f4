"""A concatenation of channels is virtual: its readers read the parts, where they are.

Before:
    !a = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !b = tensor<1x4x4x3xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x4x4x5xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x3x3x5xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !v = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    func.func @main(%a: !a, %b: !b, %w: !w, %v: !v) -> (!y, !c) {
      %1 = memgraph.concat %a, %b axis 3 : (!a, !b) -> !c
      %2 = memgraph.conv_2d %1, %w, %v window<[3, 3]> groups 1 rounding<tflm_double>
             : (!c, !w, !v) -> !y
      %3 = memgraph.max_pool_2d %1 window<[1, 1]> : (!c) -> !c
      func.return %2, %3 : !y, !c
    }
After:
    func.func @main(%a: !a, %b: !b, %w: !w, %v: !v) -> (!y, !c) {
      %1 = memgraph.concat %a, %b axis 3
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]}
             : (!a, !b) -> !c
      %2 = memgraph.conv_2d %1, %w, %v window<[3, 3]> groups 1 rounding<tflm_double>
             : (!c, !w, !v) -> !y
      %3 = memgraph.max_pool_2d %1 window<[1, 1]> : (!c) -> !c
      func.return %2, %3 : !y, !c
    }

Exact: who reads the parts reads the same numbers. At no time do the distinct parts take more than
the whole did beside what was left of them, so the least peak does not rise; but where results take
the place of dying operands it may, for one buffer can be overwritten and several parts cannot. So
each concatenation becomes virtual only where the least peak does not rise.

A virtual tensor may be a part of another:

Before:
    !a = tensor<1x2x3x3xf32, #memgraph.encoding<nchw>>
    !b = tensor<1x4x3x3xf32, #memgraph.encoding<nchw>>
    !c = tensor<1x6x3x3xf32, #memgraph.encoding<nchw>>
    func.func @main(%a: !a, %b: !a, %c: !a) -> (!b, !c) {
      %1 = memgraph.concat %a, %b axis 1 : (!a, !a) -> !b
      %2 = memgraph.concat %1, %c axis 1 : (!b, !a) -> !c
      %3 = memgraph.relu %1 : (!b) -> !b
      %4 = memgraph.relu %2 : (!c) -> !c
      func.return %3, %4 : !b, !c
    }
After:
    func.func @main(%a: !a, %b: !a, %c: !a) -> (!b, !c) {
      %1 = memgraph.concat %a, %b axis 1
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!a, !a) -> !b
      %2 = memgraph.concat %1, %c axis 1
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!b, !a) -> !c
      %3 = memgraph.relu %1 : (!b) -> !b
      %4 = memgraph.relu %2 : (!c) -> !c
      func.return %3, %4 : !b, !c
    }

Along another dimension, too, where readers add up all of it:

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
      %1 = memgraph.concat %a, %b axis 0
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!a, !a) -> !c
      %2 = memgraph.mean %1 axes [0] : (!c) -> !m
      func.return %2 : !m
    }

Somebody reads all of it, also the caller; a reader that reads no parts; weights:

Left alone:
    !a = tensor<1x3x3x2xf32, #memgraph.encoding<nhwc>>
    !b = tensor<1x3x3x4xf32, #memgraph.encoding<nhwc>>
    !f = tensor<1x36xf32>
    func.func @main(%a: !a, %b: !a) -> (!b, !f) {
      %1 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !b
      %2 = memgraph.relu %1 : (!b) -> !b
      %3 = memgraph.concat %a, %b axis 3 : (!a, !a) -> !b
      %4 = memgraph.reshape %3 : (!b) -> !f
      %5 = memgraph.add %2, %3 : (!b, !b) -> !b
      %6 = memgraph.mul %1, %5 : (!b, !b) -> !b
      func.return %1, %4 : !b, !f
    }

Another axis than the channels, an activation, parts that are stored otherwise, a constant part:

Left alone:
    !a = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    !h = tensor<1x4x2x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x2x2x4xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%a: !a, %r: !r) -> (!h, !c, !c, !c) {
      %1 = memgraph.concat %a, %a axis 1 : (!a, !a) -> !h
      %2 = memgraph.max_pool_2d %1 window<[1, 1]> : (!h) -> !h
      %3 = memgraph.concat %a, %r axis 3 : (!a, !r) -> !c
      %4 = memgraph.max_pool_2d %3 window<[1, 1]> : (!c) -> !c
      %5 = memgraph.constant dense<1> : !a
      %6 = memgraph.concat %a, %5 axis 3 : (!a, !a) -> !c
      %7 = memgraph.max_pool_2d %6 window<[1, 1]> : (!c) -> !c
      %8 = memgraph.concat %a, %a axis 3 activation<relu> : (!a, !a) -> !c
      %9 = memgraph.max_pool_2d %8 window<[1, 1]> : (!c) -> !c
      func.return %2, %4, %7, %9 : !h, !c, !c, !c
    }
"""

from collections.abc import Callable
from functools import partial

from xdsl.dialects.builtin import ArrayAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.arithmetic.stored import element_of, numbers_of
from memopt.dialects.attributes.model import GENERIC, AliasAttr
from memopt.dialects.memgraph.plan import ALIAS, makes_virtual
from memopt.dialects.memgraph.tensors import channel_axis, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.slices import ConcatOp
from memopt.dialects.operators.traits import Concatenates
from memopt.rewrites import Rule


class Gather(Rule):
    """The rule above."""

    exact = "bits"
    needs = (ConcatOp,)
    applied = "search"
    virtual = True

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ConcatOp) or op.activation_name or ALIAS in op.attributes:
            return
        reads = reads_parts if joins_channels(op) else partial(reads_stack, op.axis.value.data)
        if not is_read(op.result, reads):
            return
        if not all(is_alike(part, op.result) for part in op.operands):
            return
        if not self.takes(op):
            return
        op.attributes[ALIAS] = virtual_aliases(len(op.operands))
        self.changed(op, rewriter)


def virtual_aliases(operands: int, results: int = 1) -> ArrayAttr[ArrayAttr[AliasAttr]]:
    """`memgraph.alias` of virtual results: a reader of one reads so many operands."""
    return ArrayAttr([ArrayAttr([AliasAttr(k, "virtual") for k in range(operands)])] * results)


def is_read(value: SSAValue, so: Callable[[Operation, int], bool]) -> bool:
    """Return whether a value is read at all, and by each (operation, operand number) for which `so`
    holds."""
    readers = [(use.operation, use.index) for use in value.uses]
    return bool(readers) and all(so(*reader) for reader in readers)


def joined(value: SSAValue) -> ComputeOp | None:
    """Return the operation that makes a value by joining the channels of values that are stored
    alike; None if another one makes it."""
    op = value.owner
    if not isinstance(op, ComputeOp) or not op.has_trait(Concatenates) or op.activation_name:
        return None
    alike = joins_channels(op) and all(is_alike(part, value) for part in op.operands)
    return op if alike else None


def joins_channels(op: ComputeOp) -> bool:
    """Return whether operands differ in channels alone: the second dimension of NCHW, else the
    last."""
    result = op.results[0]
    rank = len(shape_of(result))
    channels = channel_axis(result)
    return rank > 1 and all(
        all(shape_of(v)[k] == shape_of(result)[k] for k in range(rank) if k != channels)
        for v in op.operands
    )


def reads_parts(reader: Operation, operand: int) -> bool:
    """Return whether the reader of a joined value can read its parts, or makes a virtual tensor."""
    if not isinstance(reader, ComputeOp):
        return False
    return makes_virtual(reader) if ALIAS in reader.attributes else reader.reads_parts(operand)


def reads_stack(axis: int, reader: Operation, operand: int) -> bool:
    """Return whether the reader can read the parts of a value that is joined along `axis`, another
    dimension than the channels."""
    if not isinstance(reader, ComputeOp) or ALIAS in reader.attributes:
        return False
    return reader.reads_stack(operand, axis)


def is_alike(part: SSAValue, whole: SSAValue) -> bool:
    """Return whether a part is made when the network runs, and stored as the whole is."""
    same = element_of(part) == element_of(whole) and numbers_of(part) == numbers_of(whole)
    return same and not is_constant_expression(part, GENERIC)
