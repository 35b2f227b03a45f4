"""Best-first search over ideals on the peak, from one end of the graph (theory.md: T1, kill-moves).

States are executed sets as bit masks, taken in order of the peak of their best path, deepest first.
When a state is taken, every path of a lower peak has been exhausted, so its peak H is a proven
lower bound of the optimum, and T1 lets the search commit: to a branch that ends no higher than it
began, above which nothing in between is lower. The first time all operators have run, the peak is
the optimum. Branches are kill-moves (`kill_moves.py`) where their proof covers the graph, single
operators otherwise. Of all paths to an ideal the one of the least peak dominates the others.
"""

import heapq
from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling.kill_moves import Frontier, KillMoves
from memopt.solvers.theory.ideals import Walker, mask_bytes

# (peak, preference, serial number, executed, level, frontier of the ideal before)
Entry = tuple[int, float, int, int, int, Frontier]

# Bytes of a state that is put aside, without its masks: entries of the heap and of two tables.
STATE = 520

# Commits that one state may follow; then it is put aside, so that time limits are seen.
CHAIN = 64


@dataclass(frozen=True)
class Switches:
    """Techniques of a search. All are safe; each can be taken away to see what it is worth."""

    kill_moves: bool = True
    commits: bool = True
    dominance: bool = True
    backward: bool = True  # from the end of the graph as well (search.py)


ALL_ON = Switches()


