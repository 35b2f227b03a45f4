"""An operator that computes what another one before it has computed is that one.

Before:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    !w = tensor<2x3x3x2xf32, #memgraph.encoding<ohwi>>
    !y = tensor<1x2x2x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %w: !w) -> (!y, !y) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3]> groups 1 : (!x, !w) -> !y
      %3 = memgraph.relu %x {memgraph.names = ["again"]} : (!x) -> !x
      %4 = memgraph.conv_2d %3, %w window<[3, 3]> groups 1 : (!x, !w) -> !y
      %5 = memgraph.add %2, %4 : (!y, !y) -> !y
      %6 = memgraph.tanh %4 : (!y) -> !y
      func.return %5, %6 : !y, !y
    }
After:
    func.func @main(%x: !x, %w: !w) -> (!y, !y) {
      %1 = memgraph.relu %x : (!x) -> !x
      %2 = memgraph.conv_2d %1, %w window<[3, 3]> groups 1 : (!x, !w) -> !y
      %5 = memgraph.add %2, %2 : (!y, !y) -> !y
      %6 = memgraph.tanh %2 : (!y) -> !y
      func.return %5, %6 : !y, !y
    }

Exact: operators are pure. There is less to compute, but the result of the first one lives until
the readers of both have run; so each goes only where the least peak does not rise.

Other operands, also in another order; other properties; what is returned, for each result of a
function is a buffer of its own; weights, of which nothing is computed at run time; and operators of
which nobody knows whether they are pure:

Left alone:
    !x = tensor<1x4x4x2xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x, %z: !x) -> (!x, !x, !x, !x, !x) {
      %1 = memgraph.sub %x, %z : (!x, !x) -> !x
      %2 = memgraph.sub %z, %x : (!x, !x) -> !x
      %3 = memgraph.max_pool_2d %x window<[1, 1]> : (!x) -> !x
      %4 = memgraph.max_pool_2d %x window<[1, 1]> activation<relu> : (!x) -> !x
      %5 = memgraph.add %1, %2 : (!x, !x) -> !x
      %6 = memgraph.add %3, %4 : (!x, !x) -> !x
      %7 = memgraph.tanh %x : (!x) -> !x
      %8 = memgraph.tanh %x : (!x) -> !x
      %9 = memgraph.constant dense<1.0> : !x
      %10 = memgraph.concat %9 axis 3 : (!x) -> !x
      %11 = memgraph.concat %9 axis 3 : (!x) -> !x
      %12 = memgraph.mul %10, %11 : (!x, !x) -> !x
      %13 = memgraph.opaque "RANDOM"(%x) : (!x) -> !x
      %14 = memgraph.opaque "RANDOM"(%x) : (!x) -> !x
      %15 = memgraph.mul %13, %14 : (!x, !x) -> !x
      func.return %5, %6, %7, %8, %15 : !x, !x, !x, !x, !x
    }

Results that are stored otherwise; another operator; what the file itself says something of:

Left alone:
    !x = tensor<4xf32>
    !q = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<4xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>
    func.func @main(%x: !x) -> (!x, !x, !x) {
      %1 = memgraph.quantize %x rounding<tflm_double> : (!x) -> !q
      %2 = memgraph.quantize %x rounding<tflm_double> : (!x) -> !r
      %3 = memgraph.dequantize %1 : (!q) -> !x
      %4 = memgraph.dequantize %2 : (!r) -> !x
      %5 = memgraph.add %3, %4 : (!x, !x) -> !x
      %6 = memgraph.relu %x {memgraph.alias = [[]]} : (!x) -> !x
      %7 = memgraph.relu %x : (!x) -> !x
      %8 = memgraph.add %6, %7 : (!x, !x) -> !x
      %9 = memgraph.tanh %x : (!x) -> !x
      %10 = memgraph.mul %9, %7 : (!x, !x) -> !x
      func.return %5, %8, %10 : !x, !x, !x
    }

Another activation; what is computed again, lest it be kept (computed-again):

Left alone:
    !x = tensor<1x4xf32>
    func.func @main(%x: !x) -> !x {
      %1 = memgraph.add %x, %x activation<relu> : (!x, !x) -> !x
      %2 = memgraph.add %x, %x activation<relu6> : (!x, !x) -> !x
      %a = memgraph.add %x, %x activation<relu> {memgraph.again} : (!x, !x) -> !x
      %b = memgraph.mul %1, %2 : (!x, !x) -> !x
      %3 = memgraph.mul %b, %a : (!x, !x) -> !x
      func.return %3 : !x
    }

Parts of two sums, each of which is added to in its own buffer:

Left alone:
    !a = tensor<1x2x2xf32>
    !m = tensor<2x2xf32>
    func.func @main(%a: !a, %b: !a, %c: !a) -> (!m, !m) {
      %1 = memgraph.mean %a axes [0] : (!a) -> !m
      %2 = memgraph.mean %b axes [0] : (!a) -> !m
      %3 = memgraph.accumulate %1, %2 mean : (!m, !m) -> !m
      %4 = memgraph.mean %a axes [0] : (!a) -> !m
      %5 = memgraph.mean %c axes [0] : (!a) -> !m
      %6 = memgraph.accumulate %4, %5 mean : (!m, !m) -> !m
      func.return %3, %6 : !m, !m
    }
"""

from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.rewrites import CHANGED
from memopt.dialects.operators.accumulation import sum_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.rewrites import EVERY, SOURCE, Rule

AGAIN = "memgraph.again"
"""Attribute of what is computed a second time, of which the first is not kept for so long."""

OWN = frozenset({SOURCE, CHANGED, "memgraph.names"})
"""What tells operators apart that compute the same."""


class EqualOperators(Rule):
    """The rule above."""

    exact = "bits"
    needs = EVERY
    applied = "search"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        if is_constant_expression(op.results[0], GENERIC):
            return
        readers = list(dict.fromkeys(use.operation for v in op.results for use in v.uses))
        first = computed_before(op)
        if first is None or any(isinstance(r, ReturnOp) for r in readers) or not self.takes(op):
            return
        for old, new in zip(op.results, first.results, strict=True):
            old.replace_all_uses_with(new)
        for reader in readers:
            self.changed(reader, rewriter)
        rewriter.erase(op)


def computed_before(op: ComputeOp) -> ComputeOp | None:
    """The first operator of the block that computes the same."""
    if not op.operands or sum_of(op):
        return None
    same = [
        use.operation
        for use in op.operands[0].uses
        if isinstance(use.operation, ComputeOp)
        and computes_alike(op, use.operation)
        and not sum_of(use.operation)
    ]
    before = [other for other in same if other.is_before_in_block(op)]
    return next((a for a in before if not any(b.is_before_in_block(a) for b in before)), None)


def computes_alike(op: Operation, other: Operation) -> bool:
    def own(of: Operation) -> dict[str, Attribute]:
        return {key: value for key, value in of.attributes.items() if key not in OWN}

    return (
        op.name == other.name
        and list(op.operands) == list(other.operands)
        and [v.type for v in op.results] == [v.type for v in other.results]
        and op.properties == other.properties
        and own(op) == own(other)
    )
