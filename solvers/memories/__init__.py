"""Several memories: every tenant gets a bank and an offset there, at the least cost of traffic.

    answer = assign(problem)          # an Assignment, or raises NoRoomError: what is missing

First the loads alone (model.py), whose optimum bounds the cost; if the banks can be packed so, that
is the optimum. Else the whole program with offsets decides.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories.pack import pack
from memopt.solvers.problems.memories import (
    Assignment,
    Bank,
    Element,
    Height,
    MemoryProblem,
    NoRoomError,
    Tenant,
    Use,
    Visit,
    cost_of,
    moment,
    moved_bytes,
    step_of,
    visit_of,
)

if TYPE_CHECKING:
    from memopt.solvers.memories.program import Solved

__all__ = [
    "Assignment",
    "Bank",
    "Element",
    "Height",
    "MemoryProblem",
    "NoRoomError",
    "Tenant",
    "Use",
    "Visit",
    "assign",
    "cost_of",
    "moment",
    "moved_bytes",
    "step_of",
    "visit_of",
]

WORK = 20.0  # of CP-SAT's deterministic seconds for each program
LARGEST_PACKED = 2_000  # tenants that are packed whatever the time is
LARGEST = 20_000  # variables of a program that is tried at all


def assign(
    problem: MemoryProblem, time_limit: float | None = None, always: bool = False
) -> Assignment:
    """The cheapest assignment found, and what is proven of it; `time_limit` in seconds, with
    `always` beside the limit of CP-SAT's work.

    Raises NoRoomError if there is none, and ProblemError if none was found in time though none of
    the bounds excludes one.
    """
    first_answer = _late("greedy").first_answer
    clock.check(time_limit)
    problem.check()
    deadline = clock.deadline(time_limit)

    def left() -> float | None:
        return clock.left(deadline)

    best = first_answer(problem, deadline)
    bound = problem.least
    if best is not None and cost_of(problem, best) == bound:
        return _checked(problem, best, bound, "ilp", left())
    if _variables(problem) > LARGEST:
        if best is None:
            raise ProblemError("no greedy assignment fits, and it is too large for the exact one")
        return _checked(problem, best, bound, "none", left())
    relaxed = _solve(problem, best, left(), offsets=False, always=always)
    if relaxed.infeasible:
        raise _late("shortfall").shortfall(problem, left(), WORK)
    bound = max(bound, relaxed.bound)
    packed = pack(problem, relaxed.visits, left()) if relaxed.feasible else None
    if packed is not None and (best is None or relaxed.value <= cost_of(problem, best)):
        best = packed
    if best is not None and cost_of(problem, best) == bound:
        return _checked(problem, best, bound, "ilp", left())
    exact = _solve(problem, best, left(), offsets=True, always=always)
    if exact.infeasible:
        raise _late("shortfall").shortfall(problem, left(), WORK)
    bound = max(bound, exact.bound)
    if exact.feasible and (best is None or exact.value < cost_of(problem, best)):
        best = exact.visits
    if best is None:
        raise ProblemError(
            "no assignment was found within the limit; it is not proven that there is none"
        )
    proof = "ilp" if cost_of(problem, best) == bound else "none"
    return _checked(problem, best, bound, proof, left())


def _variables(problem: MemoryProblem) -> int:
    return sum(3 * len(t.elements) for t in problem.tenants if t.size) * len(problem.banks)


def _solve(
    problem: MemoryProblem,
    best: tuple[tuple[Visit, ...], ...] | None,
    seconds: float | None,
    offsets: bool,
    always: bool,
) -> "Solved":
    late = _late("program")
    program = late.new_program(problem)
    if offsets:
        late.add_offsets(program)
    if best is not None:
        late.hint(program, best)
    solved: Solved = late.run(program, seconds, WORK, always)
    return solved


def _late(name: str) -> Any:
    """A module beside this one that loads numpy or OR-Tools, for which `--help` and other passes
    need not wait."""
    return import_module(f"{__name__}.{name}")


def _checked(
    problem: MemoryProblem,
    visits: tuple[tuple[Visit, ...], ...],
    bound: int,
    proof: str,
    left: float | None,
) -> Assignment:
    no_time = left == 0 and len(problem.tenants) > LARGEST_PACKED
    # the same banks, as small as they get
    tight = (None if no_time else pack(problem, visits, left)) or visits
    answer = Assignment(tight, cost_of(problem, tight), bound, proof)
    answer.verify(problem)
    return answer
