"""Other orders of a bounded peak, near a given one, for whoever looks for a better arena.

Single operators move to another legal place. Moves that keep the peak within the limit and leave
no more bytes near it are kept: the fewer steps are close to the peak, the easier the placement.
"""

from collections.abc import Iterator, Sequence
from random import Random

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, profile

KEPT = 8  # kept moves between two orders that are given: closer ones are placed alike


def reorderings(
    graph: MemoryGraph,
    order: Sequence[int],
    limit: int,
    moves: int | None = None,
    deadline: float | None = None,
) -> Iterator[tuple[int, ...]]:
    """Orders with a peak of at most `limit` bytes, each a few moves from the one before.

    `order` must have such a peak itself. Ends after `moves` tried moves and at
    `deadline` (`clock.now`, looked at before every move: there may be no order to give, ever);
    with neither, never. Deterministic but for the deadline.
    """
    if len(graph) < 2:
        return
    random = Random(0)
    current = list(order)
    crowd = _crowd(profile(graph, current).steps, limit)
    accepted, tried = 0, 0
    while (moves is None or tried < moves) and not clock.late(deadline):
        tried += 1
        candidate = _moved(graph, current, random)
        if candidate is None:
            continue
        candidate_profile = profile(graph, candidate)
        if candidate_profile.peak > limit:
            continue
        new = _crowd(candidate_profile.steps, limit)
        if new > crowd:
            continue
        accepted += 1
        current = candidate
        if new < crowd or accepted % KEPT == 0:
            crowd = new
            yield tuple(current)


def _crowd(steps: Sequence[int], limit: int) -> int:
    """Byte-steps in the upper eighth below the limit."""
    floor = limit - limit // 8
    return sum(max(0, s - floor) for s in steps)


def _moved(graph: MemoryGraph, order: list[int], random: Random) -> list[int] | None:
    """`order` with one operator elsewhere between its predecessors and successors, if it can."""
    at = random.randrange(len(order))
    v = order[at]
    before, after = graph.predecessor_masks[v], set(graph.successors[v])
    first = at
    while first and not before >> order[first - 1] & 1:
        first -= 1
    last = at
    while last + 1 < len(order) and order[last + 1] not in after:
        last += 1
    if first == last:
        return None
    to = random.randrange(first, last)
    to += to >= at
    rest = order[:at] + order[at + 1 :]
    return [*rest[:to], v, *rest[to:]]
