"""An order of the operators in which several memories cost the least, with a bound for all orders.

    answer = least_cost_order(problem_in, predecessors)     # problem_in(order) -> MemoryProblem
    answer.order, answer.assignment.cost, answer.lower_bound

The order that is given is assigned first, as if it were the only one. Of few orders each of the
others is. Of many, simulated annealing (`packing.py`) looks for some by the loads of the banks
alone, from the given order and from one for little traffic outside of the cheapest bank, and those
that load the banks best are assigned. Bound: `cost_bound.py`.
"""

from bisect import bisect_right, insort
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import assign
from memopt.solvers.memories.cost_bound import bound_of_costs
from memopt.solvers.memories.packing import Annealing, Packed, Packer, tries_of
from memopt.solvers.memories.traffic import Tensor, TrafficProblem
from memopt.solvers.memories.traffic_bound import before_of
from memopt.solvers.memories.traffic_order import Moves
from memopt.solvers.problems.memories import Assignment, MemoryProblem, NoRoomError, Tenant

FEW = 24  # orders of which each is assigned
WORK = 300_000  # operators that a run looks at
TRAFFIC_WORK = 100_000  # operators that the run for traffic looks at
ASSIGNED = 2  # of the orders that are found
BOUND_SHARE, SEARCH_SHARE = 0.2, 0.5  # of the time that the given order leaves
TOO_FULL = 64  # what a byte costs that no memory has room for, in bytes of the dearest memory

Order = tuple[int, ...]
ProblemIn = Callable[[Sequence[int]], MemoryProblem]


@dataclass(frozen=True)
class CostOrder:
    """An order (operators, as they are to run), its assignment, and what none costs less than in
    any order."""

    order: Order
    assignment: Assignment
    lower_bound: int


def least_cost_order(
    problem_in: ProblemIn,
    predecessors: Sequence[Sequence[int]],
    time_limit: float | None = None,
    work: int = WORK,
) -> CostOrder:
    """Return the cheapest order found in `time_limit` seconds, or without one in so much `work`.

    Operators are numbered in a legal order, which is assigned first, within the limit or in what it
    takes without one: the answer costs no more than that. The others share what is left. If none
    can be assigned it raises what `assign` does of the first order, or, if that has no room, of the
    one that lacks the fewest bytes, with the number of the operator for its step.
    """
    deadline = clock.deadline(time_limit)
    answers = _Answers()
    own = tuple(range(len(predecessors)))
    problem = problem_in(own)
    problem.check()
    answers.offer(own, problem, clock.left(deadline))
    bound = problem.least
    if answers.is_above(bound) and not clock.late(deadline):
        seconds = clock.left(deadline, BOUND_SHARE)
        bound = max(bound, bound_of_costs(problem, predecessors, seconds))
    few = _few_orders(predecessors)
    others: Sequence[Order] = ()
    if answers.is_above(bound) and not clock.late(deadline):
        searched = clock.deadline(clock.left(deadline, SEARCH_SHARE))
        others = few or _searched(problem, predecessors, work, searched)
        others = [order for order in others if order != own]
    for k, order in enumerate(others):
        if not answers.is_above(bound) or clock.late(deadline):
            break
        answers.offer(order, problem_in(order), clock.left(deadline, 1 / (len(others) - k)))
    if few is not None and len(answers.bounds) == len(few):
        bound = max(bound, min((b for b in answers.bounds if b is not None), default=bound))
    return answers.answer(bound)


class _Answers:
    """The `best` of the orders that were assigned, and of each a bound; None of one that has no
    room."""

    def __init__(self) -> None:
        self.best: tuple[Order, Assignment] | None = None
        self.refused: ProblemError | None = None
        self.bounds: list[int | None] = []

    def offer(self, order: Order, problem: MemoryProblem, seconds: float | None) -> None:
        """Assign an order, with CP-SAT's work as a limit beside the `seconds`."""
        try:
            answer = assign(problem, seconds, always=True)
        except NoRoomError as error:
            if 0 <= error.step < len(order):
                error.step = order[error.step]
            known = self.refused
            if not known or (isinstance(known, NoRoomError) and error.missing < known.missing):
                self.refused = error
            self.bounds.append(None)
            return
        except ProblemError as error:
            self.refused = self.refused or error
            self.bounds.append(problem.least)
            return
        self.bounds.append(answer.lower_bound)
        if self.best is None or answer.cost < self.best[1].cost:
            self.best = order, answer

    def is_above(self, bound: int) -> bool:
        """Return whether what was found is dearer than a bound, or nothing was."""
        return self.best is None or self.best[1].cost > bound

    def answer(self, bound: int) -> CostOrder:
        """Return the best, with a bound of all orders, which bounds this one too."""
        if self.best is None:
            assert self.refused is not None
            raise self.refused
        order, answer = self.best
        if bound > answer.cost:
            raise ProblemError(f"orders cost at least {bound}, and one costs {answer.cost}")
        if bound > answer.lower_bound:
            proof = "ilp" if bound == answer.cost else answer.proof
            answer = replace(answer, lower_bound=bound, proof=proof)
        return CostOrder(order, answer, bound)


