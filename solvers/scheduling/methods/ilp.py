"""Zhong's integer program, as corrected, solved by CP-SAT or HiGHS.

Variables of the paper (table I): O[i,j] operator i runs in step j; T[g,j] storage group g is in
memory during step j. Here O is stated by its sums, D[i,j] = O[i,0] + ... + O[i,j], "i has run when
step j ends"; O[i,j] = D[i,j] - D[i,j-1], so the programs are the same, but every constraint has two
or three variables, and CP-SAT proves in seconds what it did not in minutes. In the paper's words:

    (1) sum over i of O[i,j] = 1     sum over i of D[i,j] = j + 1
    (2) sum over j of O[i,j] = 1     D[i,j-1] <= D[i,j], D[i,last] = 1
    (3)-(5) T from the writer on     T[g,j] >= D[w,j] - D[u,j-1] for writers w, or 1 for an input,
            to the last reader       and users u, or 0 for an output; D[v,j] <= D[p,j-1]
    (6) sum of T[g,j] size + workspace - what is taken over in place <= mem, for each j
    (7)-(10) variables outside the span that ancestors and descendants leave are not made

Corrections (theory.md section 2): as printed nothing keeps a tensor in the step that makes it, nor
an output to the end; (10) takes the `max` of the readers' descendants where only `min` is right,
and does not apply to outputs.

Wider than the paper: groups of several writers; precedence that no tensor states; an operator saves
its result's bytes in step j (Z[c,j]) if all other users of the candidate operand are done before j.
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
    check_order,
    profile,
)
from memopt.solvers.programs.mathopt import add_clause, check_solver, new_model
from memopt.solvers.scheduling.integer import begun, given, optimise, others, over
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.ideals import ancestors, descendants

OPTIONS = {
    "warm_start": "the method whose order the integer program starts from, or none",
    "pruning": "leave out steps that cannot be",
    "seed": "of the random choices",
    "solver": "of the integer program",
}


@dataclass
class Program:
    """The model of one graph. Steps count from 0. `variables` counts D, T and Z."""

    graph: MemoryGraph
    model: Any  # a Model, or None while only counting
    pruning: bool = True
    done_by: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])
    held: dict[tuple[int, int], Any] = field(default_factory=dict[tuple[int, int], Any])
    saved: dict[tuple[InPlace, int], Any] = field(default_factory=dict[tuple[InPlace, int], Any])

    @property
    def variables(self) -> int:
        return len(self.done_by) + len(self.held) + len(self.saved)

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """First and last step that ancestors and descendants leave to each operator: (7), (9)."""
        last = len(self.graph) - 1
        if not self.pruning:
            return [(0, last)] * len(self.graph)
        up, down = ancestors(self.graph), descendants(self.graph)
        return [(a.bit_count(), last - d.bit_count()) for a, d in zip(up, down, strict=True)]

    @cached_property
    def lives(self) -> list[tuple[int, int]]:
        """First and last step in which each group can be in memory: (8), (10)."""
        result: list[tuple[int, int]] = []
        for g in self.graph.groups:
            touchers = (*g.writers, *g.readers)
            first = 0 if g.is_input else min(self.spans[w][0] for w in g.writers)
            last = max((self.spans[v][1] for v in touchers), default=-1)
            result.append((first, len(self.graph) - 1 if g.is_output else last))
        return result

    @property
    def unit(self) -> int:
        """Greatest common divisor of all sizes, in bytes."""
        return gcd(*self.graph.sizes, *self.graph.extra) or 1

    def done(self, operator: int, step: int) -> Any:
        """D: a variable, or 0 or 1 outside the operator's span."""
        first, last = self.spans[operator]
        if step < first:
            return 0
        return 1 if step >= last else self.done_by[operator, step]

    def build(self) -> Any:
        """Add all variables and constraints; returns `mem`, in units of `unit` bytes."""
        graph, model = self.graph, self.model
        for v, (first, last) in enumerate(self.spans):
            for j in range(first, last):
                self.done_by[v, j] = model.new_bool_var(f"D{v},{j}")
            for j in range(first, last - 1):
                model.add_implication(self.done_by[v, j], self.done_by[v, j + 1])
        for j in range(len(graph)):
            model.add(sum(self.done(v, j) for v in range(len(graph))) == j + 1)
        self._precedence()
        for g in range(len(graph.groups)):
            if graph.sizes[g]:
                self._residence(g)
        for c in graph.inplace:
            if graph.sizes[c.result]:
                self._saving(c)
        self._one_saving()
        return self._memory()

    def _precedence(self) -> None:
        for v, before in enumerate(self.graph.predecessors):
            for p in sorted(set(before)):
                for j in range(self.spans[v][0], self.spans[p][1] + 1):
                    add_clause(self.model, [self.done(p, j - 1)], [self.done(v, j)])

    def _residence(self, g: int) -> None:
        """In memory from the first write, or the start, to the last use, or the end."""
        first, last = self.lives[g]
        for j in range(first, last + 1):
            now = self.held[g, j] = self.model.new_bool_var(f"T{g},{j}")
            for b in begun(self, g, j):
                for o in over(self, g, j):
                    add_clause(self.model, [now, o], [b])

    def _saving(self, c: InPlace) -> None:
        first, last = self.spans[c.operator]
        for j in range(first, last + 1):
            z = self.saved[c, j] = self.model.new_bool_var(f"Z{c.operator},{c.operand},{j}")
            add_clause(self.model, [self.done(c.operator, j)], [z])
            add_clause(self.model, [], [z, self.done(c.operator, j - 1)])
            for u in others(self.graph, c):
                add_clause(self.model, [self.done(u, j - 1)], [z])

    def _one_saving(self) -> None:
        for v, cs in enumerate(self.graph.candidates):
            for j in range(self.spans[v][0], self.spans[v][1] + 1):
                mine = [self.saved[c, j] for c in cs if (c, j) in self.saved]
                if len(mine) > 1:
                    self.model.add_at_most_one(mine)

    def _memory(self) -> Any:
        graph, unit = self.graph, self.unit
        loads: list[list[Any]] = [[] for _ in range(len(graph))]
        highest = [0] * len(graph)  # no solution needs more in a step
        for (g, j), t in self.held.items():
            loads[j].append(t * (graph.sizes[g] // unit))
            highest[j] += graph.sizes[g] // unit
        top = max(highest) + (max((0, *graph.extra)) + graph.unread_inputs) // unit
        mem = self.model.new_int_var(trivial(graph) // unit, top, "mem")
        for v, (first, last) in enumerate(self.spans):
            for j in range(first, last + 1) if graph.extra[v] else ():
                loads[j].append((self.done(v, j) - self.done(v, j - 1)) * (graph.extra[v] // unit))
        for (c, j), z in self.saved.items():
            loads[j].append(z * -(graph.sizes[c.result] // unit))
        for j, load in enumerate(loads):
            unread = graph.unread_inputs // unit if j == 0 else 0
            self.model.add(sum(load) + unread <= mem)
        return mem

    def order(self, value: Callable[[Any], int]) -> tuple[int, ...]:
        """The order that a solution stands for."""
        steps: list[tuple[int, int]] = []
        for v, (first, last) in enumerate(self.spans):
            steps.append((last - sum(value(self.done_by[v, j]) for j in range(first, last)), v))
        return tuple(v for _, v in sorted(steps))

    def hints(self, order: tuple[int, ...]) -> Iterator[tuple[Any, int]]:
        """(variable, value) of every variable under a known order."""
        check_order(self.graph, order)
        place = {v: j for j, v in enumerate(order)}
        for (v, j), d in self.done_by.items():
            yield d, int(place[v] <= j)
        for (g, j), t in self.held.items():
            group = self.graph.groups[g]
            users = [place[v] for v in (*group.writers, *group.readers)]
            begin = 0 if group.is_input else min(place[w] for w in group.writers)
            end = len(order) if group.is_output else max(users)
            yield t, int(begin <= j <= end)
        used = dict(enumerate(profile(self.graph, order).inplace))
        for (c, j), z in self.saved.items():
            yield z, int(used[j] == c)


def count(graph: MemoryGraph, pruning: bool = True) -> int:
    """Variables of the program, without building it."""
    program = Program(graph, None, pruning)
    total = sum(last - first for first, last in program.spans)
    for size, (first, last) in zip(graph.sizes, program.lives, strict=True):
        total += max(0, last - first + 1) if size else 0
    for c in graph.inplace:
        first, last = program.spans[c.operator]
        total += last - first + 1 if graph.sizes[c.result] else 0
    return total


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    bound: int | str | None = "flow",
    warm_start: tuple[int, ...] | str | None = "auto",
    pruning: bool = True,
    seed: int = 0,
    solver: str = "cp-sat",
) -> Schedule:
    """Return the optimum by integer programming, or the best order found with the best bound.

    `bound` is a proven lower bound in bytes, "flow" for T6, or "none"; `warm_start` is an order to
    improve on, the method that gives one, or "none". Where they meet no program is stated. With
    both "none" (or None) the proof is the solver's alone, as in the papers. `pruning` off leaves
    out (7)-(10). One worker, so the same call gives the same answer unless the time limit strikes;
    then, and when the solver has found nothing, the best of greedy, reverse post-order and
    `warm_start` is returned. `states` of the answer counts variables.
    """
    if len(graph) == 0:
        return Schedule((), graph.level(0), graph.level(0), "ilp")
    check_solver(solver)
    deadline = clock.deadline(time_limit)
    start = given(graph, bound, warm_start, time_limit)
    if start.is_met(graph) or clock.late(deadline):
        return start.best(graph)
    program = Program(graph, new_model(solver), pruning)
    return optimise(program, start, clock.left(deadline), seed)
