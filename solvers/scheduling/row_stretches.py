"""An order for operators in rows: one stretch of operators after the other, in each rows on demand.

Between two stretches tensors are whole; inside one a row is computed when a row of the last
operator needs it. A shortest path over the places between two operators finds the stretches whose
peak is least. Long chains need it: one stretch of all of them keeps rows of every operator, and a
search that begins at an order of twice the bytes does not come down to it.

The graph says nothing of operators: steps that follow each other, each after the one before, are
taken for the rows of one.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from memopt.solvers.problems.memory_graph import MemoryGraph, profile

MOST = 400  # operators: the path looks at the square of them


@dataclass(frozen=True)
class _Stretch:
    """Steps in an order, and the most bytes up to them."""

    peak: int
    order: tuple[int, ...] = ()
    before: "_Stretch | None" = None


def order(graph: MemoryGraph, below: int) -> tuple[int, ...] | None:
    """Return the order; None where no such order has a peak `below` so many bytes, where steps are
    not given in an order, or operators are not in rows or are too many."""
    starts = _operators(graph)
    if not 1 < len(starts) <= min(MOST, len(graph) // 2):
        return None
    source = range(len(graph))
    if any(p > v for v in source for p in graph.predecessors[v]):
        return None
    levels = profile(graph, source).levels
    ends = [*starts[1:], len(graph)]
    best: dict[int, _Stretch] = {0: _Stretch(0)}
    for k, end in enumerate(ends):
        if end < len(graph) and levels[end] >= below:
            continue
        roots: list[range] = []
        known: _Stretch | None = None
        for start, stop in zip(reversed(starts[: k + 1]), reversed(ends[: k + 1]), strict=True):
            roots.append(range(start, stop))
            before = best.get(start)
            if before is None or (known and before.peak >= known.peak):
                continue
            steps = tuple(_on_demand(graph, roots, start))
            peak = max(before.peak, _peak(graph, steps, start, end, levels[start]))
            if peak < (known.peak if known else below):
                known = _Stretch(peak, steps, before)
        if known:
            best[end] = known
    stretches: list[tuple[int, ...]] = []
    at = best.get(len(graph))
    while at:
        stretches.append(at.order)
        at = at.before
    return tuple(v for steps in reversed(stretches) for v in steps) or None


def _operators(graph: MemoryGraph) -> list[int]:
    """Return the first step of each operator."""
    return [v for v, before in enumerate(graph.predecessors) if v - 1 not in before]


def _on_demand(graph: MemoryGraph, roots: Sequence[range], start: int) -> Iterator[int]:
    """Yield the steps of `roots` and those from `start` on that they need, depth first."""
    seen: set[int] = set()
    for root in (v for steps in roots for v in steps):
        waiting = [] if root in seen else [(root, iter(graph.predecessors[root]))]
        seen.add(root)
        while waiting:
            v, rest = waiting[-1]
            p = next((p for p in rest if p >= start and p not in seen), None)
            if p is None:
                yield v
                waiting.pop()
            else:
                seen.add(p)
                waiting.append((p, iter(graph.predecessors[p])))


def _peak(graph: MemoryGraph, steps: Sequence[int], start: int, end: int, level: int) -> int:
    """Return the peak of the steps from `start` to `end` in an order, behind all before, which
    leave `level` bytes."""
    sizes, touchers = graph.sizes, graph.touchers
    touched = {g for v in steps for g in graph.touches[v]}
    written = {g for g in touched if touchers[g][0] < start or graph.groups[g].is_input}
    remaining = {
        g: -1
        if graph.groups[g].is_output or touchers[g][-1] >= end
        else sum(v >= start for v in touchers[g])
        for g in touched
    }
    peak = level
    for v in steps:
        fresh = [g for g in graph.writes[v] if g not in written]
        written.update(fresh)
        for g in graph.touches[v]:
            remaining[g] -= 1
        taken = next((c.result for c in graph.candidates[v] if not remaining[c.operand]), None)
        over = 0 if taken is None else sizes[taken]
        level += sum(sizes[g] for g in fresh)
        peak = max(peak, level + graph.extra[v] - over)
        level -= sum(sizes[g] for g in graph.touches[v] if not remaining[g])
    return peak
