"""Safe splits (theory.md T5): ideals at which a schedule may be cut and the parts solved apart.

- a forced cut: every operator after it descends from every one before it;
- an ideal of the least level of all;
- an ideal that T1 allows to commit to: reached from the split before it with no step above a proven
  lower bound, and no ideal in between has a lower level.

The optimum is the largest of the parts', each with what passes through it. Only a part that can
decide the peak needs to be solved well: the others only have to stay below.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, bits, topological_order
from memopt.solvers.theory.fusion import Sides, inside, least_inner_level
from memopt.solvers.theory.ideals import Walker, descendants

# Operators that T1 looks ahead to find the next split.
REACH = 24
# Operators of a graph that is asked for its least level though time is limited.
LARGE = 1_000


@dataclass(frozen=True)
class SplitRules:
    """The conditions of a safe split. Tests switch each off to see that it is needed."""

    descends: bool = True  # forced: after it all descend from all before, not from some
    least: bool = True  # the least level of all, not of one order's
    hill: bool = True  # T1: no step above the bound
    valley: bool = True  # T1: nothing in between is lower
    unread: bool = True  # no level decides where inputs exist that nobody touches
    start: bool = True  # the level at which a part starts may not be above what runs next


ALL_SPLIT_RULES = SplitRules()


@dataclass(frozen=True)
class Part:
    """Problem of the operators that run between two splits.

    `operators` are those of the whole graph at each of its places; `through` bytes are resident all
    the time without being touched.
    """

    graph: MemoryGraph
    operators: tuple[int, ...]
    through: int


def forced_cuts(graph: MemoryGraph, rules: SplitRules = ALL_SPLIT_RULES) -> list[int]:
    """Proper non-empty ideals such that all other operators descend from all in them, ascending.

    Every order passes through each of them.
    """
    down = descendants(graph)
    full = (1 << len(graph)) - 1
    result: list[int] = []
    done, common = 0, full
    for v in topological_order(graph)[:-1]:
        done |= 1 << v
        common = common & down[v] if rules.descends else down[v]
        if not full & ~done & ~common:
            result.append(done)
    return result


def least_levels(
    graph: MemoryGraph, order: Sequence[int], rules: SplitRules = ALL_SPLIT_RULES
) -> list[int]:
    """The ideals along `order` whose level is the least of all ideals', without {} and all.

    None where inputs exist that nobody touches: levels are not submodular then. None either if the
    least level cannot be found in reasonable time.
    """
    if len(graph) < 2 or (rules.unread and graph.unread_inputs):
        return []
    levels = _levels(graph, order)
    ends = min(graph.level(0), graph.level((1 << len(graph)) - 1))
    least = min(level for _, level in levels)
    if rules.least:
        if least > ends:
            return []
        inner = least_inner_level(graph, least)
        if inner is None or inner < least:
            return []
    return [done for done, level in levels[:-1] if level == least]


def _levels(graph: MemoryGraph, order: Sequence[int]) -> list[tuple[int, int]]:
    """The ideals along an order, without {}, with their levels in bytes."""
    walker = Walker(graph)
    done, level = 0, walker.start
    result: list[tuple[int, int]] = []
    for v in order:
        _, level = walker.run(done, level, v)
        done |= 1 << v
        result.append((done, level))
    return result


def commits(
    graph: MemoryGraph,
    order: Sequence[int],
    bound: int,
    known: Sequence[int] = (),
    rules: SplitRules = ALL_SPLIT_RULES,
    deadline: float | None = None,
) -> list[int]:
    """Ideals along `order` that T1 allows under a proven `bound` in bytes, ascending.

    Each is reached from {}, from one of the `known` safe ideals along `order`, or from another.
    Those found before `deadline` (by `clock`).
    """
    if rules.unread and graph.unread_inputs:
        return []
    walker = Walker(graph)
    levels = [(0, walker.start), *_levels(graph, order)]
    safe = {0, *known}
    result: list[int] = []
    for at in range(len(order)):
        low, level = levels[at]
        if low not in safe:
            continue
        if clock.late(deadline):
            break
        for i in range(at, min(at + REACH, len(order) - 1)):
            step, _ = walker.run(*levels[i], order[i])
            if step > bound and rules.hill:
                break
            high, here = levels[i + 1]
            if high in safe:
                break
            if here <= level and (not rules.valley or _nothing_lower(graph, low, high, here)):
                safe.add(high)
                result.append(high)
                break
    return result


def _nothing_lower(graph: MemoryGraph, low: int, high: int, level: int) -> bool:
    """Return whether no ideal between two ideals is below `level`, the second one's."""
    if (high & ~low).bit_count() < 2:
        return True
    part = part_between(graph, low, high)
    inner = least_inner_level(part.graph, level - part.through)
    return inner is not None and inner >= level - part.through


def part_between(graph: MemoryGraph, low: int, high: int, level: int | None = None) -> Part:
    """The operators between two ideals, `low` within `high`, after all of `low` has run.

    Touched later means held; touched before means there. What nobody here touches passes through,
    but for inputs that nobody touches at all: they belong to the first part. `level` in bytes is
    that of `low`, if it is known.
    """
    members = high & ~low
    sides = Sides([low] * len(graph), [])
    sub, operators = inside(graph, members, sides)
    if not low:
        unread = [
            g for g in graph.groups if g.is_input and not (g.is_output or g.writers or g.readers)
        ]
        sub = replace(sub, groups=(*sub.groups, *unread))
    return Part(sub, operators, (graph.level(low) if level is None else level) - sub.level(0))


def splits(
    graph: MemoryGraph,
    order: Sequence[int] | None = None,
    bound: int | None = None,
    rules: SplitRules = ALL_SPLIT_RULES,
    time_limit: float | None = None,
) -> list[int]:
    """Ideals, each within the next, at which `graph` may be cut, without {} and all.

    All lie along `order`, which should be a good one (the topological one if none is given).
    `bound` is a proven lower bound in bytes; without one T1 is not used. With a `time_limit` in
    seconds a graph of more than `LARGE` operators is not asked for its least level, whose cuts
    cannot be interrupted, and T1 stops in time.
    """
    deadline = clock.deadline(time_limit)
    order = topological_order(graph) if order is None else order
    result = set(forced_cuts(graph, rules))
    if deadline is None or len(graph) <= LARGE:
        result.update(least_levels(graph, order, rules))
    if bound is not None:
        result.update(commits(graph, order, bound, sorted(result), rules, deadline))
    safe = [d for d in result if not rules.start or _starts_level(graph, d, bound)]
    return sorted(safe, key=int.bit_count)


def _starts_level(graph: MemoryGraph, done: int, bound: int | None) -> bool:
    """Return whether counting the level at which a part starts cannot raise its peak.

    It may, where all that can run next has a negative workspace.
    """
    if bound is not None and graph.level(done) <= bound:
        return True
    return all(
        done >> v & 1 or before & ~done or graph.cost(done, v) >= 0
        for v, before in enumerate(graph.predecessor_masks)
    )


def parts(graph: MemoryGraph, ideals: Sequence[int]) -> list[Part]:
    """The parts between {} and all, cut at `ideals` (ascending)."""
    ends = [0, *ideals, (1 << len(graph)) - 1]
    level = graph.level(0) - graph.unread_inputs
    result: list[Part] = []
    for a, b in pairwise(ends):
        if a != b:
            result.append(part_between(graph, a, b, level if a else None))
            for g in {g for v in bits(b & ~a) for g in graph.touches[v]}:
                level += graph.sizes[g] * (graph.resident(g, b) - graph.resident(g, a))
    return result
