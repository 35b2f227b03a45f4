"""Refinement: move single operators between parts as long as the cuts get cheaper.

After Fiduccia and Mattheyses: the best move first, also a bad one, every operator at most once per
pass; then back to the best point of the pass. An operator may move to any part from the last of
its predecessors to the first of its successors, so the quotient stays acyclic at every moment.
"""

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field

from memopt.solvers import clock
from memopt.solvers.partitioning.coarsen import WIDE
from memopt.solvers.problems.memory_graph import MemoryGraph

PASSES = 8
# A pass gives up after this many moves in a row without a new best.
PATIENCE = 200


@dataclass
class Refinement:
    """A partition being improved in place until `deadline`. The price is the sum of the levels at
    all cuts."""

    graph: MemoryGraph
    weights: Sequence[int]
    part: list[int]
    k: int
    heaviest: int
    deadline: float | None = None
    held: list[dict[int, int]] = field(init=False)  # per group, touchers in each part
    load: list[int] = field(init=False)

    def __post_init__(self) -> None:
        self.held = []
        for touchers in self.graph.touchers:
            parts: dict[int, int] = {}
            for v in touchers:
                parts[self.part[v]] = parts.get(self.part[v], 0) + 1
            self.held.append(parts)
        self.load = [0] * self.k
        for p, w in zip(self.part, self.weights, strict=True):
            self.load[p] += w

    def run(self) -> None:
        """Passes until one brings nothing, or little beside the first."""
        if self.k == 1:
            return
        first = self._pass()
        for _ in range(PASSES - 1):
            if self._pass() <= first // 50:
                return

    def window(self, v: int) -> tuple[int, int]:
        """First and last part that v's neighbours leave to it."""
        part = self.part
        low = max([part[p] for p in self.graph.predecessors[v]], default=0)
        high = min([part[s] for s in self.graph.successors[v]], default=self.k - 1)
        return low, high

    def gain(self, v: int, target: int) -> int:
        """Bytes that moving v to `target` saves, summed over the cuts."""
        here = self.part[v]
        total = 0
        for g in self.graph.touches[v]:
            group, parts = self.graph.groups[g], self.held[g]
            after = [p for p, n in parts.items() if p != here or n > 1]
            after.append(target)
            cuts = 0  # that the group crosses no longer
            if not group.is_input:
                cuts += min(after) - min(parts)
            if not group.is_output:
                cuts += max(parts) - max(after)
            if cuts:
                total += self.graph.sizes[g] * cuts
        return total

    def move(self, v: int, target: int) -> None:
        here = self.part[v]
        for g in self.graph.touches[v]:
            parts = self.held[g]
            parts[here] -= 1
            if not parts[here]:
                del parts[here]
            parts[target] = parts.get(target, 0) + 1
        self.part[v] = target
        self.load[here] -= self.weights[v]
        self.load[target] += self.weights[v]

    def best_move(self, v: int) -> tuple[int, int, int] | None:
        """(gain, operators that its part has more than the other, part): the best legal move."""
        low, high = self.window(v)
        here = self.part[v]
        weight = self.weights[v]
        if low == high or self.load[here] == weight:
            return None
        targets = {low, high, max(low, here - 1), min(high, here + 1)} - {here}
        best: tuple[int, int, int] | None = None
        for q in sorted(targets):
            if self.load[q] + weight <= self.heaviest:
                move = (self.gain(v, q), self.load[here] - self.load[q], q)
                best = move if best is None else max(best, move)
        return best

    def _pass(self) -> int:
        """One pass; returns the bytes that it saved."""
        heap: list[tuple[int, int, int, int]] = []
        queued: dict[int, tuple[int, int]] = {}

        def queue(v: int) -> None:
            move = self.best_move(v)
            if move is None:
                queued.pop(v, None)
                return
            gain, balance, q = move
            if queued.get(v) != (gain, q):
                queued[v] = (gain, q)
                heapq.heappush(heap, (-gain, -balance, v, q))

        for v in self._loose():
            if clock.late(self.deadline):
                return 0
            queue(v)
        locked: set[int] = set()
        trail: list[tuple[int, int]] = []
        saved = best = length = 0
        while heap and len(trail) - length < PATIENCE and not clock.late(self.deadline):
            gain, _, v, q = heapq.heappop(heap)
            if v in locked or queued.get(v) != (-gain, q):
                continue
            now = self.best_move(v)
            if now is None or (now[0], now[2]) != (-gain, q):
                del queued[v]
                queue(v)
                continue
            trail.append((v, self.part[v]))
            self.move(v, q)
            locked.add(v)
            saved -= gain
            if saved > best:
                best, length = saved, len(trail)
            for u in self._around(v):
                if u not in locked:
                    queue(u)
        for v, p in reversed(trail[length:]):
            self.move(v, p)
        return best

    def _loose(self) -> list[int]:
        """The operators that no neighbours on both sides hold in their part: others cannot move."""
        after = [False] * len(self.graph)  # held by a predecessor
        before = [False] * len(self.graph)  # held by a successor
        for v, (here, needed) in enumerate(zip(self.part, self.graph.predecessors, strict=True)):
            for p in needed:
                if self.part[p] == here:
                    after[v] = before[p] = True
        return [v for v in range(len(self.graph)) if not (after[v] and before[v])]

    def _around(self, v: int) -> list[int]:
        graph = self.graph
        near = dict.fromkeys((*graph.predecessors[v], *graph.successors[v]))
        for g in graph.touches[v]:
            group = graph.groups[g]
            if len(group.readers) + len(group.writers) <= WIDE:
                near.update(dict.fromkeys((*group.writers, *group.readers)))
        near.pop(v, None)
        return list(near)


def refine(
    graph: MemoryGraph,
    weights: Sequence[int],
    part: Sequence[int],
    k: int,
    heaviest: int,
    deadline: float | None = None,
) -> list[int]:
    """`part` improved until `deadline`: the same parts or cheaper cuts.

    None becomes empty, none grows heavier than `heaviest`.
    """
    state = Refinement(graph, weights, list(part), k, heaviest, deadline)
    state.run()
    return state.part
