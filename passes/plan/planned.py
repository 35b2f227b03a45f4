"""Facts about a function, handed from pass to pass, so that nothing is derived twice.

    known = schedule.plan(func, None)     # analysed, ordered
    known = place.plan(func, known)       # placed; no second analysis
    known.write()                         # the plan of the function, with its fingerprint

`memopt-opt` writes the plan after each pass, and hands on what holds then (`plan_all`); xDSL's own
tools run a pass by `apply`, which starts from the IR alone.
"""

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass

from memopt.dialects.memgraph.functions import callees_first
from memopt.dialects.memgraph.plan import MODEL, drop_plan, model_of, plan_of
from memopt.dialects.memgraph.write_plan import Facts, order_facts, write_plan
from memopt.passes.plan.extract import Extracted, extract
from memopt.passes.plan.moves import drop_moves
from memopt.passes.plan.option import check_options
from memopt.solvers.joint import Joint
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, profile
from memopt.verify.plan import check_form, verify_plan


@dataclass(frozen=True)
class RowBounds:
    """Bytes below which neither whole operators nor all rows have an arena; 0: none are known."""

    whole: int = 0
    rows: int = 0


@dataclass(frozen=True)
class Arrangement:
    """A function, undecided, with an order, what is proven of its peak, and an order with its
    places, most often the same one; `bounds` are of other choices of rows."""

    extracted: Extracted
    schedule: Schedule
    joint: Joint
    bounds: RowBounds

    @property
    def graph(self) -> MemoryGraph:
        return self.extracted.graph

    @property
    def stands(self) -> bool:
        """Return whether the function stands in the order that is placed, with the usual in
        place."""
        own = tuple(range(len(self.graph)))
        return self.schedule.order == self.joint.order == own and self.joint.chosen is None


@dataclass(frozen=True)
class Planned:
    """A function as it stands: its memory graph, and what was decided of it, None if nothing was.

    `arrangement` is what is known of its graph before anything is decided, from who chose the rows
    by it. With facts, block order is the order of the plan. `fingerprint` is that of the function,
    if it is known; `has_form`: it is one that plans can be true of (`check_form`); `is_verified`:
    its plan was written and found true.
    """

    extracted: Extracted
    facts: Facts | None = None
    arrangement: Arrangement | None = None
    is_written: bool = False
    fingerprint: str | None = None
    has_form: bool = False
    is_verified: bool = False

    @property
    def func(self) -> FuncOp:
        return self.extracted.func

    def write(self) -> "Planned":
        """Write the plan into the function, if there is one that is not there yet."""
        if self.facts is None or self.is_written:
            return self
        plan = write_plan(self.func, self.facts, self.fingerprint)
        return replace(self, is_written=True, fingerprint=plan.fingerprint.data)

    def placed(self, facts: Facts) -> "Planned":
        """Return the function's plan with places, which were written where `write_placement` writes
        them.

        No fingerprint counts them, but it counts the scratch that may be written with them.
        """
        scratch = any(m.workspace for m in self.extracted.memory.memory)
        known = None if scratch else self.fingerprint
        return Planned(self.extracted, facts, fingerprint=known, has_form=self.has_form)

    def arranged(self, graph: MemoryGraph) -> Arrangement | None:
        """Return what is known of `graph`, this function's while nothing is decided."""
        known = self.arrangement
        return known if known is not None and known.graph == graph else None


class PlanningPass(ModulePass):
    """A pass that takes what the one before it derived of a function, and hands on what holds.

    One that `proves` drops the plan that was there and bounds the peak itself; after any other the
    bound and the proof of a plan that was read are still what its file says. One that `verifies`
    looks at all of the function itself; one that `reads_others`, at the written plans of others.
    """

    proves: ClassVar[bool] = False
    reads_others: ClassVar[bool] = False
    verifies: ClassVar[bool] = False

    @property
    def shares(self) -> int:
        """Return how many shares it gets of the time that several passes have."""
        return 1

    def __post_init__(self) -> None:
        check_options(self)

    @abstractmethod
    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        """Plan one function in place, all but the plan's attribute; None stands for nothing known:
        derive it from the IR."""

    def plan_all(self, module: ModuleOp, known: dict[FuncOp, Planned]) -> None:
        """Plan every function from what is `known` of it, those that operators run first, write the
        plan, and leave in `known` what holds then: nothing behind several memories, between which
        there may be moves by now."""
        for func in callees_first(module):
            handed = known.pop(func, None)
            if handed is not None and handed.facts is not None and not handed.has_form:
                if not self.verifies:
                    check_form(func)  # as verifying the plan would, which we have just made
                handed = replace(handed, has_form=True)
            planned = self.plan(func, handed)
            if planned is not None:
                written = planned.write()
                if written.facts is None or written.facts.traffic is None:
                    known[func] = written

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        self.plan_all(op, {})


def undecided(
    func: FuncOp, known: Planned | None, assume_pure: bool = False, deadline: float | None = None
) -> Extracted:
    """Return the memory graph of a function from which its plan was taken out, derived from what
    is known of it as far as that still holds. Raises TimeIsOverError at `deadline` if nothing
    is."""
    model = model_of(func)
    drop_plan(func)
    func.attributes[MODEL] = model
    if known is not None:
        return known.extracted.again()
    return extract(func, assume_pure, deadline=deadline)


def read_plan(func: FuncOp) -> Planned | None:
    """The plan that a function carries, verified, without moves between memories; None if it
    carries none. Raises MemoptError for a plan that is wrong or stale."""
    if plan_of(func) is None:
        return None
    plan = verify_plan(func).plan
    facts = order_facts(plan)
    moved = drop_moves(func)
    extracted = extract(func)
    if moved:  # the bound is that of the function without moves
        peak = profile(extracted.graph, range(len(extracted.graph))).peak
        facts = replace(facts, peak=peak, lower_bound=min(peak, facts.lower_bound))
    fingerprint = None if moved else plan.fingerprint.data
    return Planned(extracted, facts, fingerprint=fingerprint, has_form=True)
