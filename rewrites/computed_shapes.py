"""A reshape to a shape that an operator computes from shapes: they are known, so nothing computes.

Exporters write `SHAPE`, `STRIDED_SLICE` and `PACK` where a dimension was open when the network was
built. Legal where what makes the shape reads no element that the run time brings: constants, shapes
of tensors, and what operators without state make of these. The shape is then that of the result.

Before:
    !x = tensor<1x2x2x3xi8>
    !n = tensor<4xi32>
    func.func @main(%x: !x) -> tensor<1x12xi8> {
      %1 = memgraph.opaque "SHAPE"(%x) : (!x) -> !n
      %2 = memgraph.slice %1 starts [0] strides [1] : (!n) -> tensor<1xi32>
      %3 = memgraph.constant dense<[-1]> : tensor<1xi32>
      %4 = memgraph.opaque "PACK"(%2, %3) : (tensor<1xi32>, tensor<1xi32>) -> tensor<2x1xi32>
      %5 = memgraph.opaque "RESHAPE"(%x, %4) {memgraph.names = ["y"]}
             : (!x, tensor<2x1xi32>) -> tensor<1x12xi8>
      func.return %5 : tensor<1x12xi8>
    }
After:
    func.func @main(%x: !x) -> tensor<1x12xi8> {
      %5 = memgraph.reshape %x {memgraph.names = ["y"]} : (!x) -> tensor<1x12xi8>
      func.return %5 : tensor<1x12xi8>
    }

What made the shape goes if nobody else reads it, with what made only that.

Before:
    !x = tensor<2x2xi8>
    func.func @main(%x: !x) -> (tensor<4xi8>, tensor<1xi32>) {
      %1 = memgraph.opaque "SHAPE"(%x) : (!x) -> tensor<2xi32>
      %2 = memgraph.opaque "REDUCE_PROD"(%1) : (tensor<2xi32>) -> tensor<1xi32>
      %3 = memgraph.opaque "RESHAPE"(%x, %2)
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]}
             : (!x, tensor<1xi32>) -> tensor<4xi8>
      func.return %3, %2 : tensor<4xi8>, tensor<1xi32>
    }
After:
    func.func @main(%x: !x) -> (tensor<4xi8>, tensor<1xi32>) {
      %1 = memgraph.opaque "SHAPE"(%x) : (!x) -> tensor<2xi32>
      %2 = memgraph.opaque "REDUCE_PROD"(%1) : (tensor<2xi32>) -> tensor<1xi32>
      %3 = memgraph.reshape %x : (!x) -> tensor<4xi8>
      func.return %3, %2 : tensor<4xi8>, tensor<1xi32>
    }

Elements of a tensor, an operator with state, another number of bytes or another way to store them:

Left alone:
    !x = tensor<4xi32>
    !q = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<2x2xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>
    func.func @main(%x: !x, %q: !q) -> (tensor<4x1xi32>, tensor<4x1xi32>, tensor<2xi32>, !r) {
      %1 = memgraph.opaque "PACK"(%x) : (!x) -> tensor<2xi32>
      %2 = memgraph.opaque "RESHAPE"(%x, %1) : (!x, tensor<2xi32>) -> tensor<4x1xi32>
      %3 = memgraph.opaque "READ_VARIABLE"() stateful : () -> tensor<2xi32>
      %4 = memgraph.opaque "RESHAPE"(%x, %3) : (!x, tensor<2xi32>) -> tensor<4x1xi32>
      %5 = memgraph.opaque "SHAPE"(%x) : (!x) -> tensor<1xi32>
      %6 = memgraph.opaque "RESHAPE"(%x, %5) : (!x, tensor<1xi32>) -> tensor<2xi32>
      %7 = memgraph.opaque "RESHAPE"(%q, %5) : (!q, tensor<1xi32>) -> !r
      func.return %2, %4, %6, %7 : tensor<4x1xi32>, tensor<4x1xi32>, tensor<2xi32>, !r
    }
"""

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.arithmetic.stored import element_of, numbers_of
from memopt.dialects.memgraph.plan import ALIAS
from memopt.dialects.memgraph.structure import ConstantOp, OpaqueOp
from memopt.dialects.memgraph.tensors import elements_of, is_buffer
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.by_name import RESHAPES, SHAPES
from memopt.dialects.operators.movement import ReshapeOp
from memopt.rewrites import Rule, erase_unread


class ComputedShapes(Rule):
    """The rule above. A result that is its operand needs no more memory than a copy of it."""

    exact = "bits"
    needs = (OpaqueOp,)
    applied = "safe"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: OpaqueOp, rewriter: PatternRewriter) -> None:
        if op.op_name.data not in RESHAPES or len(op.operands) != 2 or len(op.results) != 1:
            return
        data, shape = op.operands
        if op.stateful is not None or not is_reshape(data, op.results[0]) or not is_known(shape):
            return
        reshape = ReshapeOp.create(operands=[data], result_types=[op.results[0].type])
        reshape.attributes |= {k: v for k, v in op.attributes.items() if k != ALIAS}
        reshape.location = op.location
        rewriter.replace(op, reshape)
        self.changed(reshape, rewriter)
        erase_unread([shape], rewriter.erase)


def is_reshape(data: SSAValue, result: SSAValue) -> bool:
    """Return whether `result` can be a reshape of `data`: as many elements, stored in the same
    way."""
    return (
        is_buffer(data.type)
        and is_buffer(result.type)
        and elements_of(data) == elements_of(result)
        and element_of(data) == element_of(result)
        and numbers_of(data) == numbers_of(result)
    )


def is_known(value: SSAValue) -> bool:
    """Return whether `value` depends on no element that is only known at run time."""
    seen, waiting = {value}, [value]
    while waiting:
        op = waiting.pop().owner
        if isinstance(op, ConstantOp):
            continue
        if isinstance(op, OpaqueOp):
            if op.stateful is not None or not op.operands:
                return False
            if op.op_name.data in SHAPES:
                continue
        elif not isinstance(op, ComputeOp):
            return False
        waiting += set(op.operands) - seen
        seen |= set(op.operands)
    return True
