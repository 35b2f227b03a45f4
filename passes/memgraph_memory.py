"""`memgraph-memory{banks="dtcm:64K@1,sram:320K@2"}`: give every buffer a memory and a place in it.

Before:  %a = memgraph.relu %x {memgraph.order = 0 : i64} : (T) -> T
After:   %a = memgraph.relu %x {memgraph.order = 0 : i64,
                                memgraph.offset = [#memgraph.slot<dtcm, 1024>]} : (T) -> T

No memory overflows, and what the traffic costs is least: bytes that operators read and write,
times the cost of a byte of their memory. A tensor may move between two uses (spill and reload):
then there is a `memgraph.copy`, whose bytes count too. The plan lists the memories, with what is
proven of the traffic. With `reorder=true` the operators, too, take the order in which that costs
the least of those found, with a bound for all orders, with results in place as they are. Model:
`solvers/problems/memories.py`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.liveness import peak_of
from memopt.dialects.attributes.memories import MemoryAttr, TrafficAttr
from memopt.dialects.attributes.placement import SlotAttr
from memopt.dialects.attributes.runtimes import interpreter_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, operator_name
from memopt.dialects.memgraph.plan import OFF_CHIP, OFFSET, set_order
from memopt.dialects.memgraph.write_plan import Facts
from memopt.dialects.rows.operations import family_of
from memopt.dialects.rows.state import StateOp
from memopt.formats.sizes import parse_size
from memopt.passes.memgraph_schedule import order_function, write_order
from memopt.passes.plan.extract import Extracted, extract, refuse_virtual
from memopt.passes.plan.inplace import only_chosen
from memopt.passes.plan.memory_tenants import Tenants, keys_of, tenants_of
from memopt.passes.plan.moves import write_moves
from memopt.passes.plan.option import option, required
from memopt.passes.plan.planned import Planned, PlanningPass, read_plan
from memopt.passes.plan.write_placement import write_placement
from memopt.solvers import clock
from memopt.solvers.memories import (
    Assignment,
    Bank,
    MemoryProblem,
    NoRoomError,
    assign,
    moved_bytes,
)
from memopt.solvers.problems.memory_graph import ProblemError, Schedule, profile

NAMED = 6  # tensors that a refusal lists


_BANK = re.compile(r"([A-Za-z_]\w*):([^@]+)(?:@(.*))?", re.ASCII)


def parse_banks(text: str) -> tuple[Bank, ...]:
    """Memories `NAME:CAPACITY[@COST],...`, the fastest first.

    COST is what reading or writing one byte there costs, a whole number from 1 on; without it the
    first costs 1 and each other twice the one before it. Raises ValueError.
    """
    banks: list[Bank] = []
    for part in text.split(","):
        match = _BANK.fullmatch(part.strip())
        if match is None:
            raise ValueError(f"{part.strip()!r} is no memory; write dtcm:64K or dtcm:64K@1")
        name, size, price = match.groups()
        if price is None:
            cost = 2 * banks[-1].cost if banks else 1
        elif price.isdigit() and 0 < int(price) < 1 << 20:
            cost = int(price)
        else:
            raise ValueError(f"memory {name}: {price!r} is no cost, a whole number from 1 on")
        if any(b.name.lower() == name.lower() for b in banks):
            raise ValueError(f"memory {name} is given twice")
        banks.append(Bank(name, parse_size(size), cost))
    return tuple(banks)


@dataclass(frozen=True)
class MemgraphMemoryPass(PlanningPass):
    """Give every buffer a memory and a place in it, at the least cost of traffic.

    `banks` are NAME:CAPACITY@COST, the fastest first. With `spill=false` no tensor moves. With
    `reorder` operators take the order in which that costs least, of those that are found.
    """

    name = "memgraph-memory"

    banks: str = required("memories NAME:CAPACITY@COST, the fastest first")
    spill: bool = option(True, "tensors may move between two uses")
    time_limit: int | float | None = option(None, "seconds")
    reorder: bool = option(False, "operators take the order in which the traffic costs least")

    def __post_init__(self) -> None:
        super().__post_init__()
        parse_banks(self.banks)  # so that a wrong one is a wrong command line

    def plan(self, func: FuncOp, known: Planned | None) -> Planned:
        how = parse_banks(self.banks), self.spill, self.time_limit, self.reorder
        return assign_known(func, known, *how)[0]


def assign_known(
    func: FuncOp,
    known: Planned | None,
    banks: tuple[Bank, ...],
    spill: bool = True,
    time_limit: float | None = None,
    reorder: bool = False,
) -> tuple[Planned, Assignment]:
    """Assign one function's buffers, from what is known of it; the plan is not written yet.

    `time_limit` in seconds. With `reorder` in another order, if one is found in which that costs
    less. Raises MemoptError where they do not fit, with what is missing and where, and
    PassFailedException if nothing was found in time.
    """
    started, deadline = clock.now(), clock.deadline(time_limit)
    planned = known if known is not None and known.facts is not None else read_plan(func)
    if planned is None or planned.facts is None:
        planned, _ = order_function(func, known, "source", None)
    facts, extracted = planned.facts, planned.extracted
    assert facts is not None
    place = f"@{func.sym_name.data}"
    if interpreter_of(extracted.model):
        target = extracted.model.target.data
        raise MemoptError(f"planned for target {target}, which has one arena", place)
    state = next((op for op in body_of(func).ops if isinstance(op, StateOp)), None)
    if state is not None:
        text = f"rows that stay from run to run ({name_of(state.result)}) have no place in it"
        raise MemoptError(f"memgraph-memory: {text}", place)
    refuse_virtual(extracted.memory, "memgraph-memory", place)
    # the places have to be written too, which takes no longer than it took to read the plan
    seconds = clock.left(clock.sooner(deadline, clock.now() - started))
    orders_bound = 0
    try:
        if reorder:
            planned, tenants, answer, orders_bound = _reordered(planned, banks, spill, seconds)
            extracted, facts = planned.extracted, planned.facts or facts
        else:
            tenants = tenants_of(extracted, banks, spill)
            answer = assign(tenants.problem, seconds)
    except NoRoomError as error:
        raise MemoptError(_refusal(extracted, banks, facts, error), place) from error
    except ProblemError as error:
        raise PassFailedException(f"memgraph-memory: {place}: {error}") from error
    if not _write(extracted, tenants, answer):
        return planned.placed(_facts(extracted, tenants, answer, facts, orders_bound)), answer
    func.attributes.pop(OFF_CHIP, None)  # counted of a function without moves
    extracted = extract(func)  # with the moves
    set_order(extracted.memory.operations)
    return Planned(extracted, _facts(extracted, tenants, answer, facts, orders_bound)), answer


def _reordered(
    planned: Planned, banks: tuple[Bank, ...], spill: bool, seconds: float | None
) -> tuple[Planned, Tenants, Assignment, int]:
    """Put a planned function into the order in which its buffers cost least, of those found, with
    results in place as they are, and return what holds then, its tenants, their assignment, and
    what no order costs less than.

    Raises ProblemError as `assign`, and PassFailedException for a partition, which keeps its order.
    """
    extracted, facts = planned.extracted, planned.facts
    assert facts is not None
    func = extracted.func
    extracted.refuse_partition("memgraph-memory", "reorder=true")
    late: Any = import_module("memopt.solvers.memories.cost_order")  # for the few
    extracted = only_chosen(extracted, {})

    tried: dict[tuple[int, ...], Tenants] = {}

    def problem_in(order: Sequence[int]) -> MemoryProblem:
        tenants = tried[tuple(order)] = tenants_of(extracted, banks, spill, order)
        return tenants.problem

    chosen = late.least_cost_order(problem_in, extracted.graph.predecessors, seconds)
    order, answer, bound = chosen.order, chosen.assignment, facts.lower_bound
    tenants = tried[order]
    if order != tuple(range(len(order))):
        func.attributes.pop(OFF_CHIP, None)  # counted in the order before
        keys = keys_of(extracted, tenants, order)
        peak = profile(extracted.graph, order).peak
        proof = facts.proof if peak == bound else "none"
        schedule = Schedule(order, peak, bound, proof)
        planned, _ = write_order(planned.extracted, schedule, chosen={})
        tenants = tenants_of(planned.extracted, banks, spill)
        visits = dict(zip(keys, answer.visits, strict=True))
        now = keys_of(planned.extracted, tenants, range(len(order)))
        answer = replace(answer, visits=tuple(visits[key] for key in now))
        answer.verify(tenants.problem)
    return planned, tenants, answer, chosen.lower_bound


def _refusal(
    extracted: Extracted, banks: tuple[Bank, ...], facts: Facts, error: NoRoomError
) -> str:
    """Which operator, which tensors, how many bytes."""
    operations = extracted.memory.operations
    if error.step < 0:
        where = "before the first operator"
    elif error.step < len(operations):
        where = f"at {_short(operator_name(operations[error.step]), 72)}"
    else:
        where = "after the last operator"
    listed = ", ".join(f"{_short(t.name)} {t.size:,} B" for t in error.tenants[:NAMED])
    if len(error.tenants) > NAMED:
        listed += f" and {len(error.tenants) - NAMED} more"
    room = " + ".join(f"{b.name} {b.capacity:,} B" for b in banks)
    least = "" if error.exact else "at least "
    peak = sum(b.capacity for b in banks) + error.missing == facts.peak
    if family_of(operations) == "rows":
        room += ", each row in one of them"  # for none moves
    text = f"the buffers do not fit into {room}: {least}{error.missing:,} B are missing "
    if error.alone:
        text += f"{where} with {listed}"
    else:
        text += f"(no operator alone lacks as many; the fullest is {where} with {listed})"
    if peak and facts.proof != "none" and facts.peak == facts.lower_bound:
        text += "; no order of the operators needs less"
    return text


def _short(name: str, limit: int = 32) -> str:
    """A name that leaves room for the others; exporters give very long ones."""
    return name if len(name) <= limit else f"{name[: limit - 3]}..."


def _write(extracted: Extracted, tenants: Tenants, answer: Assignment) -> bool:
    """Places of all values and scratch; moves as operations. True if there is one."""
    banks = tenants.problem.banks
    moves = write_moves(extracted, tenants, answer)

    def place_at(buffer: int, inside: int) -> SlotAttr:
        visit = answer.visits[tenants.tenant_of[buffer]][0]
        above = tenants.buffers.buffers[buffer].at
        return SlotAttr(banks[visit.bank].name, visit.offset + above + inside)

    def scratch_at(step: int, index: int) -> SlotAttr:
        buffer = tenants.scratch_of.get((step, index))
        return SlotAttr(banks[0].name, 0) if buffer is None else place_at(buffer, 0)

    write_placement(extracted, range(len(extracted.graph)), place_at, scratch_at)
    for op, visit in moves:
        op.attributes[OFFSET] = ArrayAttr([SlotAttr(banks[visit.bank].name, visit.offset)])
    return bool(moves)


def _facts(
    extracted: Extracted, tenants: Tenants, answer: Assignment, facts: Facts, orders_bound: int
) -> Facts:
    """Return the facts after the assignment.

    With moves the peak is another; the bound still holds, as in each step of the function without
    them no fewer bytes are live with them.
    """
    arenas = answer.arenas(tenants.problem)
    moved = moved_bytes(tenants.problem, answer.visits)
    memories = [
        MemoryAttr(b.name, "bank", arena, b.capacity, b.cost, count)
        for b, arena, count in zip(tenants.problem.banks, arenas, moved, strict=True)
    ]
    traffic = TrafficAttr(answer.cost, answer.lower_bound, answer.proof, orders_bound)
    placed = facts.placed(memories, facts.lower_bound, traffic=traffic)
    return replace(placed, peak=peak_of(extracted.memory, extracted.model))
