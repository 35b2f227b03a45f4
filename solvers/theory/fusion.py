"""Fusion: separable modules that become one operator without raising any optimum (T3, cheap test).

A set U of operators is separable (theory.md section 3) if (1) every other operator is before all of
U, after all of U, or parallel to all of U, (2) no tensor read in U has a reader parallel to U, and
(3) no storage group is touched both in U and by an operator parallel to U. Then levels split:
t(D) = t_U + t_rest, and U may be run in one go in its order of least peak if either

- no proper non-empty ideal of U has a level below max(first, last): of the states of the rest that
  U passes through take the one of least level and run U there (T3), or
- U is two operators a, b, the levels rise and a's step is at most b's: run a just before b; or
  they fall and a's step is at least b's: run b just after a (Zhong Theorem IV.1, corrected).

Modules are contracted and found again until nothing changes. The contracted operator's workspace is
`hill - level before - bytes of its results`, negative where the hill is lower than that.
In place inside U is decided by U alone, because of (3), and is part of the hill.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import (
    Group,
    InPlace,
    MemoryGraph,
    ProblemError,
    bits,
    profile,
    topological_order,
)
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.ideals import Walker, ancestors, descendants, renumber
from memopt.solvers.theory.module_candidates import candidates
from memopt.solvers.theory.network import Network

# Modules of more (already contracted) operators are left alone, and so are those whose inner order
# takes more states than this to prove: fusion must stay cheap.
LARGEST = 48
STATES = 2_000


@dataclass(frozen=True)
class Module:
    """Operators that run in one go, in this order. `hill` and levels are the module's own bytes:

    of the groups that it touches, at its largest step, before it and after it.
    """

    operators: tuple[int, ...]
    hill: int
    level_in: int
    level_out: int


@dataclass(frozen=True)
class Rules:
    """The conditions of a legal fusion. Tests switch each off to see that it is needed."""

    same_side: bool = True  # (1)
    shared_reads: bool = True  # (2)
    shared_groups: bool = True  # (3)
    unread_inputs: bool = True  # inputs that nobody touches are paid for by the first step alone
    inner_levels: bool = True  # T3, and the two-operator rule
    least_peak: bool = True  # the inner order has the least peak


ALL_RULES = Rules()


@dataclass(frozen=True)
class Sides:
    """Ancestors and descendants of every operator, as masks."""

    up: list[int]
    down: list[int]

    @staticmethod
    def of(graph: MemoryGraph) -> "Sides":
        return Sides(ancestors(graph), descendants(graph))


def separable(graph: MemoryGraph, members: int, sides: Sides, rules: Rules = ALL_RULES) -> bool:
    """Conditions (1) to (3) for the operators in the mask `members`."""
    some_up = some_down = 0
    all_up = all_down = ~0
    for v in bits(members):
        some_up |= sides.up[v]
        some_down |= sides.down[v]
        all_up &= sides.up[v] | members
        all_down &= sides.down[v] | members
    before, after = some_up & ~members, some_down & ~members
    if before & after:  # not convex: it could not run in one go at all
        return False
    if rules.same_side and (before & ~all_up or after & ~all_down):
        return False
    if rules.unread_inputs and graph.unread_inputs and not before:
        return False  # run first, it would pay for the unread inputs throughout
    parallel = (1 << len(graph)) - 1 & ~(members | before | after)
    touched = {g for v in bits(members) for g in graph.touches[v] if graph.sizes[g]}
    for g in touched:
        if graph.toucher_masks[g] & parallel:
            written = graph.writer_masks[g] & (members | parallel)
            if rules.shared_groups if written else rules.shared_reads:
                return False
    return True


def inside(graph: MemoryGraph, members: int, sides: Sides) -> tuple[MemoryGraph, tuple[int, ...]]:
    """The module as a problem of its own, and the operator of `graph` at each of its places.

    What exists before it is an input; what is touched after it, or held, is an output.
    """
    operators = tuple(bits(members))
    place = {v: i for i, v in enumerate(operators)}
    before = 0
    for v in operators:
        before |= sides.up[v] & ~members
    touched = sorted({g for v in operators for g in graph.touches[v]})
    groups: list[Group] = []
    for g in touched:
        group = graph.groups[g]
        outside = graph.toucher_masks[g] & ~members & ~before
        groups.append(
            Group(
                group.name,
                group.size,
                tuple(place[v] for v in group.writers if v in place),
                tuple(place[v] for v in group.readers if v in place),
                group.is_input or bool(graph.writer_masks[g] & before),
                group.is_output or bool(outside),
            )
        )
    index = {g: i for i, g in enumerate(touched)}
    inplace = tuple(
        InPlace(place[v], index[c.result], index[c.operand])
        for v in operators
        for c in graph.candidates[v]
        if not groups[index[c.operand]].is_output
    )
    sub = MemoryGraph(
        tuple(graph.names[v] for v in operators),
        tuple(tuple(place[p] for p in graph.predecessors[v] if p in place) for v in operators),
        tuple(groups),
        tuple(graph.workspace[v] for v in operators),
        inplace,
        graph.alignment,
    )
    return sub, operators


def least_inner_level(sub: MemoryGraph, enough: int = -1) -> int | None:
    """The least level over the proper non-empty ideals in bytes; None if there are too many.

    A level below `enough` ends the search: it may not be the least then, but it is below `enough`.
    """
    walker, full = Walker(sub), (1 << len(sub)) - 1
    inner = profile(sub, topological_order(sub)).levels[1:-1]
    if inner and min(inner) < enough:
        return min(inner)
    seen = {0: walker.start}
    wave = [0]
    least: int | None = None
    while wave:
        following: list[int] = []
        for done in wave:
            for v, before in enumerate(sub.predecessor_masks):
                child = done | 1 << v
                if done >> v & 1 or before & ~done or child in seen or child == full:
                    continue
                _, level = walker.run(done, seen[done], v)
                seen[child] = level
                following.append(child)
                least = level if least is None else min(least, level)
                if least < enough:
                    return least
        if len(seen) > 64:
            return least_inner_level_by_cuts(sub, enough)
        wave = following
    return least


def least_inner_level_by_cuts(sub: MemoryGraph, enough: int = -1) -> int | None:
    """The same by one min-cut per pair of a first operator (run) and a last one (not run)."""
    first = [v for v in range(len(sub)) if not sub.predecessors[v]]
    last = [v for v in range(len(sub)) if not sub.successors[v]]
    if len(first) * len(last) > 64:
        return None
    network = Network(sub)
    least: int | None = None
    for a, b in ((a, b) for a in first for b in last if a != b):
        level = network.level(a, b)
        if level is not None:
            least = level if least is None else min(least, level)
            if least < enough:
                break
    return least


def module_of(
    graph: MemoryGraph, members: int, sides: Sides, rules: Rules = ALL_RULES
) -> Module | None:
    """The operators in the mask as a module, if they may be fused; None if not."""
    count = members.bit_count()
    if not 2 <= count <= LARGEST or not separable(graph, members, sides, rules):
        return None
    sub, operators = inside(graph, members, sides)
    decided = _decide(_nameless(sub), rules)
    if decided is None:
        return None
    order, hill = decided
    first, last = sub.level(0), sub.level((1 << count) - 1)
    return Module(tuple(operators[i] for i in order), hill, first, last)


def _nameless(sub: MemoryGraph) -> MemoryGraph:
    """The same problem under names that say nothing, so that repeated cells are one to the cache.

    `inside` numbers operators and groups by their place in the graph: cells that are written down
    in the same way are equal then.
    """
    groups = tuple(
        Group("", g.size, g.writers, g.readers, g.is_input, g.is_output) for g in sub.groups
    )
    names = ("",) * len(sub)
    return MemoryGraph(names, sub.predecessors, groups, sub.workspace, sub.inplace, sub.alignment)


@lru_cache(4_096)
def _decide(sub: MemoryGraph, rules: Rules) -> tuple[tuple[int, ...], int] | None:
    """The order in which a separable module may run in one go, and its hill; None if it may not."""
    first, last = sub.level(0), sub.level((1 << len(sub)) - 1)
    order = None
    if len(sub) == 2 and sub.predecessors[1]:
        order = (0, 1)
    legal = not rules.inner_levels
    if not legal and order is not None:
        facts = profile(sub, order)
        (a, b), middle = facts.steps, facts.levels[1]
        legal = (first <= middle <= last and a <= b) or (first >= middle >= last and a >= b)
    if not legal:
        inner = least_inner_level(sub, max(first, last))
        legal = inner is not None and inner >= max(first, last)
    if not legal:
        return None
    if order is None:
        order = _inner_order(sub, rules)
        if order is None:
            return None
    return order, max(profile(sub, order).steps)


def forget() -> None:
    """Forget what has been decided about modules: for measurements that start from nothing."""
    _decide.cache_clear()


def _inner_order(sub: MemoryGraph, rules: Rules) -> tuple[int, ...] | None:
    if not rules.least_peak:
        return tuple(range(len(sub)))
    found = search.solve(sub, max_states=STATES)
    return found.order if found.optimal else None


def contract(
    graph: MemoryGraph, modules: Sequence[Module]
) -> tuple[MemoryGraph, list[tuple[int, ...]]]:
    """`graph` with every module as one operator, and the old operators of each new one in order.

    Raises ProblemError if modules overlap. The new operators are numbered in a legal order that
    follows the old numbers where it can.
    """
    node: dict[int, int] = {}
    members: list[tuple[int, ...]] = []
    for m in modules:
        if any(v in node for v in m.operators):
            raise ProblemError("modules overlap")
        node.update(dict.fromkeys(m.operators, len(members)))
        members.append(m.operators)
    for v in range(len(graph)):
        if v not in node:
            node[v] = len(members)
            members.append((v,))
    rank = sorted(range(len(members)), key=lambda i: min(members[i]))
    number = {old: new for new, old in enumerate(rank)}
    members = [members[i] for i in rank]
    node = {v: number[i] for v, i in node.items()}
    kept: list[int] = []
    groups: list[Group] = []
    for g, group in enumerate(graph.groups):
        writers = tuple(dict.fromkeys(node[v] for v in group.writers))
        readers = tuple(dict.fromkeys(node[v] for v in group.readers))
        alone = len({*writers, *readers}) == 1 and len(members[(*writers, *readers)[0]]) > 1
        if alone and not group.is_input and not group.is_output:
            continue  # it lives and dies inside one module
        kept.append(g)
        groups.append(
            Group(group.name, group.size, writers, readers, group.is_input, group.is_output)
        )
    index = {g: i for i, g in enumerate(kept)}
    hills = {node[m.operators[0]]: m for m in modules}
    before = ancestors(graph) if modules else []
    workspace: list[int] = []
    for i, ops in enumerate(members):
        if i not in hills:
            workspace.append(graph.workspace[ops[0]])
            continue
        done = 0
        for v in ops:
            done |= before[v]
        done &= ~sum(1 << v for v in ops)
        fresh = {g for v in ops for g in graph.writes[v] if g in index}
        new = sum(
            graph.sizes[g]
            for g in fresh
            if not graph.groups[g].is_input and not graph.writer_masks[g] & done
        )
        workspace.append(hills[i].hill - hills[i].level_in - new)
    contracted = MemoryGraph(
        tuple("+".join(graph.names[v] for v in ops) for ops in members),
        tuple(
            tuple(
                dict.fromkeys(node[p] for v in ops for p in graph.predecessors[v] if node[p] != i)
            )
            for i, ops in enumerate(members)
        ),
        tuple(groups),
        tuple(workspace),
        tuple(
            InPlace(node[c.operator], index[c.result], index[c.operand])
            for c in graph.inplace
            if node[c.operator] not in hills
        ),
        graph.alignment,
    )
    return contracted, members


def expand(order: Sequence[int], members: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """An order of the contracted graph as an order of the old one."""
    return tuple(v for i in order for v in members[i])


def modules(
    graph: MemoryGraph, rules: Rules = ALL_RULES, time_limit: float | None = None
) -> list[Module]:
    """All fusions that the rules allow, to a fixed point, as inner orders over `graph`.

    Raises nothing for a graph without any. No two modules overlap. After `time_limit` seconds those
    that have been found, which are as safe as all.
    """
    deadline = clock.deadline(time_limit)
    return to_fixed_point(graph, lambda current: _round(current, rules, deadline))


def to_fixed_point(graph: MemoryGraph, fuse: Callable[[MemoryGraph], list[Module]]) -> list[Module]:
    """What `fuse` finds in the graph, then in what that leaves, until nothing, over `graph`.

    `fuse` gives modules of which no two overlap.
    """
    current, old = renumber(graph)
    inner: list[tuple[int, ...]] = [(v,) for v in old]
    while found := fuse(current):
        contracted, members = contract(current, found)
        inner = [tuple(v for i in ops for v in inner[i]) for ops in members]
        current, order = renumber(contracted)
        inner = [inner[i] for i in order]
    sides = Sides.of(graph)
    result: list[Module] = []
    for ops in inner:
        if len(ops) > 1:
            sub, operators = inside(graph, sum(1 << v for v in ops), sides)
            place = {v: i for i, v in enumerate(operators)}
            facts = profile(sub, tuple(place[v] for v in ops))
            result.append(Module(ops, max(facts.steps), facts.levels[0], facts.levels[-1]))
    return sorted(result, key=lambda m: min(m.operators))


def _round(graph: MemoryGraph, rules: Rules, deadline: float | None) -> list[Module]:
    """Modules that do not overlap, smaller ones first; none after the deadline."""
    result: list[Module] = []
    if clock.late(deadline):
        return result
    sides = Sides.of(graph)
    used = 0
    for members in candidates(graph, sides.up, sides.down):
        if clock.late(deadline):
            break
        if members & used:
            continue
        module = module_of(graph, members, sides, rules)
        if module is not None:
            used |= members
            result.append(module)
    return result
