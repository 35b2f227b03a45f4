"""`memgraph-kernels{optimize=ram}`: which operators get a kernel that takes scratch to be faster.

A fast kernel reads its windows from scratch, where they lie as its instructions want them; in its
narrow form it takes less scratch, and more time. `ram` takes those whose scratch fits between what
lies in the arena while they run: neither the peak nor the arena rise, nothing moves. `balanced`
does the same in RAM that is more by six parts in a hundred, `speed` takes all. Both drop the order
and the places if that helps, which the passes behind find again, for what they had proven was of
other scratch; but of so many operators that these may find worse, all stays where it is if the
arena with the scratch is proven to be the smallest of all orders.

Before:  %y = memgraph.conv_2d %x, %w {memgraph.order = 0 : i64, memgraph.offset = [512 : i64]} ...
After:   %y = memgraph.conv_2d %x, %w {memgraph.fast, memgraph.order = 0 : i64,
           memgraph.offset = [512 : i64],
           memgraph.scratch = [#memgraph.scratch<144, 768>]} ...
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.liveness import levels, live_ranges, rounded
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import (
    MODEL,
    SCRATCH,
    bytes_offset,
    drop_plan,
    fast_form,
    is_move,
    makes_virtual,
    mark_fast,
    model_of,
    places_of,
    plan_of,
    reads_virtual,
)
from memopt.dialects.memgraph.write_plan import Facts
from memopt.dialects.rows.operations import RowOp
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass, read_plan, undecided
from memopt.passes.plan.words import HOW, RAM, SPEED
from memopt.solvers.joint import MANY
from memopt.solvers.theory.bounds import flow_bound
from memopt.targets.core.kernels import fast_forms
from memopt.targets.core.planned_for import with_called
from memopt.targets.core.target import target_named

PERCENT = 6  # of the RAM, that `balanced` may add
BESIDE = 464  # bytes of stack that our programs take besides the arena, at the least

Span = tuple[int, int]  # bytes in the arena, [start, end)
Array = Any  # numpy.ndarray


@dataclass(frozen=True)
class MemgraphKernelsPass(PlanningPass):
    """Choose the operators whose kernels take scratch to be faster."""

    name = "memgraph-kernels"

    optimize: str = option(RAM, "what speed may cost: no RAM, a little, or any", HOW)
    at_most: int | None = option(None, "bytes of the arena, for balanced")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        planned = known if known is not None and known.facts is not None else _placed(func)
        if planned is None or planned.facts is None or not _in_one_arena(planned.facts):
            text = f"memgraph-kernels: @{func.sym_name.data}: no places in one arena"
            raise PassFailedException(f"{text}; run --place first")
        facts, extracted = planned.facts, planned.extracted
        sites = _sites(extracted)
        fitting = _chosen(sites, lambda room: room.fits(facts.peak, facts.arena))
        wanted = fitting if self.optimize == RAM else self._wanted(sites, facts)
        if _forms(wanted) == _forms(fitting):
            _mark(fitting)
            return Planned(extracted.again(), facts) if fitting else planned
        if (standing := _standing(planned, facts, wanted)) is not None:
            return standing
        model = extracted.model
        drop_plan(func)
        func.attributes[MODEL] = model
        _mark([(site, replace(room, offset=-1)) for site, room in wanted])
        return Planned(extracted)

    def _wanted(self, sites: Sequence["Site"], facts: Facts) -> list["Choice"]:
        if self.optimize == SPEED:
            return _chosen(sites, lambda room: True)
        peak, arena = (self._allowed(size) for size in (facts.peak, facts.arena))
        if facts.peak == facts.arena:  # places are found at the peak, so they will be again
            return _chosen(sites, lambda room: room.level <= peak)
        return _chosen(sites, lambda room: room.fits(peak, arena))

    def _allowed(self, size: int) -> int:
        """Return the bytes that `balanced` may make of so many bytes here."""
        more = may_become(size)
        return more if self.at_most is None else max(size, min(more, self.at_most))


def may_become(size: int) -> int:
    """Return the bytes that `balanced` may make of an arena, or peak, of so many bytes."""
    return size + (size + BESIDE) * PERCENT // 100


def _standing(planned: Planned, facts: Facts, wanted: Sequence["Choice"]) -> Planned | None:
    """Return the plan of many operators with what is wanted and all else where it is, if no order
    has a smaller arena with that scratch."""
    if len(planned.extracted.graph) <= MANY:
        return None
    arena = max([facts.arena, *(room.offset + room.held for _, room in wanted)])
    if arena > max([facts.peak, *(room.level for _, room in wanted)]):
        return None
    copy = planned.func.clone()
    alike = dict(zip(planned.func.walk(), copy.walk(), strict=True))
    _mark([(replace(s, op=alike[s.op], marked=alike[s.marked]), room) for s, room in wanted])
    graph = undecided(copy, None).graph
    bound = flow_bound(graph, [range(len(graph))], enough=arena)
    if bound.value < arena:
        return None
    _mark(wanted)
    proven = replace(facts, peak=arena, lower_bound=arena, proof=bound.proof)
    return Planned(planned.extracted.again(), proven.in_one_arena(arena, arena))


def _placed(func: FuncOp) -> Planned | None:
    """The plan that a function carries, with its memories."""
    moves = (op for op in func.body.block.ops if is_move(op))
    if (op := next(moves, None)) is not None:
        text = f"{name_of(op.operands[0])} moves within the arena; run memgraph-compact after it"
        raise MemoptError(f"memgraph-kernels: {text}", place_of(op))
    planned, plan = read_plan(func), plan_of(func)
    if planned is None or planned.facts is None or plan is None:
        return None
    bounds = plan.arena_lower_bound.data, plan.memories_lower_bound.data
    return replace(planned, facts=planned.facts.placed(plan.memories.data, *bounds))


def _in_one_arena(facts: Facts) -> bool:
    return [m.kind.data for m in facts.memories] == ["arena"]


@dataclass(frozen=True)
class Room:
    """Scratch of one form of a fast kernel: its bytes, and as they are rounded, the lowest place
    for them among what lies in the arena meanwhile, and the level with them."""

    form: str
    bytes: int
    held: int
    offset: int
    level: int

    def fits(self, peak: int, arena: int) -> bool:
        return self.level <= peak and self.offset + self.held <= arena


@dataclass(frozen=True)
class Site:
    """An operation with fast kernels, and their room, the fastest first. `marked` is the operator
    itself, or the whole one that it is a row of, all rows of which have the same kernel."""

    op: Operation
    marked: Operation
    rooms: tuple[Room, ...]


Choice = tuple[Site, Room]


def held_back(func: FuncOp) -> int:
    """Return how many kernels, faster than those of operators, have scratch that had no room."""
    target = with_called(target_named(model_of(func).target.data), model_of(func))
    faster: dict[Operation, int] = {}
    for op in body_of(func).ops:
        forms, own = list(fast_forms(op, target)), fast_form(_marked(op))
        faster[_marked(op)] = forms.index(own) if own in forms else len(forms)
    return sum(faster.values())


def _marked(op: Operation) -> Operation:
    return op.operation if isinstance(op, RowOp) else op


def _chosen(sites: Sequence[Site], fits: Callable[[Room], bool]) -> list[Choice]:
    """The fastest form of each operator whose scratch fits at all of its sites."""
    fitting: dict[Operation, set[str]] = {}
    for site in sites:
        forms = {room.form for room in site.rooms if fits(room)}
        fitting[site.marked] = fitting.get(site.marked, forms) & forms
    choices: list[Choice] = []
    for site in sites:
        rooms = [room for room in site.rooms if room.form in fitting[site.marked]]
        choices += [(site, rooms[0])] if rooms else []
    return choices


def _forms(chosen: Sequence[Choice]) -> dict[Operation, str]:
    return {site.op: room.form for site, room in chosen}


def _sites(extracted: Extracted) -> list[Site]:
    """All operations with a fast kernel."""
    memory, alignment = extracted.memory, extracted.model.alignment.data
    target = with_called(target_named(extracted.model.target.data), extracted.model)
    sites: list[Site] = []
    lives = live_ranges(memory)
    sizes = [g.taken if g.in_arena else 0 for g in memory.groups]
    level = levels(memory, lives, sizes, alignment)
    gaps = Gaps.of(_spans(extracted), lives, alignment)
    forms_of: dict[Operation, dict[str, int]] = {}  # of rows, which have one kernel
    for t, op in enumerate(memory.operations):
        if memory.memory[t].workspace:
            continue
        if reads_virtual(op) or makes_virtual(op):
            forms = fast_forms(op, target)
        elif (forms := forms_of.get(_marked(op))) is None:
            forms = forms_of[_marked(op)] = fast_forms(op, target)
        if not forms:
            continue
        held = {form: rounded(size, alignment) for form, size in forms.items()}
        places = gaps.lowest(t, held.values())
        rooms = tuple(
            Room(form, forms[form], size, at, level[t] + size)
            for (form, size), at in zip(held.items(), places, strict=True)
        )
        sites.append(Site(op, _marked(op), rooms))
    return sites


def _spans(extracted: Extracted) -> dict[int, Span]:
    """Where the groups lie that are in the arena."""
    places, spans = places_of(extracted.func), dict[int, Span]()
    for number, group in enumerate(extracted.memory.groups):
        value, inside = group.members[0]
        offset = bytes_offset(places.get(value))
        if offset is not None and group.taken:
            spans[number] = (offset - inside, offset - inside + group.taken)
    return spans


@dataclass(frozen=True)
class Gaps:
    """Spans in the arena by where they start: the first byte, the first one behind that is aligned,
    and the steps from `begins` to before `ends` in which something lies there."""

    starts: Array
    stops: Array
    begins: Array
    ends: Array

    @staticmethod
    def of(spans: Mapping[int, Span], lives: Sequence[range], alignment: int) -> "Gaps":
        """Return the gaps between spans of groups, each of which lives in its steps."""
        rows = sorted(
            (start, rounded(stop, alignment), lives[g].start, lives[g].stop)
            for g, (start, stop) in spans.items()
        )
        return Gaps(*np.array(rows, np.int64).reshape(-1, 4).T)

    def lowest(self, step: int, sizes: Iterable[int]) -> list[int]:
        """The lowest offset, for each size in bytes, of so many that are in none of the spans of a
        step."""
        live = (self.begins <= step) & (step < self.ends)
        behind = np.maximum.accumulate(np.concatenate(([0], self.stops[live])))
        room = self.starts[live] - behind[:-1]
        offsets: list[int] = []
        for size in sizes:
            fits = room >= size
            offsets.append(int(behind[fits.argmax() if fits.any() else -1]))
        return offsets


def _mark(chosen: Sequence[Choice]) -> None:
    for site, room in chosen:
        mark_fast(site.marked, room.form)
        if room.bytes:
            site.op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(room.bytes, room.offset)])
