"""`memgraph-verify-plan{placed=true}`: check that the plan is true; change nothing.

Before and after:
    func.func @main(...) attributes {memgraph.plan = #memgraph.plan<peak = 16, ...>} { ... }

Everything is derived again from the IR (verify/plan.py); the first fault ends the run.
"""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.dialects.functions import functions
from memopt.passes.option import option
from memopt.verify.plan import verify_plan


@dataclass(frozen=True)
class MemgraphVerifyPlanPass(ModulePass):
    """Check order, live ranges, overlaps, alignment, peak and arena of the plan."""

    name = "memgraph-verify-plan"

    placed: bool = option(False, "offsets are required")

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        found = list(functions(op))
        if not found:
            raise PassFailedException("memgraph-verify-plan: there is no function to verify")
        for func in found:
            verify_plan(func, self.placed)
