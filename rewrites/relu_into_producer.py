"""A ReLU or ReLU6 becomes the activation of the operation that alone makes its operand.

Before:
    !x = tensor<1x4xf32>
    func.func @main(%x: !x) -> !x {
      %1 = memgraph.add %x, %x : (!x, !x) -> !x
      %2 = memgraph.relu %1 {memgraph.names = ["y"]} : (!x) -> !x
      func.return %2 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %2 = memgraph.add %x, %x activation<relu> {memgraph.names = ["y"]} : (!x, !x) -> !x
      func.return %2 : !x
    }

So every converter to .tflite does; without it the tensor before the ReLU is a buffer of its own,
and the same network needs more as .onnx. Exact: the activation clamps what the operation would
have stored, in the same type.

A ReLU does not care about shapes, so it looks through reshapes that it alone reads. Where only one
of the two tensors says how it is laid out, the one that is left says it.

Before:
    !x = tensor<1x5x5x2xi8, #memgraph.encoding<nhwc, scale = [5.0e-01], zero_point = [3]>>
    !w = tensor<4x3x3x2xi8, #memgraph.encoding<ohwi, scale = [1.0e-01], zero_point = [0]>>
    !b = tensor<4xi32, #memgraph.encoding<scale = [5.0e-02], zero_point = [0]>>
    !y = tensor<1x3x3x4xi8, #memgraph.encoding<nhwc, scale = [2.5e-01], zero_point = [-9]>>
    !f = tensor<1x36xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [-9]>>
    func.func @main(%x: !x, %w: !w, %b: !b) -> !f {
      %1 = memgraph.conv_2d %x, %w, %b window<[3, 3]> groups 1 rounding<tflm_double>
             : (!x, !w, !b) -> !y
      %2 = memgraph.reshape %1 : (!y) -> !f
      %3 = memgraph.relu6 %2 {memgraph.names = ["y"]} : (!f) -> !f
      func.return %3 : !f
    }
After:
    func.func @main(%x: !x, %w: !w, %b: !b) -> !f {
      %1 = memgraph.conv_2d %x, %w, %b window<[3, 3]> groups 1 activation<relu6>
             rounding<tflm_double> : (!x, !w, !b) -> !y
      %2 = memgraph.reshape %1 {memgraph.names = ["y"]} : (!y) -> !f
      func.return %2 : !f
    }

Before:
    !x = tensor<1x1x1x4xf32>
    !h = tensor<1x1x1x4xf32, #memgraph.encoding<nhwc>>
    func.func @main(%x: !x) -> !x {
      %1 = memgraph.add %x, %x : (!x, !x) -> !x
      %2 = memgraph.relu %1 {memgraph.names = ["y"]} : (!x) -> !h
      %3 = memgraph.add %2, %2 : (!h, !h) -> !h
      %4 = memgraph.relu %3 {memgraph.names = ["z"]} : (!h) -> !x
      %5 = memgraph.tanh %4 : (!x) -> !x
      func.return %5 : !x
    }
After:
    func.func @main(%x: !x) -> !x {
      %2 = memgraph.add %x, %x activation<relu> {memgraph.names = ["y"]} : (!x, !x) -> !h
      %4 = memgraph.add %2, %2 activation<relu> {memgraph.names = ["z"]} : (!h, !h) -> !h
      %5 = memgraph.tanh %4 : (!h) -> !x
      func.return %5 : !x
    }

Somebody else reads the tensor before it, also the caller:

Left alone:
    !x = tensor<1x4xf32>
    func.func @main(%x: !x) -> (!x, !x) {
      %1 = memgraph.add %x, %x : (!x, !x) -> !x
      %2 = memgraph.relu %1 : (!x) -> !x
      %3 = memgraph.mul %1, %2 : (!x, !x) -> !x
      %4 = memgraph.add %x, %x : (!x, !x) -> !x
      %5 = memgraph.relu %4 : (!x) -> !x
      %6 = memgraph.mul %3, %5 : (!x, !x) -> !x
      func.return %4, %6 : !x, !x
    }

An input, an operation without activations, of whose result runtimes clamp nothing, or that has one:

Left alone:
    !x = tensor<1x4xf32>
    func.func @main(%x: !x, %z: !x) -> !x {
      %0 = memgraph.relu %z : (!x) -> !x
      %1 = memgraph.add %0, %x : (!x, !x) -> !x
      %2 = memgraph.tanh %1 : (!x) -> !x
      %3 = memgraph.relu %2 : (!x) -> !x
      %4 = memgraph.maximum %3, %x : (!x, !x) -> !x
      %5 = memgraph.relu %4 : (!x) -> !x
      %6 = memgraph.add %5, %x activation<relu6> : (!x, !x) -> !x
      %7 = memgraph.relu %6 : (!x) -> !x
      func.return %7 : !x
    }

What is known before run time, is not stored in the same way, or has another layout:

Left alone:
    !x = tensor<1x1x1x4xf32>
    !h = tensor<1x1x1x4xf32, #memgraph.encoding<nhwc>>
    !n = tensor<1x1x1x4xf32, #memgraph.encoding<nchw>>
    !q = tensor<4xi8, #memgraph.encoding<scale = [5.0e-01], zero_point = [3]>>
    !r = tensor<4xi8, #memgraph.encoding<scale = [2.5e-01], zero_point = [3]>>
    func.func @main(%x: !x, %q: !q) -> (!x, !r, !n, !n, !x) {
      %1 = memgraph.constant dense<-1.0> : !x
      %2 = memgraph.concat %1 axis 0 : (!x) -> !x
      %3 = memgraph.relu %2 : (!x) -> !x
      %4 = memgraph.add %3, %x : (!x, !x) -> !x
      %5 = memgraph.add %q, %q : (!q, !q) -> !q
      %6 = memgraph.relu %5 : (!q) -> !r
      %7 = memgraph.add %x, %x : (!x, !x) -> !h
      %8 = memgraph.relu %7 : (!h) -> !n
      %9 = memgraph.add %x, %x : (!x, !x) -> !h
      %10 = memgraph.relu %9 : (!h) -> !n
      %11 = memgraph.tanh %10 : (!n) -> !n
      %12 = memgraph.add %x, %x : (!x, !x) -> !h
      %13 = memgraph.relu %12 : (!h) -> !x
      func.return %4, %6, %8, %11, %13 : !x, !r, !n, !n, !x
    }
"""

