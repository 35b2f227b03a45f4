"""Planar embedding, for loads that do not change: nothing may be free, so the packing is a puzzle.

While the load stays at its maximum, an arena of that size has no free byte. So what ends at a step
leaves holes that are filled to the byte by what starts there. Make a node of every such step and an
edge, from start to end, of every item: a perfect packing is a drawing of this graph in the plane
(time to the right, addresses upwards), and every plane embedding with source and sink outside is a
perfect packing, since at every node the bytes in and out are equal. Planarity is linear in the
items (Hopcroft and Tarjan 1974; here by networkx), where search takes forever.

Chains and bundles are contracted first (an item and its successor of equal size; two items of equal
live range): what is left has no parallel edges. Holes that open at one step are taken as one, and
if that is not planar, as the smallest sets of equal bytes. Only the longest time at maximum load is
packed in this way; what lives outside it is placed around by size. Planted packings are of this
kind; most networks are not (their load has one short peak), and are refused.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import combinations
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement.address_space import address_space
from memopt.solvers.placement.methods.greedy_by_size import by_size
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem

PER_SECOND = 5_000  # items; an embedding cannot be interrupted
MEMBERS = 12  # of a step's ends and starts: more are not split into smaller sets
Holes = list[tuple[tuple[int, ...], tuple[int, ...]]]  # (what ends, what starts) in one hole


@dataclass(frozen=True)
class Bar:
    """Item `index` within the time that is packed: steps [lower, upper), bytes."""

    index: int
    lower: int
    upper: int
    size: int


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`time_limit` is not used. Raises ProblemError where the method does not apply."""
    answer = attempt(problem, problem.items)
    if isinstance(answer, str):
        raise ProblemError(f"planar: {answer}")
    return answer


def attempt(
    problem: PlacementProblem, items: tuple[Item, ...], deadline: float | None = None
) -> Placement | str:
    """The placement, or why there is none; `deadline` leaves out what may take longer."""
    if clock.late(clock.sooner(deadline, len(items) / PER_SECOND)):
        return "there is no time for it"
    if any(i.fixed is not None or len(i.pieces) > 1 or i.in_parts for i in items):
        return "fixed offsets and heights that change are not packed in this way"
    if not any(i.pieces for i in items):
        return placement_of(problem, items, [0] * len(items))
    start, end = longest_peak(items)
    bars = [
        Bar(i.index, max(i.lower, start), min(i.upper, end), i.size)
        for i in items
        if i.pieces and i.lower < end and i.upper > start
    ]
    if len({b.lower for b in bars}) < 2:
        return "the load is at its maximum for one set of buffers only"
    for smallest in (False, True):
        graph = _graph(bars, smallest)
        offsets = graph and _embedded(graph)
        if offsets:
            return _completed(problem, items, offsets)
    return "the longest time at maximum load is no plane graph, or not found to be one"


def longest_peak(items: Iterable[Item]) -> tuple[int, int]:
    """Steps [start, end) at maximum load: of several such times the one in which most starts."""
    change: dict[int, list[int]] = {}
    for i in items:
        for p in i.pieces:
            change.setdefault(p.lower, [0, 0])[0] += p.size
            change.setdefault(p.upper, [0, 0])[0] -= p.size
            change[p.lower][1] += 1
    steps, level, highest = sorted(change), 0, 0
    levels: list[int] = []
    for step in steps:
        level += change[step][0]
        levels.append(level)
        highest = max(highest, level)
    best, start, count = (0, 0, 0), -1, 0
    for at, step in enumerate(steps):
        if levels[at] == highest:
            if start < 0:
                start, count = step, 0
            count += change[step][1]
            best = max(best, (count, -start, steps[min(at + 1, len(steps) - 1)]))
        else:
            start = -1
    return -best[1], best[2]


@dataclass
class _Graph:
    """Nodes 0 (source) to `sink`, ascending in time; edges between them, bars or contracted."""

    sink: int
    ends: list[tuple[int, int]]
    sizes: list[int]
    parts: dict[int, tuple[bool, int, int]]  # contracted edge: side by side, first, second
    bars: list[Bar]


def _graph(bars: list[Bar], smallest: bool) -> _Graph | None:
    """One node per hole; None where ends and starts differ in bytes."""
    starting: dict[int, list[int]] = {}
    ending: dict[int, list[int]] = {}
    for k, b in enumerate(bars):
        starting.setdefault(b.lower, []).append(k)
        ending.setdefault(b.upper, []).append(k)
    steps = sorted({*starting, *ending})
    tail, head, node = [0] * len(bars), [0] * len(bars), 0
    for step in steps[1:]:
        ended, started = ending.get(step, []), starting.get(step, [])
        if step == steps[-1]:
            holes: Holes = [(tuple(ended), ())]
        elif sum(bars[k].size for k in ended) != sum(bars[k].size for k in started):
            return None
        else:
            holes = list(_holes(bars, ended, started, smallest))
        for enders, right in holes:
            node += 1
            for k in enders:
                head[k] = node
            for k in right:
                tail[k] = node
    ends = list(zip(tail, head, strict=True))
    return _Graph(node, ends, [b.size for b in bars], {}, bars)


