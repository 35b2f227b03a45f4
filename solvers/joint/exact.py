"""OLLA's joint problem (9) as one CP-SAT model: positions, live ranges and offsets are variables.

A storage group is a rectangle from its first writer to its last toucher in time, at its offset in
space; no two overlap. A result written in place begins one step after its operator, where its
operand is: until then it lies within the operand. Over which operand that dies, or none, is a
variable too. Deterministic unless a time limit is given.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from memopt.solvers.joint.in_place_choices import Choice, restricted
from memopt.solvers.problems.memory_graph import InPlace, MemoryGraph, live_ranges
from memopt.solvers.problems.placement import Placement
from memopt.solvers.programs.cp_solver import Limit, solve
from memopt.solvers.programs.or_tools import cp_model

WORK = 2.0  # CP-SAT's deterministic time, about as many seconds


@dataclass(frozen=True)
class Found:
    """An order with its placement (None where nothing below `top` was found), and a bound.

    `chosen` is what is in place in it. `lower_bound` (bytes) bounds the arena of every order and
    choice; it may be one past `top`.
    """

    order: tuple[int, ...]
    placement: Placement | None
    lower_bound: int
    chosen: Choice | None = None


def search(
    graph: MemoryGraph,
    order: Sequence[int],
    floor: int,
    top: int,
    seconds: float | None,
    work: float = WORK,
) -> Found:
    """The smallest arena of `floor` to `top` bytes over all orders; `order` where there is none.

    `floor` is proven for the peak of every order, both are multiples of the graph's alignment.
    What `order` needs is above `top`, so it is no hint.
    """
    nothing = Found(tuple(order), None, top + graph.alignment)
    stated = _Stated(graph, floor, top)
    if stated.impossible:
        return nothing
    stated.model.minimize(stated.arena)
    # with probing, presolve makes wrong answers of some of these programs, and aborts at the check
    solver = solve(stated.model, Limit(seconds, work), probing=0)
    if solver.infeasible:
        return nothing
    bound = max(floor, (solver.bound or 0) * graph.alignment)
    if not solver.found:
        return Found(tuple(order), None, bound)
    order = tuple(sorted(range(len(graph)), key=lambda v: solver.value(stated.position[v])))
    chosen = tuple([c for c, used in stated.used if solver.value(used)])
    problem = live_ranges(restricted(graph, chosen), order)
    spaces = [*stated.offsets, *(stated.scratch[v] for v in order if v in stated.scratch)]
    own = [0 if s is None else solver.value(s) * graph.alignment for s in spaces]
    offsets = tuple(own[b.base] + b.at for b in problem.buffers)
    arena = max(o + b.size for o, b in zip(offsets, problem.buffers, strict=True))
    placement = Placement(offsets, arena)
    placement.verify(problem)
    return Found(order, placement, bound, chosen)


class _Stated:
    """The model for arenas of `floor` to `top` bytes; its sizes and offsets count alignments.

    `position` is per operator, `offsets` per group (None for 0 bytes), `scratch` per operator that
    has a workspace. `impossible` says that something alone is larger than `top`.
    """

    def __init__(self, graph: MemoryGraph, floor: int, top: int) -> None:
        self.graph = graph
        self.model: Any = cp_model.CpModel()
        self.sizes = [s // graph.alignment for s in graph.sizes]
        self.extra = [w // graph.alignment for w in graph.extra]
        self.top = top // graph.alignment
        floor = -(-floor // graph.alignment)
        self.impossible = self.top < max([floor, *self.sizes, *self.extra])
        if self.impossible:
            return
        self.arena = self.model.new_int_var(floor, self.top, "arena")
        self.position = _positions(self.model, graph)
        self.offsets = [self._offset(s) for s in self.sizes]
        self.scratch = {v: self._offset(w) for v, w in enumerate(self.extra) if w > 0}
        self._rectangles()

    def _offset(self, size: int) -> Any:
        if size <= 0:
            return None
        offset = self.model.new_int_var(0, self.top - size, "")
        self.model.add(offset + size <= self.arena)
        return offset

    def _rectangles(self) -> None:
        model, graph, steps = self.model, self.graph, len(self.graph)
        ends = [self._end(g) for g in range(len(graph.groups))]
        self.used = self._in_place(ends)
        begins = self._begins()
        times: list[Any] = []
        spaces: list[Any] = []
        demands: list[int] = []
        for g, offset in enumerate(self.offsets):
            if offset is None:
                continue
            length = model.new_int_var(0, steps, "")
            model.add(begins[g] + length == ends[g])
            lives = model.new_bool_var("")  # not, if a dead result lies within its operand
            model.add(length >= 1).only_enforce_if(lives)
            model.add(length == 0).only_enforce_if(~lives)
            times.append(model.new_optional_interval_var(begins[g], length, ends[g], lives, ""))
            spaces.append(model.new_fixed_size_interval_var(offset, self.sizes[g], ""))
            demands.append(self.sizes[g])
        for v, offset in self.scratch.items():
            times.append(model.new_fixed_size_interval_var(self.position[v], 1, ""))
            spaces.append(model.new_fixed_size_interval_var(offset, self.extra[v], ""))
            demands.append(self.extra[v])
        model.add_no_overlap_2d(times, spaces)
        model.add_cumulative(times, demands, self.arena)  # implied; it is what bounds the peak

    def _end(self, group: int) -> Any:
        """One after the last step in which the group is live."""
        g = self.graph.groups[group]
        touchers = {*g.writers, *g.readers}
        if g.is_output:
            return max(1, len(self.graph))
        if not touchers:
            return 1
        end = self.model.new_int_var(1, len(self.graph), "")
        self.model.add_max_equality(end, [self.position[v] + 1 for v in touchers])
        return end

    def _begins(self) -> list[Any]:
        """The first step in which each group needs bytes of its own."""
        model, begins = self.model, list[Any]()
        for i, g in enumerate(self.graph.groups):
            if g.is_input:
                begins.append(0)
                continue
            first = model.new_int_var(0, len(self.graph), "")
            model.add_min_equality(first, [self.position[w] for w in set(g.writers)])
            begin = model.new_int_var(0, len(self.graph), "")
            model.add(begin == first + sum(taken for c, taken in self.used if c.result == i))
            begins.append(begin)
        return begins

    def _in_place(self, ends: list[Any]) -> list[tuple[InPlace, Any]]:
        """(candidate, whether it is used): of each operator at most one, whose operand dies there.
        What is forced is used, for its operand dies in every order."""
        model, result = self.model, list[tuple[InPlace, Any]]()
        for v, candidates in enumerate(self.graph.candidates):
            mine: list[Any] = []
            for c in candidates:
                used = model.new_bool_var("")
                if c.forced:
                    model.add(used == 1)
                model.add(ends[c.operand] == self.position[v] + 1).only_enforce_if(used)
                mine.append(used)
                result.append((c, used))
                at, to = self.offsets[c.operand], self.offsets[c.result]
                if at is not None and to is not None:
                    inside = c.inside // self.graph.alignment
                    model.add(at + inside == to).only_enforce_if(used)
            if len(mine) > 1:
                model.add_at_most_one(mine)
        return result


def _positions(model: Any, graph: MemoryGraph) -> list[Any]:
    position = [model.new_int_var(0, len(graph) - 1, name) for name in graph.names]
    model.add_all_different(position)
    for v, before in enumerate(graph.predecessors):
        for p in set(before):
            model.add(position[p] < position[v])
    return position
