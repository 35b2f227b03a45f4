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

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import (
    Group,
    InPlace,
    MemoryGraph,
    bits,
    mask_of,
    profile,
    topological_order,
)
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.contraction import Block, Changes, Contraction
from memopt.solvers.theory.ideals import Sides, Walker, ancestors, renumber
from memopt.solvers.theory.module_candidates import adjacent, candidates
from memopt.solvers.theory.near_changes import adjacent_near, candidates_near
from memopt.solvers.theory.network import Network
from memopt.solvers.theory.small_module import SmallModule, along, along_pair, cut_out, is_sequence

# Modules of more (already contracted) operators are left alone, and so are those whose inner order
# takes more states than this to prove: fusion must stay cheap.
LARGEST = 48
STATES = 2_000
# To look around what changed takes about so many times as long as to look at any node.
FEW = 64
# Decisions about modules that are kept, for equal ones.
DECISIONS = 16_384


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


def separable(graph: MemoryGraph, members: int, sides: Sides, rules: Rules = ALL_RULES) -> bool:
    """Conditions (1) to (3) for the operators in the mask `members`."""
    return all_separable(graph, tuple(bits(members)), members, sides, rules)


def all_separable(
    graph: MemoryGraph | Contraction,
    nodes: Sequence[int],
    members: int,
    sides: Sides,
    rules: Rules = ALL_RULES,
) -> bool:
    """Return whether (1) to (3) hold for nodes with their operators in the mask `members`."""
    ends = _sides_of(nodes, members, sides, rules)
    if ends is None:
        return False
    before, after = ends
    if rules.unread_inputs and graph.unread_inputs and not before:
        return False  # run first, it would pay for the unread inputs throughout
    return not _shares(graph, nodes, members, members | before | after, rules)


def _shares(
    graph: MemoryGraph | Contraction, nodes: Sequence[int], members: int, near: int, rules: Rules
) -> bool:
    """Return whether (2) or (3) fails.

    Operators that are not in `near`, a mask with the members, are parallel to all of them.
    """
    for v in nodes:
        for g in graph.touches[v]:
            touchers = graph.toucher_masks[g]
            if touchers | near != near and graph.sizes[g]:
                written = graph.writer_masks[g] & (members | touchers & ~near)
                if rules.shared_groups if written else rules.shared_reads:
                    return True
    return False


def ends_differ(graph: Contraction, members: int) -> bool:
    """Return whether (1) fails already for two of the nodes with these operators: asked first,
    since it takes the same time for any number of them."""
    nodes, up, down = members & graph.alive, graph.sides.up, graph.sides.down
    first, last = (nodes & -nodes).bit_length() - 1, nodes.bit_length() - 1
    return up[first] | members != up[last] | members or down[first] | members != (
        down[last] | members
    )


def _sides_of(
    nodes: Sequence[int], members: int, sides: Sides, rules: Rules
) -> tuple[int, int] | None:
    """All that is before and after the members, as masks; None where (1) does not hold, or where
    they could not run in one go at all."""
    first, *others = nodes
    if rules.same_side:
        up, down = sides.up[first] | members, sides.down[first] | members
        for v in others:  # the sides are the same, so nothing is on both
            if sides.up[v] | members != up or sides.down[v] | members != down:
                return None
    else:
        up = down = members
        for v in nodes:
            up |= sides.up[v]
            down |= sides.down[v]
        if up & down != members:  # not convex
            return None
    return up ^ members, down ^ members


def inside(graph: MemoryGraph, members: int, sides: Sides) -> tuple[MemoryGraph, tuple[int, ...]]:
    """The module as a problem of its own, and the operator of `graph` at each of its places.

    What exists before it is an input; what is touched after it, or held, is an output.
    """
    operators = tuple(bits(members))
    return alone(graph, operators, members, sides), operators


def alone(
    graph: MemoryGraph | Contraction, nodes: Sequence[int], members: int, sides: Sides
) -> MemoryGraph:
    """Return the module of nodes, in a legal order, with their operators in the mask `members`, as
    a problem of its own."""
    local, touched = cut_out(graph, nodes, members, before_all(nodes, members, sides))
    return MemoryGraph(
        tuple(graph.names[v] for v in nodes),
        local.predecessors,
        tuple(
            Group(graph.groups[g].name, *at) for g, at in zip(touched, local.groups, strict=True)
        ),
        local.workspace,
        tuple(InPlace(*c) for c in local.inplace),
        graph.alignment,
    )


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
    """Return the least inner level by one min-cut per pair of a first operator (run) and a last one
    (not run); None if there are too many pairs."""
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
    return _module_of(graph, tuple(bits(members)), members, sides, rules)


def _module_of(
    graph: MemoryGraph | Contraction, nodes: Sequence[int], members: int, sides: Sides, rules: Rules
) -> Module | None:
    """Return the nodes, in a legal order, with their operators in the mask `members`, as a module,
    if they may be fused; None if not."""
    if not 2 <= len(nodes) <= LARGEST or not all_separable(graph, nodes, members, sides, rules):
        return None
    local, _ = cut_out(graph, nodes, members, before_all(nodes, members, sides))
    decided = decide(local, rules)
    if decided is None:
        return None
    order, hill = decided
    return Module(tuple([nodes[i] for i in order]), hill, local.first_level, local.last_level)


