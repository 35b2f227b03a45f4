"""Contraction to segment chains: every module that can be found, to a fixed point (T2, T3, T4).

A module becomes its canonical chain: one node where that has one segment (T3), otherwise a sequence
of segment nodes (T2). Groups that one segment makes and another needs stay groups between the
nodes, so that the level at a boundary is the flat graph's; a segment's workspace is its hill minus
the level before it and what it makes, and may be negative.

Modules are found again in the contracted graph. A chain is then taken as a whole or left alone, so
the modules stay nested, and each of the last ones is a separable module of the flat graph.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

from memopt.solvers import clock
from memopt.solvers.problems.masks import key_of
from memopt.solvers.problems.memory_graph import MemoryGraph, bits
from memopt.solvers.theory.contraction import Block, Changes, Contraction
from memopt.solvers.theory.fusion import (
    ALL_RULES,
    DECISIONS,
    LARGEST,
    Module,
    Rules,
    all_separable,
    alone,
    contract,
    contracted,
    decide,
    ends_differ,
    in_order,
    inside,
)
from memopt.solvers.theory.ideals import Sides, renumber
from memopt.solvers.theory.merge import merged, parallel_parts
from memopt.solvers.theory.module_candidates import Counted, adjacent, candidates, smallest_first
from memopt.solvers.theory.near_changes import adjacent_near, candidates_near, runs_near
from memopt.solvers.theory.segments import (
    ALL_CHAIN_RULES,
    STATES,
    ChainRules,
    Segment,
    canonical,
    linked,
)
from memopt.solvers.theory.sequences import shape_along
from memopt.solvers.theory.small_module import SmallModule, along_pair, module_of

# Nodes of this round in a module; most may be in smaller modules of the same round already.
DEEPEST = LARGEST

# A chain: the operators of each segment, in order. One segment: one node.
Chain = tuple[tuple[int, ...], *tuple[tuple[int, ...], ...]]


def chain_of(
    sub: MemoryGraph, rules: ChainRules = ALL_CHAIN_RULES, states: int = STATES
) -> tuple[Segment, ...] | None:
    """The canonical chain of a module as a problem of its own; None if that takes too long.

    Parts that have nothing to do with each other are merged by T4, without search.
    """
    return _chain_of(module_of(sub), rules, states)


@lru_cache(DECISIONS)
def _chain_of(local: SmallModule, rules: ChainRules, states: int) -> tuple[Segment, ...] | None:
    sub = local.problem()
    parts = parallel_parts(sub)
    if len(parts) < 2:
        return canonical(sub, rules, states)
    chains: list[tuple[Segment, ...]] = []
    sides = Sides.of(sub)
    for part in parts:
        alone, operators = inside(sub, part, sides)
        canonical_segments = canonical(alone, rules, states)
        if canonical_segments is None:
            return None
        chains.append(
            tuple(
                Segment(tuple(operators[v] for v in s.operators), s.hill, s.start, s.end)
                for s in canonical_segments
            )
        )
    segments = merged(chains) if rules.liu else [s for chain in chains for s in chain]
    order = [v for s in segments for v in s.operators]
    return canonical(linked(sub, [order]), rules, states)


def forget() -> None:
    """Forget what has been decided about modules: for measurements that start from nothing."""
    _chain_of.cache_clear()
    decide.cache_clear()


def _chain(blocks: Sequence[Sequence[int]], members: Mapping[int, Sequence[int]]) -> Chain:
    """The blocks of nodes with each node replaced by its members."""
    first, *rest = [tuple(v for i in block for v in members[i]) for block in blocks]
    return (first, *rest)


@dataclass(frozen=True)
class _Limits:
    rules: Rules
    chain_rules: ChainRules
    states: int


def chains(
    graph: MemoryGraph,
    rules: Rules = ALL_RULES,
    chain_rules: ChainRules = ALL_CHAIN_RULES,
    states: int = STATES,
    known: Sequence[Module] | None = None,
    time_limit: float | None = None,
) -> list[Chain]:
    """The chains of all modules that can be found, over the operators of `graph`; none overlap.

    `known` are modules that are contracted first, by default all that `fusion.modules` finds; a
    chain of one segment stands for such a module. `states` limits the search for each chain. After
    `time_limit` seconds those that have been found, which are as safe as all.
    """
    deadline = clock.deadline(time_limit)
    if known is None and clock.late(deadline):
        return []  # to number the graph takes long, too
    state, old = _begun(graph, known) if known is not None else contracted(graph, rules, time_limit)
    state.number_chains(old)
    limits = _Limits(rules, chain_rules, states)
    tried: set[tuple[int, ...]] = set()
    new_chains = _round(state, _everywhere(state), limits, tried, deadline)
    while new_chains:
        for chain in new_chains:
            state.contract(chain)
        if not rules.same_side:
            break  # what is before a node that was left alone may have changed
        new_chains = _round(state, _near(state, state.changes()), limits, tried, deadline)
    result: dict[int, list[tuple[int, ...]]] = {}
    for v in state.in_order(filter(state.has, state.chains)):
        segment = tuple([old[u] for u in state.operators(v)])
        result.setdefault(state.chains[v], []).append(segment)
    return [(chain[0], *chain[1:]) for _, chain in sorted(result.items())]


def _begun(graph: MemoryGraph, known: Iterable[Module]) -> tuple[Contraction, tuple[int, ...]]:
    """Return the graph with these modules contracted, as `contracted`."""
    numbered, old = renumber(graph)
    number = {v: i for i, v in enumerate(old)}
    state = Contraction.of(numbered)
    for m in known:
        state.contract([Block(tuple([number[v] for v in m.operators]), m.hill - m.level_in)])
    return state, old


def _round(
    state: Contraction,
    sets: Iterable[tuple[int, int]],
    limits: _Limits,
    tried: set[tuple[int, ...]],
    deadline: float | None,
) -> list[list[Block]]:
    """Return new chains in `sets` of nodes that do not overlap, smaller modules first, then those
    that contain them.

    What was `tried` before, and has not been contracted since, is not looked at again.
    """
    if clock.late(deadline):
        return []
    new: dict[int, list[Block]] = {}  # by mask
    owner: dict[int, int] = {}  # of each node the one of `new` that it is in
    for members, size in sets:
        if size > DEEPEST:
            break  # in the next round it is smaller
        if clock.late(deadline):
            break
        if limits.rules.same_side and ends_differ(state, members):
            continue  # in whatever contraction, so it need not be remembered
        nodes = state.nodes(members)
        within = list(dict.fromkeys([owner[v] for v in nodes if v in owner]))
        if state.units.get(nodes[0]) == members or any(m & ~members for m in within):
            continue
        count = size - sum(state.count(m) - len(new[m]) for m in within)
        key = key_of(members, count)
        if not 2 <= count <= LARGEST or key in tried:
            continue
        tried.add(key)
        if not all_separable(state, nodes, members, state.sides, limits.rules):
            continue
        if size == 2 and _stays_two(state, nodes, limits):
            continue
        chain = _chain_within(state, nodes, members, [new[m] for m in within], limits)
        if chain is not None:
            for m in within:
                del new[m]
            new[members] = chain
            owner.update(dict.fromkeys(nodes, members))
    return list(new.values())


def _chain_within(
    state: Contraction,
    nodes: Sequence[int],
    members: int,
    within: Sequence[Sequence[Block]],
    limits: _Limits,
) -> list[Block] | None:
    """Return the chain of a module in which some chains are known; None if it is not found or no
    news."""
    sub = alone(state, nodes, members, state.sides)
    place = {v: (i,) for i, v in enumerate(nodes)}
    known = [_chain([block.nodes for block in chain], place) for chain in within]
    small, inner = contract_chains(sub, known)
    segments = chain_of(small, limits.chain_rules, limits.states)
    if segments is None or not _is_news(small, segments):
        return None
    return [
        Block(tuple([nodes[v] for i in s.operators for v in inner[i]]), s.hill - s.start)
        for s in segments
    ]


def _everywhere(state: Contraction) -> list[tuple[int, int]]:
    """Return the sets in which chains are looked for, smaller ones first."""
    pairs = list(adjacent(state, state.nodes(state.alive)))
    return _whole(state, pairs, [*candidates(state, DEEPEST), *_runs(state, pairs)])


def _near(state: Contraction, changes: Changes) -> list[tuple[int, int]]:
    """Return the sets in which chains are looked for that hold, or touch, changed nodes."""
    pairs = adjacent_near(state, changes.nodes)
    larger = candidates_near(state, changes, DEEPEST)
    return _whole(state, pairs, [*larger, *runs_near(state, changes.nodes, DEEPEST)])


def _whole(
    state: Contraction, pairs: Iterable[tuple[int, int]], larger: Iterable[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Return sets of nodes in which chains that were found are whole, smaller ones first."""
    counted = Counted()
    for members, size in (*((state.mask(p) | state.mask(v), 2) for v, p in pairs), *larger):
        touched = members & state.in_units & state.alive
        if not touched:
            counted.add(members, size)
            continue
        for v in bits(touched):
            members |= state.units[v]
        counted.add(members, state.count(members))
    return smallest_first(counted)


