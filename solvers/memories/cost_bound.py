"""Bound of what several memories cost, for all orders of the operators.

Let the banks be sorted by cost, c1 <= c2 <= ..., and let *level* k be the first k of them, with
their bytes together. A byte read in bank b costs c1, and c(k+1) - c(k) more for each level k that
is without b. In every order a tenant is *live at v* if operator v uses it, or if one use is before
v in every order and one behind v. With `out` one if it is outside of level k

    out(x, u)  during the use u, which costs bytes(u)
    out(x, v)  in the step of v, if it is live there
    sum of size(x) * (1 - out(x, v)) <= bytes of level k      for every v

a tenant that cannot move is out all its life or not at all. One that can move went out (`leaves`)
if it is out in v's step and was not in a use before v, and came back (`comes`) if it is not out
in a use behind v; each costs its bytes to copy, read here and written there. What an order and an
assignment do fulfils this program, so a bound on its optimum is below what they cost. Tenants of
several heights take up no bytes in it.
"""

from collections.abc import Sequence
from itertools import pairwise

from memopt.solvers import clock
from memopt.solvers.memories.traffic_bound import after_of, before_of
from memopt.solvers.placement.skyline import ones
from memopt.solvers.problems.memories import MemoryProblem, Tenant, Use
from memopt.solvers.programs import cp_solver
from memopt.solvers.programs.or_tools import cp_model

WORK = 10.0  # of CP-SAT's deterministic seconds
TERMS = 100_000  # of the program, at most

Literal = cp_model.IntVar


def bound_of_costs(
    problem: MemoryProblem,
    predecessors: Sequence[Sequence[int]],
    time_limit: float | None = None,
) -> int:
    """Return a cost that no order and no assignment is below; 0 of what is too large.

    Step t of the problem is operator t, and the steps are a legal order of the `predecessors`.
    """
    deadline = clock.deadline(time_limit)
    before = before_of(predecessors)
    after = after_of(predecessors)
    lives = [_live(t, before, after) for t in problem.tenants]
    if sum(life.bit_count() for life in lives) * len(problem.banks) > TERMS:
        return 0
    banks = sorted(problem.banks, key=lambda b: b.cost)
    model = cp_model.CpModel()
    terms: list[cp_model.LinearExprT] = [problem.least]
    room, inner = 0, list[dict[int, Literal]]()
    moved: list[list[list[Literal]]] = [[[], []] for _ in problem.tenants]
    for bank, outer in pairwise(banks):
        room += bank.capacity
        level = _Level(model, problem, before, outer.cost - bank.cost)
        level.add(lives, room, terms, moved)
        for closer, further in zip(inner, level.outs, strict=False):
            for u in closer:  # what is outside of more is outside of less
                model.add_implication(further[u], closer[u])
        inner = level.outs
    for t, ways in zip(problem.tenants, moved, strict=True):
        for literals in ways:
            if literals and banks[0].cost:
                at_all = model.new_bool_var("")
                for literal in literals:
                    model.add_implication(literal, at_all)
                terms.append(2 * banks[0].cost * t.copied * at_all)
    model.minimize(sum(terms))
    answer = cp_solver.solve(model, cp_solver.Limit(clock.left(deadline), WORK), ())
    return max(0, answer.bound or 0)


class _Level:
    """The variables of one level: `outs[i][u]`, tenant i is outside of it during its use u."""

    def __init__(
        self, model: cp_model.CpModel, problem: MemoryProblem, before: Sequence[int], price: int
    ) -> None:
        self.model, self.problem, self.before, self.price = model, problem, before, price
        self.outs: list[dict[int, Literal]] = []

    def add(
        self,
        lives: Sequence[int],
        room: int,
        terms: list[cp_model.LinearExprT],
        moved: list[list[list[Literal]]],
    ) -> None:
        """Add the level to the program: its `room` in bytes, what it costs, what is `moved`."""
        model, steps = self.model, self.problem.steps
        loads: list[list[tuple[int, Literal]]] = [[] for _ in range(steps)]
        for i, t in enumerate(self.problem.tenants):
            stays = len(t.elements) == 1
            one = model.new_bool_var("")
            outs = {u.step: one if stays else model.new_bool_var("") for u in t.uses}
            self.outs.append(outs)
            terms += [self.price * u.bytes * outs[u.step] for u in t.uses if u.bytes]
            if stays:
                for v in ones(lives[i]):
                    loads[v].append((t.size, one))
                continue
            leaves, comes = model.new_bool_var(""), model.new_bool_var("")
            moved[i][0].append(leaves)
            moved[i][1].append(comes)
            terms.append(self.price * t.copied * (leaves + comes))
            for v in ones(lives[i]):
                gone = outs.get(v)
                if gone is None:
                    gone = self._between(t, v, outs, leaves, comes)
                loads[v].append((t.size, gone))
        for load in loads:
            over = sum(size for size, _ in load) - room
            if over > 0:
                model.add(sum(size * gone for size, gone in load) >= over)

    def _between(
        self, t: Tenant, v: int, outs: dict[int, Literal], leaves: Literal, comes: Literal
    ) -> Literal:
        """Return whether a tenant is out in the step of an operator that does not use it."""
        gone = self.model.new_bool_var("")
        for u in _uses(t, self.problem.steps):
            if is_before(u.step, v, self.problem.steps, self.before):
                self.model.add_bool_or(outs[u.step], leaves, ~gone)
            elif is_before(v, u.step, self.problem.steps, self.before):
                self.model.add_bool_or(outs[u.step], comes, ~gone)
        return gone


def is_before(u: int, v: int, steps: int, before: Sequence[int]) -> bool:
    """Return whether u is before v in every order; -1 is before all operators, `steps` behind."""
    if u < 0 or v >= steps:
        return True
    return v >= 0 and u < steps and bool(before[v] >> u & 1)


def _uses(t: Tenant, steps: int) -> list[Use]:
    """Return the uses that are some operator's or the caller's in every order: one of no bytes may
    stand for whichever operator comes first."""
    return [u for u in t.uses if u.bytes or not 0 <= u.step < steps]


def _live(t: Tenant, before: Sequence[int], after: Sequence[int]) -> int:
    """Return as a mask the operators in whose steps a tenant is live in every order; of one without
    bytes, or of several heights, none."""
    if not t.size or len(t.heights) > 1 or t.in_parts:
        return 0
    steps = len(before)
    begun = ahead = touched = 0
    for use in _uses(t, steps):
        if use.step < 0:
            begun = -1
        elif use.step >= steps:
            ahead = -1
        else:
            begun |= after[use.step]
            ahead |= before[use.step]
            touched |= 1 << use.step
    return (begun & ahead | touched) & (1 << steps) - 1
