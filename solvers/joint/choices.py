"""In place as a choice: which operand that dies a result lies over, or none.

For the peak the choice is none: a result costs nothing in its step over whatever dies there. But it
lies where its operand lay, and that may be in the way of others later; so it is part of the
question where all lies. A choice is the candidates that are used, at most one of each operator; a
graph that has no others uses just them (`restricted`).
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, profile

Choice = tuple[InPlace, ...]


def restricted(graph: MemoryGraph, chosen: Choice | None) -> MemoryGraph:
    """The graph with no other candidates than those `chosen`, and what is not ours to choose; None
    stands for the first of each operator whose operand dies."""
    if chosen is None:
        return graph
    kept = {(c.operator, c.operand) for c in chosen}
    found = (c for c in graph.inplace if c.forced or (c.operator, c.operand) in kept)
    return replace(graph, inplace=tuple(found))


def first_choice(graph: MemoryGraph, order: Sequence[int]) -> Choice:
    """What is used where nothing is chosen."""
    return tuple([c for c in profile(graph, order).inplace if c is not None])


def other_choices(
    graph: MemoryGraph, order: Sequence[int], chosen: Choice, limit: int
) -> Iterator[Choice]:
    """Choices with a peak of at most `limit` bytes that differ from `chosen` at one operator: those
    with another operand first, for they cost nothing."""
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
    for v, c in others:
        choice = tuple(x for x in chosen if x.operator != v) + ((c,) if c is not None else ())
        if profile(restricted(graph, choice), order).peak <= limit:
            yield choice
