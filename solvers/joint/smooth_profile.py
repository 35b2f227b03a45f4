"""Orders of a bounded peak with fewer bytes near it: the fewer steps are tight, the easier is the
placement.

    for order in smoother_orders(graph, order, limit=10_304): ...

The bytes near the limit are a sum over the steps, so the best order of a stretch of consecutive
operators, all others being where they are, is a shortest path over the stretch's downsets (kept:
those of least cost, and the way that the order takes already). Stretches overlap by half; they are
gone through until nothing gets better. What is found depends on what a byte near the limit costs,
so that is varied.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile

LENGTH = 40  # operators in a stretch
WIDTH = 200  # downsets kept of each size
ROUNDS = 6
STATES = 400_000  # downsets of one order: a few seconds; fewer where no limit says how many
UNLIMITED = 100_000
# (part of the limit below it that is near, power of the bytes in it)
COSTS = ((1 / 3, 2), (1 / 8, 2), (1 / 4, 4))

_State = tuple[float, int, int, int, int]
"""A downset reached at a cost, its level in bytes, by which operator from which, and those that can
be next (a mask)."""


@dataclass(frozen=True)
class _Cost:
    """Cost of a step by its bytes; `limit` is the peak allowed."""

    limit: int
    floor: int
    power: int

    def of(self, step: int) -> float:
        near = step - self.floor
        return (near / (self.limit - self.floor)) ** self.power if near > 0 else 0.0


def smoother_orders(
    graph: MemoryGraph, order: Sequence[int], limit: int, deadline: float | None = None
) -> Iterator[tuple[int, ...]]:
    """Orders with a peak of at most `limit` bytes, which `order` must have, each for another cost
    of bytes near it.

    Ends early at `deadline` (`clock.now`), without the order that it then was at. Deterministic
    but for that.
    """
    seen = {tuple(order)}
    for share, power in COSTS:
        floor = limit - int(limit * share)
        settled = _settled(graph, order, _Cost(limit, min(floor, limit - 1), power), deadline)
        if clock.late(deadline):
            return
        if settled not in seen:
            seen.add(settled)
            yield settled


def _settled(
    graph: MemoryGraph, order: Sequence[int], cost: _Cost, deadline: float | None
) -> tuple[int, ...]:
    current, looked = list(order), 0
    max_states = UNLIMITED if deadline is None else STATES
    profiled = profile(graph, current)
    known: dict[tuple[_Stretch, int], _Best] = {}
    for turn in range(ROUNDS):
        levels, steps = list(profiled.levels), profiled.steps
        passed = _Passed(graph)
        for first in range(turn % 2 * (LENGTH // 4), len(current) - 1, LENGTH // 2):
            last = min(first + LENGTH, len(current))
            if clock.late(deadline) or looked > max_states:
                return tuple(current)
            if not any(map(cost.of, steps[first:last])):
                continue
            passed.advance(current, first)
            stretch = passed.stretch(current[first:last])
            question = stretch, levels[first]
            try:  # of rows most are alike
                path, states = known.get(question) or stretch.best(levels[first], cost, deadline)
            except clock.TimeIsOverError:
                return tuple(current)
            known[question] = path, states
            looked += states
            current[first:last] = [current[first + i] for i, _ in path]
            levels[first + 1 : last + 1] = [level for _, level in path]
        profiled = profile(graph, current)
        if sum(map(cost.of, profiled.steps)) >= sum(map(cost.of, steps)):
            break
    return tuple(current)


class _Passed:
    """The operators before a stretch: groups that are there by then, and how often each was
    touched."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.graph, self.end = graph, 0
        self.touched = [0] * len(graph.groups)
        self.is_there = [g.is_input for g in graph.groups]

    def advance(self, order: Sequence[int], first: int) -> None:
        """Take in what `order` has from the end of what was passed up to `first`."""
        for v in order[self.end : first]:
            for g in self.graph.touches[v]:
                self.touched[g] += 1
            for g in self.graph.writes[v]:
                self.is_there[g] = True
        self.end = first

    def stretch(self, inside: Sequence[int]) -> "_Stretch":
        """Return the operators `inside`, which come next in some order, in numbers."""
        graph, sizes, bit = self.graph, self.graph.sizes, {v: 1 << i for i, v in enumerate(inside)}
        touchers: dict[int, int] = {}
        writers: dict[int, int] = {}
        for v, mine in bit.items():
            for g in graph.touches[v]:
                touchers[g] = touchers.get(g, 0) | mine
            for g in graph.writes[v]:
                writers[g] = 0 if self.is_there[g] else writers.get(g, 0) | mine
        stays = {g for g, mask in touchers.items() if self._stays(g, mask)}
        fresh = [[(writers[g], sizes[g]) for g in graph.writes[v] if writers[g]] for v in inside]
        dying = [
            [(touchers[g], sizes[g]) for g in graph.touches[v] if g not in stays] for v in inside
        ]
        over = [[c for c in graph.candidates[v] if c.operand not in stays] for v in inside]
        return _Stretch(
            0 if self.end else graph.unread_inputs,
            tuple([sum([bit.get(p, 0) for p in set(graph.predecessors[v])]) for v in inside]),
            tuple([graph.extra[v] for v in inside]),
            tuple(map(tuple, fresh)),
            tuple(map(tuple, dying)),
            tuple([tuple([(touchers[c.operand], sizes[c.result]) for c in cs]) for cs in over]),
        )

    def _stays(self, g: int, mask: int) -> bool:
        """Return whether a group is there behind the operators of a stretch that touch it."""
        touched = self.touched[g] + mask.bit_count()
        return self.graph.groups[g].is_output or touched < len(self.graph.touchers[g])


