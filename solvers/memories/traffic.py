"""Traffic to memory off the chip, when not everything fits on it: whole tensors, one order.

    x, y = Tensor("x", 8, 8, -1, (0, 2), False), Tensor("y", 8, 8, 0, (1,), False)
    problem = TrafficProblem((x, y), steps=3, workspace=(0, 0, 0), on_chip=8)
    belady(problem).moved, exact(problem).moved       # bytes

The model, after SERENITY (section 4, Figure 11). Step t runs operator t. Between two steps that
touch a tensor (or from its making to the first; or from the last to the end, for an output) it is
`kept` on the chip, and then takes up its size in all steps from the one to the other, both
included; or it is not, and then it is read from outside at the second (nothing is read at the
end). Whatever is not kept once is also written out once, when it is made or later; inputs have a
copy outside from the start. An operator can read and write outside memory directly, so one whose
tensors do not fit all at once still runs; its workspace must be on the chip. A result that nobody
reads is `kept` in its own step, or written out. So nothing is moved where all that is live fits
in every step. `size` is what a tensor takes up, `moved` what a transfer of it counts, bytes.

`exact` is least under this model (CP-SAT). `belady` is what the paper takes, the rule of the
furthest next use (Belady, 1966): optimal for pages of one size that are only read, one per step,
and an upper bound here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from math import inf

from memopt.solvers.errors import ProblemError

WORK = 20.0  # of CP-SAT's deterministic seconds


@dataclass(frozen=True)
class Gap:
    """Steps `first` to `last` in which a tensor is kept or not; `read`: somebody reads it at the
    end."""

    first: int
    last: int
    read: bool


@dataclass(frozen=True)
class Tensor:
    """Made in step `born` (-1: an input), read in `reads` (ascending). An output is held to the
    end."""

    name: str
    size: int
    moved: int
    born: int
    reads: tuple[int, ...]
    is_output: bool

    def gaps(self, steps: int) -> tuple[Gap, ...]:
        """The stretches between its touches."""
        points = (self.born, *self.reads)
        found = [Gap(a, b, True) for a, b in pairwise(points)]
        if self.is_output:
            found.append(Gap(points[-1], steps, False))
        elif not self.reads and self.born >= 0:
            found.append(Gap(self.born, self.born, False))
        return tuple(found)


@dataclass(frozen=True)
class TrafficProblem:
    """Tensors in the order in which they are made; `workspace` per step and `on_chip` in bytes."""

    tensors: tuple[Tensor, ...]
    steps: int
    workspace: tuple[int, ...]
    on_chip: int

    @cached_property
    def gaps(self) -> tuple[tuple[Gap, ...], ...]:
        return tuple(t.gaps(self.steps) for t in self.tensors)

    def check(self) -> None:
        """Raise ProblemError for a workspace larger than the chip, and tensors without sense."""
        if len(self.workspace) != self.steps:
            raise ProblemError("one workspace per step is needed")
        for t, size in enumerate(self.workspace):
            if size > self.on_chip:
                raise ProblemError(
                    f"the workspace of step {t}, {size} B, does not fit into {self.on_chip} B"
                )
        for x in self.tensors:
            points = (x.born, *x.reads)
            if x.size < 0 or x.moved < 0 or sorted(set(points)) != list(points):
                raise ProblemError(f"tensor {x.name!r}: bad size, or steps out of order")
            if not -1 <= x.born < max(self.steps, 1) or points[-1] >= max(self.steps, 1):
                raise ProblemError(f"tensor {x.name!r}: step out of range")


Kept = tuple[tuple[bool, ...], ...]


@dataclass(frozen=True)
class Traffic:
    """Bytes `moved`, no rule moves less than `lower_bound`; `kept` per tensor and gap."""

    moved: int
    lower_bound: int
    kept: Kept

    @property
    def optimal(self) -> bool:
        return self.moved == self.lower_bound

    def verify(self, problem: TrafficProblem) -> None:
        """Raise ProblemError unless what is kept fits, and moves what is stated."""
        if moved_bytes(problem, self.kept) != self.moved or self.lower_bound > self.moved:
            raise ProblemError("the traffic is not what was stated")


def moved_bytes(problem: TrafficProblem, kept: Kept) -> int:
    """Bytes moved if `kept` is kept. Raises ProblemError where that does not fit."""
    load = list(problem.workspace)
    moved = 0
    for tensor, gaps, keep in zip(problem.tensors, problem.gaps, kept, strict=True):
        held: set[int] = set()
        for gap, stays in zip(gaps, keep, strict=True):
            if stays:
                held.update(range(max(gap.first, 0), min(gap.last, problem.steps - 1) + 1))
            elif gap.read:
                moved += tensor.moved
        if tensor.born >= 0 and not all(keep):
            moved += tensor.moved
        for t in held:
            load[t] += tensor.size
    for t, size in enumerate(load):
        if size > problem.on_chip:
            raise ProblemError(f"{size} B are kept in step {t}, {problem.on_chip} B fit")
    return moved


def belady(problem: TrafficProblem) -> Traffic:
    """Keep everything; where that does not fit, give up what is used again last.

    Of what an operator touches nothing is given up while anything else is there. If its own tensors
    alone do not fit, it takes from outside, or to it, first operands that come from outside anyway,
    then results, then operands that are on the chip; of each those that are used again last. Equal
    ones: the larger, then the earlier.
    """
    problem.check()
    tensors = range(len(problem.tensors))
    kept = [[False] * len(g) for g in problem.gaps]
    reads: list[list[int]] = [[] for _ in range(problem.steps)]
    makes: list[list[int]] = [[] for _ in range(problem.steps)]
    for i in tensors:
        for t in problem.tensors[i].reads:
            reads[t].append(i)
        if problem.tensors[i].born >= 0:
            makes[problem.tensors[i].born].append(i)
    gap_at = [0] * len(problem.tensors)  # the gap that each tensor is in, or comes to next

    def next_use(i: int) -> float:
        gaps = problem.gaps[i]
        return gaps[gap_at[i]].last if gap_at[i] < len(gaps) else inf

    def last_used(i: int) -> tuple[float, int, int]:
        return next_use(i), problem.tensors[i].size, -i

    inside = {i for i in tensors if problem.tensors[i].born < 0 and problem.gaps[i]}
    _give_up(problem, inside, problem.on_chip, [(inside, last_used)])
    for t in range(problem.steps):
        before = set(inside)
        for i in reads[t]:
            gap_at[i] += 1
        dead = [i for i in makes[t] if next_use(i) == t]
        inside.update(reads[t], makes[t])
        touched = {*reads[t], *makes[t]}
        fetched = {i for i in reads[t] if i not in before}
        made = set(makes[t])
        classes = [
            (inside - touched, last_used),
            (fetched, last_used),
            (made, last_used),
            (touched - fetched - made, last_used),
        ]
        _give_up(problem, inside, problem.on_chip - problem.workspace[t], classes)
        for i in reads[t]:
            kept[i][gap_at[i] - 1] = i in before and i in inside
        for i in dead:
            kept[i][0] = i in inside
            gap_at[i] += 1
        inside = {i for i in inside if gap_at[i] < len(problem.gaps[i])}
    for i in inside:
        kept[i][-1] = True
    answer = tuple(map(tuple, kept))
    return Traffic(moved_bytes(problem, answer), 0, answer)


def _give_up(
    problem: TrafficProblem,
    inside: set[int],
    room: int,
    classes: Sequence[tuple[set[int], Callable[[int], tuple[float, int, int]]]],
) -> None:
    """Take tensors off the chip, class by class, until the rest fits into `room` bytes."""
    load = sum(problem.tensors[i].size for i in inside)
    for members, key in classes:
        for i in sorted(members, key=key, reverse=True):
            if load <= room:
                return
            if problem.tensors[i].size:
                inside.discard(i)
                load -= problem.tensors[i].size


def exact(problem: TrafficProblem, time_limit: float | None = None, work: float = WORK) -> Traffic:
    """The least traffic, or the best found in `time_limit` seconds (without one: `work`), and the
    bound that is proven."""
    from ortools.sat.python import cp_model

    from memopt.solvers.programs.cp_solver import Limit, solve

    first = belady(problem)
    if not first.moved:
        return Traffic(0, 0, first.kept)
    model = cp_model.CpModel()
    keep = [[model.new_bool_var("") for _ in gaps] for gaps in problem.gaps]
    hint: list[tuple[cp_model.IntVar, int]] = []
    terms: list[cp_model.LinearExprT] = []
    held: list[list[tuple[int, cp_model.IntVar]]] = [[] for _ in range(problem.steps)]
    for tensor, gaps, here, known in zip(
        problem.tensors, problem.gaps, keep, first.kept, strict=True
    ):
        hint += zip(here, map(int, known), strict=True)
        terms += [tensor.moved * (1 - k) for k, g in zip(here, gaps, strict=True) if g.read]
        if tensor.born >= 0 and here:
            out = model.new_bool_var("")
            hint.append((out, int(not all(known))))
            for k in here:
                model.add(out + k >= 1)
            terms.append(tensor.moved * out)
        for index, (gap, k) in enumerate(zip(gaps, here, strict=True)):
            shared = index > 0 and gap.first >= 0
            if shared:  # in the step where two gaps meet it takes up its size once
                both = model.new_bool_var("")
                hint.append((both, int(known[index] or known[index - 1])))
                model.add_implication(k, both)
                model.add_implication(here[index - 1], both)
                held[gap.first].append((tensor.size, both))
            ends = index + 1 < len(gaps)
            first_step = gap.first + 1 if shared else max(gap.first, 0)
            last_step = min(gap.last, problem.steps - 1) - (1 if ends else 0)
            for t in range(first_step, last_step + 1):
                held[t].append((tensor.size, k))
    for t, entries in enumerate(held):
        room = problem.on_chip - problem.workspace[t]
        if sum(size for size, _ in entries) > room:
            model.add(sum(size * k for size, k in entries) <= room)
    model.minimize(sum(terms))
    solver = solve(model, Limit(time_limit, work), hint)
    best = first.kept
    if solver.found:
        found_kept = tuple(tuple(bool(solver.value(k)) for k in here) for here in keep)
        if moved_bytes(problem, found_kept) < first.moved:
            best = found_kept
    answer = Traffic(moved_bytes(problem, best), max(0, solver.bound or 0), best)
    answer.verify(problem)
    return answer
