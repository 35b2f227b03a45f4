"""In place as a choice: which operand that dies a result lies over, or none.

For the peak the choice is none: a result costs nothing in its step over whatever dies there. But it
lies where its operand lay, and that may be in the way of others later; so it is part of the
question where all lies. A choice is the candidates that are used, at most one of each operator; a
graph that has no others uses just them (`restricted`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, profile

Choice = tuple[InPlace, ...]

_OF_CANDIDATES = ("inplace", "candidates", "profiled", "of_orders", "_is_checked")


def restricted(graph: MemoryGraph, chosen: Choice | None) -> MemoryGraph:
    """The graph with no other candidates than those `chosen`, and what is not ours to choose; None
    stands for the first of each operator whose operand dies."""
    if chosen is None:
        return graph
    pairs = {(c.operator, c.operand) for c in chosen}
    candidates = (c for c in graph.inplace if c.forced or (c.operator, c.operand) in pairs)
    result = replace(graph, inplace=tuple(candidates))
    # all else that is derived of a graph is the same
    vars(result).update((k, v) for k, v in vars(graph).items() if k not in _OF_CANDIDATES)
    return result


def first_choice(graph: MemoryGraph, order: Sequence[int]) -> Choice:
    """Return the candidates that `profile` uses where nothing is chosen."""
    return tuple([c for c in profile(graph, order).inplace if c is not None])


def other_choices(
    graph: MemoryGraph,
    order: Sequence[int],
    chosen: Choice,
    limit: int,
    deadline: float | None = None,
) -> Iterator[Choice]:
    """Yield choices with a peak of at most `limit` bytes that differ from `chosen` at one operator:
    those with another operand first, for they cost nothing. Ends at `deadline`."""
    place = {v: i for i, v in enumerate(order)}
    used = {c.operator: c for c in chosen}
    others: list[tuple[int, InPlace | None]] = []
    for v in order:
        mine = used.get(v)
        if mine is not None and mine.forced:
            continue
        for c in graph.candidates[v]:
            dies = all(place[u] <= place[v] for u in graph.touchers[c.operand])
            if dies and c != mine and graph.sizes[c.result]:
                others.append((v, c))
    others += [(v, None) for v, c in used.items() if not c.forced and graph.sizes[c.result]]
    # another candidate changes the step of its operator by what it saves there, and nothing else
    now = profile(restricted(graph, chosen), order)
    over = {v for v, step in zip(order, now.steps, strict=True) if step > limit}
    for v, c in others:
        if clock.late(deadline):
            return
        saved, before = (graph.sizes[x.result] if x else 0 for x in (c, now.inplace[place[v]]))
        if over <= {v} and max(now.levels[0], now.steps[place[v]] + before - saved) <= limit:
            yield tuple(x for x in chosen if x.operator != v) + ((c,) if c is not None else ())
