"""`memgraph-memory{banks="dtcm:64K@1,sram:320K@2"}`: give every buffer a memory and a place in it.

Before:  %a = memgraph.relu %x {memgraph.order = 0 : i64} : (T) -> T
After:   %a = memgraph.relu %x {memgraph.order = 0 : i64,
                                memgraph.offset = [#memgraph.slot<dtcm, 1024>]} : (T) -> T

No memory overflows, and what the traffic costs is least: bytes that operators read and write,
times the cost of a byte of their memory. A tensor may move between two uses (spill and reload):
then there is a `memgraph.copy`, whose bytes count too. The function carries `memgraph.memories`,
with what is proven. Model: `solvers/problems/memories.py`.
"""

import re
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import peak_of
from memopt.dialects.bank_attributes import BankAttr, MemoriesAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import functions
from memopt.dialects.names import operator_name
from memopt.dialects.plan import MEMORIES, OFFSET, plan_of, set_order
from memopt.dialects.plan_attributes import PlanAttr, SlotAttr
from memopt.dialects.write_plan import write_plan
from memopt.formats.sizes import parse_size
from memopt.passes.extract import Extracted, extract
from memopt.passes.memgraph_schedule import schedule_function
from memopt.passes.memory_tenants import Tenants, tenants_of
from memopt.passes.moves import drop_moves, write_moves
from memopt.passes.option import option, required
from memopt.passes.places import write_places
from memopt.passes.seconds import check_seconds
from memopt.solvers.memories import Assignment, Bank, NoRoomError, assign, moved_bytes
from memopt.solvers.problems.memory_graph import ProblemError
from memopt.verify.plan import verify_plan

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
class MemgraphMemoryPass(ModulePass):
    """Give every buffer a memory and a place in it, at the least cost of traffic.

    `banks` are NAME:CAPACITY@COST, the fastest first. With `spill=false` no tensor moves.
    """

    name = "memgraph-memory"

    banks: str = required("memories NAME:CAPACITY@COST, the fastest first")
    spill: bool = option(True, "tensors may move between two uses")
    time_limit: int | float | None = option(None, "seconds for each solver")

    def __post_init__(self) -> None:
        check_seconds(self.time_limit)
        parse_banks(self.banks)  # so that a wrong one is a wrong command line

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for func in functions(op):
            assign_function(func, parse_banks(self.banks), self.spill, self.time_limit)


def assign_function(
    func: FuncOp, banks: tuple[Bank, ...], spill: bool = True, time_limit: float | None = None
) -> Assignment:
    """Assign one function's buffers; `time_limit` in seconds for each solver.

    Raises MemoptError where they do not fit, with what is missing and where, and
    PassFailedException if nothing was found in time.
    """
    if plan_of(func) is None:
        schedule_function(func, "source", None)
    plan = verify_plan(func).plan
    place = f"@{func.sym_name.data}"
    drop_moves(func)
    extracted = extract(func)
    if extracted.model.target.data == "tflm":
        raise MemoptError("planned for target tflm, which has one arena", place)
    tenants = tenants_of(extracted, banks, spill)
    try:
        answer = assign(tenants.problem, time_limit)
    except NoRoomError as error:
        raise MemoptError(_refusal(extracted, banks, plan, error), place) from error
    except ProblemError as error:
        raise PassFailedException(f"memgraph-memory: {place}: {error}") from error
    _write(extracted, tenants, answer)
    _write_plan(func, extracted, tenants, answer, plan)
    return answer


def _refusal(
    extracted: Extracted, banks: tuple[Bank, ...], plan: PlanAttr, error: NoRoomError
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
    peak = sum(b.capacity for b in banks) + error.missing == plan.peak.data
    text = f"the buffers do not fit into {room}: {least}{error.missing:,} B are missing "
    if error.alone:
        text += f"{where} with {listed}"
    else:
        text += f"(no operator alone lacks as many; the fullest is {where} with {listed})"
    if peak and plan.optimal:
        text += "; no order of the operators needs less"
    return text


def _short(name: str, limit: int = 32) -> str:
    """A name that leaves room for the others; exporters give very long ones."""
    return name if len(name) <= limit else f"{name[: limit - 3]}..."


def _write(extracted: Extracted, tenants: Tenants, answer: Assignment) -> None:
    """Places of all values and scratch; moves as operations."""
    banks = tenants.problem.banks
    moves = write_moves(extracted, tenants, answer)

    def place_at(buffer: int, inside: int) -> SlotAttr:
        visit = answer.visits[tenants.tenant_of[buffer]][0]
        return SlotAttr(banks[visit.bank].name, visit.offset + inside)

    def scratch_at(step: int, index: int) -> SlotAttr:
        buffer = tenants.scratch_of.get((step, index))
        return SlotAttr(banks[0].name, 0) if buffer is None else place_at(buffer, 0)

    write_places(extracted, range(len(extracted.graph)), place_at, scratch_at)
    for op, visit in moves:
        op.attributes[OFFSET] = ArrayAttr([SlotAttr(banks[visit.bank].name, visit.offset)])


def _write_plan(
    func: FuncOp, extracted: Extracted, tenants: Tenants, answer: Assignment, plan: PlanAttr
) -> None:
    """What holds now. With moves the peak is another; the bound still holds, as in each step of the
    function without them no fewer bytes are live with them."""
    memory = function_memory(func, extracted.model)
    set_order(memory.operations)
    arenas = answer.arenas(tenants.problem)
    moved = moved_bytes(tenants.problem, answer.visits)
    func.attributes[MEMORIES] = MemoriesAttr(
        [
            BankAttr(b.name, b.capacity, b.cost, arena, count)
            for b, arena, count in zip(tenants.problem.banks, arenas, moved, strict=True)
        ],
        answer.cost,
        answer.lower_bound,
        answer.proof,
    )
    bound = plan.lower_bound.data
    peak = peak_of(memory, extracted.model)
    write_plan(func, peak, bound, plan.proof.data, (sum(arenas), bound))
