"""Why it does not fit: the fewest bytes by which the memories would have to grow, and where."""

from memopt.solvers import clock
from memopt.solvers.memories.pack import pack
from memopt.solvers.memories.program import add_offsets, new_program, run
from memopt.solvers.problems.memories import (
    Bank,
    Height,
    MemoryProblem,
    NoRoomError,
    Tenant,
    moment,
)

TRIED = 50  # steps that are looked at for one that alone explains the shortfall


def shortfall(problem: MemoryProblem, seconds: float | None, work: float) -> NoRoomError:
    """Return the error that states how many bytes a problem without an assignment lacks, and in
    which step."""
    deadline = clock.deadline(seconds)
    program = new_program(problem, short=True)
    without_offsets = run(program, seconds, work)
    missing, exact = max(1, without_offsets.bound), False
    if without_offsets.feasible and without_offsets.optimal and without_offsets.value > 0:
        missing, exact = (
            without_offsets.value,
            pack(
                _grown(problem, without_offsets.extra),
                without_offsets.visits,
                clock.left(deadline),
            )
            is not None,
        )
    if not exact:
        program = new_program(problem, short=True)
        add_offsets(program)
        with_offsets = run(program, clock.left(deadline), work)
        missing = max(missing, with_offsets.bound)
        exact = with_offsets.feasible and with_offsets.value == missing
    step, alone = _where(problem, missing, deadline, work)
    live = (t for t in problem.tenants if _height(t, moment(step)))
    named = sorted(live, key=lambda t: -_height(t, moment(step)))
    return NoRoomError(missing, exact, step, alone, tuple(named))


def _grown(problem: MemoryProblem, extra: tuple[int, ...]) -> MemoryProblem:
    banks = tuple(
        Bank(b.name, b.capacity + e, b.cost) for b, e in zip(problem.banks, extra, strict=True)
    )
    return MemoryProblem(banks, problem.tenants, problem.steps)


def _height(tenant: Tenant, at: int) -> int:
    return sum(h.bytes for h in tenant.heights if h.lower <= at < h.upper)


def _where(
    problem: MemoryProblem, missing: int, deadline: float | None, work: float
) -> tuple[int, bool]:
    """The step that by itself lacks `missing` bytes, else the fullest."""
    loads: dict[int, int] = {}
    for step in range(-1, problem.steps + 1):
        loads[step] = sum(_height(t, moment(step)) for t in problem.tenants)
    order = sorted(loads, key=lambda s: (-loads[s], s))
    room = sum(b.capacity for b in problem.banks)
    if loads[order[0]] - room == missing:
        return order[0], True
    for step in order[:TRIED]:
        at = moment(step)
        tenants = tuple(
            Tenant(t.name, (Height(at, at + 1, h),), t.uses, False, 0, t.alignment, True)
            for t in problem.tenants
            if (h := _height(t, at))
        )
        alone = MemoryProblem(problem.banks, tenants, problem.steps)
        solved = run(new_program(alone, short=True), clock.left(deadline), work)
        if solved.feasible and solved.optimal and solved.value == missing:
            return step, True
    return order[0], False
