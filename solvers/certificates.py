"""Certificates: what proves to anyone that no order of a graph has a peak below a bound.

Two kinds. `flow` is T6 (theory.md section 3): for one operator a flow for every way it may run in
place, and one for none. `search` is a set of executed sets that no way below the bound leaves: from
each of them all moves reach the bound or another one of the set, or T1 commits to one of them. It
is found here by a plain exhaustive pass below the bound over the graph as it is, so it says nothing
of how the bound was found; nothing that a solver claims is taken over.

`checker.py` checks both, alone and without this file. Format and proofs: docs/certificates.md.
"""

import hashlib
import json
import time
from collections.abc import Sequence
from functools import cached_property
from typing import Any

from memopt.solvers.bounds import flow_bound
from memopt.solvers.ideals import Walker, renumber
from memopt.solvers.network import Network
from memopt.solvers.network import certificate as flows_of
from memopt.solvers.problem import MemoryGraph, ProblemError, bits, check_order, profile
from memopt.solvers.scheduling.kills import Frontier, Kills

MAX_BYTES = 50_000_000  # a larger certificate is not written


class NoCertificateError(ProblemError):
    """The bound may be right, but there is no certificate of it, or only one that is too large."""


def graph_dict(graph: MemoryGraph) -> dict[str, Any]:
    """The memory graph as JSON: operators and groups by index, sizes in bytes, not rounded."""
    return {
        "alignment": graph.alignment,
        "names": list(graph.names),
        "predecessors": [sorted(set(ps)) for ps in graph.predecessors],
        "groups": [
            {
                "name": g.name,
                "size": g.size,
                "writers": sorted(set(g.writers)),
                "readers": sorted(set(g.readers)),
                "is_input": g.is_input,
                "is_output": g.is_output,
            }
            for g in graph.groups
        ],
        "workspace": list(graph.workspace),
        "inplace": [[c.operator, c.result, c.operand] for c in graph.inplace],
    }


