"""`naive`: what Zhong (section V, Table V) compares with: topology alone, sizes unseen."""

from memopt.solvers.partitioning.intervals import breadth_first
from memopt.solvers.partitioning.parts import Partition
from memopt.solvers.problems.memory_graph import MemoryGraph


def solve(graph: MemoryGraph, k: int) -> Partition:
    """A breadth-first topological order in `k` intervals of equal length."""
    n = len(graph)
    part = [0] * n
    for i, v in enumerate(breadth_first(graph)):
        part[v] = i * k // n
    return Partition(tuple(part), k)
