"""SERENITY: dynamic programming over zero-indegree signatures, divided, with soft budgets.

Algorithm 1: step i holds, per set of operators that are ready after i operators (the signature),
the schedule of least peak that leads there. A signature stands for exactly one ideal, since what
has not run is ready or descends from something ready; what is resident, and what runs in place,
depends on the ideal alone, so the optimum over all features of the model is exact.

Divide and conquer (section 3.2) at hourglass operators. As printed, "a single tensor" between two
parts is not enough (theory.md section 2): here every other operator must be an ancestor or a
descendant of the hourglass, so that every order passes there, and at most one storage group may
be live, graph inputs and outputs counted.

Adaptive soft budgeting (Algorithm 2): paths above a budget are dropped. "Timeout" (a step holds
more signatures than `width`; the paper takes seconds, which no two runs share) lowers the budget,
"no solution" raises it. As printed the rule for "no solution" can lower it again (100 times out,
50 and 75 have none: next is 62); here the search stays between what is known from both sides. "No
solution" proves a bound: every order takes a dropped step, so none is below the least of them.
Where the two sides meet, `width` grows, until time or memory is spent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Literal

from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import (
    MemoryGraph,
    Proof,
    Schedule,
    bits,
    profile,
    topological_order,
)
from memopt.solvers.scheduling.methods.greedy import order as greedy
from memopt.solvers.theory.bounds import trivial
from memopt.solvers.theory.ideals import Walker, ancestors, descendants, mask_bytes, renumber

OPTIONS = {
    "divide": "solve apart what single tensors divide",
    "budgets": "soft budgets on the peak",
    "width": "states of a step above which the budget falls",
}

# Signatures in one step beyond which a run counts as timed out, at first.
WIDTH = 10_000

# Bytes for all signatures of one run, unless their number is given; each takes this and two masks.
MAX_BYTES = 1_000_000_000
SIGNATURE = 350

LOW, HIGH = -(1 << 62), 1 << 62  # less and more than any step

# ideal, level after it, least peak of a path to it
State = tuple[int, int, int]


@dataclass(frozen=True)
class Part:
    """Operators between two ideals that every order passes: `order` is the best known, `peak` its.

    `bound` is proven, in bytes of the whole graph; `exact` says that it is the optimum.
    """

    order: tuple[int, ...]
    peak: int
    bound: int
    exact: bool


@dataclass
class Run:
    """Algorithm 1 from the ideal `start` to `end` without steps above `budget` (bytes).

    `level` is that of `start`.
    """

    walker: Walker
    start: int
    level: int
    end: int
    budget: int
    states: int = 0
    dropped: int | None = None  # the least step that was above the budget

    def solve(
        self, width: int | None, max_states: int, deadline: float | None
    ) -> Literal["timeout", "no solution"] | tuple[tuple[int, ...], int]:
        """The best order and its peak, or why there is none."""
        graph = self.walker.graph
        level = self.level - (0 if self.start else graph.unread_inputs)
        peak = LOW if self.start else self.level
        memo: dict[int, State] = {self._ready(): (self.start, level, peak)}
        steps: list[dict[int, tuple[int, int]]] = []
        for _ in range((self.end & ~self.start).bit_count()):
            following: dict[int, State] = {}
            back: dict[int, tuple[int, int]] = {}
            for signature, state in memo.items():
                self._extend(signature, state, following, back)
                if width is not None and len(following) > width:
                    return "timeout"
                if clock.late(deadline):
                    return "timeout"
            self.states += len(following)
            if not following:
                return "no solution"
            if self.states > max_states or clock.late(deadline):
                return "timeout"
            steps.append(back)
            memo = following
        ((signature, (_, _, peak)),) = memo.items()
        order: list[int] = []
        for back in reversed(steps):
            signature, operator = back[signature]
            order.append(operator)
        return tuple(reversed(order)), peak

    def drop(self, step: int) -> None:
        """Every order that is lost here takes a step this high, or one dropped before."""
        self.dropped = step if self.dropped is None else min(self.dropped, step)

    def _ready(self) -> int:
        graph = self.walker.graph
        return sum(
            1 << v
            for v in bits(self.end & ~self.start)
            if not graph.predecessor_masks[v] & ~self.start
        )

    def _extend(
        self,
        signature: int,
        state: State,
        following: dict[int, State],
        back: dict[int, tuple[int, int]],
    ) -> None:
        graph, (done, level, so_far) = self.walker.graph, state
        for v in bits(signature):
            step, after = self.walker.run(done, level, v)
            if step > self.budget:
                self.drop(step)
                continue
            peak = max(step, so_far)
            child = done | 1 << v
            ready = signature & ~(1 << v)
            for s in graph.successors[v]:
                if not graph.predecessor_masks[s] & ~child and self.end >> s & 1:
                    ready |= 1 << s
            known = following.get(ready)
            if known is None or peak < known[2]:
                following[ready] = (child, after, peak)
                back[ready] = (signature, v)


def hourglasses(graph: MemoryGraph) -> list[int]:
    """The ideals at which the graph may be split, ascending, the whole graph last."""
    up, down = ancestors(graph), descendants(graph)
    full = (1 << len(graph)) - 1
    live = _live(graph)
    ideals: list[int] = []
    for v in range(len(graph)):
        ideal = up[v] | 1 << v
        if ideal | down[v] == full and ideal != full and live[ideal.bit_count()] <= 1:
            ideals.append(ideal)
    return [*sorted(ideals, key=int.bit_count), full]


def _live(graph: MemoryGraph) -> list[int]:
    """Return the number of groups that are resident after so many operators in their order."""
    change = [0] * (len(graph) + 2)
    for group, size, touchers in zip(graph.groups, graph.sizes, graph.touchers, strict=True):
        if size:
            change[0 if group.is_input else min(group.writers) + 1] += 1
            if not group.is_output:
                change[max(touchers, default=0) + 1] -= 1
    return list(accumulate(change))


@dataclass
class Serenity:
    """One solve: the parts one after the other, each with its own budgets.

    `levels` are those after so many operators: all orders have the same between two parts.
    """

    graph: MemoryGraph
    levels: Sequence[int]
    budgets: bool
    width: int
    max_states: int
    deadline: float | None
    states: int = 0

    @cached_property
    def walker(self) -> Walker:
        return Walker(self.graph)

    @cached_property
    def least_extra(self) -> int:
        """Return the least workspace, at most 0, in bytes."""
        return min((0, *self.graph.extra))

    def part(self, start: int, end: int, orders: list[tuple[int, ...]]) -> Part:
        """The operators of `end` without `start`; the first of `orders` sets the hard budget."""
        known: list[tuple[int, tuple[int, ...]]] = []
        for order in orders:
            mine = order[start.bit_count() : end.bit_count()]
            known.append((self._peak(start, mine), mine))
        hard = known[0][0]  # Kahn's algorithm, as in the paper
        peak, best = min(known)
        low = self.floor(start, end)
        high, budget, width = hard, hard, self.width
        while low < peak:
            soft = min(budget, hard) if self.budgets else HIGH
            run = Run(self.walker, start, self.levels[start.bit_count()], end, soft)
            states_left = self.max_states - self.states
            outcome = run.solve(width if self.budgets else None, states_left, self.deadline)
            self.states += run.states
            if isinstance(outcome, tuple):
                return Part(outcome[0], outcome[1], outcome[1], True)
            if outcome == "no solution":
                low = max(low, run.dropped if run.dropped is not None else 0)
            elif self.states > self.max_states or self._late() or not self.budgets:
                return Part(best, peak, low, False)
            else:
                high = run.budget
            if high <= low + 1:  # nothing between that may still end in time: take more of it
                if outcome == "timeout":
                    width *= 4
                high, budget = hard, low
            else:
                budget = (low + high) // 2
        return Part(best, peak, peak, True)

    def floor(self, start: int, end: int) -> int:
        """A bound of the part in bytes.

        A step is at least the level before and after it, but for a negative workspace; the level at
        the start of the graph counts as it is.
        """
        first, last = self.levels[start.bit_count()], self.levels[end.bit_count()]
        low = max(first, last) + self.least_extra
        return low if start else max(low, first)

    def _late(self) -> bool:
        return clock.late(self.deadline)

    def _peak(self, done: int, order: tuple[int, ...]) -> int:
        """Largest step of `order` from the ideal `done` on; from the start, the level there too."""
        level = self.levels[done.bit_count()]
        peak = LOW if done else level
        level -= 0 if done else self.graph.unread_inputs
        for v in order:
            step, level = self.walker.run(done, level, v)
            peak = max(peak, step)
            done |= 1 << v
        return peak


def solve(
    graph: MemoryGraph,
    time_limit: float | None = None,
    divide: bool = True,
    budgets: bool = True,
    width: int = WIDTH,
    max_states: int | None = None,
) -> Schedule:
    """The optimum with proof `search`, or the best order known with the bound proven until then.

    `divide` off takes the graph in one piece, `budgets` off runs plain Algorithm 1. `states` of the
    answer counts memoised signatures of all runs. The search ends early, with proof `none`, after
    `time_limit` seconds or more than `max_states` signatures, by default as many as a gigabyte
    holds. Deterministic without a time limit.
    """
    if max_states is None:
        max_states = MAX_BYTES // (SIGNATURE + 2 * mask_bytes(graph))
    deadline = clock.deadline(time_limit)
    numbered, old = renumber(graph)
    orders = [topological_order(numbered), greedy(numbered)]
    levels = profile(numbered, orders[0]).levels
    run = Serenity(numbered, levels, budgets, width, max_states, deadline)
    parts: list[Part] = []
    start = 0
    for end in hourglasses(numbered) if divide else [(1 << len(graph)) - 1]:
        parts.append(run.part(start, end, orders))
        start = end
    order = tuple(old[v] for part in parts for v in part.order)
    peak = profile(graph, order).peak
    bound = max([trivial(graph), *(part.bound for part in parts)])
    proof: Proof = "none"
    if peak == bound or all(part.exact for part in parts):
        # a part that was cut short may still meet the trivial bound, which T6 contains
        proof = "search" if peak > trivial(graph) or all(p.exact for p in parts) else "flow"
    return Schedule(order, peak, min(bound, peak), proof, run.states)
