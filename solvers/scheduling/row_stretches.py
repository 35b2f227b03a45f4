"""An order for operators in rows: one stretch of operators after the other, in each rows on demand.

Between two stretches tensors are whole; inside one a row is computed when a row of the last
operator needs it. A shortest path over the places between two operators finds the stretches whose
peak is least. Long chains need it: one stretch of all of them keeps rows of every operator, and a
search that begins at an order of twice the bytes does not come down to it.

The graph says nothing of operators: steps that follow each other, each after the one before, are
taken for the rows of one.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile

FEWEST_ROWS = 4  # of an operator on average; chains of whole operators are shorter
MOST_OPERATORS = 400  # the path looks at the square of them
MOST_STEPS = 2_000_000  # of all stretches that are looked at, some seconds


@dataclass(frozen=True)
class _Stretch:
    """Steps in an order, and the most bytes up to them."""

    peak: int
    order: tuple[int, ...] = ()
    before: "_Stretch | None" = None


def order(graph: MemoryGraph, below: int, deadline: float | None = None) -> tuple[int, ...] | None:
    """Return the order; None where no such order has a peak `below` so many bytes, where steps are
    not given in an order, or operators have few rows or are too many, and where time is over."""
    starts = _operators(graph)
    if not 1 < len(starts) <= min(MOST_OPERATORS, len(graph) // FEWEST_ROWS):
        return None
    source = range(len(graph))
    if graph.topological != tuple(source):
        return None
    levels = profile(graph, source).levels
    ends = [*starts[1:], len(graph)]
    best: dict[int, _Stretch] = {0: _Stretch(0)}
    steps = 0
    for k, end in enumerate(ends):
        if end < len(graph) and levels[end] >= below:
            continue
        roots: list[range] = []
        known: _Stretch | None = None
        for start, stop in zip(reversed(starts[: k + 1]), reversed(ends[: k + 1]), strict=True):
            roots.append(range(start, stop))
            before, limit = best.get(start), known.peak if known else below
            if before is None or before.peak >= limit:
                continue
            if (steps := steps + end - start) > MOST_STEPS or clock.late(deadline):
                return None
            stretch = _followed(graph, roots, end, levels[start], limit)
            if stretch:
                known = _Stretch(max(before.peak, stretch.peak), stretch.order, before)
        if known:
            best[end] = known
    stretches: list[tuple[int, ...]] = []
    at = best.get(len(graph))
    while at:
        stretches.append(at.order)
        at = at.before
    return tuple(v for stretch in reversed(stretches) for v in stretch) or None


def _operators(graph: MemoryGraph) -> list[int]:
    """Return the first step of each operator."""
    return [v for v, before in enumerate(graph.predecessors) if v - 1 not in before]


def _on_demand(graph: MemoryGraph, roots: Sequence[range]) -> Iterator[int]:
    """Yield the steps of operators, depth first from `roots`, which lists the operators from the
    last one to the first."""
    seen: set[int] = set()
    start = roots[-1].start
    for root in (v for steps in roots for v in steps):
        waiting = [] if root in seen else [(root, iter(graph.predecessors[root]))]
        seen.add(root)
        while waiting:
            v, rest = waiting[-1]
            for p in rest:
                if p >= start and p not in seen:
                    seen.add(p)
                    waiting.append((p, iter(graph.predecessors[p])))
                    break
            else:
                yield v
                waiting.pop()


def _followed(
    graph: MemoryGraph, roots: Sequence[range], end: int, level: int, most: int
) -> _Stretch | None:
    """Return the stretch of the operators in `roots`, behind all before, which leave `level` bytes;
    None if its peak is not below `most`."""
    sizes, touchers, start = graph.sizes, graph.touchers, roots[-1].start
    written: set[int] = set()
    remaining: dict[int, int] = {}
    peak, order = level, list[int]()
    for v in _on_demand(graph, roots):
        fresh = 0
        for g in graph.writes[v]:
            if g not in written:
                written.add(g)
                is_there = touchers[g][0] < start or graph.groups[g].is_input
                fresh += 0 if is_there else sizes[g]
        freed = 0
        for g in graph.touches[v]:
            if g not in remaining:
                is_alive = graph.groups[g].is_output or touchers[g][-1] >= end
                before = bisect_left(touchers[g], start)
                remaining[g] = -1 if is_alive else len(touchers[g]) - before
            remaining[g] -= 1
            freed += 0 if remaining[g] else sizes[g]
        taken = next((c.result for c in graph.candidates[v] if not remaining[c.operand]), None)
        over = 0 if taken is None else sizes[taken]
        peak = max(peak, level + fresh + graph.extra[v] - over)
        if peak >= most:
            return None
        level += fresh - freed
        order.append(v)
    return _Stretch(peak, tuple(order))