def digest(graph: MemoryGraph) -> str:
    """SHA-256 of the graph's JSON, keys sorted, without white space."""
    text = json.dumps(graph_dict(graph), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()


def certificate(
    graph: MemoryGraph,
    order: Sequence[int],
    lower_bound: int,
    time_limit: float | None = None,
    max_bytes: int = MAX_BYTES,
) -> dict[str, Any]:
    """The certificate that `order` has its peak and that none is below `lower_bound` bytes.

    Raises NoCertificateError if the bound is wrong, or if the search needs more than `time_limit`
    seconds or its certificate more than `max_bytes`; ProblemError for an order that is none.
    """
    check_order(graph, order)
    proof = flow_proof(graph, order, lower_bound) or search_proof(
        graph, lower_bound, time_limit, max_bytes
    )
    return {
        "format": "memopt certificate 1",
        "sha256": digest(graph),
        "graph": graph_dict(graph),
        "order": list(order),
        "peak": profile(graph, order).peak,
        "lower_bound": lower_bound,
        "proof": proof,
    }


def certificate_text(found: dict[str, Any], max_bytes: int = MAX_BYTES) -> str:
    """The certificate as a file. Raises NoCertificateError above `max_bytes`."""
    text = json.dumps(found, separators=(",", ":")) + "\n"
    if len(text) > max_bytes:
        raise NoCertificateError(f"the certificate of {len(text):,} bytes is not written")
    return text


# -- flow ---------------------------------------------------------------------------------------


def flow_proof(graph: MemoryGraph, order: Sequence[int], lower_bound: int) -> dict[str, Any] | None:
    """The flows of an operator that prove `lower_bound` by T6; None if T6 does not reach it."""
    operator = _tight_operator(graph, order, lower_bound)
    if operator is None:
        return None
    cuts = flows_of(graph, operator)
    if min(c.value for c in cuts) < lower_bound:
        return None
    flows = [
        {
            "operand": None if c.candidate is None else c.candidate.operand,
            "flow": [list(arc) for arc in c.flow],
        }
        for c in cuts
    ]
    return {"kind": "flow", "operator": operator, "flows": flows}


def _tight_operator(graph: MemoryGraph, order: Sequence[int], lower_bound: int) -> int | None:
    """An operator whose own tensors, or whose flow, may reach `lower_bound`."""
    bound = flow_bound(graph, [order])
    if bound.value < lower_bound:
        return None
    if bound.operator is not None:
        return bound.operator

    def touched(v: int) -> int:
        saved = max((graph.sizes[c.result] for c in graph.candidates[v]), default=0)
        return sum(graph.sizes[g] for g in graph.touches[v]) + graph.extra[v] - saved

    best = max(range(len(graph)), key=touched, default=None)
    return best if best is not None and touched(best) >= lower_bound else None


# -- search -------------------------------------------------------------------------------------


def search_proof(
    graph: MemoryGraph, lower_bound: int, time_limit: float | None, max_bytes: int
) -> dict[str, Any]:
    """The closed set of all ideals that moves below `lower_bound` reach, T1 commits applied."""
    numbered, old = renumber(graph)
    closure = Closure(numbered, lower_bound)
    full = (1 << len(graph)) - 1
    deadline = None if time_limit is None else time.monotonic() + time_limit
    leaps = Leaps(closure)
    states: list[list[int]] = []
    commits: list[list[Any]] = []
    index = {0: 0}
    waiting = [(0, closure.walker.start, closure.frontier)]
    written = 0
    if graph.level(0) >= lower_bound:
        waiting = []
    while waiting:
        done, level, frontier = waiting.pop()
        if len(states) % 64 == 0 and deadline is not None and time.monotonic() > deadline:
            raise NoCertificateError(f"no certificate within {time_limit} s")
        moves, commit, frontier = closure.moves(done, level, frontier)
        leap = None if commit else leaps.find(done, level, frontier, len(moves))
        if leap:
            moves, flow = leap
            arcs = [[_old(tail, old), _old(head, old), amount] for tail, head, amount in flow]
            commits.append([index[done], [old[v] for v in moves[0][0]], arcs])
            written += 18 * len(flow)
        elif commit:
            commits.append([index[done], [old[v] for v in moves[0][0]]])
            written += 12 + 5 * len(moves[0][0])
        for operators, after in moves:
            child = done | sum(1 << v for v in operators)
            if child == full:
                raise NoCertificateError(f"an order below {lower_bound} B exists: no bound")
            if child not in index:
                index[child] = len(index)
                states.append([index[done], *(old[v] for v in operators)])
                waiting.append((child, after, frontier))
                written += 12 + 5 * len(operators)
        if written > max_bytes:
            raise NoCertificateError(
                f"a search certificate would exceed {max_bytes / 1e6:.0f} MB: "
                f"{len(states):,} states and more"
            )
    return {"kind": "search", "states": states, "commits": commits}


class Closure:
    """The moves of the checker, found faster: kill-moves, or single operators where those fail."""

    def __init__(self, graph: MemoryGraph, bound: int) -> None:
        self.graph, self.bound = graph, bound
        self.walker, self.kills = Walker(graph), Kills(graph)
        self.by_kills = min(graph.extra, default=0) >= 0
        self.frontier: Frontier = self.kills.start() if self.by_kills else ()

    def moves(
        self, done: int, level: int, frontier: Frontier
    ) -> tuple[list[tuple[list[int], int]], bool, Frontier]:
        """(operators in order, level after) per move below the bound, and whether it is a commit.

        A commit is one move that only allocates before its last operator and ends no higher than
        it began: nothing between is lower than its end (T1).
        """
        unread = bool(self.graph.unread_inputs) and not done
        if self.by_kills:
            frontier = self.kills.advance(frontier, done)
        if self.by_kills and not unread:
            found = self.kills.moves(done, frontier)
        else:
            found = [
                (1 << v, -1, True)
                for v, before in enumerate(self.graph.predecessor_masks)
                if not done >> v & 1 and not before & ~done
            ]
        result: list[tuple[list[int], int]] = []
        for move, last, minimal in found:
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


def _old(node: int, old: Sequence[int]) -> int:
    """A node of the renumbered network as the graph numbers it; only operators have moved."""
    return old[node] if node < len(old) else node


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
    ) -> tuple[list[tuple[list[int], int]], list[tuple[int, int, int]]] | None:
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
