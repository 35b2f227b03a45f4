"""Acyclic partitions of a memory graph, and each part as a problem of its own.

A partition gives every operator a part 0..k-1, numbered in the order in which the parts run: no
edge leads to a lower part, so the quotient is acyclic. Every acyclic quotient can be numbered that
way. Running the parts one after the other fixes the executed sets at the k-1 cuts between them.

What is in memory at a cut is the level of the ideal there, so every storage group counts once per
cut, however many operators read it behind the cut: a hyper-edge, not a bundle of edges.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import ceil

from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, ProblemError

BALANCE = 0.5  # how much larger than the mean a part may be if nobody says it


@dataclass(frozen=True)
class Partition:
    """`part[v]` is the part of operator v, in execution order; there are `k` parts."""

    part: tuple[int, ...]
    k: int

    @property
    def sizes(self) -> tuple[int, ...]:
        """Operators per part."""
        result = [0] * self.k
        for p in self.part:
            result[p] += 1
        return tuple(result)

    def holds(self, order: Sequence[int]) -> bool:
        """Return whether `order` runs the parts one after the other."""
        parts = [self.part[v] for v in order]
        return parts == sorted(parts)

    def verify(self, graph: MemoryGraph) -> None:
        """ProblemError unless no part is empty and no edge leads to an earlier part.

        An empty graph has one part without operators.
        """
        if len(self.part) != len(graph):
            raise ProblemError(f"{len(self.part)} parts given for {len(graph)} operators")
        if any(not 0 <= p < self.k for p in self.part):
            raise ProblemError(f"a part is not within 0..{self.k - 1}")
        if len(graph) and 0 in self.sizes:
            raise ProblemError(f"part {self.sizes.index(0)} of {self.k} is empty")
        for v, before in enumerate(graph.predecessors):
            for u in before:
                if self.part[u] > self.part[v]:
                    raise ProblemError(
                        f"{graph.names[v]!r} is in part {self.part[v]} but needs "
                        f"{graph.names[u]!r} of part {self.part[u]}"
                    )


def heaviest_part(operators: int, k: int, balance: float) -> int:
    """Operators that the largest of `k` parts may have: (1 + balance) times the mean."""
    return max(ceil(operators / k), int((1 + balance) * operators / k))


def span(graph: MemoryGraph, group: int, part: Sequence[int], k: int) -> tuple[int, int] | None:
    """First and last part in which `group` is in memory; None if nobody touches or keeps it."""
    g = graph.groups[group]
    if not g.writers and not g.readers and not g.is_output:
        return None
    first = 0 if g.is_input else min([part[w] for w in g.writers])
    last = k - 1 if g.is_output else max([part[v] for v in (*g.writers, *g.readers)])
    return first, last


def cut_levels(graph: MemoryGraph, partition: Partition) -> tuple[int, ...]:
    """Bytes in memory at each of the k-1 cuts, the level of the ideal there."""
    change = [0] * (partition.k + 1)
    for g, size in enumerate(graph.sizes):
        alive = span(graph, g, partition.part, partition.k)
        if alive is not None:
            change[alive[0]] += size
            change[alive[1]] -= size
    result: list[int] = []
    level = 0
    for p in range(partition.k - 1):
        level += change[p]
        result.append(level)
    return tuple(result)


@dataclass(frozen=True)
class Part:
    """A part as a problem: its operator i is `operators[i]` of the whole graph.

    What exists before it is an input, what is needed after it an output; what only passes through
    is one input that is kept, `passing` bytes. Steps and levels are those of the whole schedule.
    """

    graph: MemoryGraph
    operators: tuple[int, ...]
    passing: int


def split(graph: MemoryGraph, partition: Partition) -> list[Part]:
    """Every part as a problem, in time linear in the graph and in the cuts that groups cross.

    The inputs that nobody touches exist through the first step, so they belong to part 0.
    """
    k, part = partition.k, partition.part
    operators: list[list[int]] = [[] for _ in range(k)]
    place = [0] * len(graph)
    for v, p in enumerate(part):
        place[v] = len(operators[p])
        operators[p].append(v)
    groups: list[list[Group]] = [[] for _ in range(k)]
    local: list[dict[int, int]] = [{} for _ in range(k)]
    passing = [0] * k
    for g, group in enumerate(graph.groups):
        alive = span(graph, g, part, k)
        if alive is None:
            groups[0].append(group)
            continue
        writers, readers = (
            _by_part(users, part, place) for users in (group.writers, group.readers)
        )
        first, last = alive
        for p in range(first, last + 1):
            if p not in writers and p not in readers:
                passing[p] += graph.sizes[g]
                continue
            local[p][g] = len(groups[p])
            groups[p].append(
                Group(
                    group.name,
                    group.size,
                    tuple(writers.get(p, ())),
                    tuple(readers.get(p, ())),
                    group.is_input or p > first,
                    group.is_output or p < last,
                )
            )
    inplace: list[list[InPlace]] = [[] for _ in range(k)]
    for c in graph.inplace:
        p = part[c.operator]
        result, operand = local[p].get(c.result), local[p].get(c.operand)
        # an operand that a later part touches does not die here
        if result is not None and operand is not None and not groups[p][operand].is_output:
            inplace[p].append(InPlace(place[c.operator], result, operand))
    answer: list[Part] = []
    for p, members in enumerate(operators):
        if passing[p]:
            name = f"passing through part {p}"
            groups[p].append(Group(name, passing[p], is_input=True, is_output=True))
        before = (tuple(place[u] for u in graph.predecessors[v] if part[u] == p) for v in members)
        sub = MemoryGraph(
            tuple(graph.names[v] for v in members),
            tuple(before),
            tuple(groups[p]),
            tuple(graph.workspace[v] for v in members),
            tuple(inplace[p]),
            graph.alignment,
        )
        answer.append(Part(sub, tuple(members), passing[p]))
    return answer


def _by_part(
    users: Iterable[int], part: Sequence[int], place: Sequence[int]
) -> dict[int, list[int]]:
    """The places of operators within their parts, by part."""
    places: dict[int, list[int]] = {}
    for v in users:
        places.setdefault(part[v], []).append(place[v])
    return places


def price(graph: MemoryGraph, partition: Partition) -> int:
    """Sum of the levels at all cuts, in bytes."""
    return sum(cut_levels(graph, partition))
