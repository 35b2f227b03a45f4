"""`memgraph-kernels{optimize=ram}`: which operators get a kernel that takes scratch to be faster.

A fast kernel reads its windows from scratch, where they lie as its instructions want them. `ram`
takes those whose scratch fits between what lies in the arena while they run: neither the peak nor
the arena rise, nothing moves. `balanced` does the same in an arena that is larger by a part in
sixteen, `speed` takes all; both drop the order and the places, which the passes behind find again,
for what they had proven was of other scratch.

Before:  %y = memgraph.conv_2d %x, %w {memgraph.order = 0 : i64, memgraph.offset = [512 : i64]} ...
After:   %y = memgraph.conv_2d %x, %w {memgraph.fast, memgraph.order = 0 : i64,
           memgraph.offset = [512 : i64],
           memgraph.scratch = [#memgraph.scratch<144, 768>]} ...
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.dialects.builtin import ArrayAttr, UnitAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.liveness import levels, live_ranges, rounded
from memopt.dialects.functions import body_of
from memopt.dialects.place_attributes import ScratchAttr
from memopt.dialects.plan import (
    FAST,
    MODEL,
    SCRATCH,
    Place,
    argument_offsets,
    bytes_offset,
    drop_plan,
    offsets_of,
    plan_of,
)
from memopt.dialects.rows import RowOp
from memopt.dialects.write_plan import Facts
from memopt.passes.extract import Extracted, extract
from memopt.passes.option import check_choices, option
from memopt.passes.planned import Planned, PlanningPass, read_plan
from memopt.targets.core.kernels import fast_workspace
from memopt.targets.core.registry import target_named

RAM, BALANCED, SPEED = HOW = ("ram", "balanced", "speed")

SHARE = 16  # of the arena, that `balanced` may add

Span = tuple[int, int]  # bytes in the arena, [start, end)


@dataclass(frozen=True)
class MemgraphKernelsPass(PlanningPass):
    """Choose the operators whose kernels take scratch to be faster."""

    name = "memgraph-kernels"

    optimize: str = option(RAM, "what speed may cost: no RAM, a little, or any", HOW)

    def __post_init__(self) -> None:
        check_choices(self)

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        planned = known if known is not None and known.facts is not None else _placed(func)
        if planned is None or planned.facts is None or not _in_one_arena(planned.facts):
            text = f"memgraph-kernels: @{func.sym_name.data}: no places in one arena"
            raise PassFailedException(f"{text}; run --place first")
        facts, extracted = planned.facts, planned.extracted
        sites = _sites(extracted)
        fitting = _fitting(sites, facts.peak, facts.arena)
        if self.optimize == RAM or len(fitting) == len(sites):
            sites = fitting
            _mark(sites, [s.offset for s in sites])
            return Planned(extract(func), facts) if sites else planned
        if self.optimize == BALANCED:
            peak, arena = (size + size // SHARE for size in (facts.peak, facts.arena))
            sites = _fitting(sites, peak, arena)
        model = extracted.model
        drop_plan(func)
        func.attributes[MODEL] = model
        _mark(sites, [-1] * len(sites))
        return None


def _placed(func: FuncOp) -> Planned | None:
    """The plan that a function carries, with its memories."""
    planned, plan = read_plan(func), plan_of(func)
    if planned is None or planned.facts is None or plan is None:
        return None
    bounds = plan.arena_lower_bound.data, plan.memories_lower_bound.data
    return replace(planned, facts=planned.facts.placed(plan.memories.data, *bounds))


def _in_one_arena(facts: Facts) -> bool:
    return [m.kind.data for m in facts.memories] == ["arena"]


@dataclass(frozen=True)
class Site:
    """An operation whose fast kernel works in so many bytes, the lowest place for them among what
    lies in the arena while it runs, and the level with them. `marked` is the operator itself, or
    the whole one that it is a row of, all rows of which have the same kernel."""

    op: Operation
    marked: Operation
    bytes: int
    offset: int
    held: int
    level: int

    def fits(self, peak: int, arena: int) -> bool:
        return self.level <= peak and self.offset + self.held <= arena


def _fitting(sites: Sequence[Site], peak: int, arena: int) -> list[Site]:
    """Those of operators all of whose sites fit."""
    left = {site.marked for site in sites if not site.fits(peak, arena)}
    return [site for site in sites if site.marked not in left]


def _sites(extracted: Extracted) -> list[Site]:
    """All operations with a fast kernel."""
    memory, alignment = extracted.memory, extracted.model.alignment.data
    target = target_named(extracted.model.target.data)
    lives = live_ranges(memory)
    sizes = [g.taken if g.in_arena else 0 for g in memory.groups]
    level = levels(memory, lives, sizes, alignment)
    spans = _spans(extracted)
    found: list[Site] = []
    for t, op in enumerate(memory.operations):
        size = fast_workspace(op, target)
        if size and not memory.memory[t].workspace:
            held = rounded(size, alignment)
            there = [spans[g] for g, live in enumerate(lives) if t in live and g in spans]
            marked = op.whole if isinstance(op, RowOp) else op
            found.append(Site(op, marked, size, lowest_gap(there, held), held, level[t] + held))
    return found


def _spans(extracted: Extracted) -> dict[int, Span]:
    """Where the groups lie that are in the arena."""
    func, memory = extracted.func, extracted.memory
    places: dict[SSAValue, Place | None] = {}
    places.update(zip(body_of(func).args, argument_offsets(func), strict=True))
    for op in body_of(func).ops:  # parts of tensors are results of what does not run
        places.update(zip(op.results, offsets_of(op) or (), strict=False))
    found: dict[int, Span] = {}
    for number, group in enumerate(memory.groups):
        value, inside = group.members[0]
        offset = bytes_offset(places.get(value))
        if offset is not None and group.taken:
            found[number] = (offset - inside, offset - inside + group.taken)
    return found


def lowest_gap(spans: Sequence[Span], size: int) -> int:
    """The lowest offset of `size` bytes that are in none of the spans."""
    at = 0
    for start, end in sorted(spans):
        if start - at >= size:
            return at
        at = max(at, end)
    return at


def _mark(sites: Sequence[Site], offsets: Sequence[int]) -> None:
    for site, offset in zip(sites, offsets, strict=True):
        site.marked.attributes[FAST] = UnitAttr()
        site.op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(site.bytes, offset)])
