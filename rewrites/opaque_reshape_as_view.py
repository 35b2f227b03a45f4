"""An opaque Reshape, Flatten, Squeeze or Unsqueeze costs nothing: its result is its operand.

Before:
    func.func @main(%x: tensor<1x8x1x1xf32>) -> tensor<1x8xf32> {
      %1 = memgraph.opaque "Flatten"(%x) : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
      func.return %1 : tensor<1x8xf32>
    }
After:
    func.func @main(%x: tensor<1x8x1x1xf32>) -> tensor<1x8xf32> {
      %1 = memgraph.opaque "Flatten"(%x)
             {memgraph.alias = [[#memgraph.alias<operand = 0, kind = view>]]}
             : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
      func.return %1 : tensor<1x8xf32>
    }

As of the typed reshape, which is a view by itself. Legal where operand and result are one buffer
each, of the same bytes, nothing is known before run time, and the operator has no state.

Left alone:
    func.func @main(%x: tensor<8xf32>) -> (tensor<9xf32>, tensor<8xf32>, tensor<8xf32>,
                                           tensor<8xf32>) {
      %1 = memgraph.opaque "Reshape"(%x) : (tensor<8xf32>) -> tensor<9xf32>
      %2 = memgraph.constant dense<1.0> : tensor<8xf32>
      %3 = memgraph.opaque "Reshape"(%2) : (tensor<8xf32>) -> tensor<8xf32>
      %4 = memgraph.opaque "Sort"(%x) : (tensor<8xf32>) -> tensor<8xf32>
      %5 = memgraph.opaque "Reshape"(%4) stateful : (tensor<8xf32>) -> tensor<8xf32>
      func.return %1, %3, %4, %5 : tensor<9xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
    }

Nor under a model in which reshapes copy:

Left alone:
    func.func @main(%x: tensor<8xf32>) -> tensor<8xf32>
        attributes {memgraph.model = #memgraph.model<views = off>} {
      %1 = memgraph.opaque "Reshape"(%x) : (tensor<8xf32>) -> tensor<8xf32>
      func.return %1 : tensor<8xf32>
    }
"""

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation
from xdsl.pattern_rewriter import PatternRewriter, op_type_rewrite_pattern

from memopt.dialects.attributes.model import GENERIC, AliasAttr
from memopt.dialects.memgraph.plan import ALIAS, model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.memgraph.tensors import bytes_of, is_buffer
from memopt.dialects.operators.base import is_constant_expression
from memopt.dialects.operators.by_name import VIEWS
from memopt.rewrites import Rule


class OpaqueReshapeAsView(Rule):
    """The rule above."""

    exact = "bits"
    needs = (OpaqueOp,)

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: OpaqueOp, rewriter: PatternRewriter) -> None:
        if op.op_name.data not in VIEWS or ALIAS in op.attributes:
            return
        if is_whole_view(op) and has_views(op):
            view: list[Attribute] = [AliasAttr(0, "view")]
            op.attributes[ALIAS] = ArrayAttr([ArrayAttr(view)])
            rewriter.notify_op_modified(op)  # the operator is the one in the file, as it was


def is_whole_view(op: OpaqueOp) -> bool:
    """Return whether the result can be the operand: one buffer each, of the same size."""
    if len(op.results) != 1 or not op.operands or op.stateful is not None:
        return False
    source, result = op.operands[0], op.results[0]
    return (
        is_buffer(source.type)
        and not is_constant_expression(source, GENERIC)
        and bytes_of(source.type) == bytes_of(result.type)
    )


def has_views(op: Operation) -> bool:
    """Return whether reshapes cost nothing in the function that `op` stands in."""
    outer = op.parent_op()
    while outer is not None and not isinstance(outer, FuncOp):
        outer = outer.parent_op()
    return outer is None or model_of(outer).has_views
