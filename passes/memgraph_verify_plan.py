"""`memgraph-verify-plan{placed=true}`: check that the plan is true; change nothing.

Before and after:
    func.func @main(...) attributes {memgraph.plan = #memgraph.plan<peak = 16, ...>} { ... }

Everything is derived again from the IR (verify/plan.py), and what it says of channels that were
left out from the weights, too (verify/channels.py); the first fault ends the run.
"""

from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.weights import weights_of
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import OFF_CHIP
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass
from memopt.verify.channels import check_channels
from memopt.verify.plan import verify_plan


@dataclass(frozen=True)
class MemgraphVerifyPlanPass(PlanningPass):
    """Check order, live ranges, overlaps, alignment, peak and arena of the plan."""

    name = "memgraph-verify-plan"
    verifies = True

    placed: bool = option(False, "offsets are required")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        written = known.write() if known is not None else None
        verify_plan(func, self.placed)
        check_channels(func, weights_of(func).array)
        if OFF_CHIP in func.attributes:
            traffic: Any = import_module("memopt.passes.memgraph_traffic")  # for the few
            traffic.check_traffic(func)
        return replace(written, is_verified=True) if written is not None else None

    def plan_all(self, module: ModuleOp, known: dict[FuncOp, Planned]) -> None:
        if not any(functions(module)):
            raise PassFailedException("memgraph-verify-plan: there is no function to verify")
        super().plan_all(module, known)
