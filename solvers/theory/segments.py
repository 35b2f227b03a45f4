"""The canonical segment chain of a module (theory.md T2).

A module alone is a problem of its own (`fusion.inside`). Its chain is one order of its operators,
cut into segments D0 = {} < D1 < ... < Dk = all:

- from {} take again and again the lowest hill that reaches a strictly lower level, and commit to
  the lowest level that this hill reaches, until no ideal is lower;
- from the end do the same backwards, among the ideals above the forward end;
- what lies between the two ends is flat: both have the least level of all. It joins a neighbour
  whose hill is not lower.

Ties go to the smaller set. In whatever graph the module is separable, running it in this order and
letting others run at the boundaries alone never raises the optimum. One segment is T3: one node.

Levels first fall and then rise along the boundaries, and hills rise towards the middle. A hill may
be below a level next to it where workspaces are negative.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from memopt.solvers.problems.memory_graph import MemoryGraph, bits, mask_of, profile
from memopt.solvers.theory.fusion import least_inner_level
from memopt.solvers.theory.ideals import Walker

# Ideals that the search for one chain may take; modules that need more stay as they are.
STATES = 2_000
# After so many of them without a lower level, cuts are asked whether there is one.
PATIENCE = 64


@dataclass(frozen=True)
class Segment:
    """Operators that run in one go, in this order; bytes of the module's own groups.

    `hill` is the largest step, `start` and `end` are the levels before and after.
    """

    operators: tuple[int, ...]
    hill: int
    start: int
    end: int


@dataclass(frozen=True)
class ChainRules:
    """The rules of T2 and T4. Tests switch each off to see that it is needed."""

    boundaries: bool = True  # every boundary stays: one segment would be T3 without its condition
    least_hills: bool = True  # the lowest hill first, not any hill that leads to the least level
    lowest_valleys: bool = True  # commit to the lowest level behind a hill, not to the first lower
    from_the_end: bool = True  # and backwards from the end
    union: bool = True  # T4: only if the union is itself separable
    liu: bool = True  # T4: in the order of Liu, not one module after the other


ALL_CHAIN_RULES = ChainRules()


class TooManyStatesError(Exception):
    """The search for a chain took more ideals than it may."""


def linked(graph: MemoryGraph, orders: Sequence[Sequence[int]]) -> MemoryGraph:
    """`graph` with the operators of each order forced into that order."""
    predecessors = list(graph.predecessors)
    for order in orders:
        for a, b in pairwise(order):
            if a not in predecessors[b]:
                predecessors[b] = (*predecessors[b], a)
    return preceded(graph, tuple(predecessors))


def cut_into_segments(sub: MemoryGraph, blocks: Sequence[Sequence[int]]) -> tuple[Segment, ...]:
    """Segments with their hills and levels from consecutive blocks of an order of `sub`."""
    facts = profile(sub, [v for block in blocks for v in block])
    result: list[Segment] = []
    at = 0
    for block in blocks:
        end = at + len(block)
        hill = max(facts.steps[at:end])
        result.append(Segment(tuple(block), hill, facts.levels[at], facts.levels[end]))
        at = end
    return tuple(result)


def canonical(
    sub: MemoryGraph, rules: ChainRules = ALL_CHAIN_RULES, states: int = STATES
) -> tuple[Segment, ...] | None:
    """The canonical chain of the module `sub`; None if that takes more than `states` ideals.

    `sub` has no inputs that nobody touches: with them levels are not submodular.
    """
    if not len(sub):
        return ()
    try:
        blocks = _Search(sub, rules, states).blocks()
    except TooManyStatesError:
        return None
    return cut_into_segments(sub, blocks)


@dataclass
class _Leg:
    """One step along the chain: `hill` on the way between two ideals, and the operators run."""

    hill: int
    operators: list[int]


class _Search:
    """The search for one chain over the ideals of a module."""

    def __init__(self, sub: MemoryGraph, rules: ChainRules, states: int) -> None:
        self.sub, self.rules, self.left = sub, rules, states
        self.walker = Walker(sub)
        self.full = (1 << len(sub)) - 1
        self.after = [mask_of(sub.successors[v]) for v in range(len(sub))]
        # by ideal what can run next, and (first) what could have run last
        self.ready: tuple[dict[int, int], dict[int, int]] = {}, {}
        self.least: int | None = None  # the least level of all ideals, once it is known

    def blocks(self) -> list[list[int]]:
        """The operators of each segment, in order."""
        level = self.walker.start
        falling: list[_Leg] = []
        low = 0
        while leg := self._leg(low, level, self.full, forward=True):
            falling.append(leg)
            low |= mask_of(leg.operators)
            level = self.sub.level(low)
        self.least = level
        rising: list[_Leg] = []
        high, level = self.full, self.sub.level(self.full)
        if self.rules.from_the_end:
            while leg := self._leg(high, level, low, forward=False):
                rising.insert(0, leg)
                high &= ~mask_of(leg.operators)
                level = self.sub.level(high)
        if low != high:
            self._between(falling, self._path(low, high), rising)
        result = [leg.operators for leg in (*falling, *rising)]
        if not self.rules.boundaries:
            result = [[v for block in result for v in block]]
        return result

    def _between(self, falling: list[_Leg], flat: _Leg, rising: list[_Leg]) -> None:
        """Put the flat middle into a neighbour whose hill is not lower, or between the two."""
        if falling and falling[-1].hill >= flat.hill:
            falling[-1].operators += flat.operators
        elif rising and rising[0].hill >= flat.hill:
            rising[0].operators[:0] = flat.operators
        else:
            falling.append(flat)

    def _leg(self, start: int, level: int, limit: int, *, forward: bool) -> _Leg | None:
        """From `start` over the lowest hill to a lower level, and on to the lowest behind it.

        Forward within `limit`, backward above it. None if no ideal there is lower.
        """
        if level == self.least:
            return None
        origin: dict[int, tuple[int, int]] = {}
        heap: list[tuple[int, int, int, int]] = [(-1 << 62, 0, start, level)]
        seen: set[int] = set()
        best: tuple[int, int, int] | None = None  # level, size, ideal
        hill = 0
        while heap:
            top, _, done, here = heapq.heappop(heap)
            if best is not None and top > hill and self.rules.least_hills:
                break
            if done in seen:
                continue
            seen.add(done)
            self._count()
            if here < level:
                rank = (here, done.bit_count(), done)
                hill = top if best is None else hill
                best = rank if best is None else min(best, rank)
                if not self.rules.lowest_valleys:
                    break
            elif best is None and len(seen) == PATIENCE and self.least is None:
                self.least = self._ask_cuts()
                if self.least == level:
                    return None
            for v, child, step, after in self._next(done, here, limit, forward):
                if child not in seen:
                    reached = max(top, step)
                    if origin.get(child, (reached + 1, 0))[0] > reached:
                        origin[child] = (reached, v)
                        heapq.heappush(heap, (reached, after, child, after))
        if best is None:
            return None
        return _Leg(origin[best[2]][0], self._walk_back(origin, start, best[2], forward))

    def _path(self, low: int, high: int) -> _Leg:
        """The lowest hill on the way from one ideal to a larger one."""
        origin: dict[int, tuple[int, int]] = {}
        heap: list[tuple[int, int, int, int]] = [(-1 << 62, 0, low, self.sub.level(low))]
        seen: set[int] = set()
        while heap:
            top, _, done, here = heapq.heappop(heap)
            if done == high:
                return _Leg(top, self._walk_back(origin, low, high, True))
            if done in seen:
                continue
            seen.add(done)
            self._count()
            for v, child, step, after in self._next(done, here, high, True):
                reached = max(top, step)
                if child not in seen and origin.get(child, (reached + 1, 0))[0] > reached:
                    origin[child] = (reached, v)
                    heapq.heappush(heap, (reached, -child.bit_count(), child, after))
        raise AssertionError("an ideal is reached from every smaller one")

    def _next(
        self, done: int, level: int, limit: int, forward: bool
    ) -> list[tuple[int, int, int, int]]:
        """(operator, ideal, step between, its level) for each ideal one operator away."""
        result: list[tuple[int, int, int, int]] = []
        ready = self._ready_at(done, forward)
        if forward:
            for v in bits(ready & limit):
                step, after = self.walker.run(done, level, v)
                result.append((v, done | 1 << v, step, after))
        else:
            for v in bits(ready & ~limit):
                step, change = self.walker.run(done ^ 1 << v, 0, v)
                result.append((v, done ^ 1 << v, level - change + step, level - change))
        for v, child, *_ in result:
            self._reach(ready, v, child, forward)
        return result

    def _ready_at(self, done: int, forward: bool) -> int:
        """Return the operators that can run next, or could have run last, as a mask."""
        known = self.ready[forward].get(done)
        if known is not None:
            return known
        undone = ~done if forward else done
        needed = self.sub.predecessor_masks if forward else self.after
        return sum(1 << v for v in bits(undone & self.full) if not needed[v] & undone)

    def _reach(self, ready: int, operator: int, child: int, forward: bool) -> None:
        """Note what is ready at the ideal `child`, which differs in one operator from one at which
        `ready` are."""
        known = self.ready[forward]
        if child in known:
            return
        undone = ~child if forward else child
        needed = self.sub.predecessor_masks if forward else self.after
        ready ^= 1 << operator
        for v in self.sub.successors[operator] if forward else self.sub.predecessors[operator]:
            if not needed[v] & undone:
                ready |= 1 << v
        known[child] = ready

    def _walk_back(
        self, origin: dict[int, tuple[int, int]], start: int, end: int, forward: bool
    ) -> list[int]:
        operators: list[int] = []
        while end != start:
            v = origin[end][1]
            operators.append(v)
            end ^= 1 << v
        return operators[::-1] if forward else operators

    def _count(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise TooManyStatesError

    def _ask_cuts(self) -> int | None:
        inner = least_inner_level(self.sub)
        if inner is None:
            return None
        return min(inner, self.walker.start, self.sub.level(self.full))


# What a graph derives from its groups and sizes alone, whatever runs before what.
OF_GROUPS = (
    "sizes",
    "has_parts",
    "extra",
    "writer_masks",
    "reader_masks",
    "toucher_masks",
    "writes",
    "reads",
    "touches",
    "touchers",
    "candidates",
    "first_level",
    "unread_inputs",
)


def preceded(graph: MemoryGraph, predecessors: tuple[tuple[int, ...], ...]) -> MemoryGraph:
    """Return a graph of the same operators and groups with these predecessors."""
    other = replace(graph, predecessors=predecessors)
    vars(other).update({name: vars(graph)[name] for name in OF_GROUPS if name in vars(graph)})
    return other
