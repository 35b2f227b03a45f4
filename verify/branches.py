"""Plan verifier of operators that run other functions of the module.

Part of the plan verifier, so it shares no code with the passes that place.
"""

from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import run_by
from memopt.dialects.memgraph.names import operator_kind, place_of
from memopt.dialects.memgraph.plan import plan_of, scratch_list


def check_branches(func: FuncOp) -> None:
    """Raise MemoptError unless operators work in at least as many bytes as the arena of each
    function that they run."""
    for op in func.body.walk():
        for callee in run_by(op):
            name, plan = f"{operator_kind(op)} runs @{callee.sym_name.data}", plan_of(callee)
            if plan is None or not plan.placed:
                raise MemoptError(f"{name}, which has no places", place_of(op))
            sizes = [s.bytes.data for s in scratch_list(op) or ()]
            if len(sizes) != 1 or sizes[0] < plan.arena:
                text = f"{name}, whose arena of {plan.arena} B is not counted"
                raise MemoptError(f"{text}; run memgraph-branches", place_of(op))