@dataclass
class Search:
    """One run over a graph numbered topologically.

    `floor` (bytes) is where the peaks that count begin: all lower ones are taken as equal.
    `ceiling` is the peak of a known order; only lower ones are looked for, and it may be lowered
    between two runs, as the floor may be raised. `run` sets `order` if it finds an order below
    `ceiling`: its peak is at most `lower_bound`, and no order has a peak that is both below
    `lower_bound` and not below `floor`. So with a proven `floor` it is optimal. `exhausted` says
    that the search is over. `memory` (bytes) is about what the known states take.
    """

    graph: MemoryGraph
    floor: int
    ceiling: int
    switches: Switches = ALL_ON
    prepared: KillMoves | None = None  # those of `graph`, if they are known
    states: int = 0  # taken; more have been put aside
    memory: int = 0
    exhausted: bool = False
    order: tuple[int, ...] | None = None

    def __post_init__(self) -> None:
        self.walker = Walker(self.graph)
        self.kills = self.prepared or KillMoves(self.graph)
        self.by_kills = self.switches.kill_moves and self.kills.covers
        self.full = (1 << len(self.graph)) - 1
        self.lower_bound = max(self.floor, self.graph.level(0))
        # an operator weighs a third of a mean buffer: neither depth nor level alone decides well
        self.weight = sum(self.graph.sizes) / max(1, len(self.graph)) / 3
        self._heap: list[Entry] = [(self.lower_bound, 0, 0, 0, self.walker.start, ())]
        self._begun = False
        self._deadline: float | None = None
        self._best: dict[int, int] = {0: self.lower_bound}
        self._closed: set[int] = set()
        self._from: dict[int, tuple[int, int, int]] = {}
        self._state = STATE + 2 * mask_bytes(self.graph)
        self.memory = self._state

    @property
    def waiting(self) -> int:
        """States that have been put aside and not been taken."""
        return len(self._heap)

    def again(self, floor: int, ceiling: int) -> "Search":
        """A new search of the same graph between other bounds."""
        return Search(self.graph, floor, ceiling, self.switches, self.kills)

    def forget(self) -> None:
        """Free what is known. The bound stays; the search cannot go on."""
        self._heap, self._best, self._from, self._closed = [], {}, {}, set()
        self.memory = 0

    def raise_floor(self, bound: int) -> None:
        """Take a proven lower bound in bytes from elsewhere: T1 commits to all that stays below."""
        if bound > self.floor:
            self.floor = bound
            self.lower_bound = max(self.lower_bound, bound)
            if self._heap and self._heap[0][0] < bound:
                self._heap = [(max(bound, e[0]), *e[1:]) for e in self._heap]
                heapq.heapify(self._heap)

    def run(
        self, states: int | None = None, deadline: float | None = None, memory: int | None = None
    ) -> None:
        """Search until it is over, `states` more are taken, or time or `memory` bytes are spent."""
        closed = self._closed
        if clock.late(deadline):
            return
        if not self._begun and self.by_kills:  # not before it is needed: it takes long
            self._heap = [(*self._heap[0][:5], self.kills.start())]
        self._begun = True
        self._deadline = deadline
        end = None if states is None else self.states + states
        while self._heap:
            if self.states == end or (memory is not None and self.memory > memory):
                return
            if clock.late(deadline):
                return
            peak, _, _, done, level, frontier = heapq.heappop(self._heap)
            if peak >= self.ceiling:
                break
            if done in closed and self.switches.dominance:
                continue
            self.lower_bound = peak  # every path of a lower peak has been exhausted
            self.states += 1
            if self._follow(peak, done, level, frontier):
                return
        self.exhausted = True
        self.lower_bound = self.ceiling

    def _follow(self, peak: int, done: int, level: int, frontier: Frontier) -> bool:
        """Take one state and what it commits to; put the branches aside. True at the end."""
        closed, best, dominance = self._closed, self._best, self.switches.dominance
        closed.add(done)
        taken = 0
        while True:
            reached_by, frontier = frontier, self.kills.advance(frontier, done)
            try:
                branches = self._expand(done, level, peak, frontier)
            except clock.TimeIsOverError:
                self._put_back(peak, done, level, reached_by)
                return False
            if taken == CHAIN or len(branches) != 1 or branches[0][0] > peak:
                break
            _, move, last, level = branches[0]  # the one way on costs nothing
            child = done | move
            if child not in closed:
                self._from[child] = (done, move, last)  # no path to it is lower than this one
            elif dominance:
                return False
            closed.add(child)
            done = child
            taken += 1
            self.memory += self._state
        if done == self.full:
            self.order = self._path()
            self.exhausted = True
            return True
        self.memory += 8 * len(frontier)
        for step, move, last, after in branches:
            reached = max(step, peak)
            if reached >= self.ceiling:
                continue
            child = done | move
            is_closed, known = child in closed, best.get(child, reached + 1)
            if dominance and (is_closed or reached >= known):
                continue
            if not is_closed and reached < known:
                best[child] = reached
                self._from[child] = (done, move, last)
            self.memory += self._state
            preference = after - child.bit_count() * self.weight
            entry = (reached, preference, len(self._from), child, after, frontier)
            heapq.heappush(self._heap, entry)
        return False

    def _put_back(self, peak: int, done: int, level: int, frontier: Frontier) -> None:
        """A state whose branches were not all looked at when the time was over: it is still to be
        taken, if the search goes on."""
        self._closed.discard(done)
        preference = level - done.bit_count() * self.weight
        heapq.heappush(self._heap, (peak, preference, len(self._from), done, level, frontier))

    def _expand(
        self, done: int, level: int, limit: int, frontier: Frontier
    ) -> list[tuple[int, int, int, int]]:
        """(peak, operators, last operator or -1, level after) per branch; one alone if T1 commits.

        T1 (theory.md): a branch that stays within `limit`, ends no higher than `level`, and has
        no ideal in between below its end loses nothing: in between a minimal one only allocates.
        Raises TimeIsOverError: of 5,000 operators one state may take seconds.
        """
        result: list[tuple[int, int, int, int]] = []
        for index, (move, last, minimal) in enumerate(self._moves(done, frontier)):
            if not index % 16:
                clock.raise_if_late(self._deadline)
            if last < 0:
                step, after = self.walker.run_all(done, level, move)
            else:
                before = move & ~(1 << last)
                step, after = self.walker.run_all(done, level, before)
                top, after = self.walker.run_all(done | before, after, 1 << last)
                step = max(step, top)
            branch = (step, move, last, after)
            if self.switches.commits and minimal and self.may_commit(step, after, level, limit):
                return [branch]
            result.append(branch)
        return result

    def may_commit(self, step: int, after: int, level: int, limit: int) -> bool:
        """The two side conditions of T1 for a branch above whose start nothing in between is."""
        return step <= limit and after <= level

    def _moves(self, done: int, frontier: Frontier) -> list[tuple[int, int, bool]]:
        if self.by_kills and (done or not self.graph.unread_inputs):
            return self.kills.moves(done, frontier, self._deadline)
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
