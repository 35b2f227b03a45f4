"""A Relu or Relu6 becomes the activation of the operation that alone makes its operand.

Before:
    %1 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 {memgraph.names = ["c"]} : (T0, W) -> T1
    %2 = memgraph.relu %1 {memgraph.names = ["y"]} : (T1) -> T1
After:
    %2 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 activation<relu>
         {memgraph.names = ["y"]} : (T0, W) -> T1

So every converter to .tflite does; without it the tensor before the Relu is a buffer of its own,
and the same network needs more as .onnx. Exact: the activation clamps what the operation would
have stored, in the same type. Legal where the operation has an activation and none is taken, nobody
else reads its result, and the Relu changes neither type nor quantization.
"""

from xdsl.dialects.builtin import ArrayAttr, ModuleOp, StringAttr
from xdsl.ir import Operation, OpResult
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern

from memopt.dialects.attributes import ActivationAttr
from memopt.dialects.names import name_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.plan_attributes import ModelAttr


class ReluIntoProducer(RewritePattern):
    """The rule above, on one operation."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, ComputeOp) or op.AS_ACTIVATION is None:
            return
        made, result = op.operands[0], op.results[0]
        if not isinstance(made, OpResult) or not made.has_one_use() or made.type != result.type:
            return
        producer = made.op
        if not isinstance(producer, ComputeOp) or not producer.takes_activation:
            return
        if is_constant_expression(made, ModelAttr()):
            return
        producer.properties["activation"] = ActivationAttr(op.AS_ACTIVATION)
        producer.attributes["memgraph.names"] = ArrayAttr([StringAttr(name_of(result))])
        rewriter.replace(op, [], [made])


def merge_activations(module: ModuleOp) -> None:
    """Apply the rule wherever it is legal, in block order."""
    PatternRewriteWalker(ReluIntoProducer(), apply_recursively=False).rewrite_module(module)
