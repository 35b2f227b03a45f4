"""The rows of the least arena that is known: of whole operators, of all rows, of some.

    choose_rows(func).candidate.positions

No rows have an arena below the peak of all rows, unless whole operators have it. So operators are
left whole as long as that peak is kept (`fewest_rows.py`), and the choice of the fewest calls that
is placed in so many bytes is taken. What takes no search comes first, for some rows and for all;
calmer orders of some rows, and questions to CP-SAT about them (`solvers/joint/capacity.py`), come
only where that saves more calls than it takes time. Where nothing fits, all rows are placed as the
pipeline would place them, and the goal is the smaller arena of theirs and of whole operators. When
the time is over the smallest arena that is known by then is handed over.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from xdsl.dialects.func import FuncOp

from memopt.passes.plan.extract import Extracted, extract
from memopt.passes.plan.planned import Arrangement, Planned, RowBounds
from memopt.passes.plan.reorder import reorder
from memopt.passes.rows.expand import computing
from memopt.passes.rows.fit import worth_placing
from memopt.passes.rows.minimise import CALLS, fewer_rows, keeps, order_within
from memopt.passes.rows.numbers import Cuts, InRows, carried
from memopt.solvers import clock
from memopt.solvers.joint import Joint, solve
from memopt.solvers.joint.capacity import nearest
from memopt.solvers.joint.smooth_profile import smoother_orders
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, live_ranges, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods.auto import heuristics
from memopt.solvers.theory.bounds import flow_bound, trivial

NO_BOUNDS = RowBounds()
CALM = 1  # orders with fewer bytes near their peak, of one choice of rows
# Parts of the goal: what is placed so much above it has no such orders looked for; where most calls
# would be saved, twice as much.
NEAR, FAR = 1 / 8, 1 / 4
# Calls that have to be saved for a search among calmer orders, and for a question to CP-SAT, which
# takes as long as it takes to plan so many, and longer where more than `SOON` and half are left.
CALMED, ASKED, SOON = 50, 300, 600
LARGE = 300  # rows; fewer are planned sooner than such orders are found, or asked about
QUICK = ("greedy-by-size", "best-fit")  # what fits at once most often fits by these
NUMBERS = 1 / 100  # of the arena: by which what is counted in numbers alone may be too much
# Parts of the time that is left: for whole operators, for the order of all rows, for what is cut.
WHOLE, ORDER, FEWER = 1 / 6, 1 / 3, 1 / 3


class Candidate(NamedTuple):
    """A function with some operators cut, and an order of it."""

    rows: InRows
    order: tuple[int, ...]

    def arranged(self) -> Extracted:
        """Put the function into this order, in which it stands until it is put into another."""
        extracted = self.rows.extracted
        reorder(extracted.memory, self.order)
        return extract(extracted.func, known=extracted.asked())


@dataclass(frozen=True)
class Placed:
    """A candidate with an order, most often its own, and places: of the function that `stands` in
    the candidate's order, else, where that is None, as it stood before. `ordered` is what a search
    for the candidate's order has shown. `bounds` are of other choices."""

    candidate: Candidate
    joint: Joint
    ordered: Schedule | None = None
    stands: Extracted | None = None
    bounds: RowBounds = NO_BOUNDS

    @property
    def arena(self) -> int:
        return self.joint.placement.arena

    @property
    def calls(self) -> int:
        return len(self.candidate.order)

    @property
    def cost(self) -> tuple[int, int]:
        """The arena in bytes, then the calls."""
        return self.arena, self.calls

    def saves_most(self, calls: int) -> bool:
        """Return whether so few of `calls` are left that a question to CP-SAT pays."""
        return calls - self.calls >= ASKED and self.calls <= max(SOON, calls // 2)

    def arranged(self) -> tuple[Extracted, Joint]:
        """Return the function in the order of the candidate, and the places there."""
        if self.stands is not None:
            return self.stands, self.joint
        extracted = self.candidate.arranged()
        before, offsets = self.candidate.rows.extracted, self.joint.placement.offsets
        groups = [g for k, g in enumerate(before.memory.groups) if before.group_of[k] is not None]
        numbers = [
            extracted.group_of[extracted.memory.of_value[g.members[0][0]][0]] for g in groups
        ]
        number = {v: k for k, v in enumerate(self.candidate.order)}
        moved = list(offsets)  # of scratch in the order of the operators, which is the same
        for g, offset in zip(numbers, offsets, strict=False):
            assert g is not None
            moved[g] = offset
        placement = replace(self.joint.placement, offsets=tuple(moved))
        order = tuple(number[v] for v in self.joint.order)
        return extracted, replace(self.joint, order=order, placement=placement)


Orders = Callable[[Placed, float | None], Iterable[Sequence[int]]]


def choose_rows(func: FuncOp, deadline: float | None = None, streamed: bool = False) -> Placed:
    """Return the rows of the least arena that is found by `deadline`, of these those of the fewest
    calls; whole operators are none where the argument is `streamed`."""
    cuts = Cuts(func)
    known: list[Placed] = []
    if deadline is not None and not streamed:
        known.append(_whole(cuts, _until(deadline, WHOLE)))
    began = clock.now()
    try:
        rows = cuts.of(range(len(computing(func))), deadline if known else None)
    except clock.TimeIsOverError:
        return known[0]
    deadline = clock.sooner(deadline, clock.now() - began)  # what is chosen is written, too
    if not rows.cut:  # any choice is the same
        whole = known[0] if known else _whole(cuts, _until(deadline, WHOLE))
        return replace(whole, bounds=RowBounds(whole.arena, whole.arena))
    if known and clock.late(deadline):
        return known[0]
    ordered = schedule(rows.graph, "auto", clock.left(deadline, ORDER))
    bounds = RowBounds(rows=ordered.lower_bound)
    if not streamed:
        bounds = replace(bounds, whole=_least_peak(cuts.whole.graph, ordered.peak))
        if not known and bounds.whole <= ordered.peak:
            known.append(_whole(cuts, None))
    if known and known[0].arena <= ordered.peak:
        return replace(known[0], bounds=bounds)
    chosen = _in_some_rows(cuts, rows, ordered, known, deadline)
    if not streamed and not known and chosen.arena > bounds.whole:
        chosen = min(_whole(cuts, None), chosen, key=lambda p: p.cost)
    return replace(chosen, bounds=bounds)


def cut_chosen(
    func: FuncOp,
    chosen: Placed,
    time_limit: float | None,
    close: Callable[[FuncOp], None] | None = None,
) -> Planned:
    """Put what is chosen in place of the function, and `close` it; return what is known of it, with
    the proof of its peak that is found within `time_limit` seconds."""
    extracted, joint = chosen.arranged()
    if not chosen.candidate.rows.cut:
        reorder(extract(func).memory, chosen.candidate.order)
        extracted = extract(func)
    else:
        _take_over(func, extracted.func)
        extracted = replace(extracted, func=func)
    graph = extracted.graph
    if close is not None:
        close(func)
        reorder(extracted.memory, range(len(graph)))
        extracted = extract(func, known=extracted.asked())
        if extracted.graph != graph:
            return Planned(extracted)
    own = tuple(range(len(graph)))
    found = chosen.ordered
    answer = _proven(graph, time_limit) if found is None else replace(found, order=own)
    peak = profile(graph, own).peak
    if answer.peak < peak:  # of no known arena
        better = nearest(graph, [answer.order], chosen.arena - 1)
        if better is None or better.placement.arena >= chosen.arena:
            answer = Schedule(own, peak, answer.lower_bound, "none")
        else:
            joint = better
    joint = replace(joint, lower_bound=min(answer.lower_bound, joint.placement.arena))
    return Planned(extracted, arrangement=Arrangement(extracted, answer, joint, chosen.bounds))


def _take_over(func: FuncOp, other: FuncOp) -> None:
    """Put the body and the attributes of a copy in place of the function's own."""
    func.detach_region(func.body)
    func.add_region(other.detach_region(other.body))
    func.attributes = dict(other.attributes)


def _proven(graph: MemoryGraph, time_limit: float | None) -> Schedule:
    """Return the order in which the graph stands where that is proven at once, else the best
    found."""
    own = tuple(range(len(graph)))
    peak = profile(graph, own).peak
    bound = flow_bound(graph, [own], time_limit=time_limit, enough=peak)
    if bound.value >= peak:
        return Schedule(own, peak, peak, bound.proof)
    return schedule(graph, "auto", time_limit)


def _least_peak(graph: MemoryGraph, enough: int) -> int:
    """Return the bytes below which no order has its peak, without a search; no more than shows that
    they are more than `enough`."""
    least = trivial(graph)
    return least if least > enough else flow_bound(graph, heuristics(graph)).value


def _until(deadline: float | None, share: float) -> float | None:
    """The moment at which so much of the time that is left is over."""
    return clock.deadline(clock.left(deadline, share))


def _in_some_rows(
    cuts: Cuts, rows: InRows, ordered: Schedule, known: Sequence[Placed], deadline: float | None
) -> Placed:
    """Return the least arena of some rows, of all, and of what is `known`."""
    goal, calls = ordered.peak, len(rows.graph)
    few: list[Placed] = []
    tried: list[Placed] = []

    def fitting(placed: Placed, orders: Orders, searched: bool = True) -> Placed | None:
        """Return the candidate in one of its orders, if it is placed at the goal so."""
        near = FAR if placed.saves_most(calls) else NEAR
        if clock.late(deadline) or placed.arena > goal * (1 + near):
            return None
        answer = _nearest(placed, orders(placed, deadline), goal, deadline, searched)
        tried.extend([answer] if answer is not None else ())
        return answer if answer is not None and answer.arena <= goal else None

    def first(looked: int) -> Placed | None:
        """Return the first candidate that is placed at the goal, of those found with so many
        calls."""
        end = _until(deadline, FEWER)
        for candidate in _candidates(cuts, rows, ordered, end, looked):
            if clock.late(deadline):
                return None
            if any(candidate.order == p.candidate.order for p in few):
                continue
            few.append(_unsearched(candidate, deadline))
            if few[-1].arena <= goal:
                return few[-1]
            if few[-1].saves_most(calls) and (answer := fitting(few[-1], _own_order)):
                return answer
        return None

    # whenever the time is over, this is there
    every = None if deadline is None else _standing(rows, ordered, deadline)
    if answer := first(0):
        return answer
    every = every or _standing(rows, ordered, None)
    if every.arena <= goal and calls >= LARGE and (answer := first(CALLS)):
        return answer
    for placed in few if calls >= LARGE else ():
        if calls - placed.calls < CALMED:
            continue
        searched = every.arena > goal or placed.saves_most(calls)
        if answer := fitting(placed, _calm_orders, searched):
            return answer
    if every.arena <= goal:
        return every
    best = min([*known, _solved(every, deadline), *few, *tried], key=lambda p: p.cost)
    if best.arena > goal and calls < LARGE and (answer := first(CALLS)):
        return answer
    for placed in few if best.arena > goal else ():
        if clock.late(deadline) or placed.arena > goal * (1 + NEAR):
            continue
        answer = _nearest(placed, _own_order(placed, deadline), best.arena, deadline)
        if answer is not None and answer.cost < best.cost:
            best = answer
    return best


def _candidates(
    cuts: Cuts, rows: InRows, ordered: Schedule, deadline: float | None, calls: int
) -> Iterator[Candidate]:
    """Yield choices of rows that are worth placing, each in the order of all `rows`, which may be
    placed well, and in one of its own, of a peak that is no higher; those of the fewest calls
    first. `calls` are those of all choices that are searched for another order."""
    most = ordered.peak

    def worth(graph: MemoryGraph, order: Sequence[int]) -> bool:
        """Return whether the numbers fit already, or nearly, where no more is done for them."""
        if len(rows.graph) >= LARGE:
            return True
        problem = live_ranges(graph, order)
        return any(place(problem, method).arena <= most * (1 + NUMBERS) for method in QUICK)

    found = fewer_rows(cuts, rows, ordered.order, most, deadline, calls, worth)
    orders = {chosen.positions: chosen.order for chosen in found}
    chosen = [positions for positions in worth_placing(found) if positions != rows.cut]
    some = {positions: rows.numbers.with_whole(rows.cut - positions) for positions in chosen}
    chosen.sort(key=lambda positions: len(some[positions].graph))
    for positions in chosen:
        like, own = some[positions].like(ordered.order), orders.get(positions)
        if own is None and not worth(some[positions].graph, like):
            continue
        try:
            small = cuts.of(positions, deadline)
        except clock.TimeIsOverError:
            return
        alike = carried(rows, like, some[positions], small)
        if keeps(small.graph, alike, most):
            yield Candidate(small, alike)
        elif own is None:
            own = order_within(small.graph, most, deadline)
        if own is not None and own != alike:
            yield Candidate(small, own)


def _unsearched(candidate: Candidate, deadline: float | None) -> Placed:
    """Return the candidate placed by the methods that take no search."""
    return Placed(candidate, _at_once(candidate.rows.graph, candidate.order, deadline))


def _at_once(graph: MemoryGraph, order: Sequence[int], deadline: float | None) -> Joint:
    joint = nearest(graph, [order], 0, deadline, searched=False)
    assert joint is not None
    return joint


def _standing(rows: InRows, ordered: Schedule, deadline: float | None) -> Placed:
    """Return the function in the order that was found, placed by the methods that take no
    search."""
    candidate = Candidate(rows, ordered.order)
    stands = candidate.arranged()
    joint = _at_once(stands.graph, range(len(ordered.order)), deadline)
    return Placed(candidate, joint, ordered, stands)


def _solved(placed: Placed, deadline: float | None) -> Placed:
    """Return the function that stands in its order, placed as the pipeline would."""
    assert placed.stands is not None and placed.ordered is not None
    joint = solve(
        placed.stands.graph,
        placed.joint.order,
        placed.ordered.lower_bound,
        clock.left(deadline),
        known=placed.joint.placement if placed.candidate.rows.cut else None,
        calm_first=bool(placed.candidate.rows.cut),
    )
    return replace(placed, joint=joint)


def _whole(cuts: Cuts, deadline: float | None) -> Placed:
    """Return whole operators, ordered and placed as the pipeline would."""
    rows = cuts.of(())
    ordered = schedule(rows.graph, "auto", clock.left(deadline, 1 / 2))
    return _solved(_standing(rows, ordered, deadline), deadline)


def _own_order(placed: Placed, deadline: float | None) -> Iterable[Sequence[int]]:
    return [placed.candidate.order]


def _calm_orders(placed: Placed, deadline: float | None) -> Iterable[Sequence[int]]:
    graph, order = placed.candidate.rows.graph, placed.candidate.order
    return islice(smoother_orders(graph, order, profile(graph, order).peak, deadline), CALM)


def _nearest(
    placed: Placed,
    orders: Iterable[Sequence[int]],
    capacity: int,
    deadline: float | None,
    searched: bool = True,
) -> Placed | None:
    joint = nearest(placed.candidate.rows.graph, orders, capacity, deadline, searched)
    return None if joint is None else replace(placed, joint=joint)
