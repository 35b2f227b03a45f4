"""`memgraph-prepare{conventions=frelu,view}`: the conventions under which networks are compared.

Papers count the same network differently; this makes ours the one of the figure at hand. Where no
convention is named, every node executes as it stands in the file.

`frelu`: a Relu (also Relu6, Clip) that alone reads its input is merged into what makes that input,
as converters do: the rules `relu-into-producer` and `relu-by-convention` of rewrites/.

Before:
    %1 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 : (T0, W) -> T1
    %2 = memgraph.relu %1 : (T1) -> T1
    %3 = memgraph.opaque "Conv"(%2) : (T1) -> T1
    %4 = memgraph.opaque "Relu"(%3) {memgraph.names = ["y"]} : (T1) -> T1
After:
    %1 = memgraph.conv_2d %0, %w window<[3, 3]> groups 1 activation<relu> : (T0, W) -> T1
    %3 = memgraph.opaque "Conv"(%1) {memgraph.merged = ["Relu"], memgraph.names = ["y"]}
         : (T1) -> T1

`view`: Reshape, Flatten, Squeeze and Unsqueeze cost nothing: their result is the operand. The
function's model gets `views = on`, under which typed reshapes are views, and opaque ones become
such by the rule `opaque-reshape-as-view`. Without this convention it gets `views = off`, under
which all of them copy.

Before:
    %2 = memgraph.opaque "Flatten"(%1) : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>
After:
    %2 = memgraph.opaque "Flatten"(%1) {memgraph.alias = [[#memgraph.alias<operand = 0,
         kind = view>]]} : (tensor<1x8x1x1xf32>) -> tensor<1x8xf32>

A merged operation is not what stands in the file, so it loses its `memgraph.source`: a writer that
copies operators from there refuses it. Plans are dropped.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.memgraph.errors import nearest
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import ALIAS, MODEL, drop_plan, model_of
from memopt.dialects.memgraph.structure import OpaqueOp
from memopt.dialects.operators.by_name import VIEWS
from memopt.passes.plan.option import option
from memopt.rewrites import apply_rules

CONVENTIONS: Mapping[str, tuple[str, ...]] = {
    "frelu": ("relu-into-producer", "relu-by-convention"),
    "view": ("opaque-reshape-as-view",),
}
"""The rules of each convention, in the order in which they are applied."""


@dataclass(frozen=True)
class MemgraphPreparePass(ModulePass):
    """Merge ReLUs and take reshapes as views, as a published figure counts them."""

    name = "memgraph-prepare"

    conventions: tuple[str, ...] = option(
        (), "frelu: a Relu merges into its producer; view: reshapes cost nothing"
    )

    def __post_init__(self) -> None:
        for convention in self.conventions:
            if convention not in CONVENTIONS:
                known = ", ".join(CONVENTIONS)
                close = nearest(convention, CONVENTIONS)
                text = f"memgraph-prepare: {convention!r}{close} is not one of: {known}"
                raise PassFailedException(text)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            drop_plan(func)
            set_views(func, "view" in self.conventions)
            for convention, rules in CONVENTIONS.items():
                if convention in self.conventions:
                    apply_rules(func, rules)


def set_views(func: FuncOp, on: bool) -> None:
    """Let reshapes be views or copy, and forget what an earlier run made of opaque ones."""
    func.attributes[MODEL] = model_of(func).replaced(views="on" if on else "off")
    for op in func.body.walk():
        if isinstance(op, OpaqueOp) and op.op_name.data in VIEWS:
            op.attributes.pop(ALIAS, None)
