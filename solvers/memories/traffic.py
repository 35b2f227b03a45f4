"""Traffic to memory off the chip, when not everything fits on it: whole tensors, one order.

    x, y = Tensor("x", 8, 8, -1, (0, 2), False), Tensor("y", 8, 8, 0, (1,), False)
    problem = TrafficProblem((x, y), steps=3, workspace=(0, 0, 0), on_chip=8)
    least_traffic(problem, "belady").moved, least_traffic(problem, "exact").moved       # bytes

The model, after SERENITY (section 4, Figure 11). Step t runs operator t. Between two steps that
touch a tensor (or from its making to the first; or from the last to the end, for an output) it is
`kept` on the chip, and then takes up its size in all steps from the one to the other, both
included; or it is not, and then it is read from outside at the second (nothing is read at the
end). Whatever is not kept once is also written out once, when it is made or later; inputs have a
copy outside from the start. An operator can read and write outside memory directly, so one whose
tensors do not fit all at once still runs; its workspace must be on the chip. A result that nobody
reads is `kept` in its own step, or written out. So nothing is moved where all that is live fits
in every step. `size` is what a tensor takes up, `moved` what a transfer of it counts, bytes.

Who decides what is kept is a rule: one file each in `rules/`.
"""

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import accumulate, pairwise
from operator import add

from memopt.modules import modules_in
from memopt.solvers.errors import ProblemError
from memopt.solvers.registry import function_of, options_of

_FOUND = modules_in("memopt.solvers.memories.rules")
RULES = tuple(_FOUND)


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
        stretches = [Gap(a, b, True) for a, b in pairwise(points)]
        if self.is_output:
            stretches.append(Gap(points[-1], steps, False))
        elif not self.reads and self.born >= 0:
            stretches.append(Gap(self.born, self.born, False))
        return tuple(stretches)


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
    """Bytes `moved`, no rule moves less than `lower_bound`; `kept` per tensor and gap; `proof`
    says what proves the bound where it is met, as in a plan."""

    moved: int
    lower_bound: int
    kept: Kept
    proof: str = "none"

    @property
    def optimal(self) -> bool:
        return self.moved == self.lower_bound

    def verify(self, problem: TrafficProblem) -> None:
        """Raise ProblemError unless what is kept fits, and moves what is stated."""
        if moved_bytes(problem, self.kept) != self.moved or self.lower_bound > self.moved:
            raise ProblemError("the traffic is not what was stated")


def moved_bytes(problem: TrafficProblem, kept: Kept) -> int:
    """Bytes moved if `kept` is kept. Raises ProblemError where that does not fit."""
    change = [0] * (problem.steps + 1)  # bytes that come, minus those that go, per step
    moved = 0
    for tensor, gaps, keep in zip(problem.tensors, problem.gaps, kept, strict=True):
        held = 0  # steps before this one are counted, where the tensor is kept in them
        for gap, stays in zip(gaps, keep, strict=True):
            if stays:
                first, end = max(gap.first, held), min(gap.last + 1, problem.steps)
                change[first] += tensor.size
                change[end] -= tensor.size
                held = end
            elif gap.read:
                moved += tensor.moved
        if tensor.born >= 0 and not all(keep):
            moved += tensor.moved
    for t, size in enumerate(map(add, problem.workspace, accumulate(change[:-1]))):
        if size > problem.on_chip:
            raise ProblemError(f"{size} B are kept in step {t}, {problem.on_chip} B fit")
    return moved


def least_traffic(
    problem: TrafficProblem, rule: str = "belady", time_limit: float | None = None
) -> Traffic:
    """Return the traffic under a rule, verified. `time_limit` in seconds is for `exact`.

    Raises ProblemError for a malformed problem and an unknown rule.
    """
    solve = function_of(_FOUND, rule, "rule", "solve")
    problem.check()
    answer: Traffic = (
        solve(problem, time_limit) if "time_limit" in options_of(solve) else solve(problem)
    )
    answer.verify(problem)
    return answer


def _crowded(problem: TrafficProblem) -> list[int]:
    """Return the steps, ascending, in which not all that is live fits on the chip."""
    change = [0] * (problem.steps + 1)
    for tensor, gaps in zip(problem.tensors, problem.gaps, strict=True):
        reached = 0
        for g in sorted(gaps, key=lambda g: g.first):
            start, stop = max(g.first, reached), min(g.last + 1, problem.steps)
            if start < stop:
                change[start] += tensor.size
                change[stop] -= tensor.size
                reached = stop
    sums = zip(accumulate(change), problem.workspace, strict=False)
    return [t for t, (live, workspace) in enumerate(sums) if live + workspace > problem.on_chip]


def least_moved(problem: TrafficProblem) -> int:
    """Bytes that every rule moves, found in no time: what exceeds the chip in one step, if all is
    kept, is given up there by the byte and at the cheapest rate. Raises ProblemError."""
    problem.check()
    crowded = _crowded(problem)
    live: dict[int, list[tuple[int, int]]] = {t: [] for t in crowded}  # (moved, size)
    for tensor, gaps in zip(problem.tensors, problem.gaps, strict=True):
        cost: dict[int, int] = {}
        for g in gaps:  # an input that nobody reads again has its copy outside
            moved = tensor.moved if g.read or tensor.born >= 0 else 0
            for t in crowded[bisect_left(crowded, g.first) : bisect_right(crowded, g.last)]:
                cost[t] = max(cost.get(t, 0), moved)
        for t, moved in cost.items():
            if tensor.size:
                live[t].append((moved, tensor.size))
    bound = 0
    for t, entries in live.items():
        over = sum(size for _, size in entries) + problem.workspace[t] - problem.on_chip
        least = 0
        for moved, size in sorted(entries, key=lambda e: Fraction(*e)):
            if over <= 0:
                break
            least += -(-moved * min(size, over) // size)
            over -= size
        bound = max(bound, least)
    return bound