def _stays_two(state: Contraction, nodes: Sequence[int], limits: _Limits) -> bool:
    """Return whether the module of two nodes, one after the other, has a chain of two segments: no
    news, which is seen without search."""
    a, b = nodes
    if a not in state.predecessors[b] or limits.chain_rules != ALL_CHAIN_RULES:
        return False
    return len(shape_along(*along_pair(state, a, b, state.sides.up[a]))) == 2


def _is_news(sub: MemoryGraph, chain: Sequence[Segment]) -> bool:
    """Return whether the chain contracts something, or fixes an order that was free."""
    if any(len(s.operators) > 1 for s in chain):
        return True
    order = [s.operators[0] for s in chain]
    return any(a not in sub.predecessors[b] for a, b in pairwise(order))


def _runs(state: Contraction, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest sequences of nodes in which each is next after the one before, for all
    others, with their number."""
    following = {p: v for v, p in pairs}
    result: list[tuple[int, int]] = []
    for v in following.keys() - set(following.values()):
        run = [v]
        while run[-1] in following:
            run.append(following[run[-1]])
        if len(run) > 2:
            result.append((sum(map(state.mask, run)), len(run)))
    return result


def contract_chains(
    graph: MemoryGraph, found: Sequence[Chain], nodes: dict[tuple[int, ...], Module] | None = None
) -> tuple[MemoryGraph, list[tuple[int, ...]]]:
    """`graph` with each chain as its segment nodes in their order, and the operators of each node.

    `nodes` are segments of `graph` whose hill and levels are known; new ones are added. Raises
    ProblemError if chains overlap. `fusion.expand` turns an order back.
    """
    strict = linked(graph, [[v for s in chain for v in s] for chain in found])
    segments = [s for chain in found for s in chain if len(s) > 1]
    known = {} if nodes is None else nodes
    unknown = [s for s in segments if s not in known]
    if unknown:
        sides = Sides.of(strict)
        known.update((s, in_order(strict, s, sides)) for s in unknown)
    return contract(strict, [known[s] for s in segments])


def reduced(
    graph: MemoryGraph, states: int = STATES, time_limit: float | None = None
) -> tuple[MemoryGraph, list[tuple[int, ...]]]:
    """`graph` contracted to the segment chains found within `time_limit` seconds, ready for
    `fusion.expand`."""
    return contract_chains(graph, chains(graph, states=states, time_limit=time_limit))
