"""Exact best-first search over ideals on the peak (theory.md: T1, T5, kill-moves).

States are executed sets as bit masks, taken in order of the peak of their best path, deepest
first. When a state is taken, every path of a lower peak has been exhausted, so its peak H is a
proven lower bound of the optimum, and T1 lets the search commit: to a branch that ends no higher
than it began, above which nothing in between is lower. The first time all operators have run, the
peak is the optimum. Branches are kill-moves (`kills.py`) where their proof covers the graph, single
operators otherwise.
"""

import heapq
import time
from dataclasses import dataclass

from memopt.solvers.bounds import flow_bound
from memopt.solvers.ideals import Walker, renumber
from memopt.solvers.problem import MemoryGraph, Schedule, profile
from memopt.solvers.scheduling.greedy import order as greedy
from memopt.solvers.scheduling.kills import Frontier, Kills
from memopt.solvers.scheduling.rpo import order as rpo

# A known state costs about 450 B on 500 operators: 3 million of them stay below 2 GB.
MAX_STATES = 3_000_000

# (peak, preference, serial number, executed, level, frontier of the ideal before)
Entry = tuple[int, float, int, int, int, Frontier]


@dataclass
class Search:
    """One run over a graph numbered topologically.

    `floor` (bytes) is where the peaks that count begin: all lower ones are taken as equal.
    `ceiling` is the peak of a known order; only lower ones are looked for, and it may be lowered
    between two runs. `run` sets `order` if it finds an order below `ceiling`: its peak is at most
    `lower_bound`, and no order has a peak that is both below `lower_bound` and not below `floor`.
    So with a proven `floor` it is optimal. `exhausted` says that the search is over.
    """

    graph: MemoryGraph
    floor: int
    ceiling: int
    kill_moves: bool = True
    commits: bool = True
    states: int = 0  # taken; `known` ones are those put aside as well
    exhausted: bool = False
    order: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.walker = Walker(self.graph)
        self.kills = Kills(self.graph)
        self.by_kills = self.kill_moves and self.kills.covers
        self.full = (1 << len(self.graph)) - 1
        self.lower_bound = max(self.floor, self.graph.level(0))
        # an operator weighs a third of a mean buffer: neither depth nor level alone decides well
        self.weight = sum(self.graph.sizes) / max(1, len(self.graph)) / 3
        frontier = self.kills.start() if self.by_kills else ()
        self._heap: list[Entry] = [(self.lower_bound, 0, 0, 0, self.walker.start, frontier)]
        self._best: dict[int, int] = {0: self.lower_bound}
        self._closed: set[int] = set()
        self._from: dict[int, tuple[int, int, int]] = {}

    @property
    def known(self) -> int:
        """States in memory."""
        return len(self._best)

    def run(
        self,
        states: int | None = None,
        deadline: float | None = None,
        max_known: int = MAX_STATES,
    ) -> None:
        """Search until it is over, `states` more are taken, or time or memory is spent."""
        heap, closed = self._heap, self._closed
        end = None if states is None else self.states + states
        while heap:
            if self.states == end or self.known > max_known:
                return
            if deadline is not None and self.states % 64 == 0 and time.monotonic() > deadline:
                return
            peak, _, _, done, level, frontier = heapq.heappop(heap)
            if peak >= self.ceiling:
                break
            if done in closed:
                continue
            self.lower_bound = peak  # every path of a lower peak has been exhausted
            self.states += 1
            if self._follow(peak, done, level, frontier):
                return
        self.exhausted = True
        self.lower_bound = self.ceiling

    def _follow(self, peak: int, done: int, level: int, frontier: Frontier) -> bool:
        """Take one state and what it commits to; put the branches aside. True at the end."""
        closed, best = self._closed, self._best
        closed.add(done)
        frontier = self.kills.advance(frontier, done)
        branches = self._expand(done, level, peak, frontier)
        while len(branches) == 1 and branches[0][0] <= peak:  # the one way on costs nothing
            _, move, last, level = branches[0]
            child = done | move
            if child in closed:
                return False
            self._from[child] = (done, move, last)  # no path to it is lower than this one
            closed.add(child)
            done = child
            frontier = self.kills.advance(frontier, done)
            branches = self._expand(done, level, peak, frontier)
        if done == self.full:
            self.order = self._path()
            self.exhausted = True
            return True
        for step, move, last, after in branches:
            child = done | move
            reached = max(step, peak)
            if child not in closed and reached < min(self.ceiling, best.get(child, reached + 1)):
                best[child] = reached
                self._from[child] = (done, move, last)
                preference = after - child.bit_count() * self.weight
                entry = (reached, preference, len(self._from), child, after, frontier)
                heapq.heappush(self._heap, entry)
        return False

    def _expand(
        self, done: int, level: int, limit: int, frontier: Frontier
    ) -> list[tuple[int, int, int, int]]:
        """(peak, operators, last operator or -1, level after) per branch; one alone if T1 commits.

        T1 (theory.md): a branch that stays within `limit`, ends no higher than `level`, and has
        no ideal in between below its end loses nothing: in between a minimal one only allocates.
        """
        result: list[tuple[int, int, int, int]] = []
        for move, last, minimal in self._moves(done, frontier):
            if last < 0:
                step, after = self.walker.run_all(done, level, move)
            else:
                before = move & ~(1 << last)
                step, after = self.walker.run_all(done, level, before)
                top, after = self.walker.run(done | before, level if not before else after, last)
                step = max(step, top)
            branch = (step, move, last, after)
            if self.commits and minimal and self.may_commit(step, after, level, limit):
                return [branch]
            result.append(branch)
        return result

    def may_commit(self, step: int, after: int, level: int, limit: int) -> bool:
        """The two side conditions of T1 for a branch above whose start nothing in between is."""
        return step <= limit and after <= level

    def _moves(self, done: int, frontier: Frontier) -> list[tuple[int, int, bool]]:
        if self.by_kills and (done or not self.graph.unread_inputs):
            return self.kills.moves(done, frontier)
        return [
            (1 << v, -1, True)
            for v, before in enumerate(self.graph.predecessor_masks)
            if not done >> v & 1 and not before & ~done
        ]

    def _path(self) -> tuple[int, ...]:
        blocks: list[tuple[int, int]] = []
        done = self.full
        while done:
            done, move, last = self._from[done]
            blocks.append((move, last))
        result: list[int] = []
        for move, last in reversed(blocks):
            if last >= 0:
                move &= ~(1 << last)
            while move:
                low = move & -move
                result.append(low.bit_length() - 1)
                move ^= low
            if last >= 0:
                result.append(last)
        return tuple(result)


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | None = None,
    incumbent: tuple[int, ...] | None = None,
    max_states: int = MAX_STATES,
    kill_moves: bool = True,
    commits: bool = True,
    ceiling: int | None = None,
) -> Schedule:
    """A proven optimal order, or the best known with a valid bound when time or states run out.

    `bound` is a proven lower bound in bytes (T6 is computed if none is given), `incumbent` an order
    to beat (the better of greedy and reverse post-order if none is given). Only orders of a peak
    below `ceiling` (bytes) are looked for: with one below the optimum, `peak` stays the
    incumbent's, and `lower_bound` says that nothing is below the ceiling. A search that gets
    nowhere near its end looks for better incumbents in between.
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
    search = Search(numbered, bound, top, kill_moves, commits)
    search.run(min(FIRST, max_states), deadline, max_states)
    states = 0
    if not search.exhausted and max_states > FIRST:
        better, states = _descend(search, deadline)
        if better is not None:
            search.ceiling = profile(numbered, better).peak
            best = tuple(old[v] for v in better)
        search.run(None, deadline, max_states)
    if search.order is not None:
        best = tuple(old[v] for v in search.order)
    peak = profile(graph, best).peak
    proof = "search" if search.exhausted else "none"
    return Schedule(best, peak, min(search.lower_bound, peak), proof, search.states + states)


# States that the search proper gets before better incumbents are looked for, and each such look.
FIRST = 25_000
LOOK = 2_000


def _descend(search: Search, deadline: float | None) -> tuple[tuple[int, ...] | None, int]:
    """An order below `search.ceiling`, by searches that take all peaks up to a budget as equal.

    With the budget H as floor, T1 commits to all that stays below H, and the first order found
    ends the look. H halves the gap to the bound after a success, and the gap to the incumbent
    after a failure (SERENITY calls this adaptive soft budgeting). Returns the states taken, too.
    """
    low, high = search.lower_bound, search.ceiling
    best: tuple[int, ...] | None = None
    states = 0
    for _ in range(12):
        budget = (low + high) // 2
        if budget <= low or (deadline is not None and time.monotonic() > deadline):
            break
        look = Search(search.graph, budget, high, search.kill_moves, search.commits)
        look.run(LOOK, deadline)
        states += look.states
        if look.order is not None:
            best, high = look.order, profile(search.graph, look.order).peak
        else:
            low = budget
    return best, states
