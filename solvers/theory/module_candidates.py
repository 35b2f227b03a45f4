"""Where to look for modules: sets of operators that fusion may try, smallest first.

Nothing here decides whether a set may be fused. All sets are cheap to list: the two ends of an
edge, operators between the same neighbours, and what lies between a fork and the join that closes
it. What is larger is found again after the small ones have been contracted.
"""

from collections import Counter
from collections.abc import Iterator, Sequence

from memopt.solvers.problems.memory_graph import MemoryGraph, mask_of


def candidates(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """Masks of 2 to `largest` operators, smallest first, without repetition.

    `graph` is numbered topologically; `up` and `down` are the ancestors and descendants of each
    operator. What is `adjacent` comes first, and is for whoever asks to add.
    """
    found = dict.fromkeys(_siblings(graph, up, down, largest))
    found.update(dict.fromkeys(_regions(graph, up, down, largest)))
    return sorted((m for m in found if m.bit_count() <= largest), key=int.bit_count)


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


def _siblings(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """Operators with the same ancestors and the same descendants: all of them, and each pair."""
    # equal masks have equal counts and ends, the next of which are neighbours; to hash the masks
    # themselves takes longer
    keys = [
        (u.bit_count(), d.bit_count(), max(before, default=-1), after[0] if after else -1)
        for u, d, before, after in zip(up, down, graph.predecessors, graph.successors, strict=True)
    ]
    often = Counter(keys)
    alike: dict[tuple[int, int], list[int]] = {}
    for v, key in enumerate(keys):
        if often[key] > 1:
            alike.setdefault((up[v], down[v]), []).append(v)
    result: list[int] = []
    for vs in alike.values():
        if 1 < len(vs) <= largest:
            result.append(mask_of(vs))
        if 1 < len(vs) <= 6:
            result += [1 << a | 1 << b for a in vs for b in vs if a < b]
    return result


def _regions(graph: MemoryGraph, up: list[int], down: list[int], largest: int) -> list[int]:
    """What lies between a fork and the join that closes it, with and without the two."""
    result: list[int] = []
    count = len(graph)
    ends = list(_closing(graph.successors, range(count - 1, -1, -1))) + [
        (w, u) for u, w in _closing(graph.predecessors, range(count))
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
