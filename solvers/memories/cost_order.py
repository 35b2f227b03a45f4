"""An order of the operators in which several memories cost the least, with a bound for all orders.

    answer = least_cost_order(problem_in, predecessors)     # problem_in(order) -> MemoryProblem
    answer.order, answer.assignment.cost, answer.lower_bound

Of few orders each is assigned. Of many, simulated annealing (`packing.py`) looks for some by the
loads of the banks alone, and the best of these are assigned. Bound: `cost_bound.py`.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import assign
from memopt.solvers.memories.cost_bound import bound_of_costs
from memopt.solvers.memories.packing import Annealing, Packed, tries_of
from memopt.solvers.memories.traffic_order import Moves
from memopt.solvers.problems.memories import Assignment, MemoryProblem, NoRoomError

FEW = 24  # orders of which each is assigned
WORK, RUNS = 300_000, 2  # operators that a run looks at; each run has another seed
BOUND_SHARE, SEARCH_SHARE = 0.2, 0.4  # of the time limit
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

    Operators are numbered in a legal order, which the answer costs no more than if it can be
    assigned. Raises what `assign` does of the first order
    if none can be assigned.
    """
    deadline = clock.deadline(time_limit)
    own = tuple(range(len(predecessors)))
    problem = problem_in(own)
    problem.check()
    few = _few_orders(predecessors)
    bound = max(
        problem.least, bound_of_costs(problem, predecessors, clock.left(deadline, BOUND_SHARE))
    )
    candidates = dict.fromkeys(few or [own])
    if few is None:
        packer, moves = BankPacker(problem), Moves(predecessors)
        searched = clock.deadline(clock.left(deadline, SEARCH_SHARE))
        for seed in range(RUNS):
            annealing = Annealing(packer, own, seed, moves)
            annealing.run(tries_of(problem.steps, work), searched)
            candidates[tuple(annealing.best_order)] = None
    best: tuple[Assignment, Order] | None = None
    refused: ProblemError | None = None
    bounds: list[int] = []
    for k, order in enumerate(candidates):
        if best is not None and (best[0].cost <= bound or clock.late(deadline)):
            bounds.append(bound)
            break
        try:
            answer = assign(problem_in(order), clock.left(deadline, 1 / (len(candidates) - k)))
        except ProblemError as error:
            refused = refused or error
            if not isinstance(error, NoRoomError):
                bounds.append(bound)
            continue
        bounds.append(answer.lower_bound)
        if best is None or answer.cost < best[0].cost:
            best = answer, order
    if best is None:
        assert refused is not None
        raise refused
    answer, order = best
    if few is not None:
        bound = max(bound, min(bounds))
    bound = min(bound, answer.cost)
    if bound > answer.lower_bound:  # what bounds all orders bounds this one
        proof = "ilp" if bound == answer.cost else answer.proof
        answer = replace(answer, lower_bound=bound, proof=proof)
    return CostOrder(order, answer, bound)


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
    """Yield all legal orders, ascending."""
    count = len(predecessors)
    order: list[int] = []
    done = [False] * count
    start = 0
    while True:
        v = start
        while v < count and (done[v] or not all(done[u] for u in predecessors[v])):
            v += 1
        if v < count:
            order.append(v)
            done[v] = True
            start = 0
            continue
        if len(order) == count:
            yield tuple(order)
        if not order:
            return
        start = order.pop()
        done[start] = False
        start += 1


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
