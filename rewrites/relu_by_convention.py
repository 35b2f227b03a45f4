"""A ReLU is merged into what alone makes its operand, also where no runtime does so.

Published figures count that way. Nothing here runs: what is not `relu-into-producer` is refused by
name by every writer.

Before:
    !x = tensor<1x4xf32>
    !y = tensor<1x8xf32>
    func.func @main(%x: !x) -> !y {
      %1 = memgraph.opaque "Conv"(%x) : (!x) -> !x
      %2 = memgraph.opaque "Relu"(%1) : (!x) -> !x
      %3 = memgraph.relu6 %2 {memgraph.names = ["y"]} : (!x) -> !x
      %4 = memgraph.concat %3, %x axis 1 : (!x, !x) -> !y
      %5 = memgraph.relu %4 {memgraph.names = ["z"]} : (!y) -> !y
      func.return %5 : !y
    }
After:
    func.func @main(%x: !x) -> !y {
      %3 = memgraph.opaque "Conv"(%x) {memgraph.merged = ["Relu", "relu6"], memgraph.names = ["y"]}
             : (!x) -> !x
      %5 = memgraph.concat %3, %x axis 1 activation<relu> {memgraph.names = ["z"]} : (!x, !x) -> !y
      func.return %5 : !y
    }

An opaque operator says so in `memgraph.merged`: what it computes now is itself and then those. A
typed operation says so by its activation. Relu, Relu6 and Clip are known by their names; what else
a Clip reads is constant. As in `relu-into-producer`, reshapes that the ReLU alone reads do not
matter.

Before:
    func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
      %1 = memgraph.opaque "MatMul"(%x) : (tensor<4xf32>) -> tensor<1x2x2xf32>
      %2 = memgraph.opaque "Squeeze"(%1) : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
      %3 = memgraph.constant dense<1.0> : tensor<f32>
      %4 = memgraph.opaque "Clip"(%2, %3) {memgraph.names = ["y"]}
             : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
      func.return %4 : tensor<2x2xf32>
    }
After:
    func.func @main(%x: tensor<4xf32>) -> tensor<2x2xf32> {
      %1 = memgraph.opaque "MatMul"(%x) {memgraph.merged = ["Clip"]}
             : (tensor<4xf32>) -> tensor<1x2x2xf32>
      %2 = memgraph.opaque "Squeeze"(%1) {memgraph.names = ["y"]}
             : (tensor<1x2x2xf32>) -> tensor<2x2xf32>
      %3 = memgraph.constant dense<1.0> : tensor<f32>
      func.return %2 : tensor<2x2xf32>
    }

Not where it would be applied to something else: a tensor that others read or of another shape, a
typed operation by a name, or that has an activation, a Clip by numbers that only the run time knows
or of them, a Relu of two results.

Left alone:
    func.func @main(%x: tensor<8xi8>, %l: tensor<i8>) -> (tensor<16xi8>, tensor<8xi8>) {
      %1 = memgraph.add %x, %x : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
      %2 = memgraph.opaque "Relu"(%1) : (tensor<8xi8>) -> tensor<8xi8>
      %3 = memgraph.opaque "Conv"(%2) : (tensor<8xi8>) -> tensor<8xi8>
      %4 = memgraph.opaque "Relu"(%3) : (tensor<8xi8>) -> tensor<16xi8>
      %5 = memgraph.opaque "Conv"(%x) : (tensor<8xi8>) -> tensor<8xi8>
      %6 = memgraph.opaque "Relu"(%5) : (tensor<8xi8>) -> tensor<8xi8>
      %7 = memgraph.opaque "Mul"(%5, %6) : (tensor<8xi8>, tensor<8xi8>) -> tensor<8xi8>
      %8 = memgraph.opaque "Clip"(%7, %l) : (tensor<8xi8>, tensor<i8>) -> tensor<8xi8>
      %9 = memgraph.opaque "Conv"(%8) : (tensor<8xi8>) -> tensor<8xi8>
      %10 = memgraph.opaque "Sigmoid"(%9) : (tensor<8xi8>) -> tensor<8xi8>
      func.return %4, %10 : tensor<16xi8>, tensor<8xi8>
    }
"""

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.names import operator_kind
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.by_name import RELUS
from memopt.dialects.operators.traits import AsActivation
from memopt.rewrites import Rule
from memopt.rewrites.relu_into_producer import absorb, behind

MERGED = "memgraph.merged"


class ReluByConvention(Rule):
    """The rule above."""

    exact = "bits"
    needs = (OpaqueOp, AsActivation)
    keeps_claims = False

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not is_relu(op):
            return
        activation = op.get_trait(AsActivation)

        def accepts(producer: Operation) -> bool:
            if isinstance(producer, OpaqueOp):
                return True
            typed = isinstance(producer, ComputeOp) and producer.names_no_activation
            return typed and activation is not None

        result = behind(op, accepts)
        if result is None:
            return
        if isinstance(result.op, OpaqueOp):
            before = result.op.attributes.get(MERGED)
            entries = cast("ArrayAttr[Attribute]", before).data if before is not None else ()
            result.op.attributes[MERGED] = ArrayAttr([*entries, StringAttr(operator_kind(op))])
        elif activation is not None:
            result.op.properties["activation"] = ActivationAttr(activation.name)
        absorb(self, op, result, rewriter)


def is_relu(op: Operation) -> bool:
    """Typed, or opaque by name with one operand that is no constant."""
    if isinstance(op, ComputeOp):
        return op.has_trait(AsActivation)
    if not isinstance(op, OpaqueOp) or op.op_name.data not in RELUS or len(op.results) != 1:
        return False
    model = GENERIC
    data = [v for v in op.operands if not is_constant_expression(v, model)]
    return len(data) == 1
