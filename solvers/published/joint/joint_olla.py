"""OLLA's joint program (9): order and addresses in one integer program, by CP-SAT or HiGHS.

Its lifetimes are (1)-(5), as corrected in `ilp_olla.py`, with C and P of the operators' spans.
Beside them each buffer has an address A, and each pair that may be live at one time has a and b:

    (6)   a[i,j] + b[i,j] <= 1,  a[i,j] + b[i,j] >= live[i,t] + live[j,t] - 1 for each t
    (7a)  A[i] + S[i] <= A[j] + (1 - a[i,j]) M         i lies below j
    (7b)  A[i] >= A[j] + S[j] - (1 - b[i,j]) M         i lies above j
    (8)   A[i] + S[i] <= peak_mem                      (9)  minimise peak_mem

where live = C + P. Section 4.2 (precedence): a pair has neither (6) nor (7) where the steps of both
do not overlap, or all users of one run before the other is made. M is the arena of the order that
is given, placed greedily, and not the sum of all sizes.

Several operators may share a timestep. One after the other, in any order, two of their buffers meet
only if both are live in that timestep, so they are apart.

Wider than the paper: workspace is a buffer of its operator's step, groups may have several writers
(`P` is then the whole residence), addresses are aligned. As in the paper nothing is in place of an
operand but what must be.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations
from math import gcd
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.joint import Joint
from memopt.solvers.joint.in_place_choices import restricted
from memopt.solvers.placement.methods import greedy_by_size
from memopt.solvers.placement.rectangles import placement_of
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges
from memopt.solvers.problems.placement import Placement, PlacementProblem
from memopt.solvers.programs.mathopt import check_solver, new_model
from memopt.solvers.published.placement.ilp import let_down
from memopt.solvers.published.scheduling.ilp_olla import Program
from memopt.solvers.theory.ideals import ancestors

OPTIONS = {
    "solver": "of the integer program",
    "pruning": "leave out pairs that are never live together",
    "seed": "of the random choices",
}
LARGEST = 2_000_000  # constraints (6): more do not fit into a solver's memory


@dataclass
class JointProgram(Program):
    """The program of one graph for arenas of at most `top` bytes, at least `floor`.

    Buffers are the groups that have bytes, by their number, and workspaces behind them, by their
    operator's.
    """

    top: int = 0
    floor: int = 0
    address: dict[int, Any] = field(default_factory=dict[int, Any])
    steps: dict[int, tuple[Any, int]] = field(default_factory=dict[int, tuple[Any, int]])
    sides: dict[tuple[int, int], tuple[Any, Any]] = field(
        default_factory=dict[tuple[int, int], tuple[Any, Any]]
    )

    @cached_property
    def bytes(self) -> dict[int, int]:
        """Return the bytes of each buffer."""
        graph = self.graph
        sizes = {g: size for g, size in enumerate(graph.sizes) if size}
        return sizes | {len(graph.groups) + v: w for v, w in enumerate(graph.extra) if w > 0}

    def alignment(self, buffer: int) -> int:
        graph = self.graph
        own = graph.groups[buffer].alignment if buffer < len(graph.groups) else None
        return own or graph.offset_alignment or graph.alignment

    @property
    def unit(self) -> int:
        """Greatest common divisor of all sizes and alignments, in bytes."""
        inside = (c.inside for c in self.graph.inplace)
        return gcd(*self.bytes.values(), *map(self.alignment, self.bytes), *inside) or 1

    def makers(self, buffer: int) -> tuple[int, ...]:
        """Return the operators that make a buffer."""
        count = len(self.graph.groups)
        return self.graph.groups[buffer].writers if buffer < count else (buffer - count,)

    @cached_property
    def live(self) -> dict[int, dict[int, Any]]:
        """Return for each buffer, and each step in which it may be live, what is 1 if it is; once
        all C and P are there."""
        return {buffer: self._live(buffer) for buffer in self.bytes}

    def _live(self, buffer: int) -> dict[int, Any]:
        graph, count = self.graph, len(self.graph.groups)
        steps: dict[int, Any] = {}
        if buffer >= count or self.simple(buffer):
            for v in self.makers(buffer):
                first, last = self.spans[v]
                steps.update({t: self.runs[v, t] for t in range(first, last + 1)})
        if buffer < count:
            first, last = self.life(buffer)
            for t in range(first, last + 1):
                steps[t] = steps.get(t, 0) + self.kept[buffer, t]
            if graph.groups[buffer].is_input and last < 0:
                steps[0] = 1  # nobody reads it: it goes after the first step
        return steps

    def pairs(self) -> list[tuple[int, int, list[int]]]:
        """Return the pairs of buffers that may be live at one time, with the steps of both."""
        graph, count = self.graph, len(self.graph.groups)
        up = ancestors(graph)
        steps = {b: set(live) for b, live in self.live.items()}
        users = {b: graph.toucher_masks[b] if b < count else 1 << b - count for b in self.bytes}
        # operators before all that make it; -1 of an input, which is there from the start
        before: dict[int, int] = {}
        for b in self.bytes:
            is_input = b < count and graph.groups[b].is_input
            before[b] = 0 if is_input else ~0
            for v in self.makers(b):
                before[b] &= up[v]
        stays = {b for b in self.bytes if b < count and graph.groups[b].is_output}
        together = {frozenset((c.operand, c.result)) for c in graph.inplace}

        def precedes(i: int, j: int) -> bool:
            return bool(users[i]) and i not in stays and not users[i] & ~before[j]

        result: list[tuple[int, int, list[int]]] = []
        for i, j in combinations(self.bytes, 2):
            if frozenset((i, j)) not in together:
                both = sorted(steps[i] & steps[j])
                never = not both or precedes(i, j) or precedes(j, i)
                if not (self.pruning and never):
                    result.append((i, j, both))
        return result

    def _inplace(self) -> None:
        """State nothing: what must be in place has its operand's address."""

    def _memory(self) -> Any:
        """State (6) to (8) and return peak_mem, in units."""
        model, unit, top = self.model, self.unit, self.top // self.unit
        arena = model.new_int_var(-(-self.floor // unit), top, "peak_mem")
        for buffer, size in self.bytes.items():
            highest, stride = top - size // unit, self.alignment(buffer) // unit
            address = self.address[buffer] = model.new_int_var(0, highest, f"A{buffer}")
            if stride > 1:
                steps = model.new_int_var(0, highest // stride, f"n{buffer}")
                model.add(address == stride * steps)
                self.steps[buffer] = steps, self.alignment(buffer)
            model.add(address + size // unit <= arena)  # (8)
        for c in self.graph.inplace:
            if c.operand in self.address and c.result in self.address:
                inside = c.inside // unit
                model.add(self.address[c.operand] + inside == self.address[c.result])
        pairs = self.pairs()
        count = sum(len(both) for *_, both in pairs)
        if count > LARGEST:
            text = f"joint-olla: {count:,} constraints of pairs in steps"
            raise ProblemError(f"{text}, at most {LARGEST:,} can be stated")
        for i, j, both in pairs:
            a, b = model.new_bool_var(f"a{i},{j}"), model.new_bool_var(f"b{i},{j}")
            self.sides[i, j] = a, b
            model.add(a + b <= 1)
            for t in both:
                model.add(self.live[i][t] + self.live[j][t] - 1 <= a + b)
            low, high = self.address[i], self.address[j]
            model.add(low + self.bytes[i] // unit - high + top * a <= top)  # (7a)
            model.add(high + self.bytes[j] // unit - low + top * b <= top)  # (7b)
        return arena

    def hint(self, order: tuple[int, ...], problem: PlacementProblem, placed: Placement) -> None:
        """Start from `order` with its placement, whose arena is `top`."""
        for variable, value in self.hints(order):
            self.model.add_hint(variable, value)
        where = dict(zip(self.buffers(order), range(len(problem.buffers)), strict=True))
        for buffer, address in self.address.items():
            offset = placed.offsets[where[buffer]]
            self.model.add_hint(address, offset // self.unit)
            if buffer in self.steps:
                steps, alignment = self.steps[buffer]
                self.model.add_hint(steps, offset // alignment)
        for (i, j), (a, b) in self.sides.items():
            one, other = problem.buffers[where[i]], problem.buffers[where[j]]
            meet = max(one.lower, other.lower) < min(one.upper, other.upper)
            below = placed.offsets[where[i]] < placed.offsets[where[j]]
            self.model.add_hint(a, int(meet and below))
            self.model.add_hint(b, int(meet and not below))

    def buffers(self, order: Sequence[int]) -> list[int]:
        """Return the buffers of `live_ranges(graph, order)`, in its order."""
        count = len(self.graph.groups)
        return [*range(count), *(count + v for v in order if self.graph.extra[v] > 0)]


def solve(
    graph: MemoryGraph,
    order: Sequence[int],
    bound: int,
    time_limit: float | None = None,
    solver: str = "cp-sat",
    pruning: bool = True,
    seed: int = 0,
) -> Joint:
    """Return the smallest arena over all orders, or the best one found with the solver's bound.

    `bound` (bytes) is proven for the peak of every order. Without a time limit it runs until it has
    proven its answer. `pruning` off leaves out spans and what section 4.2 says of pairs. Raises
    ProblemError for another solver, for parts that lie in one tensor, and for a program that is too
    large.
    """
    check_solver(solver)
    if graph.has_parts:
        raise ProblemError("joint-olla: parts of one tensor that die alone are not in its program")
    deadline = clock.deadline(time_limit)
    graph, order = restricted(graph, ()), tuple(order)
    problem = live_ranges(graph, order)
    start = greedy_by_size.solve(problem)
    best = Joint(order, start, min(bound, start.arena), 1, ())
    if best.settled or clock.late(deadline):
        return best
    model = new_model(solver)
    program = JointProgram(
        graph, model, pruning, (), pruning, top=start.arena, floor=best.lower_bound
    )
    # what is stated has to be written out for the solver, which takes as long once more
    model.state_until(None if deadline is None else clock.deadline(clock.left(deadline, 0.5)))
    try:
        arena = program.build()
    except clock.TimeIsOverError:
        return best
    model.state_until(None)
    program.hint(order, problem, start)
    model.add_hint(arena, start.arena // program.unit)
    answer = model.minimize(arena, clock.left(deadline), seed)
    lower = max(best.lower_bound, (answer.bound or 0) * program.unit)
    if answer.found:
        solved = program.order(answer.value)
        ranges = live_ranges(graph, solved)
        heights = [
            answer.value(program.address[b]) if b in program.address else 0
            for b in program.buffers(solved)
        ]
        by_item = {i.index: heights[ranges.buffers[i.members[0]].base] for i in ranges.items}
        offsets = let_down(ranges.items, by_item)
        placed = placement_of(ranges, ranges.items, offsets)
        placed.verify(ranges)
        if placed.arena < start.arena:
            best = Joint(solved, placed, lower, 2, ())
        if answer.optimal and best.placement.arena == answer.value(arena) * program.unit:
            lower = best.placement.arena
    return Joint(best.order, best.placement, min(lower, best.placement.arena), best.schedules, ())
