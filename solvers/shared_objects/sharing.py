"""Shared objects: every buffer in one of several separate memories, one buffer at a time in each.

    problem = PlacementProblem((Buffer("a", 4, 0, 2, 0), Buffer("b", 6, 2, 3, 1)))
    answer = Sharing((0, 0), (6,), lower_bound=6)   # a, then b, in an object of 6 B
    answer.verify(problem)

An object is as large as the largest buffer that is ever in it; what counts is the sum of the sizes
(Pisarchyk & Lee, section 4). Buffers of one base (in place) are one: they lie in the same object.
The problem is max-coloring of an interval graph, so NP-hard, and it needs at least as many bytes as
offsets in one arena do; in return no object depends on where another one lies.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.placement import Item, PlacementProblem

NONE = -1  # the object of a buffer without bytes


@dataclass(frozen=True)
class Sharing:
    """`objects` per buffer (NONE for those without bytes), `sizes` per object, in bytes.

    `lower_bound` is proven: no assignment of these live ranges needs fewer bytes.
    """

    objects: tuple[int, ...]
    sizes: tuple[int, ...]
    lower_bound: int

    @property
    def total(self) -> int:
        """Bytes of all objects."""
        return sum(self.sizes)

    @property
    def optimal(self) -> bool:
        return self.total == self.lower_bound

    def verify(self, problem: PlacementProblem) -> None:
        """Raise ProblemError unless every object holds one base at a time and is as large as the
        largest buffer in it. From the buffers alone, not from what solvers derive of them."""
        if len(self.objects) != len(problem.buffers):
            raise ProblemError("one object per buffer is needed")
        inside: list[list[tuple[int, int, int]]] = [[] for _ in self.sizes]
        largest = [0] * len(self.sizes)
        for b, k in zip(problem.buffers, self.objects, strict=True):
            if not (0 <= k < len(self.sizes) or (k == NONE and not b.size)):
                raise ProblemError(f"buffer {b.name!r}: there is no object {k}")
            if k != self.objects[b.base]:
                raise ProblemError(f"buffer {b.name!r} is not where its base is")
            if b.size:
                inside[k].append((b.lower, b.upper, b.base))
                largest[k] = max(largest[k], b.size)
        for k, (size, needed) in enumerate(zip(self.sizes, largest, strict=True)):
            if size != needed:
                raise ProblemError(f"object {k} has {size} B, its largest buffer {needed} B")
        for k, members in enumerate(inside):
            held, until = -1, min((m[0] for m in members), default=0)
            for lower, upper, base in sorted(members):
                if base != held and lower < until:
                    names = " and ".join(repr(problem.buffers[i].name) for i in (held, base))
                    raise ProblemError(f"object {k}: {names} are live together")
                held, until = base, max(until, upper) if base == held else upper
        if self.lower_bound > self.total:
            raise ProblemError(f"bound {self.lower_bound} B above the sum {self.total} B")


def shared_items(problem: PlacementProblem) -> tuple[Item, ...]:
    """The items that need an object: every base with bytes.

    Raises ProblemError for a fixed offset, which means nothing where there is no common arena, and
    for parts that die alone, which are no whole buffer of an object.
    """
    for b in problem.buffers:
        if b.fixed is not None:
            raise ProblemError(
                f"buffer {b.name!r}: shared objects have no offsets, so none can be fixed"
            )
        if b.at:
            raise ProblemError(f"buffer {b.name!r}: a part that dies alone is no shared object")
    return tuple(item for item in problem.items if item.pieces)


def total(items: Sequence[Item], objects: Sequence[int]) -> int:
    """Bytes of all objects."""
    sizes: dict[int, int] = {}
    for item, k in zip(items, objects, strict=True):
        sizes[k] = max(sizes.get(k, 0), item.size)
    return sum(sizes.values())


def spans_of(item: Item) -> tuple[tuple[int, int], ...]:
    """The steps [lower, upper) in which the item has bytes, ascending and apart."""
    if len(item.pieces) == 1:  # as most
        (p,) = item.pieces
        return ((p.lower, p.upper),)
    spans: list[tuple[int, int]] = []
    for p in item.pieces:
        if spans and spans[-1][1] == p.lower:
            spans[-1] = (spans[-1][0], p.upper)
        else:
            spans.append((p.lower, p.upper))
    return tuple(spans)


def events_of(items: Sequence[Item]) -> list[tuple[int, int, int]]:
    """(step, whether it starts, position in `items`) of every span: ascending, ends first."""
    return sorted(
        event
        for i, item in enumerate(items)
        for lower, upper in spans_of(item)
        for event in ((lower, 1, i), (upper, 0, i))
    )


def sharing_of(
    problem: PlacementProblem, items: Sequence[Item], objects: Sequence[int], bound: int
) -> Sharing:
    """The answer in terms of buffers; `objects` has one entry per item. Objects are numbered by
    falling size, then by the first buffer, so that equal assignments give equal answers."""
    size: dict[int, int] = {}
    first: dict[int, int] = {}
    for item, k in zip(items, objects, strict=True):
        size[k] = max(size.get(k, 0), item.size)
        first[k] = min(first.get(k, item.members[0]), *item.members)
    ranked = sorted(size, key=lambda k: (-size[k], first[k]))
    number = {k: i for i, k in enumerate(ranked)}
    result = [NONE] * len(problem.buffers)
    for item, k in zip(items, objects, strict=True):
        for i in item.members:
            result[i] = number[k]
    return Sharing(tuple(result), tuple(size[k] for k in ranked), bound)
