"""`auto`: all that is found, as canonical segment chains (theory.md T2, T3, T4)."""

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.chains import Chain, chains


def solve(graph: MemoryGraph, time_limit: float | None) -> list[Chain]:
    """Chains of any number of segments; a chain of one is a module in one piece."""
    return chains(graph, time_limit=time_limit)
