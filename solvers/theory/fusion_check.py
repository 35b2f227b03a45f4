"""Check that a hyper-node of unknown origin may stay closed while its graph is scheduled.

A function with `memgraph.fused` operations may come from a file. Its optimum is the flat graph's
only if every such module is safe (theory.md T3), so this is derived again before any proof is
claimed: the module is separable, and fusing inside it, to a fixed point, leaves one operator. And
what was scheduled must be the contraction of the flat graph, or the bound would be another graph's.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import accumulate, pairwise

from memopt.solvers.problems.memory_graph import (
    MemoryGraph,
    bits,
    mask_of,
    profile,
    topological_order,
)
from memopt.solvers.theory.bounds import flow_bound
from memopt.solvers.theory.chains import Chain, chain_of, chains, contract_chains
from memopt.solvers.theory.fusion import (
    Module,
    Sides,
    before_all,
    contract,
    module_of,
    modules,
    separable,
)
from memopt.solvers.theory.ideals import ancestors
from memopt.solvers.theory.sequences import shape_along
from memopt.solvers.theory.small_module import SmallModule, along, cut_out, is_sequence

# Operators of a graph that may be one node as a whole, whatever its levels; smaller ones are
# contracted within a second or two, to nodes that are safe beside others, too.
LARGE = 5_000

# What was found of modules, each as a problem of its own cut into blocks.
Known = dict[tuple[SmallModule, Chain], bool]


def is_safe(graph: MemoryGraph, operators: Sequence[int]) -> bool:
    """Return whether running `operators` of the flat `graph` in one go, in this order, loses
    nothing."""
    return is_safe_chain(graph, (tuple(operators),))


def _is_one_node(sub: MemoryGraph, order: Sequence[int], found: Sequence[Module]) -> bool:
    """Return whether T3 lets the module `sub` run in one go in `order`; `found` are the modules
    fused in it."""
    hill = max(profile(sub, order).steps)
    contracted, nodes = contract(sub, found)
    if len(nodes) == 1:
        return hill <= found[0].hill
    module = module_of(contracted, (1 << len(nodes)) - 1, Sides.of(contracted))
    return module is not None and hill <= module.hill


def is_safe_chain(
    graph: MemoryGraph, blocks: Chain, sides: Sides | None = None, known: Known | None = None
) -> bool:
    """Return whether running `blocks` of the flat `graph` in this order, others in between, loses
    nothing.

    All of them together are separable, and what others can see at the boundaries, the hills and the
    levels, is the same as in the module's canonical chain (theory.md T2), which is derived again.
    `sides` are those of `graph`, and `known` what was answered, for who asks about many chains.
    """
    members = mask_of([v for block in blocks for v in block])
    if members.bit_count() < 2 or _is_all_at_its_bound(graph, blocks):
        return True
    if sides is None:
        sides = Sides.of(graph)
    if not separable(graph, members, sides):
        return False
    operators = tuple(bits(members))
    local, _ = cut_out(graph, operators, members, before_all(operators, members, sides))
    place = {v: i for i, v in enumerate(operators)}
    first, *rest = [tuple([place[v] for v in block]) for block in blocks]
    question = local, (first, *rest)
    known = {} if known is None else known
    if question not in known:
        known[question] = _is_safe_alone(*question)
    return known[question]


def _is_all_at_its_bound(graph: MemoryGraph, blocks: Chain) -> bool:
    """Return whether one block runs all of a large graph at a peak that T6 proves to be the least:
    nothing is around it, so no level matters."""
    if not LARGE < len(graph) == len(blocks[0]) or graph.unread_inputs:
        return False
    peak = profile(graph, blocks[0]).peak
    return flow_bound(graph, [blocks[0]], enough=peak).value >= peak


def _is_safe_alone(local: SmallModule, blocks: Chain) -> bool:
    """Answer `is_safe_chain` for a separable module as a problem of its own: nothing around it
    matters."""
    if _is_sequence_cut_well(local, blocks):
        return True
    sub = local.problem()
    fused = modules(sub)
    if len(blocks) == 1 and _is_one_node(sub, blocks[0], fused):
        return True
    given, _ = contract_chains(sub, [blocks])
    best, _ = contract_chains(sub, chains(sub, known=fused))
    shapes = [chain_of(given), chain_of(best)]
    if shapes[0] is None or shapes[1] is None:
        return False
    seen, wanted = ([(s.hill, s.start, s.end) for s in chain] for chain in shapes if chain)
    return seen == wanted


def _is_sequence_cut_well(local: SmallModule, blocks: Chain) -> bool:
    """Return whether the module can run in one order only, and the shape of its blocks is that of
    its canonical chain: the question of `_is_safe_alone`, answered without search."""
    order = [v for block in blocks for v in block]
    if order != list(range(len(order))) or not is_sequence(local):
        return False
    levels, steps = along(local, order)
    ends = [0, *accumulate(map(len, blocks))]
    hills = [max(steps[a:b]) for a, b in pairwise(ends)]
    return shape_along([levels[at] for at in ends], hills) == shape_along(levels, steps)


def is_contraction(
    graph: MemoryGraph, blocks: Sequence[Sequence[int]], given: MemoryGraph, order: Sequence[int]
) -> str | None:
    """None if `given` is the flat `graph` with each block as one operator; else what differs.

    Operator i of `given` runs `blocks[i]`, in that order; the operators of each safe module are
    `linked` in `graph`. Compared are precedence, the groups that more than one operator touches or
    that are there at an end, and the step of each block along `order` of `given`: one order is
    enough for that, as what surrounds a safe module adds the same in all of them.
    """
    node = {v: i for i, block in enumerate(blocks) for v in block}
    masks = ancestors(given)
    flat = _nodes_before(graph, node)
    for i, block in enumerate(blocks):
        before = 0
        for v in block:
            before |= flat[v]
        if before & ~(1 << i) != masks[i]:
            return f"{given.names[i]!r} waits for other operators than its region"
    if _crossing(graph, node) != _crossing(given, dict(enumerate(range(len(given))))):
        return "operands, results and `kept` are not what the regions share"
    steps = profile(graph, [v for i in order for v in blocks[i]]).steps
    at = 0
    for i, step in zip(order, profile(given, order).steps, strict=True):
        end = at + len(blocks[i])
        if max(steps[at:end], default=step) != step:
            return f"{given.names[i]!r} takes other bytes than its region"
        at = end
    return None


def _nodes_before(graph: MemoryGraph, node: Mapping[int, int]) -> list[int]:
    """Per operator the mask of the nodes that hold one of its ancestors."""
    result = [0] * len(graph)
    for v in topological_order(graph):
        for p in graph.predecessors[v]:
            result[v] |= result[p] | 1 << node[p]
    return result


def _crossing(graph: MemoryGraph, node: Mapping[int, int]) -> Counter[object]:
    """The groups that matter between nodes: bytes, who writes them, who touches them, ends."""
    keys: list[object] = []
    for group, touchers, size in zip(graph.groups, graph.touchers, graph.sizes, strict=True):
        nodes = {node[v] for v in touchers}
        if size and (len(nodes) > 1 or group.is_input or group.is_output):
            writers = frozenset([node[v] for v in group.writers])
            keys.append((size, writers, frozenset(nodes), group.is_input, group.is_output))
    return Counter(keys)
