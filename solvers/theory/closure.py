"""Closed sets of ideals: the `search` kind of certificate (docs/concepts/certificates.md).

A plain exhaustive pass below the bound over the graph as it is, so it says nothing of how the bound
was found. It goes from both ends by turns, where the graph can be read from its end
(`reversal.py`), and keeps the way that is through first: on some networks one of them needs fifty
times the states of the other.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import NoCertificateError
from memopt.solvers.problems.memory_graph import MemoryGraph, bits
from memopt.solvers.scheduling.kill_moves import Frontier, KillMoves
from memopt.solvers.theory.ideals import Walker, renumber
from memopt.solvers.theory.network import Network
from memopt.solvers.theory.reversal import backward, reversible

TURN = 1_000  # states that each direction takes in its first turn; each turn has twice as many

Move = tuple[list[int], int]  # operators in order, level after them in bytes


def search_proof(
    graph: MemoryGraph, lower_bound: int, time_limit: float | None, max_bytes: int
) -> dict[str, Any]:
    """The closed set of all ideals that moves below `lower_bound` reach, T1 commits applied.

    Raises NoCertificateError if the end is reached, or if time or size is spent in all directions.
    """
    deadline = clock.deadline(time_limit)
    numbered, old = renumber(graph)
    ways = [Way(numbered, lower_bound, old)]
    if not graph.inplace and min(graph.extra, default=0) >= 0 and reversible(numbered):
        ways.append(Way(backward(numbered), lower_bound, old[::-1], True))
    turn = TURN
    while True:
        for way in list(ways):
            if way.run(turn, deadline, max_bytes):
                return way.proof()
            if clock.late(deadline):
                raise NoCertificateError(f"no certificate within {time_limit} s")
            if way.written > max_bytes:
                ways.remove(way)
            if not ways:
                raise NoCertificateError(
                    f"a search certificate would exceed {max_bytes / 1e6:.0f} MB: "
                    f"{len(way.states):,} states and more"
                )
        turn *= 2


@dataclass
class Way:
    """The search from one end of `graph`, which is numbered topologically.

    `old` are the operators of the certificate's graph. `written` is about the bytes of the proof.
    """

    graph: MemoryGraph
    bound: int
    old: Sequence[int]
    backward: bool = False
    states: list[list[int]] = field(default_factory=list[list[int]])
    commits: list[list[Any]] = field(default_factory=list[list[Any]])
    written: int = 0

    def __post_init__(self) -> None:
        self._closure = Closure(self.graph, self.bound)
        self._leaps = Leaps(self._closure)
        self._index = {0: 0}
        self._waiting: list[tuple[int, int, Frontier]] = []  # executed, level, frontier before
        if self.graph.level(0) < self.bound:
            self._waiting.append((0, self._closure.walker.start, self._closure.frontier))

    def proof(self) -> dict[str, Any]:
        """Return the certificate's proof, once `run` is through."""
        facts: dict[str, Any] = {"kind": "search", "states": self.states, "commits": self.commits}
        return facts | {"backward": True} if self.backward else facts

    def run(self, states: int, deadline: float | None, max_bytes: int) -> bool:
        """Take up to `states` ideals; whether the set is closed. Raises NoCertificateError."""
        full, waiting = (1 << len(self.graph)) - 1, self._waiting
        for count in range(states):
            if not waiting or self.written > max_bytes:
                break
            if count % 64 == 0 and clock.late(deadline):
                break
            done, level, frontier = waiting.pop()
            moves, frontier = self._moves(done, level, frontier)
            for operators, after in moves:
                child = done | sum(1 << v for v in operators)
                if child == full:
                    raise NoCertificateError(f"an order below {self.bound} B exists: no bound")
                if child not in self._index:
                    self._index[child] = len(self._index)
                    self.states.append([self._index[done], *(self.old[v] for v in operators)])
                    waiting.append((child, after, frontier))
                    self.written += 12 + 5 * len(operators)
        return not waiting

    def _moves(self, done: int, level: int, frontier: Frontier) -> tuple[list[Move], Frontier]:
        """The moves to follow from an ideal: all, or the one that T1 commits to, noted as such."""
        moves, commit, frontier = self._closure.moves(done, level, frontier)
        leap = None if commit else self._leaps.find(done, level, frontier, len(moves))
        if leap is not None:
            moves, flow = leap
            arcs = [[self._node(tail), self._node(head), amount] for tail, head, amount in flow]
            self.commits.append([self._index[done], [self.old[v] for v in moves[0][0]], arcs])
            self.written += 18 * len(flow)
        elif commit:
            self.commits.append([self._index[done], [self.old[v] for v in moves[0][0]]])
            self.written += 12 + 5 * len(moves[0][0])
        return moves, frontier

    def _node(self, node: int) -> int:
        """A node of the network as the certificate's graph numbers it: only operators differ."""
        return self.old[node] if node < len(self.old) else node


