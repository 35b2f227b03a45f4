"""Operators renumbered topologically, their ancestors, and the walk of one ideal to the next.

Bit `i` of a mask is the operator at place `i` of a topological order, so the operators of any mask
are in a legal order when its bits are read upwards. Used by the search, the bound and the fusion.

Operators may be read by the same many others, each of which waits for all of them:

    k0 ─┐┌─ a0
    k1 ─┼┼─ a1      each row of an attention reads all rows of the keys: 512 x 512 edges
    k2 ─┘└─ a2

What is counted or gathered along these edges is gathered at the writers once, and handed to the
readers when the last of the writers has run.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import cast

from memopt.solvers.problems.masks import bits
from memopt.solvers.problems.memory_graph import Group, InPlace, MemoryGraph, topological_order

FEW = 8  # operators that are looked through faster than a set of them is made
CASES = 50_000  # of masks of operators that are remembered: tens of MB
MANY = 8  # readers, from which on writers that have the same ones are looked for


def renumber(graph: MemoryGraph) -> tuple[MemoryGraph, tuple[int, ...]]:
    """Return the problem with operators in topological order, and the old index of each new one."""
    old = topological_order(graph)
    if old == tuple(range(len(graph))):
        return graph, old
    new = {v: i for i, v in enumerate(old)}

    def moved(operators: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new[v] for v in operators)

    groups = tuple(
        Group(g.name, g.size, moved(g.writers), moved(g.readers), g.is_input, g.is_output)
        for g in graph.groups
    )
    return (
        MemoryGraph(
            tuple(graph.names[v] for v in old),
            tuple(moved(graph.predecessors[v]) for v in old),
            groups,
            tuple(graph.workspace[v] for v in old),
            tuple(InPlace(new[c.operator], c.result, c.operand) for c in graph.inplace),
            graph.alignment,
        ),
        old,
    )


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


def ancestors(graph: MemoryGraph) -> list[int]:
    """Per operator the mask of all operators that must run before it."""
    result = [0] * len(graph)
    edges = FanOut.of(graph)
    gathered, waiting = [0] * len(edges.readers), list(edges.writers)
    for v in topological_order(graph):
        mask, number = result[v] | 1 << v, edges.number[v]
        for s in edges.others[v]:
            result[s] |= mask
        if number >= 0:
            gathered[number] |= mask
            waiting[number] -= 1
            for s in () if waiting[number] else edges.readers[number]:
                result[s] |= gathered[number]
    return result


def descendants(graph: MemoryGraph) -> list[int]:
    """Per operator the mask of all operators that must run after it."""
    result = [0] * len(graph)
    edges = FanOut.of(graph)
    gathered = [0] * len(edges.readers)
    for v in reversed(topological_order(graph)):
        mask, number = 0, edges.number[v]
        if number >= 0 and not gathered[number]:
            gathered[number] = _with_all_after(0, edges.readers[number], result)
        if number >= 0:
            mask = gathered[number]
        result[v] = _with_all_after(mask, edges.others[v], result)
    return result


def _with_all_after(mask: int, operators: Sequence[int], after: Sequence[int]) -> int:
    """Return a mask with these operators, ascending, and all `after` them."""
    for s in operators:
        if not mask >> s & 1:
            mask |= after[s] | 1 << s
    return mask


@dataclass(frozen=True)
class Sides:
    """Ancestors and descendants of every operator, as masks."""

    up: list[int]
    down: list[int]

    @staticmethod
    def of(graph: MemoryGraph) -> "Sides":
        return Sides(ancestors(graph), descendants(graph))


def mask_bytes(graph: MemoryGraph) -> int:
    """Return the bytes that Python takes for one set of operators."""
    return 28 + len(graph) // 30 * 4


@dataclass(frozen=True)
class Walker:
    """One step from an ideal to the next in time linear in what the operator touches.

    Levels here leave out the inputs that nobody touches (`graph.unread_inputs`): with them the
    level is not submodular at the empty ideal, and T1 would not hold there.
    """

    graph: MemoryGraph

    @cached_property
    def start(self) -> int:
        """Level of the empty ideal in bytes, without unread inputs."""
        return self.graph.level(0) - self.graph.unread_inputs

    @cached_property
    def _fresh(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Per operator (size, writers) of the groups it may bring into being."""
        graph = self.graph
        return tuple(
            tuple(
                (graph.sizes[g], graph.writer_masks[g])
                for g in gs
                if not graph.groups[g].is_input and graph.sizes[g]
            )
            for gs in graph.writes
        )

    @cached_property
    def _freed(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Per operator (size, touchers) of the groups that may end with it: not those that a direct
        successor touches too."""
        graph = self.graph
        before = [set(ps) if len(ps) > FEW else ps for ps in graph.predecessors]
        result: list[list[tuple[int, int]]] = [[] for _ in graph.names]
        for g, touchers in enumerate(graph.touchers):
            if graph.groups[g].is_output or not graph.sizes[g]:
                continue
            ends = graph.sizes[g], graph.toucher_masks[g]
            for v, following in zip_longest(touchers, touchers[1:], fillvalue=-1):
                if following < 0 or v not in before[following]:
                    result[v].append(ends)
        return tuple(map(tuple, result))

    @cached_property
    def _candidates(self) -> tuple[tuple[tuple[int, int], ...], ...]:
        """Per operator (saved bytes, touchers of the operand)."""
        graph = self.graph
        return tuple(
            tuple((graph.sizes[c.result], graph.toucher_masks[c.operand]) for c in cs)
            for cs in graph.candidates
        )

    def run(self, done: int, level: int, operator: int) -> tuple[int, int]:
        """(bytes during the step, level after it) of `operator` at the ideal `done` of `level`."""
        graph = self.graph
        after = ~(done | 1 << operator)
        fresh = 0
        for size, writers in self._fresh[operator]:
            if not writers & done:
                fresh += size
        step = level + fresh + graph.extra[operator]
        for saved, touchers in self._candidates[operator]:
            if not touchers & after:
                step -= saved
                break
        freed = 0
        for size, touchers in self._freed[operator]:
            if not touchers & after:
                freed += size
        if not done:
            step += graph.unread_inputs
        return step, level + fresh - freed

    @cached_property
    def _touching(self) -> dict[int, int]:
        """Return per mask that ran the operators that decide what it adds."""
        return {}

    @cached_property
    def _cases(self) -> dict[tuple[int, int], tuple[int, int]]:
        """Return what a mask added to the level, by which of those that decide it had run."""
        return {}

    def run_all(self, done: int, level: int, operators: int) -> tuple[int, int]:
        """(largest step, level after) of running the mask `operators` upwards from `done`."""
        if not operators:
            return 0, level
        if (touching := self._touching.get(operators)) is None:
            touching = 0
            for v in bits(operators):
                for _, mask in (*self._fresh[v], *self._freed[v], *self._candidates[v]):
                    touching |= mask
            self._touching[operators] = touching
        # at first inputs are there that nobody touches
        case = operators, done & touching if done else -1
        if case not in self._cases:
            if len(self._cases) >= CASES:
                self._cases.clear()
                self._touching.clear()
            steps, after = list[int](), 0
            for v in bits(operators):
                step, after = self.run(done, after, v)
                steps.append(step)
                done |= 1 << v
            self._cases[case] = max(steps), after
        peak, rise = self._cases[case]
        return level + peak, level + rise
