"""Offsets for tenants whose banks are chosen: one placement per bank, by the placement solvers."""

from collections.abc import Sequence

from memopt.solvers import clock
from memopt.solvers.placement import place
from memopt.solvers.problems.memories import MemoryProblem, Visit, bank_problem, heights_of


def pack(
    problem: MemoryProblem, visits: Sequence[Sequence[Visit]], seconds: float | None
) -> tuple[tuple[Visit, ...], ...] | None:
    """The visits with offsets that fit, None if for some bank none were found."""
    deadline = clock.deadline(seconds)
    at: dict[tuple[int, int, int], int] = {}  # (tenant, bank, lower) -> offset
    for b, bank in enumerate(problem.banks):
        packed, owners = bank_problem(problem, visits, b)
        if not owners:
            continue
        answer = place(packed, "auto", clock.left(deadline))
        if answer.arena > bank.capacity:
            answer = place(packed, "exact", clock.left(deadline))
        if answer.arena > bank.capacity:
            return None
        offsets = iter(answer.offsets)
        for i, stays in enumerate(visits):
            for v in stays:
                if v.bank == b:  # one buffer per height, the first at the offset of all
                    found = [next(offsets) for _ in heights_of(problem.tenants[i], v)]
                    at[i, b, v.lower] = found[0]
    return tuple(
        tuple(Visit(v.bank, at[i, v.bank, v.lower], v.lower, v.upper) for v in stays)
        for i, stays in enumerate(visits)
    )
