"""`auto`: all that is found, as canonical segment chains (theory.md T2, T3, T4).

A large graph is asked first whether all of it is one module: nothing is around it, so an order of
the least peak is all that is needed, and heuristics and the bound T6 may show one at once.
"""

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling.methods.auto import met
from memopt.solvers.theory import fusion_check
from memopt.solvers.theory.chains import Chain, chains


def solve(graph: MemoryGraph, time_limit: float | None) -> list[Chain]:
    """Chains of any number of segments; a chain of one is a module in one piece."""
    deadline = clock.deadline(time_limit)
    if len(graph) > fusion_check.LARGE and not graph.unread_inputs and not clock.late(deadline):
        schedule = met(graph, clock.left(deadline, 1 / 3))
        if schedule is not None:
            return [(schedule.order,)]
    return chains(graph, time_limit=clock.left(deadline))
