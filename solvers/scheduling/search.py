"""Exact search over ideals, best first on the peak, from both ends of the graph at once.

Each end (`best_first.py`) proves lower bounds and commits by T1; from the end of the graph that is
the same search in the graph backwards (`reversal.py`), where its steps are the same. What one end
proves raises the other's floor, so that it commits to more. The end with fewer states put aside is
the one to go on with: on real networks they differ by up to seventy times, and which is the
smaller cannot be told before.
"""

import time
from dataclasses import dataclass

from memopt.solvers.bounds import flow_bound
from memopt.solvers.ideals import renumber
from memopt.solvers.problem import MemoryGraph, Schedule, profile
from memopt.solvers.reversal import backward as reverse
from memopt.solvers.reversal import forward_order, reversible
from memopt.solvers.scheduling.best_first import Search, Switches
from memopt.solvers.scheduling.greedy import order as greedy
from memopt.solvers.scheduling.rpo import order as rpo

# What the states of one search may take, with all of Python's overhead: below 2 GB for sure.
MAX_BYTES = 1_500_000_000

# States that one end takes before it is asked again which end is next.
TURN = 256


@dataclass(frozen=True)
class BothEnds:
    """The searches from the start and, if there is one, from the end, over the same bounds."""

    ends: tuple[Search, ...]

    @staticmethod
    def of(
        graph: MemoryGraph, floor: int, ceiling: int, switches: Switches, backward: bool
    ) -> "BothEnds":
        """`floor` in bytes must be proven; `graph` is numbered topologically."""
        forward = Search(graph, floor, ceiling, switches)
        if backward and reversible(graph):
            mirrored = reverse(graph)
            if mirrored.level(0) <= max(floor, forward.lower_bound):  # else it may count too much
                return BothEnds((forward, Search(mirrored, floor, ceiling, switches)))
        return BothEnds((forward,))

    def again(self, floor: int, ceiling: int) -> "BothEnds":
        """New searches between other bounds."""
        return BothEnds(tuple(end.again(floor, ceiling) for end in self.ends))

    @property
    def states(self) -> int:
        return sum(end.states for end in self.ends)

    @property
    def memory(self) -> int:
        """Bytes, about."""
        return sum(end.memory for end in self.ends)

    @property
    def lower_bound(self) -> int:
        return max(end.lower_bound for end in self.ends)

    @property
    def exhausted(self) -> bool:
        return any(end.exhausted for end in self.ends)

    @property
    def order(self) -> tuple[int, ...] | None:
        """The order found, in the numbers of the graph from its start."""
        first, *rest = self.ends
        if first.order is not None:
            return first.order
        return next((forward_order(end.order) for end in rest if end.order is not None), None)

    def lower_ceiling(self, peak: int) -> None:
        for end in self.ends:
            end.ceiling = peak

    def run(self, states: int | None, deadline: float | None, max_bytes: int) -> None:
        """Search until it is over, `states` more are taken, or time or memory is spent."""
        last = None if states is None else self.states + states
        while not self.exhausted:
            end = min(self.ends, key=lambda end: (end.states > 0, end.waiting))
            turn = TURN if last is None else min(TURN, last - self.states)
            before = end.states
            end.run(turn, deadline, max_bytes - (self.memory - end.memory))
            if end.states - before < TURN and not end.exhausted:
                return
            for other in self.ends:
                other.raise_floor(end.lower_bound)


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | None = None,
    incumbent: tuple[int, ...] | None = None,
    max_states: int | None = None,
    kill_moves: bool = True,
    commits: bool = True,
    dominance: bool = True,
    backward: bool = True,
    ceiling: int | None = None,
    max_bytes: int = MAX_BYTES,
) -> Schedule:
    """A proven optimal order, or the best known with a valid bound when time or memory runs out.

    `bound` is a proven lower bound in bytes (T6 is computed if none is given), `incumbent` an order
    to beat (the better of greedy and reverse post-order if none is given). Only orders of a peak
    below `ceiling` (bytes) are looked for: with one below the optimum, `peak` stays the
    incumbent's, and `lower_bound` says that nothing is below the ceiling. A search that gets
    nowhere near its end looks for better incumbents in between, and again when `max_bytes` hold no
    more states: what it knows is forgotten then, but not the bound. It ends for good after
    `max_states` states. `backward` off searches from the start alone; a graph that cannot be
    searched from its end (`reversal.py`) is searched so in any case.
    """
    deadline = None if time_limit is None else time.monotonic() + time_limit
    orders = [incumbent] if incumbent is not None else [greedy(graph), rpo(graph)]
    best = min(orders, key=lambda o: profile(graph, o).peak)
    peak = profile(graph, best).peak
    given = bound is not None
    if bound is None:
        bound = flow_bound(graph, orders, time_limit=time_limit).value
    top = peak if ceiling is None else min(ceiling, peak)
    if bound >= top:
        return Schedule(best, peak, bound, "search" if given else "flow")
    numbered, old = renumber(graph)
    switches = Switches(kill_moves, commits, dominance)
    search = BothEnds.of(numbered, bound, top, switches, backward)
    most = FIRST if max_states is None else min(FIRST, max_states)
    search.run(most, deadline, max_bytes)
    order, states = search.order, 0
    if not search.exhausted and (max_states is None or max_states > FIRST):
        order, states = _descend(search, LOOK, deadline, max_bytes)
        search.run(None if max_states is None else max_states - most, deadline, max_bytes)
        order = search.order or order
    lower, exhausted = search.lower_bound, search.exhausted
    if not exhausted and max_states is None:
        for end in search.ends:
            end.forget()
        better, more = _descend(search, 10 * LOOK, deadline, max_bytes)
        order, states = better or order, states + more
    if order is not None:
        best = tuple(old[v] for v in order)
    peak = profile(graph, best).peak
    proof = "search" if exhausted else "none"
    return Schedule(best, peak, min(lower, peak), proof, search.states + states)


# States that the search proper gets before better incumbents are looked for, and each such look.
FIRST = 25_000
LOOK = 2_000


def _descend(
    search: BothEnds, states: int, deadline: float | None, max_bytes: int
) -> tuple[tuple[int, ...] | None, int]:
    """An order below the ceiling, by searches that take all peaks up to a budget as equal.

    With the budget H as floor, T1 commits to all that stays below H, and the first order found
    ends the look of so many `states`. H halves the gap to the bound after a success, and the gap
    to the incumbent after a failure (SERENITY calls this adaptive soft budgeting). Returns the
    states taken, too. The search goes on below what was found.
    """
    low, high = search.lower_bound, search.ends[0].ceiling
    graph = search.ends[0].graph
    best: tuple[int, ...] | None = None
    taken = 0
    for _ in range(12):
        budget = (low + high) // 2
        if budget <= low or (deadline is not None and time.monotonic() > deadline):
            break
        look = search.again(budget, high)
        look.run(states, deadline, max_bytes - search.memory)
        taken += look.states
        if look.order is not None:
            best, high = look.order, profile(graph, look.order).peak
            search.lower_ceiling(high)
        else:
            low = budget
    return best, taken
