"""Moves between memories as operations: `memgraph.copy` where a tenant changes its bank.

Before:  %a = A ... ; B(%a) ; C ; D(%a)
After:   %a = A ... ; B(%a) ; %a_sram = memgraph.copy %a ; C ; %a_dtcm = memgraph.copy %a_sram ;
         D(%a_dtcm)
"""

from xdsl.dialects.builtin import ArrayAttr, StringAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.analysis.function_memory import function_memory
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.interface import is_constant_value
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import (
    PARTITION,
    drop_arena_moves,
    drop_copies,
    model_of,
    plan_of,
    set_order,
)
from memopt.dialects.operators.movement import CopyOp
from memopt.passes.plan.extract import Extracted
from memopt.passes.plan.memory_tenants import Tenants, value_of
from memopt.solvers.memories import Assignment, Visit, moment, step_of, visit_of


def drop_moves(func: FuncOp) -> bool:
    """Take out the moves of a plan: those within its arena, or over several memories every
    `memgraph.copy` of what is no constant. Whoever read the copy reads what was copied. Without
    such a plan a copy is the network's own. True if there was a move; then the peak in the plan is
    another."""
    plan = plan_of(func)
    dropped = drop_arena_moves(func)
    if not dropped and plan is not None and any(m.kind.data == "bank" for m in plan.memories):
        copies = (op for op in body_of(func).ops if isinstance(op, CopyOp))
        dropped = drop_copies([op for op in copies if not is_constant_value(op.input)])
    if dropped:
        set_order(function_memory(func, model_of(func)).operations)
    return dropped


def copy_beside(neighbour: Operation | None, before: SSAValue, name: str) -> CopyOp:
    """Return a move of what is in `before`, of that name and in its neighbour's part."""
    copy = CopyOp(operands=[before], result_types=[before.type])
    copy.attributes["memgraph.names"] = ArrayAttr([StringAttr(name)])
    if neighbour is not None and PARTITION in neighbour.attributes:
        copy.attributes[PARTITION] = neighbour.attributes[PARTITION]
    return copy


def write_moves(
    extracted: Extracted, tenants: Tenants, answer: Assignment
) -> list[tuple[CopyOp, Visit]]:
    """Insert the copies, let everybody read the one that is there, and say where each lies."""
    copies: list[tuple[CopyOp, Visit]] = []
    entries: dict[int, list[tuple[int, int]]] = {}  # moment -> (tenant, its visit)
    current: dict[int, list[SSAValue]] = {}
    for k, visits in enumerate(answer.visits):
        if len(visits) > 1:
            value = value_of(extracted, tenants, k)
            current[k] = [value]
            for n, visit in enumerate(visits[1:], 1):
                entries.setdefault(visit.lower, []).append((k, n))
    readers = {k: _readers(extracted, values[0]) for k, values in current.items()}
    for at in sorted(entries):
        insert, neighbour = _insertion(extracted, at)
        for k, n in sorted(entries[at]):
            before, visit = current[k][-1], answer.visits[k][n]
            bank = tenants.problem.banks[visit.bank].name
            copy = copy_beside(neighbour, before, f"{name_of(current[k][0])} in {bank}")
            hint = current[k][0].name_hint
            copy.result.name_hint = f"{hint}_{bank}" if hint else None
            Rewriter.insert_op(copy, insert)
            insert = InsertPoint.after(copy)
            current[k].append(copy.result)
            copies.append((copy, visit))
    for k, values in current.items():
        visits = answer.visits[k]
        for op, step in readers[k]:
            now = visits.index(visit_of(visits, moment(step)))
            op.operands = [values[now] if v is values[0] else v for v in op.operands]
    return copies


def _readers(extracted: Extracted, value: SSAValue) -> list[tuple[Operation, int]]:
    """Return the readers of a value, each with its step; the function's end is the step after the
    last."""
    position = {op: i for i, op in enumerate(extracted.memory.operations)}
    users = dict.fromkeys(use.operation for use in value.uses)
    return [(op, position.get(op, len(position))) for op in users]


def _insertion(extracted: Extracted, at: int) -> tuple[InsertPoint, Operation | None]:
    """Where the moves of a moment go, right after an operator or right before one, and which."""
    operations, step = extracted.memory.operations, step_of(at)
    if at > moment(step) and step >= 0:
        return InsertPoint.after(operations[step]), operations[step]
    if at > moment(step):
        first = operations[0] if operations else None
        return InsertPoint.at_start(body_of(extracted.func)), first
    if step < len(operations):
        return InsertPoint.before(operations[step]), operations[step]
    last = body_of(extracted.func).last_op
    assert last is not None
    return InsertPoint.before(last), operations[-1] if operations else None
