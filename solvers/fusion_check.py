"""Whether a hyper-node that somebody else made may stay closed while its graph is scheduled.

A function with `memgraph.fused` operations may come from a file. Its optimum is the flat graph's
only if every such module is safe (theory.md T3), so this is derived again before any proof is
claimed: the module is separable, and fusing inside it, to a fixed point, leaves one operator.
"""

from collections.abc import Sequence

from memopt.solvers.chains import Chain, chain_of, contract_chains, reduced
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


def is_safe_chain(graph: MemoryGraph, blocks: Chain) -> bool:
    """Whether running `blocks` of the flat `graph` in this order, others in between, loses nothing.

    All of them together are separable, and what others can see at the boundaries, the hills and the
    levels, is the same as in the module's canonical chain (theory.md T2), which is derived again.
    """
    if len(blocks) == 1 and is_safe(graph, blocks[0]):
        return True
    members = sum(1 << v for block in blocks for v in block)
    sides = Sides.of(graph)
    if not separable(graph, members, sides):
        return False
    sub, inner = inside(graph, members, sides)
    place = {v: i for i, v in enumerate(inner)}
    first, *rest = [tuple(place[v] for v in block) for block in blocks]
    given, _ = contract_chains(sub, [(first, *rest)])
    best, _ = reduced(sub)
    shapes = [chain_of(given), chain_of(best)]
    if shapes[0] is None or shapes[1] is None:
        return False
    seen, wanted = ([(s.hill, s.start, s.end) for s in chain] for chain in shapes if chain)
    return seen == wanted
