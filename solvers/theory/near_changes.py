"""Search for modules around the nodes that contractions changed.

A set that holds none of the new nodes was there before, and is what it was. So a round takes time
of what changed, not of the graph; `module_candidates` lists the same sets in the same order.
"""

import heapq
from collections.abc import Collection, Iterable, Mapping, Sequence

from memopt.solvers.theory.contraction import Changes, Contraction
from memopt.solvers.theory.module_candidates import (
    Counted,
    add_open_regions,
    add_regions,
    add_siblings,
    next_after,
    next_before,
    smallest_first,
)


def adjacent_near(graph: Contraction, changed: Iterable[int]) -> list[tuple[int, int]]:
    """Return `module_candidates.adjacent` with one of the changed nodes."""
    predecessor_of: dict[int, int] = {}
    for v in changed:
        before, after = next_before(graph, v), next_after(graph, v)
        if before is not None:
            predecessor_of[v] = before
        if after is not None:
            predecessor_of[after] = v
    return [(v, predecessor_of[v]) for v in graph.in_order(predecessor_of)]


def candidates_near(graph: Contraction, changes: Changes, largest: int) -> list[tuple[int, int]]:
    """Return the `module_candidates.candidates` that hold, or end at, one of the changed nodes."""
    changed, counted = changes.nodes, Counted()
    add_siblings(counted, graph, filter(None, changes.alike), largest)
    forks, joins = set[int](), set[int]()
    for v in changed:
        forks |= _within(graph, v, forward=False, largest=largest)
        joins |= _within(graph, v, forward=True, largest=largest)
    above, below = graph.in_order(forks)[::-1], graph.in_order(joins)
    ends = _closing_near(graph, above, graph.successors, 1, largest)
    ends += [(u, w) for w, u in _closing_near(graph, below, graph.predecessors, -1, largest)]
    new = sum(map(graph.mask, changed))
    near = [(u, w) for u, w in ends if new & _from_to(graph, u, w)]
    add_regions(counted, graph, near, largest)
    open_ends = _few(graph, changed, graph.successors, graph.sides.up, largest)
    open_ends |= _few(graph, changed, graph.predecessors, graph.sides.down, largest)
    add_open_regions(counted, graph, graph.in_order(open_ends), largest)
    return smallest_first(counted)


def runs_near(graph: Contraction, changed: Iterable[int], largest: int) -> list[tuple[int, int]]:
    """Return the longest sequences of 3 to `largest` nodes with one of the changed nodes, in which
    each is next after the one before for all others, with their number."""
    counted = Counted()
    for v in changed:
        run = [v]
        while len(run) <= largest and (p := next_before(graph, run[0])) is not None:
            run.insert(0, p)
        while len(run) <= largest and (n := next_after(graph, run[-1])) is not None:
            run.append(n)
        if 2 < len(run) <= largest:
            counted.add(sum(map(graph.mask, run)), len(run))
    return counted.listed()


def _from_to(graph: Contraction, u: int, w: int) -> int:
    """Return the mask of two nodes and all in between."""
    return graph.sides.down[u] & graph.sides.up[w] | graph.mask(u) | graph.mask(w)


def _within(graph: Contraction, v: int, *, forward: bool, largest: int) -> set[int]:
    """Return `v`, and the nodes after (or before) it with at most `largest` nodes in between."""
    neighbours = graph.successors if forward else graph.predecessors
    back, ahead = (
        (graph.sides.up, graph.sides.down) if forward else (graph.sides.down, graph.sides.up)
    )
    inside, seen, waiting = {v}, {v}, [v]
    while waiting:
        for u in neighbours[waiting.pop()]:
            if u not in seen:
                seen.add(u)
                if graph.count(back[u] & ahead[v]) <= largest:
                    inside.add(u)
                    waiting.append(u)
    return inside


def _closing_near(
    graph: Contraction,
    nodes: Iterable[int],
    neighbours: Sequence[Collection[int]],
    sign: int,
    largest: int,
) -> list[tuple[int, int]]:
    """Return (node, nearest node that every path from it along `neighbours` meets), for nodes with
    several neighbours, where that is at most `largest` steps away. `nodes` have neighbours
    first."""
    closing: dict[int, int | None] = {}
    for v in nodes:
        if len(neighbours[v]) > 1:
            closing[v] = _meeting(graph, v, neighbours, closing, sign, largest)
    return [(v, at) for v, at in closing.items() if at is not None]


def _meeting(
    graph: Contraction,
    first: int,
    neighbours: Sequence[Collection[int]],
    closing: Mapping[int, int | None],
    sign: int,
    largest: int,
) -> int | None:
    """Return the nearest node that every path from the first meets: the only one that is left of
    those whose turn it is, when they are followed in the order of all."""
    place = graph.place
    seen = set(neighbours[first])
    heap = [(sign * place[v][0], sign * place[v][1], v) for v in seen]
    heapq.heapify(heap)
    for _ in range(largest + 1):
        v = heapq.heappop(heap)[2]
        if not heap:
            return v
        if v in closing:  # its paths meet there, so what is in between need not be followed
            at = closing[v]
            following: Collection[int] = () if at is None else (at,)
        else:
            following = neighbours[v]
        if not following or len(heap) > largest:
            return None
        for n in following:
            if n not in seen:
                seen.add(n)
                heapq.heappush(heap, (sign * place[n][0], sign * place[n][1], n))
    return None


def _few(
    graph: Contraction,
    changed: Iterable[int],
    neighbours: Sequence[Collection[int]],
    masks: Sequence[int],
    largest: int,
) -> set[int]:
    """Return the changed nodes, and those after them along `neighbours`, that have no more than
    `largest` nodes before them, which `masks` says."""
    waiting = [v for v in changed if graph.count(masks[v]) <= largest]
    near = set(waiting)
    while waiting:
        for v in neighbours[waiting.pop()]:
            if v not in near and graph.count(masks[v]) <= largest:
                near.add(v)
                waiting.append(v)
    return near
