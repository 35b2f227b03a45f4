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
from dataclasses import dataclass, field

from memopt.solvers.bounds import flow_bound
from memopt.solvers.ideals import Walker, renumber
from memopt.solvers.problem import MemoryGraph, Schedule, profile
from memopt.solvers.scheduling.greedy import order as greedy
from memopt.solvers.scheduling.kills import Frontier, Kills
from memopt.solvers.scheduling.rpo import order as rpo

# A state costs about 400 B and two masks; 4 million of them stay below 2 GB on 500 operators.
MAX_STATES = 4_000_000


@dataclass
class Search:
    """One run over a graph numbered topologically.

    `floor` is a proven lower bound and `ceiling` the peak of a known schedule, in bytes. After
    `run`, `order` is an order of a peak below `ceiling`, if there is one, and `lower_bound` is
    proven whether the search ended or not.
    """

    graph: MemoryGraph
    floor: int
    ceiling: int
    deadline: float | None = None
    max_states: int = MAX_STATES
    kill_moves: bool = True
    commits: bool = True
    states: int = 0
    lower_bound: int = 0
    exhausted: bool = False
    order: tuple[int, ...] | None = None
    _from: dict[int, tuple[int, int, int]] = field(default_factory=dict[int, tuple[int, int, int]])

    def __post_init__(self) -> None:
        self.walker = Walker(self.graph)
        self.kills = Kills(self.graph)
        self.by_kills = self.kill_moves and self.kills.covers
        self.full = (1 << len(self.graph)) - 1

    def run(self) -> None:
        """Search until proven, out of time, or out of states."""
        start = self.walker.start
        self.lower_bound = max(self.floor, self.graph.level(0))
        frontier = self.kills.start() if self.by_kills else ()
        heap = [(self.lower_bound, 0, 0, 0, start, frontier)]
        serial = 0
        best: dict[int, int] = {0: self.lower_bound}
        closed: set[int] = set()
        while heap:
            peak, _, _, done, level, frontier = heapq.heappop(heap)
            if peak >= self.ceiling:
                break
            if done in closed:
                continue
            self.lower_bound = peak  # every path of a lower peak has been exhausted
            closed.add(done)
            self.states += 1
            if self._stop():
                return
            frontier = self.kills.advance(frontier, done)
            branches = self._expand(done, level, peak, frontier)
            while len(branches) == 1 and branches[0][0] <= peak:  # the one way on costs nothing
                _, move, last, level = branches[0]
                child = done | move
                if child in closed:
                    branches = []
                    break
                self._from[child] = (done, move, last)  # no path to it is lower than this one
                closed.add(child)
                done = child
                frontier = self.kills.advance(frontier, done)
                branches = self._expand(done, level, peak, frontier)
            if done == self.full:
                self.order = self._path()
                self.exhausted = True
                return
            for step, move, last, after in branches:
                child = done | move
                reached = max(step, peak)
                if reached >= self.ceiling or child in closed:
                    continue
                if reached < best.get(child, self.ceiling):
                    best[child] = reached
                    self._from[child] = (done, move, last)
                    serial += 1
                    entry = (reached, -child.bit_count(), serial, child, after, frontier)
                    heapq.heappush(heap, entry)
        self.exhausted = True
        self.lower_bound = self.ceiling

    def _stop(self) -> bool:
        if self.states > self.max_states:
            return True
        return (
            self.deadline is not None and self.states % 64 == 0 and time.monotonic() > self.deadline
        )

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
    incumbent's, and `lower_bound` says that nothing is below the ceiling.
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
    search = Search(numbered, bound, top, deadline, max_states, kill_moves, commits)
    search.run()
    if search.order is not None:
        best = tuple(old[v] for v in search.order)
        peak = profile(graph, best).peak
    proof = "search" if search.exhausted else "none"
    return Schedule(best, peak, min(search.lower_bound, peak), proof, search.states)
