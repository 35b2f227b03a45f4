"""One min-cut of T6, over the operators that are neither before v nor after it.

Same answer as the whole network (`network.py`), but every ancestor of v is already on the source
side and every descendant on the sink side, so only the groups that the remaining operators touch
are nodes. In a deep network of 10,000 operators that is a few dozen instead of all.
"""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from itertools import chain
from typing import TYPE_CHECKING, Any

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, bits
from memopt.solvers.theory.ideals import ancestors, descendants

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Vector = npt.NDArray[np.int64]
    Bits = npt.NDArray[np.bool_]


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
    def _table(self) -> "_Table":
        return _Table(self.graph)

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

    def level(self, done: int) -> int:
        """t(D) in bytes of a non-empty ideal, as `MemoryGraph.level`."""
        table, run = self._table, self._table.members(done)
        begun, open_ = table.inputs.copy(), table.outputs.copy()
        begun[table.write_groups[run[table.writers]]] = True
        open_[table.touch_groups[~run[table.touchers]]] = True
        return int(table.sizes[begun & open_].sum())

    def _least(
        self, run: int, never: int, results: set[int], constant: int
    ) -> tuple[int, int] | None:
        """Least level with `run` executed, `never` not, and `results` resident, + constant."""
        import numpy as np

        table = self._table
        has_run, never_runs = table.members(run), table.members(never)
        free = ~(has_run | never_runs)
        begun, held = table.inputs.copy(), table.outputs.copy()
        begun[[*results]] = True
        begun[table.write_groups[has_run[table.writers]]] = True
        held[table.touch_groups[never_runs[table.touchers]]] = True
        constant += int(table.sizes[begun & held].sum())
        # what can be begun, and what can go on, by operators that are free
        may_begin, may_go_on = begun.copy(), held.copy()
        may_begin[table.write_groups[free[table.writers]]] = True
        may_go_on[table.touch_groups[free[table.touchers]]] = True
        counted = may_begin & may_go_on & ~(begun & held) & (table.sizes > 0)
        if not counted.any():
            return constant, run
        operators = np.flatnonzero(free)
        node = np.cumsum(free) - 1
        source, sink = len(operators), len(operators) + 1
        into, out = np.full(len(counted), source), np.full(len(counted), sink)
        written, touched = counted & ~begun, counted & ~held
        into[written] = sink + np.arange(1, written.sum() + 1)
        out[touched] = sink + written.sum() + np.arange(1, touched.sum() + 1)
        writes = written[table.write_groups] & free[table.writers]
        touches = touched[table.touch_groups] & free[table.touchers]
        follows = free[table.followers] & free[table.predecessors]
        tails = (
            node[table.writers[writes]],
            out[table.touch_groups[touches]],
            node[table.followers[follows]],
            into[counted],
        )
        heads = (
            into[table.write_groups[writes]],
            node[table.touchers[touches]],
            node[table.predecessors[follows]],
            out[counted],
        )
        infinite = np.full(sum(map(len, tails[:-1])), sum(self.graph.sizes) + 1)
        capacities = np.concatenate([infinite, table.sizes[counted]])
        if self.max_arcs is not None and len(capacities) > self.max_arcs:
            raise TooLargeError
        ends = np.concatenate(tails), np.concatenate(heads)
        value, side = _min_cut(*ends, capacities, source, sink)
        executed = np.zeros(len(free), bool)
        executed[operators[side[side < source]]] = True
        mask = int.from_bytes(np.packbits(executed, bitorder="little").tobytes(), "little")
        return value + constant, run | mask


def _min_cut(
    tails: "Vector", heads: "Vector", capacities: "Vector", source: int, sink: int
) -> "tuple[int, Vector]":
    """Value and source side of a min-cut: the least side, whatever the order of the arcs."""
    import numpy as np

    # a compiled module without type stubs, 64 bit throughout
    solver: Any = import_module("ortools.graph.python.max_flow").SimpleMaxFlow()
    solver.add_arcs_with_capacity(tails.astype(np.int32), heads.astype(np.int32), capacities)
    status = solver.solve(source, sink)
    if status != solver.OPTIMAL:
        raise OverflowError(f"max-flow ended with status {status}")
    return int(solver.optimal_flow()), np.array(solver.get_source_side_min_cut())


class _Table:
    """A graph as arrays: of groups their sizes and ends, of what each operator writes, touches and
    follows a row each."""

    def __init__(self, graph: MemoryGraph) -> None:
        import numpy as np

        self.sizes = np.array(graph.sizes, np.int64)
        self.inputs = np.array([g.is_input for g in graph.groups], bool)
        self.outputs = np.array([g.is_output for g in graph.groups], bool)
        self.writers, self.write_groups = _rows([set(g.writers) for g in graph.groups])
        self.touchers, self.touch_groups = _rows(graph.touchers)
        self.predecessors, self.followers = _rows(graph.predecessors)
        self._bytes = (len(graph) + 7) // 8
        self._count = len(graph)

    def members(self, mask: int) -> "Bits":
        """Return for each operator whether it is in the mask."""
        import numpy as np

        packed = np.frombuffer(mask.to_bytes(self._bytes, "little"), np.uint8)
        return np.unpackbits(packed, count=self._count, bitorder="little").view(bool)


def _rows(found: Sequence[Collection[int]]) -> "tuple[Vector, Vector]":
    """(operator, place) of all that are found at each place."""
    import numpy as np

    counts = np.array([len(operators) for operators in found], np.int64)
    flat = np.fromiter(chain.from_iterable(found), np.int64, int(counts.sum()))
    return flat, np.repeat(np.arange(len(found)), counts)
