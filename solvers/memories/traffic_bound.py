"""Bytes that every order and every rule moves off the chip: a bound for all orders.

Let A(v) be the operators that run before v in every order, D(v) those that run after it. In every
order a tensor is *live at v* if v touches it, or if it is made in A(v) (or is an input) and read in
D(v) (or is an output). Those of them that are not on the chip in v's step have at least the bytes
that exceed it, and each costs: with `absent` one if tensor x is not on the chip in v's step,
`written` one if x is written out, `fetched` one per reader that reads x from outside,

    written(x) >= absent(x, v)                     x has no copy outside
    fetched(x, v) >= absent(x, v)                  v reads x: the gap that ends there is not kept
    sum of fetched(x, u) >= absent(x, v)           someone in D(v) reads x, so the gap that covers
                                                   v's step or begins there ends with a read, by a
                                                   u other than v that is not in A(v)
    sum of size(x) * absent(x, v) >= live bytes at v + workspace of v - on-chip
    moved = sum of moved(x) * (written(x) + fetched(x, .)), to be minimised

What an order and a rule do fulfils this program, so its optimum, or a bound on that, is below what
they move.

Another bound, of one step: let `c(x)` be the bytes that x costs if it is off the chip while it is
live: twice `moved` for a result that is read, once for others, nothing for an input that nobody
reads again. For every rate r, what exceeds the chip where most is live costs at least
`peak - r * on-chip`, with the least peak over all orders of tensors of min(r * size, c) bytes (and
r * workspace): leaving out tensors to make room is a fractional knapsack, and this is its dual. The
schedulers bound that peak.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from memopt.solvers import clock
from memopt.solvers.memories.traffic import Tensor, TrafficProblem
from memopt.solvers.placement.skyline import ones
from memopt.solvers.problems.memory_graph import Group, MemoryGraph, Proof
from memopt.solvers.programs import cp_solver
from memopt.solvers.programs.or_tools import cp_model
from memopt.solvers.scheduling import schedule

WORK = 10.0  # of CP-SAT's deterministic seconds
TERMS = 300_000  # of the program, at most: some seconds until CP-SAT has it
STATES = 2_000  # of the search for the least peak
RATES = (1, 2)  # what a byte off the chip costs: once read, or written and read


@dataclass(frozen=True)
class OrdersBound:
    """Bytes that every order and every rule moves, and what proves it."""

    value: int
    proof: Proof


def bound_of_orders(
    problem: TrafficProblem, predecessors: Sequence[Sequence[int]], time_limit: float | None = None
) -> OrdersBound:
    """Return the better of both bounds, as far as they are found in `time_limit` seconds.

    Step t of the problem is operator t, and the steps are a legal order of the `predecessors`.
    """
    deadline = clock.deadline(time_limit)
    program = bound_by_steps(problem, predecessors, clock.left(deadline, 0.5))
    peak = bound_by_peak(problem, predecessors, clock.left(deadline))
    return peak if peak.value > program.value else program


def bound_by_steps(
    problem: TrafficProblem, predecessors: Sequence[Sequence[int]], time_limit: float | None = None
) -> OrdersBound:
    """Return the bound of the program, which adds up what the operators' steps cost, in bytes."""
    deadline = clock.deadline(time_limit)
    before = before_of(predecessors)
    live = _live_in_steps(problem, _lives(problem, predecessors, before))
    if live is None:
        return OrdersBound(0, "ilp")
    model = cp_model.CpModel()
    written = {i: model.new_bool_var("") for i, x in enumerate(problem.tensors) if x.born >= 0}
    fetched = {
        (i, v): model.new_bool_var("") for i, x in enumerate(problem.tensors) for v in x.reads
    }
    is_free = True
    for v in range(problem.steps):
        if clock.late(deadline):
            return OrdersBound(0, "ilp")
        over = sum(problem.tensors[i].size for i in live[v])
        over += problem.workspace[v] - problem.on_chip
        if over <= 0:
            continue
        is_free = False
        absent = [(problem.tensors[i].size, model.new_bool_var("")) for i in live[v]]
        model.add(sum(size * gone for size, gone in absent) >= over)
        for i, (_, gone) in zip(live[v], absent, strict=True):
            reads = problem.tensors[i].reads
            if i in written:
                model.add_implication(gone, written[i])
            if v in reads:
                model.add_implication(gone, fetched[i, v])
            if any(before[u] >> v & 1 for u in reads):
                later = [fetched[i, u] for u in reads if u != v and not before[v] >> u & 1]
                model.add_bool_or(*later, ~gone)
    if is_free:
        return OrdersBound(0, "ilp")
    moved = [problem.tensors[i].moved * w for i, w in written.items()]
    moved += [problem.tensors[i].moved * f for (i, _), f in fetched.items()]
    model.minimize(sum(moved))
    answer = cp_solver.solve(model, cp_solver.Limit(clock.left(deadline), WORK), ())
    return OrdersBound(max(0, answer.bound or 0), "ilp")


