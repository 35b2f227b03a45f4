"""toyflow's own passes, before and after memopt's."""

from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass, PassPipeline
from xdsl.pattern_rewriter import (
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import bytes_offset, offsets_of
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_place import MemgraphPlacePass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_to_memref import MemgraphToMemrefPass
from memopt.verify.plan import verify_plan
from toyflow import lowering as lowering
from toyflow.dialect import ViewOp


class _ViewOfView(RewritePattern):
    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ViewOp, rewriter: PatternRewriter) -> None:
        inner = op.input.owner
        if isinstance(inner, ViewOp):
            op.operands[0] = inner.input
            rewriter.notify_op_modified(op)


@dataclass(frozen=True)
class ToySimplifyPass(ModulePass):
    """A view of a view is a view."""

    name = "toy-simplify"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(_ViewOfView()).rewrite_module(op)


@dataclass(frozen=True)
class ToyAddressesPass(ModulePass):
    """Turn memopt's verified plan into `toy.address` attributes, all that our emitter reads."""

    name = "toy-addresses"
    base: int = 0x20000000

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            arena = verify_plan(func, placed=True).arena
            func.attributes["toy.arena"] = IntegerAttr(cast("int", arena), i64)
            for inner in func.body.block.ops:
                places = offsets_of(inner)
                offset = bytes_offset(places[0]) if places else None
                if offset is not None:
                    inner.attributes["toy.address"] = IntegerAttr(self.base + offset, i64)


def runnable() -> PassPipeline:
    """As far as standard MLIR needs it: toyflow's operations in one arena."""
    return PassPipeline(
        (
            ToySimplifyPass(),
            MemgraphModelPass(alignment=8, inplace="on"),
            MemgraphSchedulePass(),
            MemgraphPlacePass(),
            MemgraphToMemrefPass(),
        )
    )


def pipeline(method: str = "auto") -> PassPipeline:
    """toyflow's own: its passes around memopt's."""
    return PassPipeline(
        (
            ToySimplifyPass(),
            MemgraphModelPass(alignment=8, inplace="on"),
            MemgraphSchedulePass(method=method),
            MemgraphPlacePass(),
            ToyAddressesPass(),
        )
    )
