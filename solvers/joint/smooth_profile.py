"""Orders of a bounded peak with fewer bytes near it: the fewer steps are tight, the easier is the
placement.

    for order in smoother_orders(graph, order, limit=10_304): ...

The bytes near the limit are a sum over the steps, so the best order of a stretch of consecutive
operators, all others being where they are, is a shortest path over the stretch's downsets (kept:
those of least cost, and the way that the order takes already). Stretches overlap by half; they are
gone through until nothing gets better. What is found depends on what a byte near the limit costs,
so that is varied.
"""

from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

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
    for turn in range(ROUNDS):
        levels, steps = list(profiled.levels), profiled.steps
        place = {v: i for i, v in enumerate(current)}
        for first in range(turn % 2 * (LENGTH // 4), len(current) - 1, LENGTH // 2):
            last = min(first + LENGTH, len(current))
            if clock.late(deadline) or looked > max_states:
                return tuple(current)
            if not any(map(cost.of, steps[first:last])):
                continue
            stretch = _Stretch(graph, current, first, last, place)
            try:
                path, states = stretch.best(levels[first], cost, deadline)
            except clock.TimeIsOverError:
                return tuple(current)
            looked += states
            current[first:last] = [current[first + i] for i, _ in path]
            place.update((v, first + i) for i, v in enumerate(current[first:last]))
            levels[first + 1 : last + 1] = [level for _, level in path]
        profiled = profile(graph, current)
        if sum(map(cost.of, profiled.steps)) >= sum(map(cost.of, steps)):
            break
    return tuple(current)


def _reaching(
    graph: MemoryGraph,
    touching: Iterable[int],
    inside: Container[int],
    first: int,
    place: Mapping[int, int],
) -> tuple[set[int], set[int]]:
    """The groups that are there before the stretch of operators `inside`, which begins at `first`,
    and those that are there behind it."""
    earlier, later = set[int](), set[int]()
    for g in touching:
        group = graph.groups[g]
        if group.is_input or any(v not in inside and place[v] < first for v in group.writers):
            earlier.add(g)
        if group.is_output or any(v not in inside and place[v] >= first for v in graph.touchers[g]):
            later.add(g)
    return earlier, later


class _Stretch:
    """The operators at [first, last) of an order, as numbers from 0, and what they do to memory.

    Masks are over them. `leaves` are the bytes of inputs that nobody reads, which are gone after
    step 0. `place` is that of each operator in the order.
    """

    def __init__(
        self,
        graph: MemoryGraph,
        order: Sequence[int],
        first: int,
        last: int,
        place: Mapping[int, int],
    ) -> None:
        inside = order[first:last]
        bit = {v: 1 << i for i, v in enumerate(inside)}
        touching = {g for v in inside for g in graph.touches[v]}
        self.count = len(inside)
        self.leaves = graph.unread_inputs if first == 0 else 0
        self.needs = [sum(bit.get(p, 0) for p in set(graph.predecessors[v])) for v in inside]
        self.needed_by = [
            [w for w, needs in enumerate(self.needs) if needs >> v & 1] for v in range(self.count)
        ]
        self.extra = [graph.extra[v] for v in inside]
        touchers = {g: sum(bit.get(v, 0) for v in graph.touchers[g]) for g in touching}
        earlier, later = _reaching(graph, touching, bit, first, place)
        # (who writes it, bytes), (who touches it, bytes), (who touches the operand, bytes)
        self.fresh = [
            [
                (sum(bit.get(w, 0) for w in set(graph.groups[g].writers)), graph.sizes[g])
                for g in graph.writes[v]
                if g not in earlier
            ]
            for v in inside
        ]
        self.dying = [
            [(touchers[g], graph.sizes[g]) for g in graph.touches[v] if g not in later]
            for v in inside
        ]
        self.over = [
            [
                (touchers[c.operand], graph.sizes[c.result])
                for c in graph.candidates[v]
                if c.operand not in later
            ]
            for v in inside
        ]

    def best(
        self, level: int, cost: _Cost, deadline: float | None
    ) -> tuple[list[tuple[int, int]], int]:
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
