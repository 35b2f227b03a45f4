"""Order and offsets together (OLLA, problem 9): the smallest arena over all orders.

The least peak comes first: no arena is below it. Where the best arena of the order in hand is above
the bound, orders of no higher peak with fewer bytes near it come next (`smooth_profile.py`), each
placed by CP-SAT (`coarse.py`): rows have many, and they fit at once, or hardly at all. Then single
operators move; then what lies in place of what is chosen otherwise (`in_place_choices.py`); at last
orders of a higher peak that is still below the arena. Small graphs go to an exact model
(`exact.py`), which may prove that nothing is smaller.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from importlib import import_module
from itertools import chain
from typing import Any

from memopt.solvers import clock
from memopt.solvers.joint.in_place_choices import Choice, first_choice, other_choices, restricted
from memopt.solvers.joint.reorderings import reorderings
from memopt.solvers.joint.smooth_profile import smoother_orders
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges, profile
from memopt.solvers.problems.placement import Placement, PlacementProblem

# Without a time limit: orders that are placed at each peak, and operators looked at for them.
ORDERS = 12
WORK = 400_000
WITHOUT_SEARCH = 10_000  # operators of the orders that are placed without one, four at least
MANY, TOO_MANY = 300, 600  # operators
# Above these the exact model seldom ends.
EXACT_OPERATORS = 30
# CP-SAT's deterministic time for each question about an order, and for the last one about the order
# in hand, if there is a time limit.
EAGER, LONG = 0.01, 0.3
ASKED = 1_300_000  # squares of buffers in eager questions, without a time limit: some seconds
OWN_ORDER = 1 / 6  # of the time, for the order in hand before others are looked for
FAILURES = 3  # arenas that one order is not found to fit into
CLOSE = 1 / 128  # of the peak: what an arena is above it, and no less is asked for


@dataclass(frozen=True)
class Joint:
    """An order with its placement (of `live_ranges(restricted(graph, chosen), order)`).

    `lower_bound` (bytes) bounds the arena of every order and choice of what is in place,
    `schedules` counts the orders placed. Without anything `chosen` a result lies over the first
    operand that dies.
    """

    order: tuple[int, ...]
    placement: Placement
    lower_bound: int
    schedules: int
    chosen: Choice | None = None

    @property
    def settled(self) -> bool:
        """Return whether no order has a smaller arena."""
        return self.placement.arena == self.lower_bound


def solve(
    graph: MemoryGraph,
    order: Sequence[int],
    bound: int,
    time_limit: float | None = None,
    method: str = "auto",
    exact_operators: int = EXACT_OPERATORS,
    known: Placement | None = None,
    calm_first: bool = False,
    chosen: Choice | None = None,
) -> Joint:
    """The smallest arena found within `time_limit` seconds, starting at `order`.

    `bound` (bytes) is proven for the peak of every order; `exact_operators` is the largest graph
    for the exact model; `known` places `order` with what is `chosen` in place, by `method` if
    nothing is given, or, with `calm_first`, only when no calm order fits (one order of rows is one
    of very many). Without a time limit the work is bounded and the answer deterministic. Raises
    ProblemError if `order` is none.
    """
    deadline = clock.deadline(time_limit)
    searched = len(graph) <= MANY and not graph.has_parts
    tried = ORDERS if searched else max(4, WITHOUT_SEARCH // len(graph))

    def placed(problem: PlacementProblem, limit: float | None) -> Placement:
        return place(problem, method, limit) if searched else _without_search(problem, limit)

    own = live_ranges(restricted(graph, chosen), order)
    first = _without_search if calm_first else placed
    placement = known or first(own, clock.left(deadline, 0.25))
    best = Joint(tuple(order), placement, min(bound, placement.arena), 1, chosen)
    clock.tell(placement.arena, best.lower_bound)
    if not best.settled and _is_exact(graph, exact_operators):
        best = _by_exact_model(graph, best, deadline, placed)
    if best.settled or clock.late(deadline):
        return best
    peak = profile(restricted(graph, best.chosen), best.order).peak
    many = calm_first and deadline is None and len(graph) > MANY
    if many and _is_enough(best, peak, order):
        return best
    if len(graph) > exact_operators:
        end = clock.deadline(clock.left(deadline, 0.8))
        calm_orders = smoother_orders(graph, best.order, peak, end)
        best = _among_calm(graph, best, peak, chain([best.order] * calm_first, calm_orders), end)
        if best.settled or clock.late(deadline):
            return best
    if many and _is_enough(best, peak, order):
        return best
    if calm_first:
        placement = place(own, method, clock.left(deadline, 0.5))
        best = _better(best, tuple(order), placement, chosen)
        if best.settled or many:
            return best
    best = _among(graph, best, peak, deadline, placed, tried, share=0.5)
    if not best.settled and graph.inplace:
        best = _among_choices(graph, best, deadline, placed, tried, share=0.5)
    if best.settled:
        return best
    # an arena is never below its order's peak, so only lower peaks than this arena matter
    return _among(graph, best, best.placement.arena - 1, deadline, placed, tried, share=1.0)


def _by_exact_model(
    graph: MemoryGraph,
    best: Joint,
    deadline: float | None,
    placed: Callable[[PlacementProblem, float | None], Placement],
) -> Joint:
    """Return what the exact model finds below `best`, or `best` with the bound that it shows."""
    # OR-Tools comes with it, which takes longer to load than most graphs to place
    joint_exact: Any = import_module(f"{__name__}.exact")
    top = best.placement.arena - graph.alignment
    exact = joint_exact.search(graph, best.order, best.lower_bound, top, clock.left(deadline, 0.5))
    if exact.placement is None:
        return replace(best, lower_bound=exact.lower_bound)
    best = Joint(exact.order, exact.placement, exact.lower_bound, 2, exact.chosen)
    # the peak is least where nothing is chosen, so it is only where that pays
    plain = placed(live_ranges(graph, best.order), clock.left(deadline, 0.25))
    if plain.arena <= best.placement.arena:
        best = replace(best, placement=plain, chosen=None)
    return best


def _is_enough(best: Joint, peak: int, order: Sequence[int]) -> bool:
    """Return whether many rows are not worth a search of their own: they are placed so near the
    bound, or are very many and further above it than another order of theirs."""
    is_close = best.placement.arena - peak < peak * CLOSE
    return is_close or (len(order) > TOO_MANY and best.order != tuple(order))


def _is_exact(graph: MemoryGraph, most_operators: int) -> bool:
    """Return whether the exact model is asked: of few operators, where all offsets must be
    multiples of the graph's alignment, and of nothing else."""
    if len(graph) > most_operators:
        return False
    alignments = (graph.offset_alignment or graph.alignment, *(g.alignment for g in graph.groups))
    return not graph.has_parts and set(alignments) <= {None, graph.alignment}


