"""List scheduling: of the ready operators the one that asks for least, and frees most.

An operator that does not raise the level and whose step stays below the peak so far is taken at
once (the free move: theory.md T1 with one operator). Otherwise the least step above the peak
decides, then the level left behind, then how recently the operator's operands were made, which
keeps the order inside one branch of the network.
"""

import heapq
from dataclasses import dataclass, field

from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, topological_order
from memopt.solvers.theory.bounds import bounded
from memopt.solvers.theory.ideals import FanOut, Waiting


@dataclass
class Ready:
    """The ready operators: the one of the least (step or peak, rise, level, age) in log time.

    Which of step and peak counts changes with the level, so an operator is in one of two heaps:
    `low` while its step stays below the peak, `high` (and `costs`) while it does not. It changes
    over when it is looked at; what is out of date there is left behind and skipped.
    """

    made: list[int]  # the step at which an operator became ready
    change: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    low: list[tuple[int, int, int, int]] = field(default_factory=list[tuple[int, int, int, int]])
    high: list[tuple[int, int, int, int, int]] = field(
        default_factory=list[tuple[int, int, int, int, int]]
    )
    costs: list[tuple[int, int, int]] = field(default_factory=list[tuple[int, int, int]])

    def put(self, v: int, cost: int, delta: int) -> None:
        """A new operator, or one of which the bytes of step and level have changed."""
        self.change[v] = cost, delta
        self._put_high(v, cost, delta)

    def _put_high(self, v: int, cost: int, delta: int) -> None:
        heapq.heappush(self.high, (cost + max(delta, 0), delta, -self.made[v], v, cost))
        heapq.heappush(self.costs, (cost, delta, v))

    def pop(self, level: int, peak: int) -> tuple[int, int, int]:
        """(operator, cost, change of the level) of the best one, taken out."""
        change, low, high, costs, room = self.change, self.low, self.high, self.costs, peak - level
        while costs and (costs[0][0] <= room or change.get(costs[0][2]) != costs[0][:2]):
            cost, delta, v = heapq.heappop(costs)
            if change.get(v) == (cost, delta):
                heapq.heappush(low, (delta, -self.made[v], v, cost))
        while low and (low[0][3] > room or change.get(low[0][2]) != (low[0][3], low[0][0])):
            delta, _, v, cost = heapq.heappop(low)
            if change.get(v) == (cost, delta):
                self._put_high(v, cost, delta)
        while high and (high[0][4] <= room or change.get(high[0][3]) != (high[0][4], high[0][1])):
            heapq.heappop(high)
        fits = (peak + max(low[0][0], 0), *low[0][:3]) if low else None
        above = (level + high[0][0], *high[0][1:4]) if high else None
        best = min(x for x in (fits, above) if x is not None)[3]
        return (best, *change.pop(best))


@dataclass(frozen=True)
class _Counted:
    """Counts that fall as operators run: of a group, or of all groups that the same many operators
    read when their writers have run.

    `of` says where a group is counted; `touchers` and `sizes` are the operators of each count and
    the bytes that go with the last of them, `touches` the counts of each operator.
    """

    of: list[int]
    touchers: list[tuple[int, ...]]
    sizes: list[int]
    touches: list[list[int]]

    @staticmethod
    def of_graph(graph: MemoryGraph) -> "_Counted":
        """Return what is counted of a graph."""
        edges = FanOut.of(graph)
        touchers, of = [*graph.touchers, *edges.readers], list(range(len(graph.groups)))
        sizes = [0] * len(touchers)
        for index, g in enumerate(graph.groups):
            number = edges.number[g.writers[0]] if len(g.writers) == 1 and not g.is_input else -1
            if number >= 0 and g.readers == edges.readers[number]:
                touchers[index], of[index] = (), len(graph.groups) + number
            sizes[of[index]] += 0 if g.is_output else graph.sizes[index]
        touches: list[list[int]] = [[] for _ in graph.names]
        for count, operators in enumerate(touchers):
            for v in operators:
                touches[v].append(count)
        return _Counted(of, touchers, sizes, touches)


def order(graph: MemoryGraph) -> tuple[int, ...]:
    """Return one greedy order, in time about linear in the graph."""
    waiting, counted = Waiting(graph), _Counted.of_graph(graph)
    touches, sizes, of = counted.touches, counted.sizes, counted.of
    remaining = list(map(len, counted.touchers))
    last = list(map(sum, counted.touchers))  # the sum of the remaining: of one, itself
    written = [g.is_input for g in graph.groups]
    position = [-1] * len(graph)
    ready = Ready(position)
    level = graph.first_level
    peak = level
    result: list[int] = []

    def change(v: int) -> tuple[int, int]:
        fresh = sum([graph.sizes[g] for g in graph.writes[v] if not written[g]])
        freed = sum([sizes[count] for count in touches[v] if remaining[count] == 1])
        used = next((c for c in graph.candidates[v] if remaining[of[c.operand]] == 1), None)
        cost = fresh + graph.extra[v] - (graph.sizes[used.result] if used else 0)
        return cost, fresh - freed

    for v, w in enumerate(waiting.remaining):
        if w == 0:
            ready.put(v, *change(v))
    while ready.change:
        best, cost, delta = ready.pop(level, peak)
        peak = max(peak, level + cost)
        level += delta - (graph.unread_inputs if not result else 0)
        result.append(best)
        stale: set[int] = set()
        for g in graph.writes[best]:
            if not written[g]:
                stale.update(graph.groups[g].writers)
            written[g] = True
        for count in touches[best]:
            remaining[count] -= 1
            last[count] -= best
            if remaining[count] == 1:
                stale.add(last[count])
        for s in waiting.ran(best):
            position[s] = len(result)
            ready.put(s, *change(s))
        for v in stale & ready.change.keys():
            new = change(v)
            if new != ready.change[v]:
                ready.put(v, *new)
    return tuple(result)


def solve(graph: MemoryGraph) -> Schedule:
    """The greedy order with the bound T6."""
    return bounded(graph, order(graph) if len(graph) else topological_order(graph))
