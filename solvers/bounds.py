"""Lower bounds on the peak of every order: the trivial ones and the min-cut bound T6.

T6 (theory.md section 3): whatever the order, operator v runs at some ideal D at which it is ready,
so no peak is below `min over such D of t(D) + c(D, v)`, and that minimum is one s-t min-cut. The
network has a node per operator and two per storage group:

    source -> in(g) -> out(g)      bytes of g on the second arc; the first for graph inputs only
    w -> in(g)                     unbounded, for each writer w
    out(g) -> u                    unbounded, for each reader or writer u
    out(g) -> sink                 unbounded, for groups that are held to the end
    v -> p                         unbounded, for each predecessor p of v

Source side = executed. For the cut of v its predecessors are tied to the source, v itself to the
sink, and in(g) of what v writes to the source, so that its results are paid for whether they are
resident before v or not. The maximum flow is the certificate (`Cut.flow`): anyone can check that it
is a flow in that network.

In place (theory.md T6): once for every candidate operand x, with all other touchers of x tied to
the source and the result not paid, and once without; the least counts.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from memopt.solvers.ideals import ancestors, descendants
from memopt.solvers.problem import InPlace, MemoryGraph, Schedule, profile


def trivial(graph: MemoryGraph) -> int:
    """Bytes that every order needs, without a flow, in time linear in the graph.

    The level at the start, the cheapest first step, and what each operator touches at once.
    """
    best = graph.level(0)
    sources = [v for v in range(len(graph)) if not graph.predecessors[v]]
    if sources:
        best = max(best, min(best + graph.cost(0, v) for v in sources))
    for v in range(len(graph)):
        touched = sum(graph.sizes[g] for g in graph.touches[v]) + graph.extra[v]
        saved = max((graph.sizes[c.result] for c in graph.candidates[v]), default=0)
        best = max(best, touched - saved)
    return best


@dataclass(frozen=True)
class Cut:
    """One min-cut of T6: `value` bytes = the flow out of the source + `constant` (workspace).

    `flow` lists (tail, head, bytes) of the arcs that carry any, with operators 0..n-1,
    in(g) = n + 2g, out(g) = n + 2g + 1, source = n + 2G, sink = n + 2G + 1.
    `ideal` is the mask of executed operators on the source side: t(ideal) + c = value.
    """

    operator: int
    candidate: InPlace | None
    value: int
    constant: int
    ideal: int
    flow: tuple[tuple[int, int, int], ...]


@dataclass(frozen=True)
class Bound:
    """`value` bytes bound every peak from below; `cuts` prove it, or nothing does beyond `trivial`.

    `cuts` holds one cut per in-place candidate of the operator and the one without; the least of
    their values is `value`. `flows` counts the max-flows computed.
    """

    value: int
    cuts: tuple[Cut, ...]
    flows: int


class Network:
    """The arcs of T6, built once; between two cuts only the terminals change."""

    def __init__(self, graph: MemoryGraph) -> None:
        import numpy as np

        self.graph = graph
        n, groups = len(graph), len(graph.groups)
        self.source, self.sink = n + 2 * groups, n + 2 * groups + 1
        self.infinite = sum(graph.sizes) + 1  # more than any finite cut
        arcs: list[tuple[int, int, int]] = []
        for v, ps in enumerate(graph.predecessors):
            arcs += [(v, p, self.infinite) for p in sorted(set(ps))]
        for g, group in enumerate(graph.groups):
            into, out = n + 2 * g, n + 2 * g + 1
            arcs.append((into, out, graph.sizes[g]))
            arcs += [(w, into, self.infinite) for w in sorted(set(group.writers))]
            touchers = sorted({*group.writers, *group.readers})
            arcs += [(out, u, self.infinite) for u in touchers]
            if group.is_output:
                arcs.append((out, self.sink, self.infinite))
        fixed = len(arcs)
        self.tie_operator = range(fixed, fixed + n)
        self.tie_group = range(fixed + n, fixed + n + groups)
        self.tie_sink = range(fixed + n + groups, fixed + 2 * n + groups)
        arcs += [(self.source, v, 0) for v in range(n)]
        arcs += [
            (self.source, n + 2 * g, self.infinite if graph.groups[g].is_input else 0)
            for g in range(groups)
        ]
        arcs += [(v, self.sink, 0) for v in range(n)]
        self.ends = [(t, h) for t, h, _ in arcs]
        table = np.array(arcs, dtype=np.int64).reshape(-1, 3)
        # a compiled module without type stubs, 64 bit throughout
        self.solver: Any = import_module("ortools.graph.python.max_flow").SimpleMaxFlow()
        self.solver.add_arcs_with_capacity(
            table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), table[:, 2]
        )

    def cut(self, operator: int, candidate: InPlace | None) -> Cut | None:
        """The least t(D) + c(D, operator) over the ideals at which it can run so; None if none."""
        graph, solver = self.graph, self.solver
        ties = [self.tie_operator[p] for p in set(graph.predecessors[operator])]
        constant = graph.extra[operator]
        ties += [
            self.tie_group[g]
            for g in graph.writes[operator]
            if not graph.groups[g].is_input and (candidate is None or g != candidate.result)
        ]
        if candidate is not None:
            group = graph.groups[candidate.operand]
            others = {*group.writers, *group.readers} - {operator}
            ties += [self.tie_operator[u] for u in others]
        ties.append(self.tie_sink[operator])
        for arc in ties:
            solver.set_arc_capacity(arc, self.infinite)
        status = solver.solve(self.source, self.sink)
        if status != solver.OPTIMAL:
            raise OverflowError(f"max-flow ended with status {status}")
        value = int(solver.optimal_flow())
        result = None
        if value < self.infinite:
            result = self._read(operator, candidate, value, constant)
        for arc in ties:
            solver.set_arc_capacity(arc, 0)
        return result

    def level(self, run: int, not_run: int) -> int | None:
        """The least level in bytes over ideals with operator `run` and without `not_run`."""
        ties = (self.tie_operator[run], self.tie_sink[not_run])
        for arc in ties:
            self.solver.set_arc_capacity(arc, self.infinite)
        self.solver.solve(self.source, self.sink)
        value = int(self.solver.optimal_flow())
        for arc in ties:
            self.solver.set_arc_capacity(arc, 0)
        return value if value < self.infinite else None

    def _read(self, operator: int, candidate: InPlace | None, value: int, constant: int) -> Cut:
        import numpy as np

        flows = np.asarray(self.solver.flows(np.arange(len(self.ends), dtype=np.int32)))
        used = tuple((*self.ends[arc], int(flows[arc])) for arc in np.flatnonzero(flows).tolist())
        ideal = 0
        for node in self.solver.get_source_side_min_cut():
            if node < len(self.graph):
                ideal |= 1 << int(node)
        return Cut(operator, candidate, value + constant, constant, ideal, used)


@dataclass
class FlowBound:
    """T6 with early stop: operators by the least step at which a known order runs them."""

    graph: MemoryGraph
    time_limit: float | None = None
    max_flows: int | None = None

    @cached_property
    def _ancestors(self) -> list[int]:
        return ancestors(self.graph)

    @cached_property
    def _descendants(self) -> list[int]:
        return descendants(self.graph)

    def solve(self, orders: Sequence[Sequence[int]]) -> Bound:
        """The bound, given some orders (at least one).

        A known order runs v at a step that is an upper bound of v's minimum; so does each ideal
        that an earlier cut found, after v's ancestors are added and v's descendants taken out.
        An operator whose upper bound does not exceed the bound so far needs no flow. Stopping at
        `time_limit` seconds or `max_flows` only leaves the bound lower.
        """
        graph = self.graph
        ceiling = [0] * len(graph)
        for k, order in enumerate(orders):
            for v, step in zip(order, profile(graph, order).steps, strict=True):
                ceiling[v] = min(ceiling[v], step) if k else step
        value, cuts, flows = trivial(graph), tuple[Cut, ...](), 0
        best = max(ceiling, default=0)
        if best <= value:
            return Bound(value, (), 0)
        deadline = None if self.time_limit is None else time.monotonic() + self.time_limit
        network = Network(graph)
        found: list[int] = []
        for v in sorted(range(len(graph)), key=lambda v: (-ceiling[v], v)):
            if ceiling[v] <= value:
                break
            if self._low_elsewhere(v, found, value):
                continue
            if deadline is not None and time.monotonic() > deadline:
                break
            if self.max_flows is not None and flows >= self.max_flows:
                break
            tried = [network.cut(v, c) for c in (None, *graph.candidates[v])]
            flows += len(tried)
            mine = tuple(c for c in tried if c is not None)
            least = min(mine, key=lambda c: c.value)
            if least.value > value:
                value, cuts = least.value, mine
            found = [least.ideal, *found[:3]]
        return Bound(value, cuts, flows)

    def _low_elsewhere(self, v: int, found: list[int], value: int) -> bool:
        mine = self._ancestors[v]
        out = ~(self._descendants[v] | 1 << v)
        return any(self.graph.step((ideal | mine) & out, v) <= value for ideal in found)


def flow_bound(
    graph: MemoryGraph,
    orders: Sequence[Sequence[int]],
    time_limit: float | None = None,
    max_flows: int | None = None,
) -> Bound:
    """T6 for `graph`; `orders` (at least one legal order) only decide how soon it may stop."""
    return FlowBound(graph, time_limit, max_flows).solve(orders)


# A heuristic's answer carries a bound, but a bad order must not make it wait for every operator's
# flow: past this many the bound stays what it is, still valid.
HEURISTIC_FLOWS = 50


def bounded(graph: MemoryGraph, order: tuple[int, ...], states: int = 0) -> Schedule:
    """`order` as a schedule with the bound T6. ProblemError if it is not a legal order."""
    peak = profile(graph, order).peak
    bound = flow_bound(graph, [order], max_flows=HEURISTIC_FLOWS)
    return Schedule(order, peak, bound.value, "flow", states)
