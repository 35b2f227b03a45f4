"""Orders for the cost of several memories, and their bound, against all orders and assignments."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import permutations
from random import Random

import pytest
from memory_assignments import least_cost, random_problem, small

from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import (
    Bank,
    Height,
    MemoryProblem,
    NoRoomError,
    Use,
    cost_order,
    moment,
    packing,
)
from memopt.solvers.memories.cost_bound import bound_of_costs
from memopt.solvers.memories.cost_order import least_cost_order, orders_of

CASES = 2_000
MOST_ORDERS = 24
Predecessors = list[tuple[int, ...]]


def in_order(problem: MemoryProblem, order: Sequence[int]) -> MemoryProblem:
    """Return the problem in another order, each tenant live from its first to its last use."""
    steps = problem.steps
    place = {v: step for step, v in enumerate(order)} | {-1: -1, steps: steps}
    tenants = list(problem.tenants)
    for i, t in enumerate(tenants):
        uses = tuple(sorted((replace(u, step=place[u.step]) for u in t.uses), key=lambda u: u.step))
        low, up = moment(uses[0].step), moment(uses[-1].step) + 1
        tenants[i] = replace(t, heights=(Height(low, up, t.size),), uses=uses)
    return replace(problem, tenants=tuple(tenants))


def random_case(random: Random) -> tuple[MemoryProblem, Predecessors]:
    """Return tenants of one height, some that move, and operators of which some wait for others:
    for who makes what they use, and now and then for no tenant's sake."""
    problem = random_problem(random, 4, random.random() < 0.6)
    problem = in_order(problem, range(problem.steps))
    if random.random() < 0.7:
        banks = Bank("fast", random.randint(2, 9), 1), Bank("slow", 30, random.randint(2, 5))
        problem = replace(problem, banks=banks)
    before: list[set[int]] = [set() for _ in range(problem.steps)]
    for t in problem.tenants:
        maker, *readers = (u.step for u in t.uses)
        for v in readers if maker >= 0 and random.random() < 0.8 else ():
            if v < problem.steps:
                before[v].add(maker)
    if problem.steps > 1 and random.random() < 0.3:
        first, second = sorted(random.sample(range(problem.steps), 2))
        before[second].add(first)
    return problem, [tuple(sorted(p)) for p in before]


def legal(before: Predecessors, order: Sequence[int]) -> bool:
    return all(order.index(u) < order.index(v) for v, p in enumerate(before) for u in p)


def test_orders_and_bound_equal_brute_force(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where each order is assigned the answer is the optimum, and proven; where some are searched
    it is legal and no dearer than the first, and the bound holds."""
    monkeypatch.setattr(packing, "LEAST_TRIES", 200)
    random = Random(5)
    count = optimal = met = better = refused = 0
    while count < max(40, int(CASES * fuzz)):
        problem, before = random_case(random)
        orders = [o for o, _ in zip(orders_of(before), range(MOST_ORDERS + 1), strict=False)]
        if not small(problem) or not 1 < len(orders) <= MOST_ORDERS:
            continue
        count += 1
        costs = [least_cost(in_order(problem, order)) for order in orders]
        known = [c for c in costs if c is not None]
        optimum = min(known, default=None)
        bound = bound_of_costs(problem, before)
        for few in (MOST_ORDERS, 0):
            monkeypatch.setattr(cost_order, "FEW", few)
            try:
                answer = least_cost_order(lambda o: in_order(problem, o), before, work=1)  # noqa: B023
            except NoRoomError:
                assert optimum is None or not few
                refused += optimum is None and bool(few)
                continue
            assert optimum is not None and legal(before, answer.order)
            answer.assignment.verify(in_order(problem, answer.order))
            assert max(bound, answer.lower_bound) <= optimum <= answer.assignment.cost
            if few:
                assert answer.lower_bound == optimum == answer.assignment.cost
                continue
            first = costs[orders.index(tuple(range(problem.steps)))]
            assert first is None or answer.assignment.cost <= first
            optimal += answer.assignment.cost == optimum
            better += first is None or optimum < first
            met += bound == optimum
    assert optimal >= 0.95 * (count - refused), (optimal, count, refused)
    assert met >= 0.6 * (count - refused) and better and refused, (met, better, refused)


def test_all_legal_orders_are_listed_once(fuzz: float) -> None:
    random = Random(6)
    for _ in range(max(40, int(CASES * fuzz / 10))):
        count = random.randint(0, 5)
        before = [tuple(u for u in range(v) if random.random() < 0.3) for v in range(count)]
        want = [p for p in permutations(range(count)) if legal(before, p)]
        assert list(orders_of(before)) == want


def test_a_use_of_no_bytes_is_of_no_operator() -> None:
    """An input that nobody reads lives through whichever step is the first one: with room for it
    beside the small operator alone, that one goes first."""
    problem = random_problem(Random(1), 1, False)
    tenant = problem.tenants[0]

    def problem_in(order: Sequence[int]) -> MemoryProblem:
        sizes, banks = (6, 2), (replace(problem.banks[0], capacity=10, cost=1),)
        unread = replace(
            tenant, heights=(Height(moment(-1), moment(0) + 1, 8),), uses=(Use(-1, 0), Use(0, 0)),
            movable=False, copied=0, alignment=1,
        )  # fmt: skip
        others = [
            replace(unread, heights=(Height(moment(t), moment(t) + 1, sizes[v]),),
                    uses=(Use(t, sizes[v]),))
            for t, v in enumerate(order)
        ]  # fmt: skip
        return MemoryProblem(banks, (unread, *others), 2)

    answer = least_cost_order(problem_in, [(), ()])
    assert answer.order == (1, 0) and answer.assignment.cost == answer.lower_bound == 8
    with pytest.raises(ProblemError):
        least_cost_order(problem_in, [(), (0,)])
