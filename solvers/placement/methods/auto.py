"""`auto`: the best of all, stopping at the bound.

Greedy strategies and planar embedding first, then a short exact attempt, a local search, and more
of the exact one if there is time. `PlacementProblem.load` is a bound that is met on most networks,
so the later ones seldom run. Of thousands of buffers only planar embedding and a greedy strategy or
two are tried, and with a time limit ejections. Without a time limit each stops after a fixed amount
of work: the answer does not depend on the machine.
"""

from collections.abc import Callable, Iterator

from memopt.solvers import clock
from memopt.solvers.placement.address_space import first_fit_in
from memopt.solvers.placement.capacities import lowered
from memopt.solvers.placement.first_answer import LARGE_ITEMS, LONGER, first_answers
from memopt.solvers.placement.methods import (
    best_fit,
    ejection,
    exact,
    greedy_by_size,
    hill_climb,
    planar,
    tflm,
)
from memopt.solvers.placement.rectangles import fixed_first, floor_of, placement_of
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem, Proven
from memopt.solvers.published.placement import greedy_by_breadth

# Above this size the searches cost more than they gain by default.
SEARCHED_ITEMS = 2_000
EJECTIONS = 0.85  # of the time, above those
FEW_ITEMS = 600  # that all strategies without a search place in a tenth of a second


def solve(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """`prove` without its bound."""
    return prove(problem, time_limit).placement


def prove(
    problem: PlacementProblem,
    time_limit: float | None = None,
    capacity: int | None = None,
    nodes: int | None = None,
) -> Proven:
    """`time_limit` in seconds bounds the searches that follow the greedy strategies, `nodes` the
    second exact one, which is left out if neither is given, and without a time limit each of those
    for a capacity below its answer.

    Whatever fits into `capacity` bytes is good enough.
    """
    deadline = clock.deadline(time_limit)
    items = problem.items
    floor = floor_of(problem, items)
    enough = max(floor, capacity or 0)
    best: Placement | None = None
    for answer in _greedy(problem, items, deadline):
        if best is None or answer.arena < best.arena:
            best = answer
            clock.tell(best.arena, floor)
        if best.arena <= enough or clock.late(deadline):
            return Proven(best, floor)
    assert best is not None
    if len(items) > SEARCHED_ITEMS and time_limit is None:
        return Proven(best, floor)

    def left(share: float = 1.0) -> float | None:
        return clock.left(deadline, share)

    if len(items) > SEARCHED_ITEMS:
        best = ejection.improve(problem, items, best, left(EJECTIONS), enough)
    proven = exact.improve(problem, items, best, left(), exact.ATTEMPT, capacity)
    if proven.placement.arena > max(enough, proven.lower_bound):
        climbed = hill_climb.improve(problem, items, proven.placement, left(0.125))
        proven = Proven(climbed, proven.lower_bound)
    if proven.placement.arena > max(enough, proven.lower_bound) and (
        nodes or time_limit is not None
    ):
        again = exact.improve(problem, items, proven.placement, left(), nodes, capacity)
        proven = Proven(again.placement, max(proven.lower_bound, again.lower_bound))
    if capacity is None and time_limit is None and nodes is not None:

        def ask(known: Placement, below: int, share: int) -> Proven:
            return exact.improve(problem, items, known, None, share, below)

        proven = lowered(items, proven, nodes, ask)
    return proven


def _greedy(
    problem: PlacementProblem, items: tuple[Item, ...], deadline: float | None
) -> Iterator[Placement]:
    """Yield answers that take no search, those first that are most likely to meet the bound."""
    if len(items) > SEARCHED_ITEMS:
        started = clock.now()
        if deadline is not None:
            first: list[Placement] = []
            for answer in first_answers(problem, deadline):
                first.append(answer)
                yield answer
            latest = clock.sooner(deadline, LONGER * (clock.now() - started))
            if len(first) == 1 or clock.late(latest):
                return
        yield from _planar(problem, items, deadline)
        yield _ordered(problem, items, _between)
        if len(items) <= LARGE_ITEMS and deadline is None:
            yield best_fit.solve(problem)
        return
    yield greedy_by_size.solve(problem)
    yield best_fit.solve(problem)
    yield from _planar(problem, items, deadline)
    yield greedy_by_breadth.solve(problem)
    yield tflm.solve(problem)
    for order in ORDERS:
        yield _ordered(problem, items, order)


def without_search(problem: PlacementProblem, time_limit: float | None = None) -> Placement:
    """Return the best answer of the strategies that take no search; after `time_limit` seconds, of
    those that have given one."""
    deadline, floor = clock.deadline(time_limit), floor_of(problem, problem.items)
    best: Placement | None = None
    for answer in _greedy(problem, problem.items, deadline):
        if best is None or answer.arena < best.arena:
            best = answer
        if best.arena <= floor or clock.late(deadline):
            break
    assert best is not None
    return best


def at_first_sight(problem: PlacementProblem) -> Placement:
    """Return the best answer of strategies that take no search; of many items, of the three that
    are soonest done and most often good."""
    if len(problem.items) <= FEW_ITEMS:
        return without_search(problem)
    best = min((best_fit.solve(problem), by_area(problem)), key=lambda answer: answer.arena)
    if best.arena <= floor_of(problem, problem.items):
        return best
    return min(best, greedy_by_size.solve(problem), key=lambda answer: answer.arena)


def by_area(problem: PlacementProblem) -> Placement:
    """Return the answer that places the largest first, in bytes times steps."""
    return _ordered(problem, problem.items, ORDERS[0])


def _planar(
    problem: PlacementProblem, items: tuple[Item, ...], deadline: float | None
) -> Iterator[Placement]:
    answer = planar.attempt(problem, items, deadline)
    if isinstance(answer, Placement):
        yield answer


def _ordered(
    problem: PlacementProblem, items: tuple[Item, ...], order: Callable[[Item], tuple[int, ...]]
) -> Placement:
    ranked = fixed_first(items, sorted(items, key=order))
    return placement_of(problem, items, first_fit_in(ranked, items))


def _between(item: Item) -> tuple[int, ...]:
    """Neither the largest nor the longest-lived first: the best single order of thousands."""
    return (-item.area * item.size, item.index)


ORDERS: tuple[Callable[[Item], tuple[int, ...]], ...] = (
    lambda i: (-i.area, -i.size, i.index),
    lambda i: (i.lower - i.upper, -i.size, i.index),
    lambda i: (i.lower, -i.upper, -i.size, i.index),
    lambda i: (-i.upper, i.lower, -i.size, i.index),
)
