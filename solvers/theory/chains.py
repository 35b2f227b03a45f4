"""Contraction to segment chains: every module that can be found, to a fixed point (T2, T3, T4).

A module becomes its canonical chain: one node where that has one segment (T3), otherwise a sequence
of segment nodes (T2). Groups that one segment makes and another needs stay groups between the
nodes, so that the level at a boundary is the flat graph's; a segment's workspace is its hill minus
the level before it and what it makes, and may be negative.

Modules are found again in the contracted graph. A chain is then taken as a whole or left alone, so
the modules stay nested, and each of the last ones is a separable module of the flat graph.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, bits, mask_of
from memopt.solvers.theory.fusion import (
    ALL_RULES,
    LARGEST,
    Module,
    Rules,
    Sides,
    contract,
    ends_differ,
    in_order,
    inside,
    modules,
    separable,
)
from memopt.solvers.theory.ideals import renumber
from memopt.solvers.theory.local import along_pair
from memopt.solvers.theory.merge import merged, parallel_parts
from memopt.solvers.theory.module_candidates import (
    Counted,
    adjacent,
    candidates,
    smallest_first,
)
from memopt.solvers.theory.segments import (
    ALL_CHAIN_RULES,
    STATES,
    ChainRules,
    Segment,
    canonical,
    linked,
)
from memopt.solvers.theory.sequences import shape_along

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
    parts = parallel_parts(sub)
    if len(parts) < 2:
        return canonical(sub, rules, states)
    chains: list[tuple[Segment, ...]] = []
    sides = Sides.of(sub)
    for part in parts:
        alone, operators = inside(sub, part, sides)
        found = canonical(alone, rules, states)
        if found is None:
            return None
        chains.append(
            tuple(
                Segment(tuple(operators[v] for v in s.operators), s.hill, s.start, s.end)
                for s in found
            )
        )
    segments = merged(chains) if rules.liu else [s for chain in chains for s in chain]
    order = [v for s in segments for v in s.operators]
    return canonical(linked(sub, [order]), rules, states)


def merge_parallel(
    graph: MemoryGraph, parts: Sequence[int], rules: ChainRules = ALL_CHAIN_RULES
) -> Chain | None:
    """The chain of separable modules (masks) that run side by side; None where T4 forbids it.

    `graph` is numbered topologically. The chain runs all of them one after the other in segments.
    """
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
    found = chain_of(sub, rules)
    if found is None:
        return None
    return _chain([s.operators for s in found], {i: (v,) for i, v in enumerate(operators)})


def _chain(blocks: Sequence[Sequence[int]], members: Mapping[int, Sequence[int]]) -> Chain:
    """The blocks of nodes with each node replaced by its members."""
    first, *rest = [tuple(v for i in block for v in members[i]) for block in blocks]
    return (first, *rest)


@dataclass(frozen=True)
class _Limits:
    rules: ChainRules
    states: int


def _chain_within(
    graph: MemoryGraph, members: int, sides: Sides, within: Sequence[Chain], limits: _Limits
) -> Chain | None:
    """The chain of a module in which some chains are known; None if it is not found or no news."""
    sub, nodes = inside(graph, members, sides)
    place = {v: (i,) for i, v in enumerate(nodes)}
    small, inner = contract_chains(sub, [_chain(chain, place) for chain in within])
    found = chain_of(small, limits.rules, limits.states)
    if found is None or not _is_news(small, found):
        return None
    return _chain(
        [[v for i in s.operators for v in inner[i]] for s in found],
        {i: (v,) for i, v in enumerate(nodes)},
    )


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
    first = modules(graph, rules, time_limit) if known is None else known
    nodes = {m.operators: m for m in first}
    state = _State.of(graph, [(m.operators,) for m in first], nodes)
    tried: set[tuple[int, int]] = set()
    limits = _Limits(chain_rules, states)
    while found := state.round(rules, limits, tried, deadline):
        state = _State.of(graph, [*state.untouched(found), *found], nodes)
    return [c for c in state.found if len(c) > 1 or len(c[0]) > 1]


@dataclass
class _State:
    """A contraction that may go on: the contracted graph, numbered topologically."""

    graph: MemoryGraph
    members: list[tuple[int, ...]]  # flat operators of each node
    found: list[Chain]
    units: list[int]  # nodes of each chain of several segments, as masks

    @staticmethod
    def of(
        graph: MemoryGraph, found: list[Chain], nodes: dict[tuple[int, ...], Module]
    ) -> "_State":
        small, members = contract_chains(graph, found, nodes)
        small, old = renumber(small)
        members = [members[i] for i in old]
        node = {v: i for i, ops in enumerate(members) for v in ops}
        units = [mask_of([node[s[0]] for s in c]) for c in found if len(c) > 1]
        return _State(small, members, found, units)

    def untouched(self, found: list[Chain]) -> list[Chain]:
        """The chains so far that are in none of the new ones."""
        inside_new = {v for chain in found for segment in chain for v in segment}
        return [c for c in self.found if c[0][0] not in inside_new]

    def round(
        self,
        rules: Rules,
        limits: _Limits,
        tried: set[tuple[int, int]],
        deadline: float | None,
    ) -> list[Chain]:
        """New chains that do not overlap, smaller modules first, then what contains them.

        What was `tried` before, and has not been contracted since, is not looked at again.
        """
        if clock.late(deadline):
            return []
        graph, sides = self.graph, Sides.of(self.graph)
        flat = [mask_of(ops) for ops in self.members]
        units = set(self.units)
        new: dict[int, Chain] = {}  # over the nodes of this round, by mask
        owner: dict[int, int] = {}  # of each node the one of `new` that it is in
        for members, size in smallest_first(self._candidates(sides)):
            if size > DEEPEST:
                break  # in the next round it is smaller
            if clock.late(deadline):
                break
            if rules.same_side and ends_differ(members, sides):
                continue  # in whatever contraction, so it need not be remembered
            within = list(dict.fromkeys(owner[v] for v in bits(members) if v in owner))
            if members in units or any(m & ~members for m in within):
                continue
            count = size - sum(m.bit_count() - len(new[m]) for m in within)
            if not 2 <= count <= LARGEST:
                continue
            key = (sum(flat[i] for i in bits(members)), count)
            if key in tried:
                continue
            tried.add(key)
            if not separable(graph, members, sides, rules):
                continue
            if size == 2 and _stays_two(graph, members, sides, limits):
                continue
            chain = _chain_within(graph, members, sides, [new[m] for m in within], limits)
            if chain is not None:
                for m in within:
                    del new[m]
                new[members] = chain
                owner.update(dict.fromkeys(bits(members), members))
        return [_chain(chain, dict(enumerate(self.members))) for chain in new.values()]

    def _candidates(self, sides: Sides) -> Counted:
        pairs = list(adjacent(self.graph, sides.up, sides.down))
        found: Counted = {1 << p | 1 << v: 2 for v, p in pairs}
        for members, size in (
            *candidates(self.graph, sides.up, sides.down, DEEPEST),
            *_runs(pairs),
        ):
            found.setdefault(members, size)
        if not self.units:
            return found
        unit_of = {v: unit for unit in self.units for v in bits(unit)}
        in_units = 0
        for unit in self.units:
            in_units |= unit
        whole: Counted = {}
        for members, size in found.items():
            touched = {unit_of[v] for v in bits(members & in_units)}
            grown = members
            for unit in touched:
                grown |= unit
            whole.setdefault(grown, grown.bit_count() if touched else size)
        return whole


def _stays_two(graph: MemoryGraph, members: int, sides: Sides, limits: _Limits) -> bool:
    """Whether the module of two operators, one after the other, has a chain of two segments: no
    news, which is seen without search."""
    a, b = bits(members)
    if a not in graph.predecessors[b] or limits.rules != ALL_CHAIN_RULES:
        return False
    return len(shape_along(*along_pair(graph, a, b, sides.up[a]))) == 2


def _is_news(sub: MemoryGraph, chain: Sequence[Segment]) -> bool:
    """Whether the chain contracts something, or fixes an order that was free."""
    if any(len(s.operators) > 1 for s in chain):
        return True
    order = [s.operators[0] for s in chain]
    return any(a not in sub.predecessors[b] for a, b in pairwise(order))


def _runs(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Longest sequences of operators in which each is next after the one before, for all others,
    with their number."""
    following = {p: v for v, p in pairs}
    starts = set(following) - set(following.values())
    result: list[tuple[int, int]] = []
    for v in starts:
        run = [v]
        while run[-1] in following:
            run.append(following[run[-1]])
        if len(run) > 2:
            result.append((mask_of(run), len(run)))
    return result


def contract_chains(
    graph: MemoryGraph,
    found: Sequence[Chain],
    nodes: dict[tuple[int, ...], Module] | None = None,
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
