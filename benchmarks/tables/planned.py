"""Networks through passes to their plans, for tables of peaks."""

from collections.abc import Sequence
from pathlib import Path

from xdsl.dialects.func import FuncOp

from memopt.compile.driver import build_pipeline, load_model, new_context
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import plan_of


def planned_by(path: Path, passes: Sequence[str]) -> tuple[FuncOp, PlanAttr]:
    """A network after these passes, of which one orders it, and its plan. Raises MemoptError."""
    module = load_model(path, {})
    for step in build_pipeline(",".join(passes)):
        step.apply(new_context(), module)
    func = only_function(module)
    plan = plan_of(func)
    assert plan is not None
    return func, plan


def peak_text(plan: PlanAttr) -> str:
    """Bytes, with > if they are not proven to be the least."""
    return f"{plan.peak.data:,}{'' if plan.optimal else ' >'}"
