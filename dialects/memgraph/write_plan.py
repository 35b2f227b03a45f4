"""The one place that writes what was decided for a function: `#memgraph.plan`."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.func import FuncOp

from memopt.dialects.attributes.memories import MemoryAttr, TrafficAttr, one_arena
from memopt.dialects.attributes.plan import Family, PlanAttr, ProofKind
from memopt.dialects.memgraph.fingerprint import fingerprint
from memopt.dialects.memgraph.plan import PLAN, SCHEDULES_TRIED


@dataclass(frozen=True)
class Facts:
    """Decisions for a function, as `PlanAttr` has them: bytes, -1 for what is open.

    Without memories its buffers have no places yet. The bound and proof of a plan that was read are
    only `claimed`.
    """

    peak: int
    lower_bound: int
    proof: ProofKind
    family: Family = "order"
    memories: tuple[MemoryAttr, ...] = ()
    arena_lower_bound: int = -1
    memories_lower_bound: int = -1
    traffic: TrafficAttr | None = None
    claimed: bool = False

    @property
    def arena(self) -> int:
        """Bytes of all memories together."""
        return sum(m.bytes.data for m in self.memories)

    def placed(
        self,
        memories: Sequence[MemoryAttr],
        arena_lower_bound: int,
        memories_lower_bound: int = -1,
        traffic: TrafficAttr | None = None,
    ) -> "Facts":
        """Return the facts of the function with places of its buffers in `memories`."""
        return replace(
            self,
            memories=tuple(memories),
            arena_lower_bound=arena_lower_bound,
            memories_lower_bound=memories_lower_bound,
            traffic=traffic,
        )

    def in_one_arena(self, size: int, lower_bound: int) -> "Facts":
        """Return the facts of the function with places of its buffers in one arena; both in
        bytes."""
        return self.placed(one_arena(size), lower_bound)


def order_facts(plan: PlanAttr) -> Facts:
    """Return what a plan that was read says of the order; nothing of places."""
    proof: ProofKind = plan.proof.data  # type: ignore[assignment]
    family: Family = plan.family.data  # type: ignore[assignment]
    return Facts(plan.peak.data, plan.lower_bound.data, proof, family, claimed=True)


def write_plan(func: FuncOp, facts: Facts, known: str | None = None) -> PlanAttr:
    """Write the plan of a function that stands in its order; `known` is its fingerprint, if that is
    known already. Raises VerifyException for numbers that contradict each other."""
    plan = PlanAttr(
        facts.peak,
        facts.lower_bound,
        facts.proof,
        facts.family,
        facts.memories,
        facts.arena_lower_bound,
        facts.memories_lower_bound,
        facts.traffic,
        known if known is not None else fingerprint(func),
    )
    # what belongs to a plan is printed behind it, whichever was decided first
    tried = func.attributes.pop(SCHEDULES_TRIED, None)
    func.attributes[PLAN] = plan
    if tried is not None:
        func.attributes[SCHEDULES_TRIED] = tried
    return plan
