"""The one place that writes what was decided for a function: `#memgraph.plan`."""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from memopt.dialects.fingerprint import fingerprint
from memopt.dialects.plan import MEMORIES, PLAN, SCHEDULES_TRIED
from memopt.dialects.plan_attributes import PlanAttr


def write_plan(
    func: FuncOp,
    peak: int,
    lower_bound: int,
    proof: str,
    arena: tuple[int, int] | None = None,
    objects: Sequence[int] = (),
    objects_lower_bound: int = 0,
) -> PlanAttr:
    """Write the plan of a function that stands in its order, in bytes; `arena` is (bytes, bound) of
    a function whose buffers have places, None before. Raises VerifyException for numbers that
    contradict each other."""
    plan = PlanAttr(
        peak,
        lower_bound,
        proof,
        *(arena or (-1, -1)),
        fingerprint(func),
        objects,
        objects_lower_bound,
    )
    # what belongs to a plan is printed behind it, whichever was decided first
    beside = {
        k: func.attributes.pop(k) for k in (SCHEDULES_TRIED, MEMORIES) if k in func.attributes
    }
    func.attributes[PLAN] = plan
    func.attributes.update(beside)
    return plan