def _searched(
    problem: MemoryProblem,
    predecessors: Sequence[Sequence[int]],
    work: int,
    deadline: float | None,
) -> list[Order]:
    """Return the orders that load the banks best of those that are found until `deadline`, the best
    first. Step t of the problem is operator t."""
    packer, moves, own = BankPacker(problem), Moves(predecessors), range(problem.steps)
    outside = Annealing(Packer(traffic_problem(problem, before_of(predecessors))), own, 0, moves)
    outside.run(tries_of(problem.steps, min(work, TRAFFIC_WORK)), deadline)
    costs: dict[Order, int] = {}
    for seed, start in enumerate((outside.best_order, own, own)):
        if clock.late(deadline):
            break
        annealing = Annealing(packer, start, seed, moves)
        annealing.run(tries_of(problem.steps, work), deadline)
        costs[tuple(annealing.best_order)] = annealing.best.moved
    costs.pop(tuple(own), None)
    return sorted(costs, key=lambda order: costs[order])[:ASSIGNED]


def traffic_problem(problem: MemoryProblem, before: Sequence[int]) -> TrafficProblem:
    """Return the tenants as tensors of which the cheapest bank is the chip."""
    chip = min(problem.banks, key=lambda b: b.cost)
    tensors = tuple(_tensor(t, problem.steps, before) for t in problem.tenants if t.size)
    return TrafficProblem(tensors, problem.steps, (0,) * problem.steps, chip.capacity)


def _tensor(t: Tenant, steps: int, before: Sequence[int]) -> Tensor:
    """Return a tenant as a tensor that its first user makes, if the caller does not and this one is
    before the others in every order; else as an input."""
    first, *others = [u.step for u in t.uses if u.bytes and 0 <= u.step < steps] or [-1]
    if t.uses[0].step < 0 or not all(before[v] >> first & 1 for v in others):
        first, others = -1, [v for v in (first, *others) if v >= 0]
    return Tensor(t.name, t.size, t.size, first, tuple(others), t.uses[-1].step >= steps)


def _few_orders(predecessors: Sequence[Sequence[int]]) -> list[Order] | None:
    """Return all orders, the one in which the operators are numbered first; None if they are more
    than `FEW`."""
    orders: list[Order] = []
    for order in orders_of(predecessors):
        orders.append(order)
        if len(orders) > FEW:
            return None
    return orders


def orders_of(predecessors: Sequence[Sequence[int]]) -> Iterator[Order]:
    """Yield all legal orders, ascending; the operators are numbered in one, which is the first."""
    readers: list[list[int]] = [[] for _ in predecessors]
    for v, before in enumerate(predecessors):
        for u in set(before):
            readers[u].append(v)
    order, missing, ready = list(range(len(predecessors))), [0] * len(predecessors), list[int]()
    yield tuple(order)
    while order:
        last = order.pop()
        for w in readers[last]:
            if not missing[w]:
                ready.remove(w)
            missing[w] += 1
        insort(ready, last)
        at = bisect_right(ready, last)
        if at == len(ready):
            continue
        while ready:
            v = ready.pop(at)
            order.append(v)
            for w in readers[v]:
                missing[w] -= 1
                if not missing[w]:
                    insort(ready, w)
            at = 0
        yield tuple(order)


@dataclass(frozen=True)
class _Entry:
    """A tenant with bytes: those that each operator moves in it."""

    index: int
    size: int
    traffic: int
    operators: tuple[int, ...]
    is_input: bool
    is_output: bool


class BankPacker:
    """Banks for tenants by their loads, greedily, in any order of the operators: those go first in
    which most is moved per byte and step. Nothing moves, and no offsets are chosen."""

    def __init__(self, problem: MemoryProblem) -> None:
        self.steps = problem.steps
        self.banks = sorted(problem.banks, key=lambda b: b.cost)
        self.dearest = TOO_FULL * max(1, self.banks[-1].cost)
        self.count = len(problem.tenants)
        self.entries = [
            _Entry(
                i,
                t.size,
                t.traffic,
                tuple(u.step for u in t.uses if 0 <= u.step < problem.steps),
                t.uses[0].step < 0,
                t.uses[-1].step >= problem.steps,
            )
            for i, t in enumerate(problem.tenants)
            if t.size
        ]

    def pack(self, order: Sequence[int], weights: Sequence[float]) -> Packed:
        """Return what it costs if operators run in `order`, which must be legal."""
        position = [0] * len(order)
        for step, v in enumerate(order):
            position[v] = step
        spans: list[tuple[float, int, int, _Entry]] = []
        for e in self.entries:
            touched = [position[v] for v in e.operators]
            first = 0 if e.is_input else min(touched, default=self.steps - 1)
            end = self.steps if e.is_output else max(touched, default=0) + 1
            density = weights[e.index] * (e.traffic + 1) / (e.size * max(1, end - first))
            spans.append((-density, first, end, e))
        spans.sort(key=lambda span: (span[0], span[3].index))
        rooms = [[b.capacity] * max(1, self.steps) for b in self.banks]
        cost = 0
        for _, first, end, e in spans:
            for bank, room in zip(self.banks, rooms, strict=True):
                if min(room[first:end], default=bank.capacity) >= e.size:
                    room[first:end] = [free - e.size for free in room[first:end]]
                    cost += bank.cost * e.traffic
                    break
            else:
                cost += self.dearest * (e.traffic + e.size)
        return Packed(cost, {})
