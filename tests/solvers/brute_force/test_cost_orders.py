"""Orders for the cost of several memories, and their bound, against all orders and assignments."""

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import permutations, product
from pathlib import Path
from random import Random
from types import ModuleType
from typing import Any

import pytest
from deep import deep_but
from memory_assignments import least_cost, random_problem, small

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import (
    Assignment,
    Bank,
    Height,
    MemoryProblem,
    NoRoomError,
    Tenant,
    Use,
    assign,
    cost_bound,
    cost_of,
    cost_order,
    moment,
    packing,
)
from memopt.solvers.memories.cost_order import BankPacker, least_cost_order, orders_of
from memopt.solvers.memories.greedy import first_answer
from memopt.solvers.memories.traffic_bound import before_of
from memopt.solvers.memories.traffic_order import Moves

CASES, FIRST, FIRST_MOVING = 2_000, 40, 100
NOTHING = 0.25  # of the time that is left, in which no assignment is found
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


@dataclass(frozen=True)
class Case:
    """A problem with all orders of its operators, and what each costs at least, None without
    room."""

    problem: MemoryProblem
    before: Predecessors
    orders: list[tuple[int, ...]]
    costs: list[int | None]

    @property
    def optimum(self) -> int | None:
        return min((c for c in self.costs if c is not None), default=None)

    @property
    def first(self) -> int | None:
        """Return the cost of the order that is given, if it has room."""
        return self.costs[self.orders.index(tuple(range(self.problem.steps)))]

    def problem_in(self, order: Sequence[int]) -> MemoryProblem:
        return in_order(self.problem, order)


def cases(count: int) -> Iterator[Case]:
    random = Random(5)
    while count:
        problem, before = random_case(random)
        orders = [o for o, _ in zip(orders_of(before), range(MOST_ORDERS + 1), strict=False)]
        if small(problem) and 1 < len(orders) <= MOST_ORDERS:
            count -= 1
            costs = [least_cost(in_order(problem, order)) for order in orders]
            yield Case(problem, before, orders, costs)


def moving_case(random: Random) -> tuple[MemoryProblem, Predecessors]:
    """Return tenants that are worth moving, as copies of them are cheap and the last bank is dear,
    and operators in a chain with gaps."""
    steps, several = random.randint(4, 5), random.random() < 0.5
    tenants: list[Tenant] = []
    for i in range(random.randint(2, 3)):
        first = -1 if random.random() < 0.3 else 0
        chosen = sorted(random.sample(range(first, steps), 2 if several else random.randint(2, 3)))
        uses = tuple(Use(s, random.randint(3, 12) if s >= 0 else 0) for s in chosen)
        height = Height(moment(chosen[0]), moment(chosen[-1]) + 1, random.randint(3, 6))
        moves = random.random() < 0.8
        tenants.append(Tenant(f"t{i}", (height,), uses, moves, random.randint(1, 2)))
    fast = Bank("fast", random.randint(5, 9), random.randint(0, 1))
    middle = (Bank("middle", random.randint(3, 7), random.randint(2, 6)),) if several else ()
    banks = fast, *middle, Bank("slow", 40, random.randint(8, 12))
    before = [(v - 1,) if v and random.random() < 0.8 else () for v in range(steps)]
    return MemoryProblem(banks, tuple(tenants), steps), before


@cache
def moving_cases(count: int) -> list[Case]:
    """Return cases in which something has to be outside of the cheapest bank."""
    random, found = Random(3), list[Case]()
    while len(found) < count:
        problem, before = moving_case(random)
        orders = [o for o, _ in zip(orders_of(before), range(7), strict=False)]
        if small(problem) and len(orders) < 7:
            costs = [least_cost(in_order(problem, order)) for order in orders]
            case = Case(problem, before, orders, costs)
            if case.optimum is not None and case.optimum > problem.least:
                found.append(case)
    return found


