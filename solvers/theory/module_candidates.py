"""Where to look for modules: sets of operators that fusion may try, smallest first.

Nothing here decides whether a set may be fused. All sets are cheap to list: the two ends of an
edge, operators between the same neighbours, and what lies between a fork and the join that closes
it. What is larger is found again after the small ones have been contracted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph, mask_of

# Sets of operators as masks, each with its number of operators: to count a mask takes long.
Counted = dict[int, int]


def candidates(
    graph: MemoryGraph, up: list[int], down: list[int], largest: int
) -> list[tuple[int, int]]:
    """Masks of 2 to `largest` operators with their number, smallest first, without repetition.

    `graph` is numbered topologically; `up` and `down` are the ancestors and descendants of each
    operator. What is `adjacent` comes first, and is for whoever asks to add.
    """
    above, below = list(map(int.bit_count, up)), list(map(int.bit_count, down))
    found: Counted = {}
    _add_siblings(found, graph, (up, down), (above, below), largest)
    _add_regions(found, graph, up, down, largest)
    _add_open_regions(found, graph, (up, down), (above, below), largest)
    return smallest_first(found)


def smallest_first(found: Counted) -> list[tuple[int, int]]:
    """Masks with their numbers of operators; of as many in their order."""
    return sorted(found.items(), key=lambda item: item[1])


def adjacent(graph: MemoryGraph, up: list[int], down: list[int]) -> Iterator[tuple[int, int]]:
    """(operator, predecessor) where each is next to the other for all others: what is before the
    first is all that is before the second, and the other way round.

    Whatever else the second needs is then before the first, so it has a lower number.
    """
    for v, before in enumerate(graph.predecessors):
        if not before:
            continue
        p = max(before)
        after = graph.successors[p]  # ascending
        if (
            after[0] == v
            and (len(before) == 1 or all(up[p] >> q & 1 for q in before if q != p))
            and (len(after) == 1 or all(down[v] >> s & 1 for s in after[1:]))
        ):
            yield v, p


def _add_siblings(
    found: Counted,
    graph: MemoryGraph,
    sides: tuple[list[int], list[int]],
    counts: tuple[list[int], list[int]],
    largest: int,
) -> None:
    """Operators with the same ancestors and the same descendants: all of them, and each pair."""
    # equal masks have equal counts and ends, the next of which are neighbours; to hash the masks
    # themselves takes longer
    ends = zip(graph.predecessors, graph.successors, strict=True)
    keys = [
        (u, d, max(before, default=-1), after[0] if after else -1)
        for u, d, (before, after) in zip(*counts, ends, strict=True)
    ]
    often = Counter(keys)
    alike: dict[tuple[int, int], list[int]] = {}
    for v, key in enumerate(keys):
        if often[key] > 1:
            alike.setdefault((sides[0][v], sides[1][v]), []).append(v)
    for vs in alike.values():
        if 1 < len(vs) <= largest:
            found.setdefault(mask_of(vs), len(vs))
        if 1 < len(vs) <= 6:
            found.update((1 << a | 1 << b, 2) for a in vs for b in vs if a < b)


def _add_regions(
    found: Counted, graph: MemoryGraph, up: list[int], down: list[int], largest: int
) -> None:
    """What lies between a fork and the join that closes it, with and without the two."""
    count = len(graph)
    ends = list(_closing(graph.successors, range(count - 1, -1, -1))) + [
        (w, u) for u, w in _closing(graph.predecessors, range(count))
    ]
    for u, w in dict.fromkeys(ends):
        inner = down[u] & up[w]
        size = inner.bit_count()
        if 0 < size < largest:
            found.setdefault(inner | 1 << u, size + 1)
            found.setdefault(inner | 1 << w, size + 1)
            if size + 2 <= largest:
                found.setdefault(inner | 1 << u | 1 << w, size + 2)
        if 1 < size <= largest:
            found.setdefault(inner, size)


def _add_open_regions(
    found: Counted,
    graph: MemoryGraph,
    sides: tuple[list[int], list[int]],
    counts: tuple[list[int], list[int]],
    largest: int,
) -> None:
    """Regions whose fork is a graph input, or whose join is the end of the graph: all before, and
    all after, an operator. So a module is found as well when it is looked at alone."""
    directions = tuple(zip((graph.predecessors, graph.successors), sides, counts, strict=True))
    for v in range(len(graph)):
        for neighbours, masks, numbers in directions:
            count = numbers[v]
            if count <= largest and len(neighbours[v]) > 1:
                if count > 1:
                    found.setdefault(masks[v], count)
                if count < largest:
                    found.setdefault(masks[v] | 1 << v, count + 1)


def _closing(
    neighbours: Sequence[tuple[int, ...]], order: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """(operator, nearest operator that every path from it along `neighbours` meets), for operators
    with several neighbours: between one and its only neighbour is nothing.

    The nearest ones form a tree, in which that of an operator is where its neighbours' ways to the
    root meet. A way takes steps and jumps, as long as each other's at the same depth, so that it
    takes time logarithmic in its length (Myers 1983). `order` has neighbours first.
    """
    root = len(neighbours)
    nearest, jump, depth = [root] * (root + 1), [root] * (root + 1), [0] * (root + 1)
    for v in order:
        at = root
        for i, other in enumerate(neighbours[v]):
            if i == 0:
                at = other
            elif at != other:
                if depth[at] < depth[other]:
                    at, other = other, at
                while depth[at] > depth[other]:
                    at = jump[at] if depth[jump[at]] >= depth[other] else nearest[at]
                while at != other:
                    far = jump[at] != jump[other]
                    at, other = (jump[at], jump[other]) if far else (nearest[at], nearest[other])
        nearest[v], depth[v] = at, depth[at] + 1
        over = jump[at]
        alike = depth[at] - depth[over] == depth[over] - depth[jump[over]]
        jump[v] = jump[over] if alike else at
        if at != root and len(neighbours[v]) > 1:
            yield v, at
