"""The memory graph for other tools: `-t json` (JSON graphs, with the plan) and minimalloc's CSV.

id,lower,upper,size,offset
conv1,0,2,4096,0
"""

import json

from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Operation, SSAValue

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import live_ranges, rounded
from memopt.analysis.storage_groups import BlockMemory
from memopt.backends.checked import Checked, checked
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, only_function
from memopt.dialects.memgraph.interface import is_constant_like
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.plan import (
    Place,
    arena_offset,
    bytes_offset,
    is_move,
    memory_at,
    model_of,
    order_of,
    places_of,
    plan_of,
    said_optimal,
    scratch_list,
)
from memopt.dialects.memgraph.structure import HyperNode
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.memgraph.variables import VariableOp
from memopt.formats.minimalloc import Gap, Row, write_rows


def module_json(module: ModuleOp, claimed: bool = False, known: Checked | None = None) -> str:
    """The graph as JSON, as the frontend reads it; a plan adds `order`, `offset` and `plan`.

    Over several memories `memory` is the bank that a tensor is in. With shared objects `object` is
    a tensor's, `offset` counts from its start, and the plan lists the bytes of `objects`. Of a plan
    that was read, bound and proof are `claimed`, and `optimal` is null where they say so. `known`
    is the function, if its plan was verified.
    """
    func = only_function(module)
    plan = plan_of(func)
    if plan is not None and known is None:
        checked(func)
    block = body_of(func)
    places = places_of(func)
    names: dict[SSAValue, str] = {}
    taken: set[str] = set()
    tensors: list[dict[str, object]] = []

    def declare(value: SSAValue) -> None:
        size = bytes_of(value.type)
        if size is None:
            return
        name = base = name_of(value)
        while name in taken:
            name = f"{base}_{len(taken)}"
        taken.add(name)
        names[value] = name
        row: dict[str, object] = {"name": name, "bytes": size, "is_weight": False}
        row["shape"] = list(shape_of(value))
        row |= _where(places.get(value), plan)
        tensors.append(row)

    for argument in block.args:
        declare(argument)
    nodes: list[dict[str, object]] = []
    for op in block.ops:
        if op is block.last_op or is_constant_like(op) or isinstance(op, VariableOp):
            continue
        if isinstance(op, HyperNode):
            raise MemoptError("hyper-nodes cannot be written; run --schedule first", place_of(op))
        for result in op.results:
            declare(result)
        nodes.append(_node(op, names, len(nodes)))
    last = block.last_op
    answer: dict[str, object] = {
        "name": func.sym_name.data,
        "source": "memopt",
        "tensors": tensors,
        "nodes": nodes,
        "graph_inputs": [names[a] for a in block.args if a in names],
        "graph_outputs": [names[v] for v in (last.operands if last else ()) if v in names],
    }
    if plan is not None:
        facts: dict[str, object] = {
            "peak": plan.peak.data,
            "lower_bound": plan.lower_bound.data,
            "proof": plan.proof.data,
            "family": plan.family.data,
            "optimal": said_optimal(plan.optimal, claimed),
            "claimed": claimed,
            "arena": plan.arena if plan.placed else None,
            "alignment": model_of(func).alignment.data,
        }
        if plan.kind == "object":
            facts["objects"] = [m.bytes.data for m in plan.memories]
            facts["objects_lower_bound"] = plan.memories_lower_bound.data
        answer["plan"] = facts
    return json.dumps(answer, indent=1) + "\n"


def _where(place: Place | None, plan: PlanAttr | None) -> dict[str, object]:
    """A tensor's `offset` from the start of its memory, and which that is of several."""
    offset = bytes_offset(place)
    if offset is None or not isinstance(place, SlotAttr):
        return {} if offset is None else {"offset": offset}
    memory = memory_at(place)
    if plan is not None and plan.kind == "object":
        return {"object": plan.index(memory), "offset": offset}
    return {"offset": offset, "memory": memory}


