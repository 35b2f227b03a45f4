"""`zhong`: fusion as Zhong et al. print it (Section IV-B, Algorithm 1), with true conditions.

Two passes, repeated until nothing changes:

- a linear pair (v is its tensor's only producer, w its only reader) with monotone levels and the
  largest step at the high end (Theorem IV.1, (11)-(14)). As printed it fuses a falling pair whose
  input is read beside it as well; here the pair must be isolated.
- from the readers of each tensor, breadth first in topological order, until one operator is left
  that everything meets in: if the operators so far are an isolated sub-graph and no inner level is
  below the first or the last, they are fused (Theorem IV.2, (15), (16)). As printed the levels are
  those of one inner order; here no inner order may go below.

Isolated is wider than separable in nothing and narrower in one respect: one tensor goes in, one
comes out. `fusion.modules` finds more; this is what the paper's figures are compared with.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile, topological_order
from memopt.solvers.scheduling.methods import search
from memopt.solvers.theory.chains import Chain
from memopt.solvers.theory.fusion import (
    STATES,
    Module,
    contract,
    in_order,
    inside,
    least_inner_level,
    separable,
)
from memopt.solvers.theory.ideals import Sides, renumber

# The paper's M: a sub-graph of more operators is not looked for.
LARGEST = 32


@dataclass(frozen=True)
class ZhongRules:
    """Our corrections. Switched off, the conditions are the paper's, and some optimum rises."""

    isolated: bool = True  # IV.1: nobody beside a linear pair reads its input
    every_order: bool = True  # IV.2: the levels of every inner order, not of one of least peak


CORRECTED = ZhongRules()
PRINTED = ZhongRules(isolated=False, every_order=False)


def solve(graph: MemoryGraph, time_limit: float | None) -> list[Chain]:
    """Return the modules that Algorithm 1 fuses, each as a chain of one segment."""
    return [(m.operators,) for m in modules(graph, time_limit)]


def modules(
    graph: MemoryGraph,
    time_limit: float | None = None,
    largest: int = LARGEST,
    rules: ZhongRules = CORRECTED,
) -> list[Module]:
    """Return the modules that Algorithm 1 fuses, as inner orders over `graph`; no two overlap.

    `largest` is the most operators (contracted ones count once) of one sub-graph.
    After `time_limit` seconds those that have been found.
    """
    deadline = clock.deadline(time_limit)
    current, old = renumber(graph)
    inner: list[tuple[int, ...]] = [(v,) for v in old]
    while fusions := _round(current, largest, rules, deadline):
        contracted, members = contract(current, fusions)
        current, order = renumber(contracted)
        inner = [tuple([v for i in members[at] for v in inner[i]]) for at in order]
    sides = Sides.of(graph)
    result = [in_order(graph, operators, sides) for operators in inner if len(operators) > 1]
    return sorted(result, key=lambda m: min(m.operators))


def _round(
    graph: MemoryGraph, largest: int, rules: ZhongRules, deadline: float | None
) -> list[Module]:
    result: list[Module] = []
    if clock.late(deadline):
        return result
    sides = Sides.of(graph)
    used = 0
    for members, linear in (*_pairs(graph), *_meeting(graph, largest)):
        if clock.late(deadline):
            break
        if members & used:
            continue
        module = _pair(graph, members, sides, rules) if linear else None
        module = module or _sub_graph(graph, members, sides, rules)
        if module is not None:
            used |= members
            result.append(module)
    return result


def _pairs(graph: MemoryGraph) -> Iterator[tuple[int, bool]]:
    """Two operators joined by a tensor that nobody else touches, each without other neighbours."""
    for v, after in enumerate(graph.successors):
        if len(after) == 1 and set(graph.predecessors[after[0]]) == {v}:
            yield 1 << v | 1 << after[0], True


def _meeting(graph: MemoryGraph, largest: int) -> Iterator[tuple[int, bool]]:
    """Algorithm 1's walk: for each tensor the operators up to where all of them meet again."""
    place = {v: i for i, v in enumerate(topological_order(graph))}
    for group in graph.groups:
        waiting = set(group.readers)
        taken = 0
        while waiting and taken.bit_count() <= largest:
            v = min(waiting, key=place.__getitem__)
            waiting.remove(v)
            taken |= 1 << v
            if not waiting and taken.bit_count() > 1:
                yield taken, False
                break
            waiting.update(graph.successors[v])


def _pair(graph: MemoryGraph, members: int, sides: Sides, rules: ZhongRules) -> Module | None:
    """Theorem IV.1 for two operators in sequence."""
    if rules.isolated and not separable(graph, members, sides):
        return None
    sub, operators = inside(graph, members, sides)
    if not rules.isolated:
        sub = _as_if_alone(sub)
    order = topological_order(sub)
    facts = profile(sub, order)
    (first, middle, last), (a, b) = facts.levels, facts.steps
    if not ((first <= middle <= last and a <= b) or (first >= middle >= last and a >= b)):
        return None
    return Module(tuple(operators[v] for v in order), max(a, b), first, last)


def _as_if_alone(sub: MemoryGraph) -> MemoryGraph:
    """The paper's reading: what goes in ends with its last reader in the sub-graph."""
    groups = tuple(
        replace(g, is_output=False) if g.is_input and g.readers else g for g in sub.groups
    )
    return replace(sub, groups=groups)


def _sub_graph(graph: MemoryGraph, members: int, sides: Sides, rules: ZhongRules) -> Module | None:
    """Theorem IV.2 for an isolated sub-graph."""
    if not separable(graph, members, sides):
        return None
    sub, operators = inside(graph, members, sides)
    sizes = zip(sub.groups, sub.sizes, strict=True)
    crossing = [(g.is_input, g.is_output) for g, size in sizes if size]
    if sum(i for i, _ in crossing) != 1 or sum(o for _, o in crossing) != 1:
        return None
    if any(i and o for i, o in crossing):
        return None  # what goes in is read outside as well
    schedule = search.solve(sub, incumbent=topological_order(sub), max_states=STATES)
    if not schedule.optimal:
        return None
    facts = profile(sub, schedule.order)
    ends = max(facts.levels[0], facts.levels[-1])
    least = least_inner_level(sub, ends) if rules.every_order else min(facts.levels[1:-1])
    if least is None or least < ends:
        return None
    order = tuple(operators[v] for v in schedule.order)
    return Module(order, max(facts.steps), facts.levels[0], facts.levels[-1])