def before_all(nodes: Sequence[int], members: int, sides: Sides) -> int:
    """Mask of all that must run before one of the members and is none."""
    before = members
    for v in nodes:
        before |= sides.up[v]
    return before ^ members


@lru_cache(DECISIONS)
def decide(local: SmallModule, rules: Rules) -> tuple[tuple[int, ...], int] | None:
    """The order in which a separable module may run in one go, and its hill; None if it may not."""
    first, last = local.first_level, local.last_level
    count = len(local.predecessors)
    if is_sequence(local):
        order = tuple(range(count))
        levels, steps = along(local, order)
        return (order, max(steps)) if _is_one_piece(levels, steps, rules) else None
    sub = local.problem()
    if rules.inner_levels:
        inner = least_inner_level(sub, max(first, last))
        if inner is None or inner < max(first, last):
            return None
    order = _inner_order(sub, rules)
    return None if order is None else (order, max(profile(sub, order).steps))


def _is_one_piece(levels: Sequence[int], steps: Sequence[int], rules: Rules) -> bool:
    """Return whether operators that can run in one order only may run in one go."""
    first, *inner, last = levels
    if not rules.inner_levels or min(inner) >= max(first, last):
        return True
    if len(steps) != 2:
        return False
    (middle,), (a, b) = inner, steps
    return (first <= middle <= last and a <= b) or (first >= middle >= last and a >= b)


def pair_of(graph: Contraction, a: int, b: int, rules: Rules) -> Module | None:
    """Return `module_of` for two `adjacent` nodes, the first first: (1) holds."""
    before = graph.sides.up[a]
    if rules.unread_inputs and graph.unread_inputs and not before:
        return None
    near = graph.sides.up[b] | graph.sides.down[a]
    if _shares(graph, (a, b), graph.mask(a) | graph.mask(b), near, rules):
        return None
    levels, steps = along_pair(graph, a, b, before)
    if not _is_one_piece(levels, steps, rules):
        return None
    return Module((a, b), max(steps), levels[0], levels[-1])


def _inner_order(sub: MemoryGraph, rules: Rules) -> tuple[int, ...] | None:
    if not rules.least_peak:
        return tuple(range(len(sub)))
    schedule = search.solve(sub, max_states=STATES)
    return schedule.order if schedule.optimal else None


def contract(
    graph: MemoryGraph, modules: Sequence[Module]
) -> tuple[MemoryGraph, list[tuple[int, ...]]]:
    """`graph` with every module as one operator, and the old operators of each new one in order.

    Raises ProblemError if modules overlap. The new operators are numbered in a legal order that
    follows the old numbers where it can.
    """
    if not modules:
        return graph, [(v,) for v in range(len(graph))]
    at = [-1] * len(graph)  # the place in `members` of each operator
    members: list[tuple[int, ...]] = []
    for m in modules:
        for v in m.operators:
            if at[v] >= 0:
                raise ProblemError("modules overlap")
            at[v] = len(members)
        members.append(m.operators)
    for v in range(len(graph)):
        if at[v] < 0:
            at[v] = len(members)
            members.append((v,))
    rank = sorted(range(len(members)), key=lambda i: min(members[i]))
    number = [0] * len(members)
    for new, old in enumerate(rank):
        number[old] = new
    members = [members[i] for i in rank]
    node = [number[i] for i in at]
    surviving: list[int] = []
    groups: list[Group] = []
    for g, group in enumerate(graph.groups):
        writers, readers = _nodes(group.writers, node), _nodes(group.readers, node)
        if not group.is_input and not group.is_output and _lives_inside(writers, readers, members):
            continue
        surviving.append(g)
        groups.append(
            Group(group.name, group.size, writers, readers, group.is_input, group.is_output)
        )
    index = {g: i for i, g in enumerate(surviving)}
    hills = {node[m.operators[0]]: m for m in modules}
    contracted = MemoryGraph(
        tuple(["+".join([graph.names[v] for v in ops]) for ops in members]),
        tuple([_predecessors(graph, i, ops, node) for i, ops in enumerate(members)]),
        tuple(groups),
        tuple(_workspaces(graph, members, hills, index)),
        tuple(
            InPlace(node[c.operator], index[c.result], index[c.operand])
            for c in graph.inplace
            if node[c.operator] not in hills
        ),
        graph.alignment,
    )
    return contracted, members


def _nodes(operators: tuple[int, ...], node: Sequence[int]) -> tuple[int, ...]:
    """The nodes of some operators, each once."""
    if len(operators) == 1:
        return (node[operators[0]],)
    return tuple(dict.fromkeys([node[v] for v in operators]))


