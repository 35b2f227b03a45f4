"""`t3`: only what becomes one node by a cheap test (theory.md T3)."""

from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.chains import Chain
from memopt.solvers.theory.fusion import modules


def solve(graph: MemoryGraph, time_limit: float | None) -> list[Chain]:
    """Modules in one piece, each a chain of one segment."""
    return [(m.operators,) for m in modules(graph, time_limit=time_limit)]