def _among_calm(
    graph: MemoryGraph,
    best: Joint,
    peak: int,
    orders: Iterable[tuple[int, ...]],
    deadline: float | None,
) -> Joint:
    """The best of these orders within `peak` bytes.

    Each is asked to fit into the peak, then all are repaired where they fail, the calmest first
    (`repair.py`). Where none is found to fit, all but the order in hand are asked for less and less
    between the peak and the best arena, as long as that is worth it. With a time limit the order in
    hand is then asked for the peak again, with more work and any offset, and all are repaired with
    more patience. Without one, orders of many operators are not asked about but as they are
    repaired, window by window: what CP-SAT does not decide of a few steps it never does of
    hundreds.
    """
    coarse: Any = import_module("memopt.solvers.placement.coarse")  # when it is needed
    repair: Any = import_module(f"{__name__}.repair")
    spent, windowed = 0.0, deadline is None and len(graph) > MANY
    windows = repair.Asking(peak, left=repair.LEFT)

    def asked(best: Joint, order: tuple[int, ...], height: int, work: float = EAGER) -> Joint:
        nonlocal spent
        if clock.late(deadline) or (deadline is None and spent > ASKED):
            return best
        if windowed:
            windows.height = height
            answer = repair.fitting(graph, order, windows)
            return _better(best, order, answer if isinstance(answer, Placement) else None)
        problem, fine = windows.problem(graph, order), work > EAGER
        placed = coarse.fits(problem, height, work, clock.left(deadline), fine)
        spent += (1 + fine) * len(problem.items) ** 2 * work / EAGER
        return _better(best, order, placed)

    own, calm = best.order, list[tuple[int, ...]]()
    for order in orders:
        if order != own:
            calm.append(order)
            best = replace(best, schedules=best.schedules + 1)
            problem = windows.problems[order] = live_ranges(graph, order)
            quick = _without_search(problem, clock.left(deadline))
            best = _better(best, order, quick)
        if best.placement.arena > peak and not windowed:
            best = asked(best, order, peak)
        if best.placement.arena <= peak:
            return best
    if clock.late(deadline):
        return best

    def repaired(best: Joint, end: float | None, thorough: bool) -> Joint:
        if not calm or best.placement.arena <= peak:  # no other order is as low
            return best
        above = None if thorough else repair.LEFT
        asking = windows
        if not windowed:
            known = windows.problems
            asking = repair.Asking(peak, deadline=end, left=above, problems=known)
        mended = repair.repaired(graph, [*calm, own], asking)
        return _better(best, *mended) if mended else best

    best = repaired(best, clock.deadline(clock.left(deadline, 0.5)), thorough=False)
    for order in calm:
        least, failures = peak, 1
        while best.placement.arena - least >= peak * CLOSE and failures < FAILURES:
            height = (least + best.placement.arena) // 2
            before, best = best, asked(best, order, height)
            if best == before:
                least, failures = height, failures + 1
        if best.placement.arena <= peak:
            return best
    if best.placement.arena > peak and deadline is not None:
        best = repaired(asked(best, own, peak, LONG), deadline, thorough=True)
    return best