def before_of(predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return as masks what runs before each operator in every order."""
    before = [0] * len(predecessors)
    for v, direct in enumerate(predecessors):  # the steps are a legal order
        for u in direct:
            before[v] |= before[u] | 1 << u
    return before


def after_of(predecessors: Sequence[Sequence[int]]) -> list[int]:
    """Return as masks what runs after each operator in every order."""
    after = [0] * len(predecessors)
    for v in reversed(range(len(predecessors))):
        for u in predecessors[v]:
            after[u] |= after[v] | 1 << v
    return after


def _lives(
    problem: TrafficProblem, predecessors: Sequence[Sequence[int]], before: Sequence[int]
) -> list[int]:
    """Return as masks the operators in whose steps each tensor is live in every order; of one
    without bytes none."""
    after = after_of(predecessors)
    lives: list[int] = []
    for x in problem.tensors:
        behind = after[x.born] if x.born >= 0 else -1  # an input is there from the start
        ahead = -1 if x.is_output and x.born >= 0 else 0
        touched = 1 << x.born if x.born >= 0 else 0
        for u in x.reads:
            ahead |= before[u]
            touched |= 1 << u
        lives.append((behind & ahead | touched) if x.size else 0)
    return lives


def _live_in_steps(problem: TrafficProblem, lives: Sequence[int]) -> list[list[int]] | None:
    """Return the tensors that are live in each operator's step; None if they are too many."""
    each = zip(problem.tensors, lives, strict=True)
    if sum(life.bit_count() * (1 + len(x.reads)) for x, life in each) > TERMS:
        return None
    live: list[list[int]] = [[] for _ in range(problem.steps)]
    for i, life in enumerate(lives):
        for v in ones(life):
            live[v].append(i)
    return live


def bound_by_peak(
    problem: TrafficProblem, predecessors: Sequence[Sequence[int]], time_limit: float | None = None
) -> OrdersBound:
    """Return the bound of the one step in which most exceeds the chip, in bytes."""
    deadline = clock.deadline(time_limit)
    source, best = range(problem.steps), OrdersBound(0, "search")
    for rate in RATES if problem.steps else ():
        graph = MemoryGraph(
            tuple(map(str, source)),
            tuple(tuple(p) for p in predecessors),
            tuple(
                Group(
                    x.name,
                    min(rate * x.size, _cost(x)),
                    (x.born,) if x.born >= 0 else (),
                    x.reads,
                    x.born < 0,
                    x.is_output and x.born >= 0,
                )
                for x in problem.tensors
                if x.reads or x.born >= 0
            ),
            tuple(rate * w for w in problem.workspace),
        )
        answer = schedule(graph, "auto", clock.left(deadline), max_states=STATES)
        value = answer.lower_bound - rate * problem.on_chip
        if value > best.value:
            best = OrdersBound(value, "flow" if answer.proof == "flow" else "search")
    return best


def _cost(x: Tensor) -> int:
    """Return the bytes that a tensor costs at least if it is off the chip once while it is live.

    Of an output only the writing: behind its last reader nobody reads it again.
    """
    return 2 * x.moved if x.born >= 0 and x.reads and not x.is_output else x.moved
