"""Where to look for modules: sets of operators that fusion may try, smallest first.

Nothing here decides whether a set may be fused. All sets are cheap to list: the two ends of an
edge, operators between the same neighbours, and what lies between a fork and the join that closes
it. What is larger is found again after the small ones have been contracted.
"""

from collections import Counter
from collections.abc import Iterator

from memopt.solvers.problems.memory_graph import MemoryGraph


def candidates(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """Masks of 2 to `largest` operators, without repetition; `graph` is numbered topologically.

    `up` and `down` are the ancestors and descendants of each operator.
    """
    found: dict[int, None] = {}
    for v, p in adjacent(graph, up, down):
        found[1 << p | 1 << v] = None
    found.update(dict.fromkeys(_siblings(up, down, largest)))
    found.update(dict.fromkeys(_regions(graph, up, down, largest)))
    return sorted((m for m in found if m.bit_count() <= largest), key=int.bit_count)


def adjacent(graph: MemoryGraph, up: list[int], down: list[int]) -> Iterator[tuple[int, int]]:
    """(operator, predecessor) where each is next to the other for all others: what is before the
    first is all that is before the second, and the other way round."""
    above, below = list(map(int.bit_count, up)), list(map(int.bit_count, down))
    for v, before in enumerate(graph.predecessors):
        for p in sorted(set(before)):  # p and its ancestors are some of v's
            if above[v] == above[p] + 1 and below[p] == below[v] + 1:
                yield v, p


def _siblings(up: list[int], down: list[int], largest: int) -> list[int]:
    """Operators with the same ancestors and the same descendants: all of them, and each pair."""
    counts = list(zip(map(int.bit_count, up), map(int.bit_count, down), strict=True))
    often = Counter(counts)  # hashing the masks themselves takes longer
    alike: dict[tuple[int, int], list[int]] = {}
    for v, sides in enumerate(zip(up, down, strict=True)):
        if often[counts[v]] > 1:
            alike.setdefault(sides, []).append(v)
    result: list[int] = []
    for vs in alike.values():
        if 1 < len(vs) <= largest:
            result.append(sum(1 << v for v in vs))
        if 1 < len(vs) <= 6:
            result += [1 << a | 1 << b for a in vs for b in vs if a < b]
    return result


def _regions(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """What lies between a fork and the join that closes it, with and without the two."""
    result: list[int] = []
    ends = list(_closing(graph.successors, reverse=True)) + [
        (w, u) for u, w in _closing(graph.predecessors, reverse=False)
    ]
    for u, w in dict.fromkeys(ends):
        inner = down[u] & up[w]
        if 0 < inner.bit_count() <= largest:
            result += [inner | 1 << u, inner | 1 << w, inner | 1 << u | 1 << w]
            if inner.bit_count() > 1:
                result.append(inner)
    return result + _open_regions(graph, up, down, largest)


def _open_regions(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """Regions whose fork is a graph input, or whose join is the end of the graph: all before, and
    all after, an operator. So a module is found as well when it is looked at alone."""
    result: list[int] = []
    for v in range(len(up)):
        if len(graph.predecessors[v]) > 1 and up[v].bit_count() <= largest:
            result += [up[v], up[v] | 1 << v]
        if len(graph.successors[v]) > 1 and down[v].bit_count() <= largest:
            result += [down[v], down[v] | 1 << v]
    return [region for region in result if region.bit_count() > 1]


def _closing(neighbours: tuple[tuple[int, ...], ...], *, reverse: bool) -> list[tuple[int, int]]:
    """(operator, nearest operator that every path from it along `neighbours` meets)."""
    order = range(len(neighbours))
    every: list[int] = [0] * len(neighbours)
    result: list[tuple[int, int]] = []
    for v in reversed(order) if reverse else order:
        common = ~0 if neighbours[v] else 0
        for s in neighbours[v]:
            common &= every[s]
        every[v] = common | 1 << v
        if common:
            nearest = common & -common if reverse else common
            result.append((v, nearest.bit_length() - 1))
    return result
