"""Where to look for modules: sets of operators that fusion may try, smallest first.

Nothing here decides whether a set may be fused. All sets are cheap to list: the two ends of an
edge, operators between the same neighbours, and what lies between a fork and the join that closes
it. What is larger is found again after the small ones have been contracted: then `near_changes` has
what there is around them.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from itertools import combinations
from operator import itemgetter

from memopt.solvers.problems.masks import key_of
from memopt.solvers.theory.contraction import Contraction


@dataclass
class Counted:
    """Sets of operators as masks, each with its number of nodes: to count a mask takes long."""

    sizes: dict[tuple[int, ...], int] = field(default_factory=dict[tuple[int, ...], int])

    def add(self, members: int, size: int) -> None:
        """Add a set of `size` nodes, unless it is there."""
        self.sizes.setdefault(key_of(members), size)

    def listed(self) -> list[tuple[int, int]]:
        """Return the masks with their numbers of nodes, in the order in which they came."""
        return [(key[-1], size) for key, size in self.sizes.items()]


def candidates(graph: Contraction, largest: int) -> list[tuple[int, int]]:
    """Return masks of 2 to `largest` nodes with their number, smallest first, without repetition.

    What is `adjacent` comes first, and is for whoever asks to add.
    """
    nodes = graph.nodes(graph.alive)
    sizes = Counted()
    add_siblings(sizes, graph, [alike for alike in graph.alike.values() if len(alike) > 1], largest)
    ends = list(_closing(graph.successors, nodes[::-1]))
    ends += [(w, u) for u, w in _closing(graph.predecessors, nodes)]
    add_regions(sizes, graph, ends, largest)
    add_open_regions(sizes, graph, nodes, largest)
    return smallest_first(sizes)


def smallest_first(found: Counted) -> list[tuple[int, int]]:
    """Return masks with their numbers of nodes, smallest first; of as many in their order."""
    return sorted(found.listed(), key=itemgetter(1))


def adjacent(graph: Contraction, nodes: Iterable[int]) -> Iterator[tuple[int, int]]:
    """Yield (node, predecessor), for some nodes, where each is next to the other for all others."""
    for v in nodes:
        p = next_before(graph, v)
        if p is not None:
            yield v, p


def next_before(graph: Contraction, v: int) -> int | None:
    """Return the node after which `v` comes next for all others: what is before the first is all
    that is before the second, and the other way round."""
    before = graph.predecessors[v]
    if not before:
        return None
    p = max(before, key=graph.place.__getitem__) if len(before) > 1 else next(iter(before))
    up, down = graph.sides.up, graph.sides.down
    if up[v] == up[p] | graph.mask(p) and down[p] == down[v] | graph.mask(v):
        return p
    return None


def next_after(graph: Contraction, p: int) -> int | None:
    """Return the node that comes next after `p` for all others."""
    after = graph.successors[p]
    if not after:
        return None
    v = min(after, key=graph.place.__getitem__)
    return v if next_before(graph, v) == p else None


def add_siblings(
    found: Counted, graph: Contraction, classes: Iterable[AbstractSet[int]], largest: int
) -> None:
    """Add the nodes with the same ancestors and the same descendants: all of them, and each
    pair."""
    for vs in sorted(map(graph.in_order, classes), key=lambda vs: graph.place[vs[0]]):
        if 1 < len(vs) <= largest:
            found.add(sum(map(graph.mask, vs)), len(vs))
        if 1 < len(vs) <= 6:
            masks = list(map(graph.mask, vs))
            for a, b in combinations(masks, 2):
                found.add(a | b, 2)


def add_regions(
    found: Counted, graph: Contraction, ends: Iterable[tuple[int, int]], largest: int
) -> None:
    """Add the nodes between a fork and the join that closes it, with and without the two."""
    for u, w in dict.fromkeys(ends):
        inner = graph.sides.down[u] & graph.sides.up[w]
        size = graph.count(inner)
        if 0 < size < largest:
            found.add(inner | graph.mask(u), size + 1)
            found.add(inner | graph.mask(w), size + 1)
            if size + 2 <= largest:
                found.add(inner | graph.mask(u) | graph.mask(w), size + 2)
        if 1 < size <= largest:
            found.add(inner, size)


def add_open_regions(
    found: Counted, graph: Contraction, nodes: Iterable[int], largest: int
) -> None:
    """Regions whose fork is a graph input, or whose join is the end of the graph: all before, and
    all after, a node. So a module is found as well when it is looked at alone."""
    directions = ((graph.predecessors, graph.sides.up), (graph.successors, graph.sides.down))
    for v in nodes:
        for neighbours, masks in directions:
            if len(neighbours[v]) > 1 and (count := graph.count(masks[v])) <= largest:
                if count > 1:
                    found.add(masks[v], count)
                if count < largest:
                    found.add(masks[v] | graph.mask(v), count + 1)


def _closing(
    neighbours: Sequence[Collection[int]], order: Sequence[int]
) -> Iterator[tuple[int, int]]:
    """Yield (node, nearest node that every path from it along `neighbours` meets), for nodes with
    several neighbours: between one and its only neighbour is nothing.

    The nearest ones form a tree, in which that of a node is where its neighbours' ways to the root
    meet. A way takes steps and jumps, as long as each other's at the same depth, so that it takes
    time logarithmic in its length (Myers 1983). `order` has neighbours first.
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
