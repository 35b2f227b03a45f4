"""Orders for traffic off the chip, and the bound of all orders, against all orders and choices."""

from collections.abc import Iterator, Sequence
from itertools import count as numbers
from itertools import product
from random import Random

import pytest

from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.memories import packing, traffic_bound
from memopt.solvers.memories.packing import Annealing, Packed, Packer
from memopt.solvers.memories.traffic import (
    Tensor,
    TrafficProblem,
    least_traffic,
    moved_bytes,
)
from memopt.solvers.memories.traffic_bound import bound_by_peak, bound_by_steps
from memopt.solvers.memories.traffic_order import Moves, in_order, least_traffic_order
from memopt.solvers.programs import cp_solver

CASES = 1_000
MOST_ORDERS = 60
Predecessors = list[tuple[int, ...]]


def random_case(random: Random) -> tuple[TrafficProblem, Predecessors]:
    """Return operators that read and make tensors, some with several results, scratch, outputs that
    are read too, inputs that are kept, and now and then an edge without a tensor."""
    count = random.randint(1, 6)
    tensors: list[Tensor] = []
    before: list[set[int]] = [set() for _ in range(count)]

    def add(name: str, born: int) -> None:
        later = range(born + 1, count)
        number = random.choice((0, 1, 1, 1, 2, 3))
        reads = tuple(sorted(random.sample(later, min(number, len(later)))))
        size = random.randint(0, 9)
        moved = max(0, size - random.randint(0, 1))
        tensors.append(Tensor(name, size, moved, born, reads, random.random() < 0.15))
        for v in reads if born >= 0 else ():
            before[v].add(born)

    for i in range(random.randint(0, 2)):
        add(f"x{i}", -1)
    for v in range(count):
        for k in range(random.choice((1, 1, 1, 2))):
            add(f"t{v}{k}", v)
    if count > 1 and random.random() < 0.2:
        first, second = sorted(random.sample(range(count), 2))
        before[second].add(first)
    workspace = tuple(random.choice((0, 0, 0, 1, 3)) for _ in range(count))
    least, all_bytes = max(workspace), sum(x.size for x in tensors)
    room = random.randint(least, max(least, all_bytes * 2 // 3))
    problem = TrafficProblem(tuple(tensors), count, workspace, room)
    return problem, [tuple(sorted(p)) for p in before]


def orders(
    before: Sequence[Sequence[int]], done: tuple[int, ...] = ()
) -> Iterator[tuple[int, ...]]:
    if len(done) == len(before):
        yield done
    for v, needed in enumerate(before):
        if v not in done and set(needed) <= set(done):
            yield from orders(before, (*done, v))


def least(problem: TrafficProblem) -> int:
    """Return the least bytes of one order, by trying what is kept of each tensor."""
    choices: list[tuple[int, list[tuple[int, frozenset[int]]]]] = []
    for x, gaps in zip(problem.tensors, problem.gaps, strict=True):
        ways: list[tuple[int, frozenset[int]]] = []
        for keep in product((True, False), repeat=len(gaps)):
            steps = {
                t
                for g, k in zip(gaps, keep, strict=True)
                for t in range(max(g.first, 0), min(g.last, problem.steps - 1) + 1)
                if k
            }
            reads = sum(g.read and not k for g, k in zip(gaps, keep, strict=True))
            writes = x.born >= 0 and not all(keep)
            ways.append((x.moved * (reads + writes), frozenset(steps)))
        ways.sort(key=lambda way: (way[0], len(way[1])))
        choices.append((x.size, ways))
    room = [problem.on_chip - w for w in problem.workspace]
    best = sum(ways[-1][0] for _, ways in choices)

    def go(i: int, moved: int) -> None:
        nonlocal best
        if moved >= best:
            return
        if i == len(choices):
            best = moved
            return
        size, ways = choices[i]
        for more, steps in ways:
            if all(room[t] >= size for t in steps):
                for t in steps:
                    room[t] -= size
                go(i + 1, moved + more)
                for t in steps:
                    room[t] += size

    go(0, 0)
    return best


def test_orders_and_bounds_equal_brute_force(fuzz: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(packing, "LEAST_TRIES", 200)
    random = Random(3)
    count = optimal = met = by_peak = open_cases = 0
    while count < max(80, int(CASES * fuzz)):
        problem, before = random_case(random)
        every = [order for order, _ in zip(orders(before), range(MOST_ORDERS + 1), strict=False)]
        if not 1 < len(every) <= MOST_ORDERS:
            continue
        count += 1
        optimum = min(least(in_order(problem, order)) for order in every)
        steps, peak = bound_by_steps(problem, before), bound_by_peak(problem, before)
        assert max(steps.value, peak.value) <= optimum
        answer = least_traffic_order(problem, before, [range(problem.steps)], work=1)
        assert answer.order in every
        answer.traffic.verify(in_order(problem, answer.order))
        assert answer.lower_bound <= optimum <= answer.traffic.moved
        assert answer.traffic.moved <= least_traffic(problem).moved
        assert answer.traffic.moved <= least_traffic(in_order(problem, answer.order)).moved
        assert (answer.proof != "none") == (answer.lower_bound == answer.traffic.moved)
        optimal += answer.traffic.moved == optimum
        met += answer.lower_bound == optimum
        by_peak += peak.value > steps.value
        open_cases += optimum > 0
    assert open_cases > count / 2
    assert optimal >= 0.95 * count
    assert met >= 0.6 * count and by_peak


def test_packing_moves_what_it_says(fuzz: float) -> None:
    """Its own count is that of the model, for any weights and order; the rule beats Belady's."""
    random = Random(4)
    better = 0
    for _ in range(max(60, int(CASES * fuzz))):
        problem, before = random_case(random)
        move, order = Moves(before), list(range(problem.steps))
        for _ in range(3):
            order = move(order, random) or order
            assert all(order.index(u) < order.index(v) for v, p in enumerate(before) for u in p)
            weights = [2 ** random.uniform(-3, 3) for _ in problem.tensors]
            packed = Packer(problem).pack(order, weights)
            ordered = in_order(problem, order)
            assert packed.moved == moved_bytes(ordered, Packer(ordered).kept(packed.gaps))
        belady = least_traffic(problem).moved
        if problem.steps < 4:
            continue
        packing = least_traffic(problem, "packing", 0.0).moved
        assert packing <= belady
        better += packing < belady
    assert better


def test_the_time_limit_is_kept_in_each_step_of_a_program_and_each_try(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """By a clock that goes a second forward whenever it is read."""
    problem, before = crowded_chain()
    ticks = numbers()
    with clock.reading(lambda: float(next(ticks))), monkeypatch.context() as patch:
        patch.setattr(cp_solver, "solve", unreached)
        assert bound_by_steps(problem, before, 3.0).value == 0
        packer, packed = Packer(problem), 0
        pack = packer.pack

        def packs(order: Sequence[int], weights: Sequence[float]) -> Packed:
            nonlocal packed
            packed += 1
            return pack(order, weights)

        patch.setattr(packer, "pack", packs)
        Annealing(packer, range(problem.steps)).run(100, clock.deadline(3.0))
    assert 1 < packed <= 4


def test_a_program_that_is_too_large_is_not_made(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, before = crowded_chain()
    assert bound_by_steps(problem, before).value > 0
    monkeypatch.setattr(cp_solver, "solve", unreached)
    monkeypatch.setattr(traffic_bound, "TERMS", 3 * problem.steps)
    assert bound_by_steps(problem, before).value == 0


def unreached(*_: object) -> None:
    raise AssertionError


def crowded_chain() -> tuple[TrafficProblem, Predecessors]:
    """Return operators one after the other of which each reads all before it."""
    number = 6
    tensors = [Tensor("x", 8, 8, -1, tuple(range(number)), False)]
    tensors += [
        Tensor(f"t{v}", 8, 8, v, tuple(range(v + 1, number)), v == number - 1)
        for v in range(number)
    ]
    before = [tuple(range(v)) for v in range(number)]
    return TrafficProblem(tuple(tensors), number, (0,) * number, 16), before


def test_scratch_that_does_not_fit_is_refused() -> None:
    x = Tensor("x", 12, 12, -1, (0,), False)
    with pytest.raises(ProblemError, match="workspace of step 0, 9 B, does not fit into 8 B"):
        least_traffic_order(TrafficProblem((x,), 1, (9,), 8), [()], [(0,)])
