"""`memgraph-toy-mark`: say on every function which board it is for."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.passes import ModulePass

from memopt.dialects.memgraph.functions import functions
from memopt.passes.plan.option import option


@dataclass(frozen=True)
class MemgraphToyMarkPass(ModulePass):
    """Write `toy.board` on every function."""

    name = "memgraph-toy-mark"

    board: str = option("first", "which of the toy boards")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            func.attributes["toy.board"] = StringAttr(self.board)
