"""The order in which the model's file lists its operators."""

from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.theory.bounds import bounded


def solve(graph: MemoryGraph) -> Schedule:
    """Operators by index: they are numbered in source order. ProblemError if that is no order."""
    return bounded(graph, tuple(range(len(graph))))
