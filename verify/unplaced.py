"""The plan verifier on what is stated beside the places: nothing is placed without an arena.

Part of the plan verifier, so it shares no code with the passes that place.
"""

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import place_of
from memopt.dialects.memgraph.plan import (
    OFFSET,
    SCHEDULES_TRIED,
    argument_offsets,
    is_number,
    scratch_list,
)


def check_unplaced(func: FuncOp) -> None:
    """Raise MemoptError if a function whose plan has no arena has a place."""

    def fail(what: str, op: Operation | None = None) -> None:
        place = f"@{func.sym_name.data}" if op is None else place_of(op)
        raise MemoptError(f"the plan says no arena, but there {what}", place)

    if any(place is not None for place in argument_offsets(func)):
        fail("are offsets of arguments")
    for op in func.body.walk():
        if op is not func and OFFSET in op.attributes:
            fail("is an offset", op)
        if any(not isinstance(s.place, int) or s.place >= 0 for s in scratch_list(op) or ()):
            fail("is placed scratch", op)


def check_tried(func: FuncOp, plan: PlanAttr) -> None:
    """Raise MemoptError unless the number of schedules tried is one, of a plan with places."""
    tried = func.attributes.get(SCHEDULES_TRIED)
    if tried is None:
        return
    if not is_number(tried) or tried.value.data < 1 or not plan.placed:
        text = f"{SCHEDULES_TRIED} must be a number from 1 on, of a plan with offsets"
        raise MemoptError(text, f"@{func.sym_name.data}")
