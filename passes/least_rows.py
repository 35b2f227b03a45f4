"""The rows of the least arena that is known: of whole operators, of all rows, of some.

    choose_rows(func).positions

No rows have an arena below the peak of all rows, unless whole operators have it. So operators are
left whole as long as that peak is kept (`fewest_rows.py`), and the choice of the fewest calls that
is placed in so many bytes is taken (`solvers/joint/capacity.py`). Where none is, all rows are
placed as the pipeline would place them, and the goal is the smaller arena of theirs and of whole
operators. When the time is over the smallest arena that is known by then is handed over.
"""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from xdsl.dialects.func import FuncOp

from memopt.passes.expand_rows import computing, cut
from memopt.passes.extract import Extracted, extract
from memopt.passes.fewest_rows import fewer_rows, keeps, order_within
from memopt.passes.fitting_rows import worth_placing
from memopt.passes.planned import Arrangement, Planned
from memopt.passes.reorder import reorder
from memopt.passes.row_numbers import InRows, carried, in_rows
from memopt.solvers import clock
from memopt.solvers.joint import Joint, solve
from memopt.solvers.joint.calmer import calmer_orders
from memopt.solvers.joint.capacity import nearest
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, profile
from memopt.solvers.scheduling import schedule

CALM = 1  # orders with fewer bytes near their peak, of one choice of rows
NEAR = 1 / 4  # of the goal: what is placed so much above it has no such orders looked for
# Parts of the time that is left: for whole operators, for the order of all rows, for what is cut.
WHOLE, ORDER, FEWER = 1 / 6, 1 / 3, 1 / 3


@dataclass(frozen=True)
class Candidate:
    """Operators to be cut, by position among those that run; an `order` of the function that has
    them cut, and its graph where it stands in that order."""

    positions: frozenset[int]
    order: tuple[int, ...]
    graph: MemoryGraph

    @property
    def peak(self) -> int:
        return profile(self.graph, range(len(self.graph))).peak


@dataclass(frozen=True)
class Placed:
    """A candidate with an order of its graph, most often that in which it stands, and places;
    `ordered` is what a search for that order has shown, None where none was made."""

    candidate: Candidate
    joint: Joint
    ordered: Schedule | None = None

    @property
    def arena(self) -> int:
        return self.joint.placement.arena

    @property
    def cost(self) -> tuple[int, int]:
        """The arena in bytes, then the calls."""
        return self.arena, len(self.candidate.graph)


def choose_rows(func: FuncOp, deadline: float | None = None, streamed: bool = False) -> Placed:
    """Return the rows of the least arena that is found by `deadline`, of these those of the fewest
    calls; whole operators are none where the argument is `streamed`."""
    rows = in_rows(func, range(len(computing(func))))
    known: list[Placed] = []
    if not streamed or not rows.cut:
        known.append(_solved(func, frozenset(), _until(deadline, WHOLE)))
    if not rows.cut or (known and clock.late(deadline)):
        return known[0]
    ordered = schedule(rows.graph, "auto", clock.left(deadline, ORDER))
    if known and known[0].arena <= ordered.peak:
        return known[0]
    few = _candidates(func, rows, ordered, _until(deadline, FEWER))
    for orders in (_own_order, _calm_orders):
        for candidate in few:
            own = [p.arena for p in known if p.candidate is candidate]
            if clock.late(deadline) or any(a > ordered.peak * (1 + NEAR) for a in own):
                continue
            placed = _nearest(candidate, orders(candidate, deadline), ordered.peak, deadline)
            if placed is not None:
                if placed.arena <= ordered.peak:
                    return placed
                known.append(placed)
    known.append(_solved(func, rows.cut, deadline, ordered))
    best = min(known, key=lambda p: p.cost)
    for candidate in few:
        if clock.late(deadline) or len(candidate.graph) >= len(best.candidate.graph):
            break
        placed = _nearest(candidate, _own_order(candidate, deadline), best.arena, deadline)
        if placed is not None and placed.cost < best.cost:
            return placed
    return best


