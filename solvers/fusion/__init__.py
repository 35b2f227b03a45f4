"""Contract modules of operators that may run in one piece, or in segments, without loss.

    for chain in contractions(graph, "auto"):      # segments of operators, in their order

A file per rule in `rules/` with `solve(graph, time_limit) -> list[Chain]`; the papers' stand in
`solvers/published/fusion/`. What makes a module safe: solvers/theory/.
"""

from memopt.modules import modules_in
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.registry import function_of
from memopt.solvers.theory.chains import Chain

_FOUND = modules_in("memopt.solvers.fusion.rules", "memopt.solvers.published.fusion")
RULES = tuple(_FOUND)


def contractions(
    graph: MemoryGraph, rule: str = "auto", time_limit: float | None = None
) -> list[Chain]:
    """Return the chains that a rule contracts; none overlap. After `time_limit` seconds, those so
    far.

    Raises ProblemError for an unknown rule.
    """
    chains: list[Chain] = function_of(_FOUND, rule, "rule", "solve")(graph, time_limit)
    return chains