def _node(op: Operation, names: dict[SSAValue, str], index: int) -> dict[str, object]:
    kind = op.properties.get("op_name")
    written = op.attributes.get("memgraph.operator")
    row: dict[str, object] = {
        "name": written.data if isinstance(written, StringAttr) else f"node{index}",
        "op": kind.data if isinstance(kind, StringAttr) else op.name.removeprefix("memgraph."),
        "inputs": [names[v] for v in op.operands if v in names],
        "outputs": [names[r] for r in op.results if r in names],
    }
    scratch = scratch_list(op)
    if scratch:
        row["workspace"] = sum(s.bytes.data for s in scratch)
    if order_of(op) is not None:
        row["order"] = order_of(op)
    return row


def _refuse_moves(memory: BlockMemory) -> None:
    """Raise MemoptError for a buffer that moves within its arena."""
    for op in memory.operations:
        if is_move(op):
            text = f"minimalloc's CSV: {name_of(op.operands[0])} moves, and a row has one place"
            raise MemoptError(text, place_of(op))


def module_csv(module: ModuleOp, known: Checked | None = None) -> str:
    """minimalloc's CSV: one storage group per line, half-open intervals of steps, sizes in bytes.

    Sizes are rounded up to the alignment. A result in place of its operand is the same line; once
    the larger operand is gone, a gap keeps the bytes up to the end of the result alone. With a plan
    there is an `offset` column, empty where a buffer has none; shared objects are laid one behind
    the other. `known` is the function, if its plan was verified.

    Raises MemoptError for a tensor in parts that die alone: a line has its first bytes longest.
    """
    func = only_function(module)
    plan = plan_of(func)
    model = model_of(func)
    known = checked(func) if plan is not None and known is None else known
    memory = known.memory if known is not None else function_memory(func, model)
    plan = plan if plan is not None and plan.placed else None
    alignment, lives = model.alignment.data, live_ranges(memory)
    places = places_of(func)
    for g in memory.groups:
        if g.piece is not None and g.in_arena:
            text = f"minimalloc's CSV: {g.name} is a part of a tensor, and dies alone"
            raise MemoptError(text, f"@{func.sym_name.data}")
    _refuse_moves(memory)
    rows: list[Row] = []
    heirs = {
        operand: result
        for _, result, operand in memory.overwrites
        if memory.groups[operand].in_arena and memory.groups[result].in_arena
    }
    begins: dict[int, int] = {}  # bytes above the start of the line that the group is in
    for t, result, operand in memory.overwrites:
        begins[result] = begins.get(operand, 0) + memory.inside(t, operand)

    def row(
        name: str,
        span: tuple[int, int],
        size: int,
        place: Place | int | None,
        start: int,
        gaps: tuple[Gap, ...] = (),
    ) -> None:
        plain = "".join("_" if c in ',"\n\r' else c for c in name)
        offset = arena_offset(place, func) if plan else None
        offset = None if offset is None else offset - start
        rows.append(Row(plain, *span, size, gaps=gaps, offset=offset))

    for index, g in enumerate(memory.groups):
        if not g.in_arena or index in heirs.values():
            continue
        lower, upper = lives[index].start, lives[index].stop
        gaps: list[Gap] = []
        while index in heirs:
            index, start = heirs[index], upper
            upper = lives[index].stop
            size = memory.groups[index].taken
            end = begins[index] + size
            if end < g.taken and start < upper:
                gaps.append(Gap(start, upper, end))
        value, inside = g.members[0]
        row(g.name, (lower, upper), g.taken, places.get(value), inside, tuple(gaps))
    for step, (op, m) in enumerate(zip(memory.operations, memory.memory, strict=True)):
        placed_scratch = scratch_list(op) or ()
        for i, size in enumerate(m.workspace):
            place = placed_scratch[i].place if i < len(placed_scratch) else None
            row(f"scratch{i} of {step}", (step, step + 1), rounded(size, alignment), place, 0)
    return write_rows(rows)
