"""Greedy packing of gaps into the chip: what is kept of an order, found in a fraction of a
millisecond.

    packer = Packer(problem)
    packer.pack(range(problem.steps), [1.0] * len(problem.tensors)).moved       # bytes

A gap that is kept saves bytes and takes up the tensor's size in each of its steps. The densest gap
goes first, bytes saved per byte and step ** `STEPS`; so does a tensor that is kept all along, which
is not written out either. A `weight` per tensor changes the order in which they go, and `Annealing`
looks for weights, or for weights and an order of the operators, with which less is moved.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import exp
from random import Random
from typing import Protocol

from memopt.solvers import clock
from memopt.solvers.memories.traffic import Kept, TrafficProblem

STEPS = 0.75  # with 0.5 to 1.5 SwiftNet's orders move up to 5 % more
LOG_WEIGHTS = 3.0  # weights lie between 2 ** -3 and 2 ** 3
# the first and the last temperature, as shares of the bytes moved at the start
HOT, COLD = 0.02, 0.0005
SHARE_OF_WEIGHTS = 0.3  # of the tries, where there are orders to try too
TRIES_EACH, LEAST_TRIES = 200, 1_000  # for each operator, and in all


def tries_of(operators: int, work: int) -> int:
    """Return how often to try: so many times for each operator, but no more than look at `work`
    operators in all, about a second for 300,000."""
    count = max(operators, 1)
    return max(LEAST_TRIES, min(TRIES_EACH * count, work // count))


Move = Callable[[list[int], Random], list[int] | None]


@dataclass(frozen=True)
class Packed:
    """Bytes `moved`, and the gaps that are kept of each tensor that has any: their numbers."""

    moved: int
    gaps: dict[int, set[int]]


class Packs(Protocol):
    """A packer of `count` things, each of which has a weight."""

    count: int

    def pack(self, order: Sequence[int], weights: Sequence[float]) -> Packed:
        """Return what is kept, or costs, if operators run in `order`, which must be legal."""
        ...


@dataclass(frozen=True)
class _Entry:
    """A tensor that takes up bytes and is touched; `reads` are operators."""

    index: int
    size: int
    moved: int
    born: int
    reads: tuple[int, ...]
    is_output: bool


class Packer:
    """The tables of a problem whose operators may run in any order: step t of the problem is
    operator t."""

    def __init__(self, problem: TrafficProblem) -> None:
        self.problem = problem
        self.count = len(problem.tensors)
        self._rooms = [problem.on_chip - w for w in problem.workspace]
        self._powers = [1.0, *(k**-STEPS for k in range(1, problem.steps + 2))]
        self._entries = [
            _Entry(i, x.size, x.moved, x.born, x.reads, x.is_output)
            for i, x in enumerate(problem.tensors)
            if x.size and (x.reads or x.born >= 0)
        ]
        self._all = sum(e.moved * (len(e.reads) + (e.born >= 0)) for e in self._entries)

    def pack(self, order: Sequence[int], weights: Sequence[float]) -> Packed:
        """Return what is kept if operators run in `order`, which must be legal."""
        position = [0] * len(order)
        for step, v in enumerate(order):
            position[v] = step
        room = [self._rooms[v] for v in order]
        items, points = self._items(position, weights)
        tensors = self.problem.tensors
        saved, gaps = 0, dict[int, set[int]]()
        for _, i, number in items:
            x, touched, own = tensors[i], points[i], gaps.get(i)
            if own is None:
                count = len(touched) - 1
                missing: Sequence[int] = range(count) if number < 0 else (number,)
                a, b = touched[max(number, 0)], touched[number + 1 if number >= 0 else -1] + 1
                if min(room[a:b]) < x.size:
                    continue
                room[a:b] = [free - x.size for free in room[a:b]]
                own = gaps[i] = set(missing)
            else:
                wanted = range(len(touched) - 1) if number < 0 else (number,)
                missing = [g for g in wanted if g not in own]
                stretches = _stretches(touched, missing, own)
                if not missing or any(min(room[a:b]) < x.size for a, b in stretches):
                    continue
                for a, b in stretches:
                    room[a:b] = [free - x.size for free in room[a:b]]
                own.update(missing)
            reads = len(x.reads)
            saved += x.moved * sum([g < reads for g in missing])
            if x.born >= 0 and len(own) == len(touched) - 1:
                saved += x.moved
        return Packed(self._all - saved, gaps)

    def _items(
        self, position: Sequence[int], weights: Sequence[float]
    ) -> tuple[list[tuple[float, int, int]], dict[int, list[int]]]:
        """Return (-density, tensor, gap, or -1 for all of them) of what may be kept, the densest
        first, and the steps in which each tensor is touched: made, or the first step, to the end
        of the last gap."""
        powers, last = self._powers, len(position) - 1
        items: list[tuple[float, int, int]] = []
        points: dict[int, list[int]] = {}
        for e in self._entries:
            touched = [position[v] for v in e.reads]
            if len(touched) > 1:
                touched.sort()
            start = position[e.born] if e.born >= 0 else 0
            reads = len(touched)
            touched.insert(0, start)
            if e.born >= 0 and (e.is_output or not reads):
                touched.append(last if e.is_output else start)
            points[e.index] = touched
            weight = e.moved * weights[e.index] / e.size
            if e.born >= 0:
                span = touched[-1] - start + 1
                items.append((-weight * (reads + 1) * powers[span], e.index, -1))
            if e.born < 0 or len(touched) > 2:
                for g in range(reads):
                    steps = touched[g + 1] - touched[g] + 1
                    items.append((-weight * powers[steps], e.index, g))
        items.sort()
        return items, points

    def kept(self, gaps: dict[int, set[int]]) -> Kept:
        """Return the kept gaps as the problem in that order has them."""
        return tuple(
            tuple(g in gaps.get(i, ()) for g in range(len(own)))
            for i, own in enumerate(self.problem.gaps)
        )


def _stretches(
    touched: Sequence[int], missing: Sequence[int], kept: set[int]
) -> list[tuple[int, int]]:
    """Return the steps, as (first, end), that keeping the gaps `missing` takes beside those of
    the gaps that are `kept`. The step where two gaps meet counts once."""
    stretches: list[tuple[int, int]] = []
    for g in missing:
        first, end = touched[g], touched[g + 1] + 1
        if stretches and stretches[-1][1] > first:
            first = stretches[-1][1]
        if g - 1 in kept:
            first = max(first, touched[g] + 1)
        if g + 1 in kept:
            end -= 1
        if first < end:
            stretches.append((first, end))
    return stretches


class Annealing:
    """Simulated annealing over weights, and over orders where there is `move`, which returns
    another legal order, or None where it has none.

    `best` is what is kept at best, in `best_order` with `weights`.
    """

    best: Packed
    best_order: list[int]
    weights: list[float]

    def __init__(
        self, packer: Packs, order: Sequence[int], seed: int = 0, move: Move | None = None
    ) -> None:
        self.packer, self.seed, self.move = packer, seed, move
        self.best_order = list(order)
        self.weights = [1.0] * packer.count
        self.best = packer.pack(order, self.weights)

    def run(self, tries: int, deadline: float | None = None) -> None:
        """Try so often, from the best that is known; end early at `deadline`, and where nothing is
        moved."""
        random = Random(self.seed)
        order, weights, moved = self.best_order, self.weights, self.best.moved
        hot, cooling = HOT * moved, COLD / HOT
        for k in range(tries):
            if not self.best.moved or clock.late(deadline):
                break
            new_order, new_weights = order, weights
            if self.move is None or random.random() < SHARE_OF_WEIGHTS:
                new_weights = list(weights)
                chosen = random.randrange(len(weights))
                new_weights[chosen] = 2 ** random.uniform(-LOG_WEIGHTS, LOG_WEIGHTS)
            else:
                moved_order = self.move(order, random)
                if moved_order is None:
                    continue
                new_order = moved_order
            packed = self.packer.pack(new_order, new_weights)
            worse = packed.moved - moved
            if worse > 0 and random.random() >= exp(-worse / (hot * cooling ** (k / tries))):
                continue
            order, weights, moved = new_order, new_weights, packed.moved
            if moved < self.best.moved:
                self.best, self.best_order, self.weights = packed, order, weights
