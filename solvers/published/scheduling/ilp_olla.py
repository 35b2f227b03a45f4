"""OLLA's lifetime program (1)-(5), (13), (14), as corrected, solved by CP-SAT or HiGHS.

Variables: C[v,t] the operator v runs in timestep t, and makes all its results there ((5) by one
variable for all siblings); P[g,t] the storage group g is preserved in timestep t.

    (1) P[g,t] + C[w,t] <= 1              (2) P[g,t] <= P[g,t-1] + C[w,t-1]
    (3) sum over t of C[v,t] = 1          (4) C[v,t] <= P[g,t] for what v reads
    (13) sum of (C + P) size + workspace - what is taken over in place <= mem, for each t
    (14) minimise mem

Several operators may share a timestep, as in the paper: run one after the other in any order they
never need more than what (13) counts. That is not so for a workspace below zero (contracted
modules) or inputs that only the first step holds; such graphs get exactly one operator per step.

Section 4.1: C and P exist only within the spans that the longest paths to and from the operator
leave (ASAP, ALAP; MUL), and P = 1 where PRES says so. Section 4.2 (precedence): reachability has no
pairs of tensors to leave out of the lifetime program; here it shortens the spans to what the number
of ancestors and descendants leaves, since some optimum runs one operator per timestep, and leaves
out ordering constraints that others imply. Section 4.3: control edges make operators that only
release memory run early.

Corrections (theory.md section 2, and one more): an operator without results is never run as
printed, so C belongs to the operator (a 0-byte token), and outputs are preserved to the last
step. Functions 3 and 4 choose an anchor by its level alone, which may raise the optimum: with
p->v and an anchor that does not need p, the edge v->anchor makes p run before the anchor. Here an
anchor descends from all that v needs: it runs after them in every order, and v costs nothing
right after them.

Wider than the paper: groups of several writers (`P` is then the whole residence), in place.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Any

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import (
    InPlace,
    MemoryGraph,
    Schedule,
    bits,
    check_order,
    profile,
    topological_order,
)
from memopt.solvers.programs.mathopt import check_solver, new_model
from memopt.solvers.scheduling.integer import begun, given, optimise, others, over
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.ideals import ancestors, descendants

OPTIONS = {
    "control": "edges that hold back operators, section 4.3",
    "precedence": "spans from precedence, section 4.2",
}


def control_edges(graph: MemoryGraph) -> list[tuple[int, int]]:
    """(release, anchor): the release may run before the anchor without loss (section 4.3).

    A release makes no bytes, has no workspace and no successors, and something before it. Its
    anchor is the operator farthest from the end among those that descend from all its direct
    predecessors and are no releases themselves; of equals the first.
    """
    if min((0, *graph.extra)) < 0:
        return []
    down = descendants(graph)
    height = _longest(graph, graph.successors, reversed(topological_order(graph)))
    free = [
        bool(graph.predecessors[v])
        and not graph.successors[v]
        and graph.extra[v] == 0
        and all(graph.sizes[g] == 0 or graph.groups[g].is_input for g in graph.writes[v])
        for v in range(len(graph))
    ]
    edges: list[tuple[int, int]] = []
    for v in range(len(graph)):
        if free[v]:
            anchors = [a for a in bits(after_what_it_needs(graph, v, down)) if not free[a]]
            if anchors:
                edges.append((v, max(anchors, key=lambda a: (height[a], -a))))
    return edges


def after_what_it_needs(graph: MemoryGraph, release: int, down: list[int]) -> int:
    """The mask of the operators that descend (`down`) from all direct predecessors of `release`."""
    common = ~0
    for p in graph.predecessors[release]:
        common &= down[p]
    return common


def _longest(
    graph: MemoryGraph, neighbours: tuple[tuple[int, ...], ...], order: Iterator[int]
) -> list[int]:
    """Operators on the longest path along `neighbours`, without the operator itself."""
    result = [0] * len(graph)
    for v in order:
        result[v] = max((result[u] + 1 for u in neighbours[v]), default=0)
    return result


@dataclass
class Program:
    """The model of one graph. Timesteps count from 0; `control` edges order operators."""

    graph: MemoryGraph
    model: Any  # a Model, or None while only counting
    pruning: bool = True
    control: tuple[tuple[int, int], ...] = ()
    precedence: bool = True
    runs: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])
    kept: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])
    saved: dict[tuple[InPlace, int], Any] = field(default_factory=dict[tuple[InPlace, int], Any])

    @property
    def variables(self) -> int:
        return len(self.runs) + len(self.kept) + len(self.saved)

    @property
    def unit(self) -> int:
        """Greatest common divisor of all sizes, in bytes."""
        return gcd(*self.graph.sizes, *self.graph.extra) or 1

    @cached_property
    def one_by_one(self) -> bool:
        """Return whether two operators must not share a timestep."""
        return min(self.graph.extra) < 0 or self.graph.unread_inputs > 0

    @cached_property
    def ordered(self) -> MemoryGraph:
        """The graph with the control edges, for spans and precedence."""
        graph = self.graph
        before = [list(ps) for ps in graph.predecessors]
        for v, anchor in self.control:
            before[anchor].append(v)
        return MemoryGraph(graph.names, tuple(map(tuple, before)), (), (), ())

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """[ASAP, ALAP] of every operator (10), or what precedence leaves of it."""
        graph, last = self.ordered, len(self.graph) - 1
        if self.precedence:  # no path is longer than the number of ancestors
            up, down = ancestors(graph), descendants(graph)
            return [(a.bit_count(), last - d.bit_count()) for a, d in zip(up, down, strict=True)]
        if not self.pruning:
            return [(0, last)] * len(graph)
        order = topological_order(graph)
        asap = _longest(graph, tuple(map(tuple, graph.predecessors)), iter(order))
        alap = _longest(graph, graph.successors, reversed(order))
        return [(a, last - b) for a, b in zip(asap, alap, strict=True)]

    def simple(self, g: int) -> bool:
        """Return whether it has one writer or is an input that is only read, as OLLA knows."""
        group = self.graph.groups[g]
        return len(set(group.writers)) + group.is_input == 1

    def life(self, g: int) -> tuple[int, int]:
        """First and last step of P[g]: MUL (11); an output's, and nothing else's, is the end."""
        group = self.graph.groups[g]
        if group.is_input:
            first = 0
        else:
            first = min(self.spans[w][0] for w in group.writers) + self.simple(g)
        if group.is_output:
            return first, len(self.graph) - 1
        users = self.sinks(g) if self.simple(g) else [*group.writers, *group.readers]
        return first, max((self.spans[v][1] for v in users), default=-1)

    def sinks(self, g: int) -> list[int]:
        """Return the operators that read `g` and do not write it, also those without results of
        their own."""
        group = self.graph.groups[g]
        return sorted(set(group.readers) - set(group.writers))

    def surely(self, g: int) -> tuple[int, int]:
        """First and last step in which `g` is preserved whatever the order: PRES (12)."""
        group = self.graph.groups[g]
        (first,) = [self.spans[w][1] + 1 for w in set(group.writers)] or [0]
        if group.is_output:
            return first, self.life(g)[1]
        return first, max((self.spans[v][0] for v in self.sinks(g)), default=-1)

    def build(self) -> Any:
        graph, model = self.graph, self.model
        for v, (first, last) in enumerate(self.spans):
            for t in range(first, last + 1):
                self.runs[v, t] = model.new_bool_var(f"C{v},{t}")
            model.add_exactly_one(self.runs[v, t] for t in range(first, last + 1))  # (3)
        if self.one_by_one:
            for t in range(len(graph)):
                model.add_exactly_one(
                    self.runs[v, t] for v in range(len(graph)) if (v, t) in self.runs
                )
        self._precedence()
        for g in range(len(graph.groups)):
            if graph.sizes[g]:
                first, last = self.life(g)
                for t in range(first, last + 1):
                    self.kept[g, t] = model.new_bool_var(f"P{g},{t}")
                if self.simple(g):
                    self._preserve(g)
                else:
                    self._several(g)
        self._inplace()
        return self._memory()

    def done(self, operator: int, step: int) -> Any:
        """[operator has run in `step` or before] as a linear expression."""
        first, last = self.spans[operator]
        if step >= last:
            return 1
        return sum(self.runs[operator, t] for t in range(first, step + 1))

    def _precedence(self) -> None:
        graph = self.ordered
        up = ancestors(graph) if self.precedence else []
        stated = [
            [g for g in gs if self.graph.sizes[g] and self.simple(g)] for gs in self.graph.reads
        ]
        for v, before in enumerate(graph.predecessors):
            direct = sorted(set(before))
            for p in direct:
                if self.precedence and any(up[q] >> p & 1 for q in direct):
                    continue  # p before q before v
                if any(p in self.graph.groups[g].writers for g in stated[v]):
                    continue  # (4) and (2) say it
                for t in range(self.spans[v][0], self.spans[p][1] + 1):
                    self.model.add(self.done(v, t) <= self.done(p, t - 1))

    def _preserve(self, g: int) -> None:
        """(1), (2), (4), PRES (12), and outputs to the last step."""
        group, model = self.graph.groups[g], self.model
        first, last = self.life(g)
        writers, sinks = set(group.writers), self.sinks(g)
        for v in sinks:
            for t in range(self.spans[v][0], first):
                model.add(self.runs[v, t] == 0)
        since, until = self.surely(g) if self.pruning else (0, -1)
        for t in range(first, last + 1):
            now = self.kept[g, t]
            for w in writers:
                if (w, t) in self.runs:
                    model.add(now + self.runs[w, t] <= 1)
            if not (group.is_input and t == 0):
                writes = [self.runs[w, t - 1] for w in writers if (w, t - 1) in self.runs]
                before = [self.kept[g, t - 1]] if t > first else []
                model.add(now <= sum(before) + sum(writes))
            for v in sinks:
                if (v, t) in self.runs:
                    model.add_implication(self.runs[v, t], now)
            if since <= t <= until:
                model.add(now == 1)
        if group.is_output:
            self._to_the_end(g)

    def _to_the_end(self, g: int) -> None:
        """An output is there in the last step: made in it, or preserved."""
        end = len(self.graph) - 1
        writes = [
            self.runs[w, end] for w in set(self.graph.groups[g].writers) if (w, end) in self.runs
        ]
        self.model.add(sum(writes) + sum([self.kept[g, end]] if (g, end) in self.kept else []) == 1)

    def _several(self, g: int) -> None:
        """In memory from the first write, or the start, to the last use, or the end."""
        first, last = self.life(g)
        for t in range(first, last + 1):
            for b in begun(self, g, t):
                for o in over(self, g, t):
                    self.model.add(self.kept[g, t] >= b - o)

    def _inplace(self) -> None:
        graph, model = self.graph, self.model
        for v, candidates in enumerate(graph.candidates):
            first, last = self.spans[v]
            for t in range(first, last + 1):
                mine: list[Any] = []
                for c in candidates:
                    if graph.sizes[c.result]:
                        z = self.saved[c, t] = model.new_bool_var(f"Z{v},{c.operand},{t}")
                        mine.append(z)
                        model.add_implication(z, self.runs[v, t])
                        for u in others(graph, c):
                            model.add(z <= self.done(u, t - 1))
                if len(mine) > 1:
                    model.add_at_most_one(mine)

    def _memory(self) -> Any:
        """(13)."""
        graph, unit = self.graph, self.unit
        loads: list[list[Any]] = [[] for _ in range(len(graph))]
        highest = [graph.unread_inputs // unit] * len(graph)  # no solution needs more in a step
        for (g, t), p in self.kept.items():
            loads[t].append(p * (graph.sizes[g] // unit))
            highest[t] += graph.sizes[g] // unit
        for (v, t), c in self.runs.items():
            written = sum(graph.sizes[g] for g in graph.writes[v] if self.simple(g))
            if written + graph.extra[v]:
                loads[t].append(c * ((written + graph.extra[v]) // unit))
                highest[t] += (written + max(0, graph.extra[v])) // unit
        for (c, t), z in self.saved.items():
            loads[t].append(z * -(graph.sizes[c.result] // unit))
        mem = self.model.new_int_var(trivial(graph) // unit, max(highest), "mem")
        for t, load in enumerate(loads):
            self.model.add(sum(load) + (graph.unread_inputs // unit if t == 0 else 0) <= mem)
        return mem

    def order(self, value: Callable[[Any], int]) -> tuple[int, ...]:
        """The order that a solution stands for; in one timestep, by number."""
        return tuple(v for _, v in sorted((t, v) for (v, t), c in self.runs.items() if value(c)))

    def hints(self, order: tuple[int, ...]) -> Iterator[tuple[Any, int]]:
        """(variable, value) of every variable under a known order, one operator per step.

        An order that a control edge forbids, or that no span allows, is a poor hint, not an error.
        """
        check_order(self.graph, order)
        place = {v: t for t, v in enumerate(order)}
        for (v, t), c in self.runs.items():
            yield c, int(place[v] == t)
        for (g, t), p in self.kept.items():
            group = self.graph.groups[g]
            begin = 0 if group.is_input else min(place[w] for w in group.writers) + self.simple(g)
            users = [place[v] for v in (*group.writers, *group.readers)]
            end = len(order) if group.is_output else max(users, default=0)
            yield p, int(begin <= t <= end)
        used = dict(enumerate(profile(self.graph, order).inplace))
        for (c, t), z in self.saved.items():
            yield z, int(used[t] == c)


def count(
    graph: MemoryGraph, pruning: bool = True, control: bool = True, precedence: bool = True
) -> int:
    """Variables of the program, without building it."""
    edges = tuple(control_edges(graph)) if control else ()
    program = Program(graph, None, pruning, edges, pruning and precedence)
    total = sum(last - first + 1 for first, last in program.spans)
    for g in range(len(graph.groups)):
        if graph.sizes[g]:
            first, last = program.life(g)
            total += max(0, last - first + 1)
    for c in graph.inplace:
        first, last = program.spans[c.operator]
        total += last - first + 1 if graph.sizes[c.result] else 0
    return total


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | str | None = None,
    warm_start: tuple[int, ...] | str | None = None,
    pruning: bool = True,
    control: bool = True,
    precedence: bool = True,
    seed: int = 0,
    solver: str = "cp-sat",
) -> Schedule:
    """The optimum by OLLA's program, or the best order found with the solver's bound.

    Options as in `ilp.solve`; `pruning` off leaves out spans, MUL, PRES and the precedence
    analysis, `precedence` off the latter alone, `control` off the control edges. `states` of the
    answer counts variables.
    """
    if len(graph) == 0:
        return Schedule((), graph.level(0), graph.level(0), "ilp")
    check_solver(solver)
    deadline = clock.deadline(time_limit)
    start = given(graph, bound, warm_start, time_limit)
    if start.is_met(graph) or clock.late(deadline):
        return start.best(graph)
    edges = tuple(control_edges(graph)) if control else ()
    program = Program(graph, new_model(solver), pruning, edges, pruning and precedence)
    return optimise(program, start, clock.left(deadline), seed)
