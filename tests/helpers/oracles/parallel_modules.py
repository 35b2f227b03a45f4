"""T4: separable modules that run side by side are one module, and its segments a chain."""

from collections.abc import Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph, bits
from memopt.solvers.theory.chains import Chain, chain_of
from memopt.solvers.theory.fusion import inside, separable
from memopt.solvers.theory.ideals import Sides
from memopt.solvers.theory.segments import ALL_CHAIN_RULES, ChainRules


def merge_parallel(
    graph: MemoryGraph, parts: Sequence[int], rules: ChainRules = ALL_CHAIN_RULES
) -> Chain | None:
    """Return the chain of separable modules (masks) that run side by side; None where T4 forbids
    it. `graph` is numbered topologically. The chain runs all of them in segments."""
    sides = Sides.of(graph)
    union = 0
    for part in parts:
        if part & union or not separable(graph, part, sides):
            return None
        union |= part
    if any(sides.down[v] & union & ~part for part in parts for v in bits(part)):
        return None  # not side by side
    if rules.union and not separable(graph, union, sides):
        return None
    sub, operators = inside(graph, union, sides)
    segments = chain_of(sub, rules)
    if segments is None:
        return None
    first, *rest = [tuple(operators[i] for i in s.operators) for s in segments]
    return (first, *rest)
