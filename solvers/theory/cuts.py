"""One min-cut of T6, over the operators that are neither before v nor after it.

Same answer as the whole network (`network.py`), but every ancestor of v is already on the source
side and every descendant on the sink side, so only the groups that the remaining operators touch
are nodes. In a deep network of 10,000 operators that is a few dozen instead of all.
"""

from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from typing import Any

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, bits
from memopt.solvers.theory.ideals import ancestors, descendants


class TooLargeError(Exception):
    """A cut needs more arcs than its caller is ready to wait for."""


@dataclass
class Cuts:
    """Least steps of single operators; ancestors and descendants are found once.

    A max-flow cannot be interrupted: one of more than `max_arcs` arcs raises TooLargeError instead.
    The limit may be changed between two of them.
    """

    graph: MemoryGraph
    max_arcs: int | None = None

    @cached_property
    def up(self) -> list[int]:
        return ancestors(self.graph)

    @cached_property
    def down(self) -> list[int]:
        return descendants(self.graph)

    def least_step(self, operator: int, candidate: InPlace | None) -> tuple[int, int] | None:
        """(bytes, ideal) of the least t(D) + c(D, operator) over the ideals D at which it is ready.

        With a candidate: at which its operand dies; None if there is no such ideal. Without: as if
        nothing were taken over. Unread inputs are left out.
        """
        graph = self.graph
        never = self.down[operator] | 1 << operator
        run = self.up[operator]
        results = set(graph.writes[operator])
        if candidate is not None:
            others = graph.toucher_masks[candidate.operand] & ~(1 << operator)
            if others & never:
                return None
            for u in bits(others):
                run |= self.up[u] | 1 << u
            results.discard(candidate.result)
        return self._least(run, never, results, graph.extra[operator])

    def _least(
        self, run: int, never: int, results: set[int], constant: int
    ) -> tuple[int, int] | None:
        """Least level with `run` executed, `never` not, and `results` resident, + constant."""
        graph = self.graph
        # by operator, not by mask: the groups are many, and each has few operators
        has_run, never_runs = set(bits(run)), set(bits(never))
        free = [v for v in range(len(graph)) if v not in has_run and v not in never_runs]
        node = {v: i for i, v in enumerate(free)}
        arcs: list[tuple[int, int, int]] = []
        infinite = sum(graph.sizes) + 1
        source, sink = len(node), len(node) + 1
        nodes = len(node) + 2
        for g, (group, touchers, size) in enumerate(
            zip(graph.groups, graph.touchers, graph.sizes, strict=True)
        ):
            if not size:
                continue
            begun = group.is_input or g in results or not has_run.isdisjoint(group.writers)
            held = group.is_output or not never_runs.isdisjoint(touchers)
            if begun and held:
                constant += size
                continue
            to_write = () if begun else [v for v in sorted(set(group.writers)) if v in node]
            to_touch = () if held else [v for v in touchers if v in node]
            if not (begun or to_write) or not (held or to_touch):
                continue  # it cannot be resident, or everything that touches it has run
            into, out = source, sink
            if not begun:
                into, nodes = nodes, nodes + 1
                arcs += [(node[w], into, infinite) for w in to_write]
            if not held:
                out, nodes = nodes, nodes + 1
                arcs += [(out, node[u], infinite) for u in to_touch]
            arcs.append((into, out, size))
        if not arcs:
            return constant, run
        for v, i in node.items():
            arcs += [(i, node[p], infinite) for p in graph.predecessors[v] if p in node]
        if self.max_arcs is not None and len(arcs) > self.max_arcs:
            raise TooLargeError
        value, side = _min_cut(arcs, source, sink)
        mask = run
        for v, i in node.items():
            if i in side:
                mask |= 1 << v
        return value + constant, mask


def _min_cut(arcs: list[tuple[int, int, int]], source: int, sink: int) -> tuple[int, set[int]]:
    """Value and source side of a min-cut."""
    import numpy as np

    table = np.array(arcs, dtype=np.int64)
    # a compiled module without type stubs, 64 bit throughout
    solver: Any = import_module("ortools.graph.python.max_flow").SimpleMaxFlow()
    solver.add_arcs_with_capacity(
        table[:, 0].astype(np.int32), table[:, 1].astype(np.int32), table[:, 2]
    )
    status = solver.solve(source, sink)
    if status != solver.OPTIMAL:
        raise OverflowError(f"max-flow ended with status {status}")
    return int(solver.optimal_flow()), {int(x) for x in solver.get_source_side_min_cut()}