class Closure:
    """The moves of the checker, found faster: kill-moves, or single operators where those fail."""

    def __init__(self, graph: MemoryGraph, bound: int) -> None:
        self.graph, self.bound = graph, bound
        self.walker, self.kills = Walker(graph), KillMoves(graph)
        self.by_kills = min(graph.extra, default=0) >= 0
        self.frontier: Frontier = self.kills.start() if self.by_kills else ()

    def moves(self, done: int, level: int, frontier: Frontier) -> tuple[list[Move], bool, Frontier]:
        """(operators in order, level after) per move below the bound, and whether it is a commit.

        A commit is one move that only allocates before its last operator and ends no higher than
        it began: nothing between is lower than its end (T1).
        """
        unread = bool(self.graph.unread_inputs) and not done
        if self.by_kills:
            frontier = self.kills.advance(frontier, done)
        if self.by_kills and not unread:
            moves = self.kills.moves(done, frontier)
        else:
            moves = [
                (1 << v, -1, True)
                for v, before in enumerate(self.graph.predecessor_masks)
                if not done >> v & 1 and not before & ~done
            ]
        result: list[Move] = []
        for move, last, minimal in moves:
            order = list(bits(move if last < 0 else move & ~(1 << last)))
            order += [last] if last >= 0 else []
            step, after = self._run(done, level, order)
            if step < self.bound:
                if minimal and after <= level and not unread:
                    return [(order, after)], True, frontier
                result.append((order, after))
        return result, False, frontier

    def _run(self, done: int, level: int, order: Sequence[int]) -> tuple[int, int]:
        peak = 0
        for v in order:
            step, level = self.walker.run(done, level, v)
            done |= 1 << v
            peak = max(peak, step)
        return peak, level


# Flows that one search spends on leaps, and the moves that each leap may take.
FLOWS = 1_000
LONGEST = 12


class Leaps:
    """T1 commits over several moves: down to a level no higher than now, with the flow that shows
    that no ideal in between is lower than their end. They halve the states, or better."""

    def __init__(self, closure: Closure) -> None:
        self.closure, self.left = closure, FLOWS

    @cached_property
    def network(self) -> Network:
        return Network(self.closure.graph)

    def find(
        self, done: int, level: int, frontier: Frontier, ways: int
    ) -> tuple[list[Move], list[tuple[int, int, int]]] | None:
        """The leap as one move, and its flow; None if the greedy way down leads to none."""
        closure = self.closure
        if ways < 2 or not self.left or (closure.graph.unread_inputs and not done):
            return None
        at, height, order = done, level, list[int]()
        for _ in range(LONGEST):
            moves, _, frontier = closure.moves(at, height, frontier)
            if not moves:
                return None
            operators, height = min(moves, key=lambda m: m[1])
            order += operators
            at |= sum(1 << v for v in operators)
            if at == (1 << len(closure.graph)) - 1:
                return None
            if height <= level:
                break
        else:
            return None
        self.left -= 1
        value, flow = level_flow(self.network, done, at)
        return ([(order, height)], flow) if value == height else None


def level_flow(network: Network, done: int, after: int) -> tuple[int, list[tuple[int, int, int]]]:
    """The least level of the ideals from `done` to `after`, in bytes, and a flow of that value.

    Flow arcs are (tail, head, bytes) as in `network.Cut`.
    """
    import numpy as np

    count, solver = len(network.graph), network.solver
    ties = [network.tie_operator[v] for v in bits(done)]
    ties += [network.tie_sink[v] for v in range(count) if not after >> v & 1]
    for arc in ties:
        solver.set_arc_capacity(arc, network.infinite)
    solver.solve(network.source, network.sink)
    value = int(solver.optimal_flow())
    flows = np.asarray(solver.flows(np.arange(len(network.ends), dtype=np.int32)))
    used = [(*network.ends[arc], int(flows[arc])) for arc in np.flatnonzero(flows).tolist()]
    for arc in ties:
        solver.set_arc_capacity(arc, 0)
    return value, used
