"""Plans that a pass takes away and no later one makes again: a line on stderr per function.

decisions = Decisions(module)
decisions.follow("memgraph-fuse", module)  # after that pass
decisions.note_dropped()                   # note: @main: memgraph-fuse drops the plan
"""

from xdsl.dialects.builtin import ModuleOp

from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import PLAN
from memopt.passes.plan.notes import note


class Decisions:
    """Plans and places that the functions of a module carry, and the passes that took them away."""

    def __init__(self, module: ModuleOp) -> None:
        self._present = _present(module)
        self._dropped: dict[tuple[str, str], str] = {}  # (function, what) -> pass

    def follow(self, name: str, module: ModuleOp) -> None:
        """Note what pass `name`, which has just run, took away or made again."""
        present = _present(module)
        for key in self._present - present:
            self._dropped[key] = name
        self._present = present
        self._dropped = {key: by for key, by in self._dropped.items() if key not in present}

    def note_dropped(self) -> None:
        """Print a line for each function that has lost its plan, or the places of it."""
        for (func, what), name in self._dropped.items():
            if what == "plan" or (func, "plan") not in self._dropped:
                note(func, f"{name} drops the {what}")


def _present(module: ModuleOp) -> set[tuple[str, str]]:
    """Return (function, "plan") and (function, "places") for what is there."""
    present: set[tuple[str, str]] = set()
    for func in functions(module):
        plan = func.attributes.get(PLAN)
        if isinstance(plan, PlanAttr):
            present.add((func.sym_name.data, "plan"))
            if plan.placed:
                present.add((func.sym_name.data, "places"))
    return present