from collections.abc import Callable
from math import prod

from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern
from xdsl.traits import IsTerminator

from memopt.dialects.arithmetic.stored import element_of, numbers_of
from memopt.dialects.attributes.channels import CHANNELS
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.attributes.operators import ActivationAttr
from memopt.dialects.memgraph.names import name_of, rename
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import encoding_of, is_buffer, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.by_name import VIEWS
from memopt.dialects.operators.traits import AsActivation, View
from memopt.rewrites import Rule


class ReluIntoProducer(Rule):
    """The rule above."""

    exact = "bits"
    needs = (AsActivation,)
    applied = "safe"

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ComputeOp, rewriter: PatternRewriter) -> None:
        activation = op.get_trait(AsActivation)
        if activation is None:
            return
        producer = behind(op, takes_activation)
        if producer is not None:
            producer.op.properties["activation"] = ActivationAttr(activation.name)
            absorb(self, op, producer, rewriter)


def takes_activation(op: Operation) -> bool:
    """Not where something is said of channels of its result, which would be another one then."""
    return isinstance(op, ComputeOp) and op.takes_activation and CHANNELS not in op.attributes


def behind(relu: Operation, accepts: Callable[[Operation], bool]) -> OpResult | None:
    """The result that can take the ReLU: its operand, or rather that of reshapes in between."""
    value = relu.operands[0]
    if joined_type(value, relu.results[0]) is None:
        return None
    accepted = None
    while isinstance(value, OpResult) and value.has_one_use():
        if is_constant_expression(value, GENERIC):
            break
        if accepts(value.op):
            accepted = value
        if not is_reshape(value.op):
            break
        source = value.op.operands[0]
        if not same_numbers(source, value) or prod(shape_of(source)) != prod(shape_of(value)):
            break
        value = source
    return accepted


def is_reshape(op: Operation) -> bool:
    if isinstance(op, OpaqueOp):
        return op.op_name.data in VIEWS
    return isinstance(op, ComputeOp) and op.has_trait(View)


def same_numbers(a: SSAValue, b: SSAValue) -> bool:
    """Return whether two tensors store numbers in the same way."""
    tensors = is_buffer(a.type) and is_buffer(b.type)
    return tensors and element_of(a) == element_of(b) and numbers_of(a) == numbers_of(b)


def joined_type(before: SSAValue, after: SSAValue) -> Attribute | None:
    """The type of a value that takes the place of both, None if there is none: the same numbers in
    the same shape, in a layout that not both name differently."""
    if not same_numbers(before, after) or shape_of(before) != shape_of(after):
        return None
    named = [encoding_of(v).layout.data for v in (before, after)]
    if named[0] == named[1] or not named[0]:
        return after.type
    fixed = any(use.operation.has_trait(IsTerminator) for use in after.uses)  # by the function
    return None if named[1] or fixed else before.type


def absorb(rule: Rule, relu: Operation, made: OpResult, rewriter: PatternRewriter) -> None:
    """Remove `relu`, which the operation that makes `made` applies now; the value that is left in
    its place takes over its name."""
    rule.changed(made.op, rewriter)
    last, result = relu.operands[0], relu.results[0]  # the result of `made.op`, or of a reshape
    assert isinstance(last, OpResult)
    rename(last.op, {last.index: name_of(result)})
    type_ = joined_type(last, result)
    if type_ is not None and type_ != last.type:
        last = rewriter.replace_value_with_new_type(last, type_)
    rewriter.replace(relu, [], [last])
