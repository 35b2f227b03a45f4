"""`memgraph-compact`: moves of buffers between steps, for an arena of the peak.

Before:  %c = memgraph.opaque "C"(%x) {memgraph.order = 4 : i64, memgraph.offset = [9 : i64]} ...
After:   %b_0 = memgraph.copy %b {memgraph.alias = [[#memgraph.alias<operand = 0, kind = move>]],
           memgraph.order = 4 : i64, memgraph.offset = [0 : i64]} : (T) -> T
         %c = memgraph.opaque "C"(%x) {memgraph.order = 5 : i64, memgraph.offset = [6 : i64]} ...

Defragmentation (Liberis & Lane), decided before the run. Nothing is done to an arena that is at the
peak. Else all buffers get new places, and moves the fewest bytes; those of one value of our own
operations may move. Model: `solvers/problems/compaction.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.analysis.function_memory import function_memory, group_offsets
from memopt.dialects.attributes.model import AliasAttr
from memopt.dialects.attributes.quick import array, number
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import ALIAS, OFFSET, is_move, model_of, plan_of, set_order
from memopt.dialects.memgraph.write_plan import write_plan
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.memory_tenants import movable_values
from memopt.passes.plan.moves import copy_beside
from memopt.passes.plan.notes import note
from memopt.passes.plan.option import option
from memopt.passes.plan.planned import Planned, PlanningPass, read_plan
from memopt.passes.plan.write_placement import write_placement
from memopt.solvers import clock
from memopt.solvers.memories.compaction import compact
from memopt.solvers.problems.compaction import Block, Compaction, CompactionProblem
from memopt.solvers.problems.memory_graph import live_ranges, round_up
from memopt.solvers.problems.placement import Item, PlacementProblem

STEPS = 8  # sizes between peak and arena that are tried


@dataclass(frozen=True)
class MemgraphCompactPass(PlanningPass):
    """Move buffers between steps where the arena is larger than the peak.

    The fewest bytes are copied in small functions, few in others; where the buffers that may move
    do not lead to the peak, the arena is the smallest that was found.
    """

    name = "memgraph-compact"

    time_limit: int | float | None = option(None, "seconds")

    def plan(self, func: FuncOp, known: Planned | None) -> Planned | None:
        plan, place = plan_of(func), f"@{func.sym_name.data}"
        if plan is None or not plan.placed:
            raise MemoptError("memgraph-compact: no places yet; run --place first", place)
        if plan.kind != "arena" or interpreter_of(model_of(func)):
            text = "buffers move within the one arena of our own code"
            raise MemoptError(f"memgraph-compact: {text}", place)
        if plan.arena <= plan.peak.data or any(map(is_move, func.body.block.ops)):
            return known
        planned = known if known is not None and known.facts is not None else read_plan(func)
        assert planned is not None and planned.facts is not None
        facts = planned.facts
        # nobody has proven the bounds of a plan that was read
        needed = not facts.claimed and facts.arena_lower_bound > facts.peak
        layout = compacted(planned.extracted, plan.peak.data, plan.arena, needed, self.time_limit)
        if layout is None:
            return planned
        write_layout(planned.extracted, layout)
        size, moved = layout.problem.arena, layout.answer.moved(layout.problem)
        text = f"{len(layout.answer.moves)} moves of {moved:,} B"
        if moved > layout.answer.lower_bound:
            text += f", of which {layout.answer.lower_bound:,} B are proven to be needed"
        note(func.sym_name.data, f"{text}: arena {plan.arena:,} -> {size:,} B")
        write_plan(func, facts.in_one_arena(size, facts.lower_bound))
        return None


@dataclass(frozen=True)
class Layout:
    """The buffers of a function, with what may move of the groups of its graph, as blocks in a
    smaller arena, and where these go."""

    buffers: PlacementProblem
    values: Mapping[int, SSAValue]
    problem: CompactionProblem
    answer: Compaction


def compacted(
    extracted: Extracted, peak: int, arena: int, needed: bool, time_limit: float | None
) -> Layout | None:
    """Return places and moves in the smallest arena that some are found for, from the peak up."""
    graph = extracted.graph
    buffers, values = live_ranges(graph, range(len(graph))), movable_values(extracted)
    offsets = group_offsets(extracted.func, extracted.memory)
    groups = enumerate(extracted.group_of)
    hints = {number: offsets[g] for g, number in groups if number is not None and g in offsets}
    blocks = tuple(
        Block(i.size, i.lower, i.upper, len(i.pieces) == 1 and _moves(i, values), i.alignment)
        for i in buffers.items
    )
    hint = [hints.get(i.index, arena) for i in buffers.items]
    deadline = clock.deadline(time_limit)
    unit = graph.offset_alignment or graph.alignment
    for part in range(STEPS):
        size = min(round_up(peak + part * (arena - peak) // STEPS, unit), arena)
        problem = CompactionProblem(blocks, size)
        answer = compact(problem, hint, needed and not part, clock.left(deadline, 0.5))
        if answer is not None and size < arena:
            return Layout(buffers, values, problem, answer)
        if clock.late(deadline):
            break
    return None


def _moves(item: Item, values: Mapping[int, SSAValue]) -> bool:
    return len(item.members) == 1 and item.members[0] in values


def write_layout(extracted: Extracted, layout: Layout) -> None:
    """Write places, and moves as operations in front of the steps."""
    func, operations = extracted.func, list(extracted.memory.operations)
    items, buffers = layout.buffers.items, layout.buffers.buffers
    offset_of = {m: layout.answer.offsets[k] for k, i in enumerate(items) for m in i.members}
    offsets = [offset_of[k] + b.at for k, b in enumerate(buffers)]
    order = range(len(operations))
    write_placement(extracted, order, lambda buffer, inside: offsets[buffer] + inside)
    position = {op: step for step, op in enumerate(operations)}
    current: dict[int, SSAValue] = {}
    for move in layout.answer.moves:
        group = items[move.block].members[0]
        before, following = current.get(group, layout.values[group]), operations[move.step]
        later = [u for u in before.uses if position.get(u.operation, len(position)) >= move.step]
        name = f"{name_of(layout.values[group])} at {move.offset}"
        copy = copy_beside(following, before, name)
        copy.attributes[ALIAS] = ArrayAttr([ArrayAttr([AliasAttr(0, "move")])])
        copy.attributes[OFFSET] = array([number(move.offset)])
        for use in later:
            use.operation.operands[use.index] = copy.result
        Rewriter.insert_op(copy, InsertPoint.before(following))
        current[group] = copy.result
    set_order(function_memory(func, extracted.model).operations)
