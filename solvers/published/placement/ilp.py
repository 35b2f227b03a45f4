"""OLLA's integer program for locations, (6)-(8), with its pruning and its pyramid: for comparison.

    (6)   a[i,j] + b[i,j] = 1 for items that are live together, <= 1 for others
    (7a)  A[i] + S[i] <= A[j] + (1 - a[i,j]) M         i lies below j
    (7b)  A[i] >= A[j] + S[j] - (1 - b[i,j]) M         i lies above j
    (8)   A[i] + S[i] <= arena

The order of operators is given here, so precedence decides every pair: what is never live together
needs neither (6) nor (7) (`pruning`; OLLA, section 4.2). M is the arena of the best greedy answer,
not the sum of all sizes. Beyond the paper: items whose height changes with time (S is then what
that pair needs), alignment, fixed offsets.

Function 5 (`pyramid`) gives the longest-lived items addresses beforehand, each nested in time in
the one before, from address 0 upwards. As printed it goes on from the interval of the last edge it
looked at; here from that of the chosen one. It is a heuristic: the program then proves nothing
but that the load is met.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Any

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement.address_space import address_space, first_fit_in
from memopt.solvers.placement.methods import greedy_by_size
from memopt.solvers.placement.neighbours import Neighbour, neighbours_of, pairs_of
from memopt.solvers.placement.rectangles import (
    fixed_first,
    floor_of,
    offsets_of,
    placement_of,
    refuse_parts,
)
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem, Proven
from memopt.solvers.programs.mathopt import Model, check_solver, new_model

OPTIONS = {
    "solver": "of the integer program",
    "pruning": "leave out pairs that are never live together",
    "pyramid": "the longest-lived buffers get addresses beforehand",
    "seed": "of the random choices",
}

PAIRS = 200_000  # more do not fit into a solver's memory
PER_SECOND = 10_000  # pairs that are stated, checked, sent and read


def let_down(items: tuple[Item, ...], heights: Mapping[int, int]) -> list[int]:
    """Return offsets of items that are let down from `heights` (by item) onto those below: the
    addresses of HiGHS are not exact."""
    order = sorted(items, key=lambda i: (heights[i.index], i.index))
    return first_fit_in(fixed_first(items, order), items)


@dataclass
class Program:
    """The model of one problem, in units of `unit` bytes. `at` gives some items an address."""

    items: tuple[Item, ...]
    model: Model
    near: list[list[Neighbour]]
    top: int  # bytes, M
    at: dict[int, int]
    pruning: bool = True
    address: list[Any] = field(default_factory=list[Any])
    steps: dict[int, tuple[Any, int]] = field(default_factory=dict[int, tuple[Any, int]])
    below: dict[tuple[int, int], tuple[Any, Any]] = field(
        default_factory=dict[tuple[int, int], tuple[Any, Any]]
    )
    meet: set[tuple[int, int]] = field(default_factory=set[tuple[int, int]])  # live together

    @cached_property
    def unit(self) -> int:
        """Greatest common divisor of all sizes, alignments and given addresses."""
        sizes = (p.size for i in self.items for p in i.pieces)
        divisor = gcd(*sizes, *(i.alignment for i in self.items), *self.at.values())
        return divisor or 1

    def build(self, floor: int, deadline: float | None = None) -> Any:
        """Add all variables and constraints; returns the arena, at least `floor` bytes, or None
        where that takes until `deadline`."""
        model, unit = self.model, self.unit
        arena = model.new_int_var(-(-floor // unit), self.top // unit, "arena")
        for item in self.items:
            self.address.append(self._address(item))
            model.add(self.address[-1] + item.size // unit <= arena)
        for i, neighbours in enumerate(self.near):
            if clock.late(deadline):
                return None
            for n in neighbours:
                if i < n.item:
                    self._apart(i, n, together=True)
        if not self.pruning:
            together = {(i, n.item) for i, near in enumerate(self.near) for n in near}
            for i, item in enumerate(self.items):
                if clock.late(deadline):
                    return None
                for j in range(i + 1, len(self.items)):
                    if (i, j) not in together:
                        other = self.items[j]
                        self._apart(i, Neighbour(j, item.size, other.size), together=False)
        return arena

    def _address(self, item: Item) -> Any:
        model, unit = self.model, self.unit
        given = self.at.get(item.index)
        if given is not None:
            return model.new_int_var(given // unit, given // unit, f"A{item.index}")
        highest, stride = (self.top - item.size) // unit, item.alignment // unit
        address = model.new_int_var(0, highest, f"A{item.index}")
        if stride > 1:
            steps = model.new_int_var(0, highest // stride, f"n{item.index}")
            model.add(address == stride * steps)
            self.steps[item.index] = steps, item.alignment
        return address

    def _apart(self, i: int, n: Neighbour, together: bool) -> None:
        """(6), (7a) and (7b) for one pair."""
        model, unit, j = self.model, self.unit, n.item
        a, b = model.new_bool_var(f"a{i},{j}"), model.new_bool_var(f"b{i},{j}")
        self.below[i, j] = a, b
        if together:
            self.meet.add((i, j))
        if together:
            model.add_exactly_one([a, b])
        else:
            model.add_at_most_one([a, b])
        low, high, top = self.address[i], self.address[j], self.top // unit
        model.add(low + n.below // unit - high + top * a <= top)
        model.add(high + n.above // unit - low + top * b <= top)

    def hint(self, arena: Any, offsets: Sequence[int]) -> None:
        """Start from known offsets in bytes, of items whose arena is `top`."""
        self.model.add_hint(arena, self.top // self.unit)
        for i, (steps, alignment) in self.steps.items():
            self.model.add_hint(steps, offsets[i] // alignment)
        for variable, offset in zip(self.address, offsets, strict=True):
            self.model.add_hint(variable, offset // self.unit)
        for (i, j), (a, b) in self.below.items():
            self.model.add_hint(a, int((i, j) in self.meet and offsets[i] < offsets[j]))
            self.model.add_hint(b, int((i, j) in self.meet and offsets[i] >= offsets[j]))


def pyramid_of(items: Sequence[Item]) -> dict[int, int]:
    """OLLA's Function 5, corrected: addresses of items that are nested in time, by item."""
    at: dict[int, int] = {}
    start, end, base = min(i.lower for i in items), max(i.upper for i in items), 0
    while True:
        nested = [
            i for i in items if i.pieces and i.index not in at and start <= i.lower < i.upper <= end
        ]
        if not nested:
            return at
        chosen = max(nested, key=lambda i: (i.upper - i.lower, -i.index))
        at[chosen.index] = -(-base // chosen.alignment) * chosen.alignment
        base = at[chosen.index] + chosen.size
        start, end = chosen.lower, chosen.upper


def count(problem: PlacementProblem, pruning: bool = True) -> int:
    """Variables a and b of the program, without building it."""
    items = problem.items
    if not pruning:
        return len(items) * (len(items) - 1)
    return sum(map(len, neighbours_of(items)))


def prove(
    problem: PlacementProblem,
    time_limit: float | None = None,
    solver: str = "cp-sat",
    pruning: bool = True,
    pyramid: bool = False,
    seed: int = 0,
) -> Proven:
    """The best placement, and the program's bound (the load, after a pyramid).

    `time_limit` in seconds is for stating the program and for solving it: one that takes longer to
    state is not begun. Without a limit it runs until it has proven its answer. Raises ProblemError
    for more than `PAIRS` pairs, for an unknown solver, and for a pyramid over fixed offsets.
    """
    deadline = clock.deadline(time_limit)
    items = problem.items
    refuse_parts(items, "ilp")
    floor = floor_of(problem, items)
    at = {i.index: i.fixed for i in items if i.fixed is not None}
    if pyramid and at:
        raise ProblemError("pyramid=true: the problem has fixed offsets")
    pairs = len(items) ** 2 // 2 if not pruning else pairs_of(items)
    if pairs > PAIRS:
        raise ProblemError(f"ilp: {pairs:,} pairs of buffers, at most {PAIRS:,} can be stated")
    if pyramid:
        at = pyramid_of(items)
    check_solver(solver)
    start = _greedy(problem, items, at, deadline)
    if start.arena == floor:
        return Proven(start, floor)
    if deadline is not None:  # whenever the limit strikes, no worse than this
        start = min(start, greedy_by_size.solve(problem), key=lambda p: p.arena)
    if clock.late(clock.sooner(deadline, pairs / PER_SECOND)):
        return Proven(start, floor)
    model = new_model(solver)
    try:
        near = neighbours_of(items, deadline)
    except clock.TimeIsOverError:
        return Proven(start, floor)
    began = clock.now()
    program = Program(items, model, near, start.arena, at, pruning)
    arena = program.build(floor, deadline)
    if arena is None:
        return Proven(start, floor)
    program.hint(arena, offsets_of(problem, items, start))
    # it is sent and its answer read, too, which takes no longer than stating it
    deadline = clock.sooner(deadline, clock.now() - began)
    answer = model.minimize(arena, clock.left(deadline), seed)
    best = start
    if answer.found:
        heights = {i.index: answer.value(a) for i, a in zip(items, program.address, strict=True)}
        solved = placement_of(problem, items, let_down(items, heights))
        best = min(start, solved, key=lambda p: p.arena)
    if pyramid:
        return Proven(best, floor)
    bound = best.arena if answer.optimal else (answer.bound or 0) * program.unit
    return Proven(best, max(floor, min(bound, best.arena)))


def _greedy(
    problem: PlacementProblem, items: tuple[Item, ...], at: dict[int, int], deadline: float | None
) -> Placement:
    """Where to start: the better of two greedy orders around the given addresses, the second one
    before `deadline`."""
    answers: list[Placement] = []
    for order in (greedy_by_size.by_size(items), sorted(items, key=lambda i: (-i.area, i.index))):
        space = address_space(items)
        for item in items:
            if item.index in at:
                space.put(item, at[item.index])
        for item in order:
            if item.index not in at:
                space.put(item, space.first_fit(item) if item.pieces else 0)
        answers.append(placement_of(problem, items, space.offsets))
        if clock.late(deadline):
            break
    return min(answers, key=lambda p: p.arena)
