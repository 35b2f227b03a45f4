"""Is there an order whose peak is at most so many bytes?

That is far less work than the least peak: all that stays within `most` is as good as any other, so
T1 commits to it, and what exceeds it is dropped (SERENITY's soft budget, Ahn et al., section 3.2,
as a question that is answered for sure).
"""

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling.both_ends import BothEnds
from memopt.solvers.scheduling.methods import greedy, rpo
from memopt.solvers.scheduling.methods.search import MAX_BYTES
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.ideals import renumber

STATES = 50_000  # after which the question stays open


def bounded_order(
    graph: MemoryGraph, most: int, deadline: float | None = None, states: int = STATES
) -> tuple[int, ...] | None:
    """An order of a peak of at most `most` bytes, or None: there is none.

    Raises TimeIsOverError if that is not known by `deadline`, or after so many `states`.
    """
    if trivial(graph) > most:
        return None
    for heuristic in (greedy.order, rpo.order):
        clock.raise_if_late(deadline)
        order = heuristic(graph)
        if profile(graph, order).peak <= most:
            return order
    numbered, old = renumber(graph)
    search = BothEnds.of(numbered, most, most + 1)
    search.run(states, deadline, MAX_BYTES)
    if search.order is not None:
        return tuple(old[v] for v in search.order)
    if not search.exhausted:
        raise clock.TimeIsOverError
    return None