def examine_bound(solver: Any, count: int) -> None:
    """A module like `cost_bound` bounds what all orders cost, and often says what they do; so it is
    with one that takes up less towards its end than at its begin, with one that lives while another
    is used in the given order alone or in each, and of two in one step, of which
    the smaller has too few bytes to be all that is outside of the first bank."""
    met = 0
    for case in moving_cases(count):
        bound = solver.bound_of_costs(case.problem, case.before)
        assert case.optimum is not None and bound <= case.optimum
        met += bound == case.optimum
    assert met >= 0.5 * count, met
    ends = Height(moment(0), moment(0) + 1, 8), Height(moment(0) + 1, moment(1) + 1, 2)
    x = Tenant("x", ends, (Use(0, 8), Use(1, 2)))
    y = Tenant("y", (Height(moment(1), moment(1) + 1, 6),), (Use(1, 6),))
    problem = MemoryProblem((Bank("fast", 8, 1), Bank("slow", 40, 2)), (x, y), 2)
    assert solver.bound_of_costs(problem, [(), (0,)]) <= problem.least == least_cost(problem)
    x = Tenant("x", (Height(moment(0), moment(2) + 1, 6),), (Use(0, 6), Use(2, 6)))
    problem = MemoryProblem(problem.banks, (x, y), 3)
    for before in ([(), (), (0, 1)], [(), (0,), (0,)]):  # y's operator is first or last in another
        assert solver.bound_of_costs(problem, before) <= problem.least
    assert solver.bound_of_costs(problem, [(), (0,), (1,)]) == least_cost(problem)
    now = moment(0), moment(0) + 1
    two = [Tenant("", (Height(*now, size),), (Use(0, n),)) for size, n in ((4, 10), (6, 12))]
    banks = Bank("fast", 4, 1), Bank("middle", 2, 2), Bank("slow", 40, 3)
    problem = MemoryProblem(banks, tuple(two), 1)
    assert solver.bound_of_costs(problem, [()]) == least_cost(problem) == 10 + 3 * 12


def test_bound_is_below_brute_force_where_tenants_move(fuzz: float) -> None:
    examine_bound(cost_bound, max(FIRST_MOVING, int(CASES * fuzz / 4)))


@cache
def first_cases() -> list[Case]:
    return list(cases(FIRST))


def examine(examples: Iterable[Case], solver: Any, patch: pytest.MonkeyPatch) -> Counter[str]:
    """Ask a module like `cost_order` for each order, and with a search for some. Where each is
    assigned the answer is the optimum, and proven; where some are searched it is legal and no
    dearer than the first, and the bound holds."""
    patch.setattr(packing, "LEAST_TRIES", 200)
    seen = Counter[str]()
    for case in examples:
        optimum, first = case.optimum, case.first
        bound = solver.bound_of_costs(case.problem, case.before)
        seen["cases"] += optimum is not None
        seen["met"] += bound == optimum
        for few in (MOST_ORDERS, 0):
            patch.setattr(solver, "FEW", few)
            try:
                answer = solver.least_cost_order(case.problem_in, case.before, work=1)
            except NoRoomError:
                assert optimum is None or not few
                seen["refused"] += optimum is None
                continue
            assert optimum is not None and legal(case.before, answer.order)
            answer.assignment.verify(case.problem_in(answer.order))
            assert max(bound, answer.lower_bound) <= optimum <= answer.assignment.cost
            assert answer.lower_bound >= bound
            if few:
                assert answer.lower_bound == optimum == answer.assignment.cost
                continue
            assert first is None or answer.assignment.cost <= first
            seen["optimal"] += answer.assignment.cost == optimum
            seen["better"] += first is None or optimum < first
    return seen


def check(seen: Counter[str]) -> None:
    """Nearly all that is searched is the best, and most bounds are met."""
    assert seen["optimal"] >= 0.95 * seen["cases"] and seen["better"] and seen["refused"], seen
    assert seen["met"] >= 0.6 * seen["cases"], seen


