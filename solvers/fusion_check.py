"""Whether a hyper-node that somebody else made may stay closed while its graph is scheduled.

A function with `memgraph.fused` operations may come from a file. Its optimum is the flat graph's
only if every such module is safe (theory.md T3), so this is derived again before any proof is
claimed: the module is separable, and fusing inside it, to a fixed point, leaves one operator.
"""

from collections.abc import Sequence

from memopt.solvers.fusion import Sides, contract, inside, module_of, modules, separable
from memopt.solvers.problem import MemoryGraph, profile


def is_safe(graph: MemoryGraph, operators: Sequence[int]) -> bool:
    """Whether running `operators` of the flat `graph` in one go, in this order, loses nothing."""
    members = sum(1 << v for v in operators)
    sides = Sides.of(graph)
    if len(operators) < 2:
        return True
    if not separable(graph, members, sides):
        return False
    sub, inner = inside(graph, members, sides)
    place = {v: i for i, v in enumerate(inner)}
    hill = max(profile(sub, [place[v] for v in operators]).steps)
    contracted, nodes = contract(sub, modules(sub))
    if len(nodes) > 1:
        whole = module_of(contracted, (1 << len(nodes)) - 1, Sides.of(contracted))
        return whole is not None and hill <= whole.hill
    best = modules(sub)
    return hill <= best[0].hill