_Touching = tuple[tuple[tuple[int, int], ...], ...]
"""Pairs of each operator: operators, as a mask, and bytes."""

_Best = tuple[list[tuple[int, int]], int]


@dataclass(frozen=True)
class _Stretch:
    """Consecutive operators of an order, as numbers from 0, and what they do to memory.

    Masks are over them. `leaves` are the bytes of inputs that nobody reads, which are gone after
    step 0. `needs` are those that each needs, `fresh` who writes what it writes first, `dying` who
    touches what is gone after them, `over` who touches what its result may lie in place of.
    """

    leaves: int
    needs: tuple[int, ...]
    extra: tuple[int, ...]
    fresh: _Touching
    dying: _Touching
    over: _Touching

    @property
    def count(self) -> int:
        return len(self.needs)

    @cached_property
    def needed_by(self) -> list[list[int]]:
        return [
            [w for w, needs in enumerate(self.needs) if needs >> v & 1] for v in range(self.count)
        ]

    def best(self, level: int, cost: _Cost, deadline: float | None) -> _Best:
        """The operators in the best order found, each with the level after it, and how many
        downsets were looked at; `level` in bytes before the first. Raises TimeIsOverError."""
        ready = sum(1 << i for i, needs in enumerate(self.needs) if not needs)
        layers: list[dict[int, _State]] = [{0: (0.0, level, -1, 0, ready)}]
        already = states = 0
        for size in range(self.count):
            clock.raise_if_late(deadline)
            already |= 1 << size
            layer = self._after(layers[-1], cost, self.leaves if size == 0 else 0)
            states += len(layer)
            if len(layer) > WIDTH:
                cheapest = sorted([(s[0], s[1], done) for done, s in layer.items()])[:WIDTH]
                remaining = (already, *(done for _, _, done in cheapest))
                layer = {done: layer[done] for done in remaining}
            layers.append(layer)
        path: list[tuple[int, int]] = []
        at = (1 << self.count) - 1
        for layer in reversed(layers[1:]):
            _, after, operator, at = layer[at][:4]
            path.append((operator, after))
        return path[::-1], states

    def _after(self, layer: dict[int, _State], cost: _Cost, leaves: int) -> dict[int, _State]:
        """The downsets with one operator more."""
        states: dict[int, _State] = {}
        limit, floor, power, near_bytes = (
            cost.limit,
            cost.floor,
            cost.power,
            cost.limit - cost.floor,
        )
        for done, (cost_before, level, _, _, ready) in layer.items():
            open_ones = ready
            while open_ones:
                lowest = open_ones & -open_ones
                open_ones ^= lowest
                i, after = lowest.bit_length() - 1, done | lowest
                higher = level
                for writers, size in self.fresh[i]:
                    if not writers & done:
                        higher += size
                step = higher + self.extra[i]
                for touchers, saved in self.over[i]:
                    if touchers & after == touchers:
                        step -= saved
                        break
                if step > limit:
                    continue
                total = cost_before
                if step > floor:  # as `cost.of`, which would take longer to call
                    total += ((step - floor) / near_bytes) ** power
                known = states.get(after)
                if known is None:
                    lower = higher - leaves
                    for touchers, size in self.dying[i]:
                        if touchers & after == touchers:
                            lower -= size
                    following = ready ^ lowest
                    for w in self.needed_by[i]:
                        if self.needs[w] & after == self.needs[w]:
                            following |= 1 << w
                    states[after] = total, lower, i, done, following
                elif total < known[0]:
                    states[after] = total, known[1], i, done, known[4]
        return states