def _without_search(problem: PlacementProblem, time_limit: float | None) -> Placement:
    auto: Any = import_module("memopt.solvers.placement.methods.auto")  # when it is needed
    return auto.without_search(problem, time_limit)


def _better(
    best: Joint, order: tuple[int, ...], found: Placement | None, chosen: Choice | None = None
) -> Joint:
    """`order` with its placement, if that is smaller."""
    if found is None or found.arena >= best.placement.arena:
        return best
    clock.tell(found.arena, best.lower_bound)
    return replace(best, order=order, placement=found, chosen=chosen)


def _among_choices(
    graph: MemoryGraph,
    best: Joint,
    deadline: float | None,
    placed: Callable[[PlacementProblem, float | None], Placement],
    most: int,
    share: float,
) -> Joint:
    """The order of `best` with what is in place chosen operator by operator, as long as the arena
    gets smaller; in `share` of the time left, or without a time limit of `most` choices."""
    end = clock.deadline(clock.left(deadline, share))
    tried, before = 0, None
    seen = {live_ranges(restricted(graph, best.chosen), best.order)}
    while best is not before and not best.settled:
        before = best
        chosen = first_choice(graph, best.order) if best.chosen is None else best.chosen
        limit = best.placement.arena - 1
        for choice in other_choices(graph, best.order, chosen, limit, end):
            if clock.late(end) or (end is None and tried == most):
                return best
            problem = live_ranges(restricted(graph, choice), best.order)
            if problem in seen or problem.load > limit:
                continue
            seen.add(problem)
            tried += 1
            best = _better(best, best.order, placed(problem, clock.left(end)), choice)
            if best is not before:
                break
    return best


def _among(
    graph: MemoryGraph,
    best: Joint,
    limit: int,
    deadline: float | None,
    placed: Callable[[PlacementProblem, float | None], Placement],
    most: int,
    share: float,
) -> Joint:
    """The best of the orders of a peak within `limit` (bytes), in `share` of the time left, or
    without a time limit of `most` orders."""
    end = clock.deadline(clock.left(deadline, share))
    order, placement, chosen, tried = best.order, best.placement, best.chosen, 0
    seen = {live_ranges(graph, order)}
    moves = WORK // len(graph) if end is None else None
    for candidate in reorderings(graph, order, limit, moves, end):
        problem = live_ranges(graph, candidate)
        if problem in seen or problem.load >= placement.arena:
            continue
        seen.add(problem)
        tried += 1
        other = placed(problem, clock.left(end))
        if other.arena < placement.arena:
            order, placement, chosen = candidate, other, None
        if placement.arena <= best.lower_bound or (end is None and tried == most):
            break
    return Joint(order, placement, best.lower_bound, best.schedules + tried, chosen)