def cut_chosen(
    func: FuncOp, chosen: Placed, time_limit: float | None, close: Callable[[FuncOp], None]
) -> Planned:
    """Cut what is chosen, `close` the function and put it into its order; what is known of it, with
    the proof of its peak that is found within `time_limit` seconds."""
    candidate, joint = chosen.candidate, chosen.joint
    extracted = _in_order(func, candidate.positions, candidate.order, close)
    graph = extracted.graph
    if graph != candidate.graph:
        return Planned(extracted)
    own = profile(graph, range(len(graph))).peak
    answer = chosen.ordered
    if answer is None:
        answer = schedule(graph, "auto", time_limit)
    if answer.peak < own:  # of no known arena
        better = nearest(graph, [answer.order], chosen.arena - 1)
        if better is None or better.placement.arena >= chosen.arena:
            answer = Schedule(tuple(range(len(graph))), own, answer.lower_bound, "none")
        else:
            joint = better
    joint = replace(joint, lower_bound=min(answer.lower_bound, joint.placement.arena))
    return Planned(extracted, arrangement=Arrangement(graph, answer, joint))


def _until(deadline: float | None, share: float) -> float | None:
    """The moment at which so much of the time that is left is over."""
    return clock.deadline(clock.left(deadline, share))


def _candidates(
    func: FuncOp, rows: InRows, ordered: Schedule, deadline: float | None
) -> list[Candidate]:
    """Choices of rows that are worth placing, each in the order of all `rows`, which may be placed
    well, and in one of its own, of a peak that is no higher; those of the fewest calls first."""
    found = fewer_rows(func, rows, ordered.order, ordered.peak, deadline)
    orders = {chosen.positions: chosen.order for chosen in found}
    numbers = rows.rows()
    candidates: list[Candidate] = []
    for positions in worth_placing(found):
        if positions == rows.cut:
            continue
        some, small = numbers.with_whole(rows.cut - positions), in_rows(func, positions)
        alike, own = carried(rows, ordered.order, some, small), orders.get(positions)
        if not keeps(small.graph, alike, ordered.peak):
            alike = None
        if own is None and alike is None:
            own = order_within(small.graph, ordered.peak, deadline)
        worth = dict.fromkeys(order for order in (alike, own) if order is not None)
        candidates += [_candidate(func, positions, order) for order in worth]
    return sorted(candidates, key=lambda c: len(c.graph))


def _candidate(func: FuncOp, positions: frozenset[int], order: Sequence[int]) -> Candidate:
    graph = _in_order(func.clone(), positions, order).graph
    return Candidate(positions, tuple(order), graph)


def _in_order(
    func: FuncOp,
    positions: Collection[int],
    order: Sequence[int],
    close: Callable[[FuncOp], None] = lambda func: None,
) -> Extracted:
    """Cut the operators of a function, put all of it into this order, and extract it."""
    cut(func, positions)
    extracted = extract(func)
    close(func)
    reorder(extracted.memory, order)
    return extract(func, known=extracted.asked())


def _solved(
    func: FuncOp, positions: frozenset[int], deadline: float | None, known: Schedule | None = None
) -> Placed:
    """The function with these cut, ordered and placed as the pipeline would."""
    if known is None:
        copy = func.clone()
        cut(copy, positions)
        known = schedule(extract(copy).graph, "auto", clock.left(deadline, 1 / 2))
    candidate = _candidate(func, positions, known.order)
    graph, order, left = candidate.graph, range(len(candidate.graph)), clock.left(deadline)
    calm_first = bool(positions)
    joint = solve(graph, order, known.lower_bound, left, calm_first=calm_first)
    return Placed(candidate, joint, replace(known, order=tuple(order)))


def _own_order(candidate: Candidate, deadline: float | None) -> Iterable[Sequence[int]]:
    return [range(len(candidate.graph))]


def _calm_orders(candidate: Candidate, deadline: float | None) -> Iterable[Sequence[int]]:
    order = range(len(candidate.graph))
    return islice(calmer_orders(candidate.graph, order, candidate.peak, deadline), CALM)


def _nearest(
    candidate: Candidate,
    orders: Iterable[Sequence[int]],
    capacity: int,
    deadline: float | None,
) -> Placed | None:
    joint = nearest(candidate.graph, orders, capacity, deadline)
    return None if joint is None else Placed(candidate, joint)
