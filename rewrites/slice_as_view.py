"""A slice that is one stretch of its operand is no copy: it lies there.

Before:
    !x = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x2x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !q = tensor<1x1x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> (!h, !h, !q, !x) {
      %1, %2 = memgraph.split %x axis 1 : (!x) -> (!h, !h)
      %3 = memgraph.slice %2 starts [0, 1, 0, 0] strides [1, 1, 1, 1] : (!h) -> !q
      %4 = memgraph.split %x axis 0 : (!x) -> !x
      %5 = memgraph.max_pool_2d %1 window<[1, 1]> : (!h) -> !h
      %6 = memgraph.max_pool_2d %2 window<[1, 1]> : (!h) -> !h
      %7 = memgraph.max_pool_2d %3 window<[1, 1]> : (!q) -> !q
      %8 = memgraph.max_pool_2d %4 window<[1, 1]> : (!x) -> !x
      func.return %5, %6, %7, %8 : !h, !h, !q, !x
    }
After:
    func.func @main(%x: !x) -> (!h, !h, !q, !x) {
      %1, %2 = memgraph.split %x axis 1
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>],
                                [#memgraph.alias<operand = 0, kind = slice, byte_offset = 16>]]}
             : (!x) -> (!h, !h)
      %3 = memgraph.slice %2 starts [0, 1, 0, 0] strides [1, 1, 1, 1]
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice, byte_offset = 8>]]}
             : (!h) -> !q
      %4 = memgraph.split %x axis 0
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = slice>]]} : (!x) -> !x
      %5 = memgraph.max_pool_2d %1 window<[1, 1]> : (!h) -> !h
      %6 = memgraph.max_pool_2d %2 window<[1, 1]> : (!h) -> !h
      %7 = memgraph.max_pool_2d %3 window<[1, 1]> : (!q) -> !q
      %8 = memgraph.max_pool_2d %4 window<[1, 1]> : (!x) -> !x
      func.return %5, %6, %7, %8 : !h, !h, !q, !x
    }

Exact: the bytes are the same. But all of the operand lives until its slices are read, where a copy
of a small one would have let it die; so each slice stays a view only where the least peak does not
rise.

Several stretches, a step, channels of pixels; what is returned, for a caller has a buffer of its
own; what means another number; weights; what the file itself says something of:

Left alone:
    !x = tensor<1x4x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !c = tensor<1x4x4x1xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !h = tensor<1x2x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<1x2x4x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [4]>>
    func.func @main(%x: !x) -> (!c, !c, !h, !h, !r, !h, !h) {
      %1, %2 = memgraph.split %x axis 3 : (!x) -> (!c, !c)
      %3 = memgraph.max_pool_2d %1 window<[1, 1]> : (!c) -> !c
      %4 = memgraph.max_pool_2d %2 window<[1, 1]> : (!c) -> !c
      %5 = memgraph.slice %x starts [0, 0, 0, 0] strides [1, 2, 1, 1] : (!x) -> !h
      %6 = memgraph.max_pool_2d %5 window<[1, 1]> : (!h) -> !h
      %7 = memgraph.slice %x starts [0, 2, 0, 0] strides [1, 1, 1, 1] : (!x) -> !h
      %8 = memgraph.slice %x starts [0, 2, 0, 0] strides [1, 1, 1, 1] : (!x) -> !r
      %9 = memgraph.max_pool_2d %8 window<[1, 1]> : (!r) -> !r
      %10 = memgraph.constant dense<1> : !x
      %11 = memgraph.slice %10 starts [0, 2, 0, 0] strides [1, 1, 1, 1] : (!x) -> !h
      %12 = memgraph.max_pool_2d %11 window<[1, 1]> : (!h) -> !h
      %13 = memgraph.slice %x starts [0, 2, 0, 0] strides [1, 1, 1, 1] {memgraph.alias = [[]]}
             : (!x) -> !h
      %14 = memgraph.max_pool_2d %13 window<[1, 1]> : (!h) -> !h
      func.return %3, %4, %6, %7, %9, %12, %14 : !c, !c, !h, !h, !r, !h, !h
    }

A virtual tensor has no slices, and bits that share a byte have no address:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !c = tensor<1x4x4x4xf32, #memgraph.encoding<nhwc>>
    !h = tensor<1x2x4x4xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %i: tensor<6xi4>) -> (!h, tensor<3xi4>) {
      %1 = memgraph.concat %x, %x axis 3
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = virtual>,
                                 #memgraph.alias<operand = 1, kind = virtual>]]} : (!x, !x) -> !c
      %2 = memgraph.slice %1 starts [0, 2, 0, 0] strides [1, 1, 1, 1] : (!c) -> !h
      %3 = memgraph.relu %2 : (!h) -> !h
      %4 = memgraph.slice %i starts [3] strides [1] : (tensor<6xi4>) -> tensor<3xi4>
      %5 = memgraph.relu %4 : (tensor<3xi4>) -> tensor<3xi4>
      func.return %3, %5 : !h, tensor<3xi4>
    }
"""

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.arithmetic.stored import element_of
from memopt.dialects.attributes.model import AliasAttr
from memopt.dialects.memgraph.plan import ALIAS, makes_virtual
from memopt.dialects.memgraph.tensors import element_bits
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import Cuts
from memopt.rewrites import Rule
from memopt.rewrites.gather import is_alike


class SliceAsView(Rule):
    """The rule above."""

    exact = "bits"
    needs = (Cuts,)
    applied = "search"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        starts = stretches(op)
        if starts is None or ALIAS in op.attributes or not can_be_cut(op):
            return
        if any(isinstance(use.operation, ReturnOp) for v in op.results for use in v.uses):
            return
        bits = element_bits(element_of(op.operands[0]))
        if bits % 8 or not self.takes(op):
            return
        aliases = [AliasAttr(0, "slice", start * bits // 8) for start in starts]
        op.attributes[ALIAS] = ArrayAttr([ArrayAttr([a]) for a in aliases])
        self.changed(op, rewriter)


def stretches(op: ComputeOp) -> list[int] | None:
    """The element of operand 0 at which each result begins, if each is a stretch of it."""
    starts: list[int] = []
    for r in range(len(op.results)):
        start = op.begins_at(r, 0)
        if start is None or op.lies_at(r, 0) is None:
            return None
        starts.append(start)
    return starts


def can_be_cut(op: ComputeOp) -> bool:
    """Return whether results are stored as operand 0 is, which is a buffer that is made at run
    time."""
    source = op.operands[0]
    virtual = isinstance(source.owner, Operation) and makes_virtual(source.owner)
    return not virtual and all(is_alike(source, v) for v in op.results)
