"""Operators whose results are read by the same many others, each of which waits for all of them.

    k0 ─┐┌─ a0
    k1 ─┼┼─ a1      each row of an attention reads all rows of the keys: 512 x 512 edges
    k2 ─┘└─ a2

What is counted or gathered along these edges is gathered at the writers once, and handed to the
readers when the last of the writers has run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import cast

from memopt.solvers.problems.memory_graph import MemoryGraph

MANY = 8  # readers, from which on writers that have the same ones are looked for


@dataclass(frozen=True)
class FanOut:
    """The edges of a graph, those between the same many writers and readers apart.

    `number` says of each operator which such readers it has, -1: none; `readers` are these,
    ascending, and `writers` the operators that have them. `others` are the successors of each
    operator that are none of its readers there.
    """

    number: tuple[int, ...]
    readers: tuple[tuple[int, ...], ...]
    writers: tuple[int, ...]
    others: tuple[tuple[int, ...], ...]

    @staticmethod
    def of(graph: MemoryGraph) -> "FanOut":
        """Return the edges of a graph, taken apart once."""
        held = vars(graph)  # where a frozen class has what is derived of it
        if "_fan_out" not in held:
            held["_fan_out"] = _taken_apart(graph)
        return cast("FanOut", held["_fan_out"])


def _taken_apart(graph: MemoryGraph) -> FanOut:
    known: dict[tuple[int, ...], int] = {}
    sets: list[frozenset[int]] = []
    writers: list[int] = []
    number = [-1] * len(graph)
    others = list(graph.successors)
    for v, after in enumerate(graph.successors):
        if len(after) < MANY:
            continue
        readers = max([graph.groups[g].readers for g in graph.writes[v]], key=len, default=())
        if len(readers) < MANY:
            continue
        if readers not in known:
            known[readers] = len(known)
            sets.append(frozenset(readers))
            writers.append(0)
        at = known[readers]
        rest = set(after).difference(sets[at])
        if len(rest) + len(sets[at]) == len(after):
            number[v] = at
            writers[at] += 1
            others[v] = tuple(sorted(rest))
    readers_of = tuple([tuple(sorted(read)) for read in sets])
    return FanOut(tuple(number), readers_of, tuple(writers), tuple(others))


class Waiting:
    """Counts of what operators wait for while others run: `remaining` is 0 where it is nothing."""

    def __init__(self, graph: MemoryGraph) -> None:
        self.remaining = [len(set(before)) for before in graph.predecessors]
        self._edges = FanOut.of(graph)
        self._left = list(self._edges.writers)

    def ran(self, operator: int) -> Sequence[int]:
        """Count an operator that ran; return those that wait for nothing from now on."""
        remaining, ready, number = self.remaining, list[int](), self._edges.number[operator]
        for s in self._edges.others[operator]:
            remaining[s] -= 1
            if not remaining[s]:
                ready.append(s)
        if number < 0:
            return ready
        self._left[number] -= 1
        for s in () if self._left[number] else self._edges.readers[number]:
            remaining[s] -= self._edges.writers[number]
            if not remaining[s]:
                ready.append(s)
        return ready