def _holes(
    bars: list[Bar], ended: Sequence[int], started: Sequence[int], smallest: bool
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All as one hole, or again and again the smallest sets of equal bytes."""
    enders, right = tuple(ended), tuple(started)
    while smallest and enders and len(enders) + len(right) <= MEMBERS:
        by_bytes: dict[int, tuple[int, ...]] = {}
        for chosen in _subsets(enders):
            by_bytes.setdefault(sum(bars[k].size for k in chosen), chosen)
        pairs = (
            (by_bytes[total], chosen)
            for chosen in _subsets(right)
            if (total := sum(bars[k].size for k in chosen)) in by_bytes
        )
        hole = min(pairs, key=lambda p: (len(p[0]) + len(p[1]), p))
        yield hole
        enders = tuple(k for k in enders if k not in hole[0])
        right = tuple(k for k in right if k not in hole[1])
    if enders:
        yield enders, right


def _subsets(members: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    for count in range(1, len(members) + 1):
        yield from combinations(members, count)


def _contracted(graph: _Graph) -> dict[tuple[int, int], int]:
    """Contract chains and bundles as long as there are any; the edges left, by their nodes."""
    into: list[set[int]] = [set() for _ in range(graph.sink + 1)]
    out: list[set[int]] = [set() for _ in range(graph.sink + 1)]
    for k, (a, b) in enumerate(graph.ends):
        out[a].add(k)
        into[b].add(k)
    edges: dict[tuple[int, int], int] = {}
    waiting = list(range(len(graph.ends) - 1, -1, -1))

    def drop(k: int) -> None:
        a, b = graph.ends[k]
        out[a].discard(k)
        into[b].discard(k)
        if edges.get((a, b)) == k:
            del edges[a, b]

    def join(beside: bool, first: int, second: int) -> None:
        drop(first)
        drop(second)
        new = len(graph.ends)
        ends = graph.ends[first][0], graph.ends[second][1]
        graph.ends.append(ends)
        graph.sizes.append(graph.sizes[first] + (graph.sizes[second] if beside else 0))
        graph.parts[new] = beside, first, second
        out[ends[0]].add(new)
        into[ends[1]].add(new)
        waiting.append(new)

    while waiting:
        k = waiting.pop()
        a, b = graph.ends[k]
        if k not in out[a]:
            continue
        other = edges.get((a, b))
        if other is not None and other != k:
            join(True, other, k)
            continue
        edges[a, b] = k
        for node in (a, b):
            if len(into[node]) == len(out[node]) == 1:
                join(False, next(iter(into[node])), next(iter(out[node])))
                break
    return edges


def _embedded(graph: _Graph) -> dict[int, int] | None:
    """Offset per item; None if the graph is not planar."""
    edges = _contracted(graph)
    clockwise = _clockwise(edges, graph.sink)
    if clockwise is None:
        return None
    offsets: dict[int, int] = {}
    for node in range(graph.sink):
        around = clockwise.get(node)
        if around is None:
            continue
        if node == 0:  # the arc from source to sink is outside: above all
            cut = around.index(graph.sink)
            after, base = around[cut + 1 :] + around[: cut + 1], 0
        else:
            first = next(i for i, w in enumerate(around) if w < node and around[i - 1] > node)
            turned = around[first:] + around[:first]
            after = [w for w in turned if w > node]
            base = min(offsets[edges[w, node]] for w in turned if w < node)
        for w in reversed(after):  # clockwise on the right side is downwards
            if (node, w) in edges:
                offsets[edges[node, w]] = base
                base += graph.sizes[edges[node, w]]
    for k in sorted(graph.parts, reverse=True):
        beside, first, second = graph.parts[k]
        offsets[first] = offsets[k]
        offsets[second] = offsets[k] + (graph.sizes[first] if beside else 0)
    return {b.index: offsets[k] for k, b in enumerate(graph.bars)}


def _clockwise(edges: Iterable[tuple[int, int]], sink: int) -> dict[int, list[int]] | None:
    """The neighbours of each node as they lie around it in the plane, with an edge from source to
    sink; None if the graph is not planar."""
    edges = dict.fromkeys([*edges, (0, sink)])  # in their order
    if len(edges) == 1:  # of chains and bundles alone, as many are: networkx takes 0.1 s to load
        return {0: [sink], sink: [0]}
    networkx: Any = import_module("networkx")
    planar, embedding = networkx.check_planarity(networkx.Graph(list(edges)))
    return (
        {node: list(embedding.neighbors_cw_order(node)) for node in embedding} if planar else None
    )


def _completed(
    problem: PlacementProblem, items: tuple[Item, ...], offsets: dict[int, int]
) -> Placement | str:
    """With what lives outside the packed time, largest first."""
    if any(offsets.get(i.index, 0) % i.alignment for i in items):
        return "the embedding breaks an alignment"
    if len(offsets) == len(items):
        return placement_of(problem, items, [offsets[i.index] for i in items])
    space = address_space(items)
    for item in items:
        if item.index in offsets:
            space.put(item, offsets[item.index])
    for item in by_size(items):
        if item.index not in offsets:
            space.put(item, space.first_fit(item) if item.pieces else 0)
    return placement_of(problem, items, space.offsets)