def test_orders_and_bound_equal_brute_force(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    count = int(CASES * fuzz)
    seen = examine(cases(count) if count > FIRST else first_cases(), cost_order, monkeypatch)
    check(seen)


MUTANTS = {
    "a level's price": (cost_bound, "outer.cost - bank.cost)", "outer.cost)"),
    "a level's bytes": (cost_bound, "room += bank.capacity", "room = bank.capacity"),
    "levels apart": (cost_bound, "model.add_implication(further[u], closer[u])", "pass"),
    "loads": (cost_bound, "if over > 0:", "if over > room:"),
    "what is over": (cost_bound, "for size, _ in load) - room", "for size, _ in load)"),
    "one for all uses": (cost_bound, "stays = len(t.elements) == 1", "stays = True"),
    "uses for nothing": (cost_bound, "self.price * u.bytes * outs[u.step]", "0 * outs[u.step]"),
    "copies": (cost_bound, "self.price * t.copied * (leaves + comes)", "0 * leaves"),
    "copies twice": (cost_bound, "2 * banks[0].cost * t.copied", "4 * banks[0].cost * t.copied"),
    "copies in the first": (cost_bound, "terms.append(2 * banks[0].cost", "terms.append(0"),
    "leaving": (cost_bound, "add_bool_or(outs[u.step], leaves, ~gone)", "add_bool_or(~gone)"),
    "leaving for nothing": (cost_bound, "add_bool_or(outs[u.step], leaves,", "add_bool_or(1,"),
    "coming": (cost_bound, "add_bool_or(outs[u.step], comes, ~gone)", "add_bool_or(~gone)"),
    "coming for nothing": (cost_bound, "add_bool_or(outs[u.step], comes,", "add_bool_or(1,"),
    "the order": (cost_bound, "begun |= after[use.step]", "begun |= -1 << use.step"),
    "the order before": (cost_bound, "ahead |= before[use.step]", "ahead |= (1 << use.step) - 1"),
    "live for ever": (cost_bound, "(begun & ahead | touched)", "(begun | ahead | touched)"),
    "live in uses": (cost_bound, "(begun & ahead | touched)", "(begun & ahead)"),
    "several heights": (cost_bound, "or len(t.heights) > 1 or t.in_parts", ""),
    "the least": (cost_bound, "= [problem.least]", "= [0]"),
    "the dearest": (cost_order, "answer.cost < self.best", "answer.cost > self.best"),
    "the first": (cost_order, "    answers.offer(own,", "    (own,"),
    "no bound": (cost_order, "max(bound, bound_of_costs(", "min(bound, bound_of_costs("),
    "too early": (cost_order, "self.best[1].cost > bound", "self.best[1].cost > 2 * bound"),
    "orders": (cost_order, "costs[order])[:ASSIGNED]", "costs[order])[:0]"),
}  # fmt: skip


def mutated(module: ModuleType, old: str, new: str) -> ModuleType:
    """Return a module made of the text of another with one line changed."""
    assert module.__file__ is not None
    text = Path(module.__file__).read_text(encoding="utf-8")
    assert text.count(old) == 1, old
    name = module.__name__
    mutant = ModuleType(name)
    vars(mutant)["__file__"] = module.__file__
    sys.modules[name], known = mutant, sys.modules[name]  # for its dataclasses
    try:
        exec(compile(text.replace(old, new), module.__file__, "exec"), vars(mutant))
    finally:
        sys.modules[name] = known
    return mutant


@pytest.mark.parametrize("name", deep_but("the order", MUTANTS))
def test_mutants_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound that is too high, one that is seldom met, an order that is not the best."""
    module, old, new = MUTANTS[name]
    mutant = mutated(module, old, new)
    with pytest.raises((AssertionError, ProblemError)):
        if module is cost_bound:
            examine_bound(mutant, FIRST_MOVING)
        else:
            check(examine(first_cases(), mutant, monkeypatch))


def examine_limit(solver: Any, share: float, patch: pytest.MonkeyPatch) -> None:
    """By a clock that each assignment sets forward by a share of what it may take: the given order
    is asked first and may take all, no order is asked twice, and what was not asked bounds
    nothing."""
    now, asked = 0.0, list[tuple[MemoryProblem, float]]()
    orders = list[tuple[int, ...]]()

    def read() -> float:
        return now

    def problem_in(order: Sequence[int]) -> MemoryProblem:
        orders.append(tuple(order))
        return in_order(case.problem, order)

    def late(problem: MemoryProblem, seconds: float, always: bool) -> Assignment:
        nonlocal now
        assert always
        asked.append((problem, seconds))
        now += share * seconds
        if share == NOTHING and len(asked) > 1:
            raise ProblemError("nothing was found")
        visits = first_answer(problem) if share and len(asked) > 1 else None
        if visits is None:
            return assign(problem)
        return Assignment(visits, cost_of(problem, visits), problem.least, "none")

    patch.setattr(solver, "assign", late)
    patch.setattr(packing, "LEAST_TRIES", 20)
    cheaper = several = dearer = 0
    for case in first_cases():
        for few in (MOST_ORDERS, 0):
            patch.setattr(solver, "FEW", few)
            now, asked[:], orders[:] = 0.0, [], []
            with clock.reading(read):
                try:
                    answer = solver.least_cost_order(problem_in, case.before, 8.0, work=1)
                except NoRoomError:
                    assert case.first is None
                    continue
            assert now <= 8.0 and asked[0] == (case.problem, 8.0)
            assert len(orders) == len(set(orders)) == len(asked)
            assert len(asked) == 1 or share < 1
            assert case.optimum is not None
            assert answer.lower_bound <= case.optimum <= answer.assignment.cost
            assert case.first is None or answer.assignment.cost <= case.first
            several += len(asked) > 2
            cheaper += case.first is None or answer.assignment.cost < case.first
            dearer += answer.assignment.cost > case.optimum
    assert bool(several) == (share < 1) and bool(cheaper) == (share in (0, 0.5)), share
    assert dearer or share < 1


LATE = {
    "bounds of a few": ("and len(answers.bounds) == len(few)", ""),
    "one order's bound": ("min((b for b in answers.bounds", "max((b for b in answers.bounds"),
    "less for the first": ("problem, clock.left(deadline))", "problem, clock.left(deadline, 0.5))"),
    "the first twice": ("for order in others if order != own", "for order in others"),
    "no work": ("always=True", "always=False"),
}


@pytest.mark.parametrize("share", deep_but([0.5, 1.0], [0.0, NOTHING, 0.5, 1.0]))
def test_a_limit_is_shared_once_the_first_order_has_what_it_takes(
    share: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    examine_limit(cost_order, share, monkeypatch)


@pytest.mark.parametrize("name", deep_but("less for the first", LATE))
def test_mutants_of_the_limit_are_caught(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mutant = mutated(cost_order, *LATE[name])
    with pytest.raises((AssertionError, ProblemError)):
        for share in (NOTHING, 0.5, 1.0):
            examine_limit(mutant, share, monkeypatch)


def test_banks_are_packed_within_their_loads(fuzz: float) -> None:
    """Without moves and offsets nothing is cheaper than the best banks of all, by brute force; that
    is often found. What all fits into the cheapest bank moves nothing from outside of it."""
    random = Random(8)
    best = total = still = 0
    for _ in range(max(60, int(CASES * fuzz / 10))):
        problem, before = random_case(random)
        order, moves = list(range(problem.steps)), Moves(before)
        for _ in range(3):
            order = moves(order, random) or order
        packed = BankPacker(problem).pack(order, [1.0] * len(problem.tenants)).moved
        least = least_of_loads(in_order(problem, order))
        outside = cost_order.traffic_problem(problem, before_of(before))
        outside.check()
        if packed == problem.least:
            still += 1
            packer = packing.Packer(outside)
            assert not packer.pack(order, [1.0] * packer.count).moved
        if least is not None:
            total += 1
            best += packed == least
            assert packed >= least
    assert best >= 0.8 * total and still, (best, total, still)


def least_of_loads(problem: MemoryProblem) -> int | None:
    """Return what the tenants cost in the banks that are the best for them if each stays in one and
    only the bytes of a step must fit; None if none do."""
    steps, banks = range(-1, problem.steps + 1), problem.banks
    costs: list[int] = []
    for where in product(range(len(banks)), repeat=len(problem.tenants)):
        each = list(zip(where, problem.tenants, strict=True))
        loads = [
            sum(t.size for k, t in each if k == b and t.uses[0].step <= step <= t.uses[-1].step)
            <= bank.capacity
            for b, bank in enumerate(banks)
            for step in steps
        ]
        if all(loads):
            costs.append(sum(banks[k].cost * t.traffic for k, t in each))
    return min(costs, default=None)


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


def test_a_bound_above_a_cost_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not lowered to that cost, and then called a proof."""
    (case,) = moving_cases(1)
    optimum = case.optimum
    assert optimum is not None

    def too_high(*_: object) -> int:
        return optimum + 1000

    monkeypatch.setattr(cost_order, "bound_of_costs", too_high)
    with pytest.raises(ProblemError, match=f"orders cost at least {optimum + 1000}, "):
        least_cost_order(case.problem_in, case.before, work=1)