def _predecessors(
    graph: MemoryGraph, index: int, operators: tuple[int, ...], node: Sequence[int]
) -> tuple[int, ...]:
    """The nodes that the operators of node `index` wait for."""
    if len(operators) == 1:
        return _nodes(graph.predecessors[operators[0]], node)
    nodes = dict.fromkeys([node[p] for v in operators for p in graph.predecessors[v]])
    nodes.pop(index, None)
    return tuple(nodes)


def _lives_inside(
    writers: tuple[int, ...], readers: tuple[int, ...], members: Sequence[tuple[int, ...]]
) -> bool:
    """Return whether a group that is neither there at the start nor at the end lives and dies
    inside one module."""
    touchers = {*writers, *readers}
    return len(touchers) == 1 and len(members[touchers.pop()]) > 1


def _workspaces(
    graph: MemoryGraph,
    members: Sequence[tuple[int, ...]],
    hills: Mapping[int, Module],
    kept: Container[int],
) -> Iterator[int]:
    """Workspace per new operator; `kept` are the old groups that new operators touch."""
    above: list[int] = []  # ancestors, once they are needed
    for i, ops in enumerate(members):
        if i not in hills:
            yield graph.workspace[ops[0]]
            continue
        new = 0
        for g in {g for v in ops for g in graph.writes[v] if g in kept}:
            group = graph.groups[g]
            if group.is_input:
                continue
            if any(w not in ops for w in group.writers):
                above = above or ancestors(graph)
                if any(graph.writer_masks[g] & above[v] & ~mask_of(ops) for v in ops):
                    continue  # it is there already
            new += graph.sizes[g]
        yield hills[i].hill - hills[i].level_in - new


def expand(order: Sequence[int], members: Sequence[Sequence[int]]) -> tuple[int, ...]:
    """An order of the contracted graph as an order of the old one."""
    return tuple(v for i in order for v in members[i])


def modules(
    graph: MemoryGraph, rules: Rules = ALL_RULES, time_limit: float | None = None
) -> list[Module]:
    """Return all fusions that the rules allow, to a fixed point, as inner orders over `graph`; of
    those that are known after `time_limit` seconds each is as safe. No two overlap."""
    if time_limit == 0:
        return []
    state, old = contracted(graph, rules, time_limit)
    sides = Sides.of(graph)
    inner = [[old[v] for v in state.operators(node)] for node in state.inner if state.has(node)]
    result = [in_order(graph, operators, sides) for operators in inner]
    return sorted(result, key=lambda m: min(m.operators))


def contracted(
    graph: MemoryGraph, rules: Rules, time_limit: float | None
) -> tuple[Contraction, tuple[int, ...]]:
    """Return the graph with all of `modules` contracted, and the operator of `graph` at each of its
    places."""
    deadline = clock.deadline(time_limit)
    numbered, old = renumber(graph)
    state = Contraction.of(numbered)
    changes: Changes | None = None
    while fusions := _round(state, changes, rules, deadline):
        for module in fusions:
            state.contract([Block(module.operators, module.hill - module.level_in)])
        if not rules.same_side:
            break  # what is before a node that was left alone may have changed
        changes = state.changes()
    return state, old


def in_order(graph: MemoryGraph, order: Sequence[int], sides: Sides) -> Module:
    """The operators of a separable set in a legal order, with their hill and levels."""
    operators, members = sorted(order), mask_of(order)
    local, _ = cut_out(graph, operators, members, before_all(operators, members, sides))
    place = {v: i for i, v in enumerate(operators)}
    levels, steps = along(local, [place[v] for v in order])
    return Module(tuple(order), max(steps), levels[0], levels[-1])


def _round(
    graph: Contraction, changes: Changes | None, rules: Rules, deadline: float | None
) -> list[Module]:
    """Return modules that do not overlap, smaller ones first; none after the deadline. Where there
    are few changes those are looked for that have to do with them. Two operators that were there
    before are still no module: what was contracted since is before, after or beside both of them as
    a whole, and has the same of their groups.
    """
    result: list[Module] = []
    if clock.late(deadline):
        return result
    new = -1 if changes is None else sum(map(graph.mask, changes.nodes))
    if changes is not None and FEW * len(changes.nodes) < graph.count(graph.alive):
        pairs: Iterable[tuple[int, int]] = adjacent_near(graph, changes.nodes)
        larger = partial(candidates_near, graph, changes, LARGEST)
    else:
        pairs = adjacent(graph, graph.nodes(graph.alive))
        larger = partial(candidates, graph, LARGEST)
    taken = 0
    for v, p in pairs:
        if clock.late(deadline):
            return result
        both = graph.mask(p) | graph.mask(v)
        if both & new and not both & taken:
            module = pair_of(graph, p, v, rules)
            if module is not None:
                taken |= both
                result.append(module)
    for members, _ in larger():
        if clock.late(deadline):
            break
        if members & taken or (rules.same_side and ends_differ(graph, members)):
            continue
        module = _module_of(graph, graph.nodes(members), members, graph.sides, rules)
        if module is not None:
            taken |= members
            result.append(module)
    return result
