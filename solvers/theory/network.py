"""The network of T6 as a whole: what its certificates are flows in.

A node per operator and two per storage group:

    source -> in(g) -> out(g)      bytes of g on the second arc; the first for graph inputs only
    w -> in(g)                     unbounded, for each writer w
    out(g) -> u                    unbounded, for each reader or writer u
    out(g) -> sink                 unbounded, for groups that are held to the end
    v -> p                         unbounded, for each predecessor p of v

Source side = executed. For the cut of v its predecessors are tied to the source, v itself to the
sink, and in(g) of what v writes to the source, so that its results are paid for whether they are
resident before v or not. The maximum flow is the certificate (`Cut.flow`): anyone can check that it
is a flow in that network, and its value plus v's workspace bounds the peak of every order.
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Any

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph


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


def certificate(graph: MemoryGraph, operator: int) -> tuple[Cut, ...]:
    """The flows that prove T6 for `operator`: without in-place first, then one per candidate.

    A candidate whose operand is needed after the operator cannot be taken over, and has none.
    """
    network = Network(graph)
    cuts = [network.cut(operator, c) for c in (None, *graph.candidates[operator])]
    return tuple(c for c in cuts if c is not None)
