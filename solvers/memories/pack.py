"""Offsets for tenants whose banks are chosen: one placement per bank, by the placement solvers."""

from collections.abc import Iterator, Sequence

from memopt.solvers import clock
from memopt.solvers.placement import place
from memopt.solvers.problems.memories import MemoryProblem, Visit, bank_problems


def pack(
    problem: MemoryProblem, visits: Sequence[Sequence[Visit]], seconds: float | None
) -> tuple[tuple[Visit, ...], ...] | None:
    """The visits with offsets that fit, None if for some bank none were found."""
    deadline = clock.deadline(seconds)
    offsets: list[Iterator[int]] = []  # of each bank those of its visits
    for bank, (packed, _) in zip(problem.banks, bank_problems(problem, visits), strict=True):
        if not packed.buffers:
            offsets.append(iter(()))
            continue
        answer = place(packed, "auto", clock.left(deadline))
        if answer.arena > bank.capacity:
            answer = place(packed, "exact", clock.left(deadline))
        if answer.arena > bank.capacity:
            return None
        # one buffer per height, the first at the offset of all
        offsets.append(iter([answer.offsets[i] for i in sorted(packed.members)]))
    return tuple(
        [
            tuple([Visit(v.bank, next(offsets[v.bank]), v.lower, v.upper) for v in stays])
            for stays in visits
        ]
    )
