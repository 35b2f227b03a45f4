"""The rows of the least arena that is known: of whole operators, of all rows, of some.

    choose_rows(func).candidate.positions

No rows have an arena below the peak of all rows, unless whole operators have it. So operators are
left whole as long as that peak is kept (`minimise.py`), and the choice of the fewest calls that is
placed in so many bytes is taken. Choices are held against that in numbers before they are cut, and
CP-SAT is asked about them, or about smoother orders, only where that saves more calls than it takes
time. Where nothing fits, the fewest rows are placed as the pipeline would place them, if they are
far fewer; where they do not fit either, so are all rows, and the goal is the smallest arena of
these and of whole operators. When the time is over the smallest arena that is known by then is
handed over.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xdsl.dialects.func import FuncOp

from memopt.passes.plan.extract import Extracted, extract
from memopt.passes.plan.planned import Arrangement, Planned, RowBounds
from memopt.passes.plan.reorder import reorder
from memopt.passes.rows.expand import computing
from memopt.passes.rows.fit import without_holes, worth_placing
from memopt.passes.rows.minimise import CALLS, fewer_rows, keeps
from memopt.passes.rows.numbers import Cuts, InRows, carried, handed_over
from memopt.solvers import clock
from memopt.solvers.joint import Joint, solve
from memopt.solvers.joint.capacity import asked, nearest
from memopt.solvers.joint.smooth_profile import smoother_orders
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule, live_ranges, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.methods.auto import heuristics
from memopt.solvers.theory.bounds import flow_bound, trivial

NO_BOUNDS = RowBounds()
# A search for a choice of fewer calls takes no longer than planning the calls that it saves would.
# The shortest question to CP-SAT takes as long as planning so many calls; a question has so much
# deterministic time for each call; a smoother order takes as long as this part of all its calls.
# Beside the planning of many calls the shortest question takes no time: it may save fewer.
QUESTION_CALLS, FEWER_CALLS, WORK_PER_CALL, SMOOTHER_CALLS = 100, 60, 5e-5, 1 / 5
# Seconds, about: of planning a call, and of reading a question, for a square of its buffers, which
# no deterministic time counts. Of thousands of buffers it takes longer than planning hundreds.
PLANNING, READING = 4e-3, 5e-7
NEAR = 1 / 4  # of the arena: what is placed further above it without a search seldom fits
MANY_CALLS = 300  # of more, other orders of fewer calls are looked for where all rows fit, too
QUICK = (
    "greedy-by-size",
    "best-fit",
    "greedy-by-breadth",
)  # what fits at once most often fits by these
NUMBERS = 1 / 100  # of the arena: by which what is counted in numbers alone may be too much
# Parts of the time that is left: for whole operators, for the order of all rows, for what is cut,
# for the places of the fewest rows.
WHOLE, ORDER, FEWER, FEW = 1 / 6, 1 / 3, 1 / 3, 1 / 2


class Candidate(NamedTuple):
    """A function with some operators cut, and an order of it."""

    rows: InRows
    order: tuple[int, ...]

    def arranged(self) -> Extracted:
        """Put the function into this order, in which it stands until it is put into another."""
        extracted = self.rows.extracted
        reorder(extracted.memory, self.order)
        return extracted.again()


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


Order = tuple[int, ...]


@dataclass(frozen=True)
class _Choice:
    """All rows of a function and their order, of which some are chosen; with what was answered of
    choices in an order before: an order that fits in so many bytes, and places."""

    cuts: Cuts
    rows: InRows
    ordered: Schedule
    fits: dict[tuple[frozenset[int], Order, int], Sequence[int] | None] = field(
        default_factory=dict[tuple[frozenset[int], Order, int], Sequence[int] | None]
    )
    placed: dict[tuple[frozenset[int], Order], Placed] = field(
        default_factory=dict[tuple[frozenset[int], Order], Placed]
    )

    def order_that_fits(
        self,
        positions: frozenset[int],
        some: tuple[MemoryGraph, Sequence[int]],
        most: int,
        deadline: float | None,
    ) -> Sequence[int] | None:
        """Return what `_order_that_fits` does of `some`, a graph in an order, once."""
        graph, order = some
        key = positions, tuple(order), most
        if key in self.fits:
            return self.fits[key]
        saved = len(self.rows.graph) - len(graph)
        answer = _order_that_fits(graph, order, most, saved, deadline)
        if not clock.late(deadline):
            self.fits[key] = answer
        return answer

    def placed_at_once(self, candidate: Candidate, deadline: float | None) -> Placed:
        """Return a candidate, placed by the methods that take no search, once."""
        key = candidate.rows.cut, candidate.order
        if key not in self.placed:
            joint = _at_once(candidate.rows.graph, candidate.order, deadline)
            self.placed[key] = Placed(candidate, joint)
        return self.placed[key]


def choose_rows(func: FuncOp, deadline: float | None = None, streamed: bool = False) -> Placed:
    """Return the rows of the least arena that is found by `deadline`, of these those of the fewest
    calls; whole operators are none where the argument is `streamed`."""
    cuts = Cuts(func)
    handed = handed_over(func) if deadline is None else None
    if handed is not None:
        cuts.made[frozenset(range(len(computing(func))))] = handed[0]
    known: list[Placed] = []
    if deadline is not None and not streamed:
        known.append(_whole(cuts, _until(deadline, WHOLE)))
    began = clock.now()
    rows = cuts.of_until(range(len(computing(func))), deadline if known else None)
    if rows is None:
        return known[0]
    deadline = clock.sooner(deadline, clock.now() - began)  # what is chosen is written, too
    if not rows.cut:  # any choice is the same
        uncut = known[0] if known else _whole(cuts, _until(deadline, WHOLE))
        return replace(uncut, bounds=RowBounds(uncut.arena, uncut.arena))
    if known and clock.late(deadline):
        return known[0]
    if handed is not None and handed[1].optimal and not handed[1].states:
        ordered = handed[1]  # no search, whatever its limits, would have come to another order
    else:
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
        extracted = extracted.again()
        if extracted.graph != graph:
            return Planned(extracted)
    own = tuple(range(len(graph)))
    ordered = chosen.ordered
    answer = _proven(graph, own, time_limit) if ordered is None else replace(ordered, order=own)
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


def _proven(graph: MemoryGraph, order: Sequence[int], time_limit: float | None) -> Schedule:
    """Return an order of a graph where its peak is proven at once, else the best found."""
    peak = profile(graph, order).peak
    bound = flow_bound(graph, [order], time_limit=time_limit, enough=peak)
    if bound.value >= peak:
        return Schedule(tuple(order), peak, peak, bound.proof)
    answer = schedule(graph, "auto", time_limit)
    if answer.peak <= peak:
        return answer
    return Schedule(tuple(order), peak, max(bound.value, answer.lower_bound), "none")


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
    goal, choice = ordered.peak, _Choice(cuts, rows, ordered)

    def fewest(capacity: int, looked: int) -> Placed | None:
        """Return the candidate of the fewest calls that is placed in `capacity` bytes, of those
        found with so many calls looked at; `tried` gets all that are placed."""
        end = _until(deadline, FEWER)
        for candidate in _candidates(choice, capacity, end, looked):
            if clock.late(deadline):
                return None
            placed = choice.placed_at_once(candidate, deadline)
            if capacity < placed.arena <= capacity * (1 + NEAR):
                work = _work(len(rows.graph) - placed.calls, placed.candidate.rows.graph)
                placed = _nearest(placed, capacity, deadline, work) if work else placed
            tried.append(placed)
            if placed.arena <= capacity:
                return placed
        return None

    tried: list[Placed] = []
    # whenever the time is over, this is there
    every = None if deadline is None else _all_rows(cuts, rows, ordered, deadline)
    if answer := fewest(goal, 0):
        return answer
    every = every or _all_rows(cuts, rows, ordered, None)
    if every.arena <= goal:
        return (fewest(goal, CALLS) if len(rows.graph) > MANY_CALLS else None) or every
    few = _few_rows(cuts, rows, ordered, deadline)
    if few is not None:
        tried.append(few := _solved(few, _until(deadline, FEW)))
        if few.arena <= goal:
            return few
    every = _solved(every, deadline)
    if every.arena > goal and every.candidate.rows is not rows and not clock.late(deadline):
        other = _standing(rows, ordered, deadline)
        if not _are_alike(every, other):
            every = min(every, _solved(other, deadline), key=lambda p: p.cost)
    best = _with_proof(min([*known, every, *tried], key=lambda p: p.cost), few)
    if clock.late(deadline) or (best.arena <= goal and len(rows.graph) <= MANY_CALLS):
        return best
    answer = fewest(best.arena, CALLS)
    return best if answer is None else min(best, _with_proof(answer, few), key=lambda p: p.cost)


def _with_proof(placed: Placed, other: Placed | None) -> Placed:
    """Return what is placed with the flow that was found of another one, if that is the same rows
    in the same order: no search, of which numbers of operators are part, comes in between."""
    if other is None or placed.ordered is not None or other.ordered is None:
        return placed
    is_same = placed.candidate.rows.cut == other.candidate.rows.cut
    is_same = is_same and placed.candidate.order == other.candidate.order
    shown = is_same and other.ordered.optimal and not other.ordered.states
    return replace(placed, ordered=other.ordered) if shown else placed


def _are_alike(placed: Placed, other: Placed) -> bool:
    """Return whether two functions that stand are the same but for names, and so are their
    places."""
    assert placed.stands is not None and other.stands is not None
    return _unnamed(placed.stands.graph) == _unnamed(other.stands.graph)


def _unnamed(graph: MemoryGraph) -> MemoryGraph:
    groups = tuple([replace(group, name="") for group in graph.groups])
    return replace(graph, names=("",) * len(graph), groups=groups)


def _few_rows(cuts: Cuts, rows: InRows, ordered: Schedule, deadline: float | None) -> Placed | None:
    """Return the choice of the fewest calls of the peak of all `rows`, in its order; None if its
    calls are hardly fewer, or those of all rows are few: it is no sooner placed than these."""
    if len(rows.graph) <= MANY_CALLS:
        return None
    few = fewer_rows(cuts, rows, ordered.order, ordered.peak, deadline, calls=0)[-1]
    pays = _pays_to_ask(len(rows.graph) - few.calls, len(rows.graph))
    if not pays or (small := cuts.of_until(few.positions, deadline)) is None:
        return None
    return _standing(small, _proven(small.graph, few.order, clock.left(deadline)), deadline)


def _pays_to_ask(saved: int, calls: int) -> bool:
    """Return whether a question to CP-SAT that saves so many of all `calls` is worth its time."""
    return saved >= (QUESTION_CALLS if calls <= MANY_CALLS else FEWER_CALLS)


def _work(saved: int, graph: MemoryGraph) -> float:
    """Return CP-SAT's deterministic time for a question about a graph that saves so many calls;
    none where reading it takes longer than planning them would."""
    pays = len(graph.groups) ** 2 * READING <= saved * PLANNING
    return max(0, saved) * WORK_PER_CALL if pays else 0.0


def _all_rows(cuts: Cuts, rows: InRows, ordered: Schedule, deadline: float | None) -> Placed:
    """Return all rows in their order, what has a single row left whole where that has no higher
    peak: the same calls, without a table of them."""
    singles = frozenset(k for k in rows.cut if len(rows.steps_of.get(k, ())) == 1)
    some = rows.numbers.with_whole(singles)
    like = some.like(ordered.order)
    if singles and keeps(some.graph, like, ordered.peak):
        small = cuts.of_until(rows.cut - singles, deadline)
        order = carried(rows, like, some, small) if small else ()
        if small and keeps(small.graph, order, ordered.peak):
            return _standing(small, _proven(small.graph, order, clock.left(deadline)), deadline)
    return _standing(rows, ordered, deadline)


def _candidates(
    choice: _Choice, capacity: int, deadline: float | None, calls: int
) -> Iterator[Candidate]:
    """Yield choices of rows of the peak of all `rows` that are likely to be placed in `capacity`
    bytes, those of the fewest calls first. `calls` are those of all choices that are searched for
    another order than one like that of all rows."""
    cuts, rows, ordered = choice.cuts, choice.rows, choice.ordered
    looked_at: list[frozenset[int]] = []  # what keeps the peak in numbers
    close: list[frozenset[int]] = []  # without their holes, where many calls are saved

    def fitting(
        positions: frozenset[int], graph: MemoryGraph, order: Sequence[int]
    ) -> Sequence[int] | None:
        saved = len(rows.graph) - len(graph)
        looked_at.append(positions)
        if _pays_to_ask(saved, len(rows.graph)):
            close.append(without_holes(rows.cut, positions))
        return choice.order_that_fits(positions, (graph, order), capacity, deadline)

    fewer = fewer_rows(cuts, rows, ordered.order, ordered.peak, deadline, calls, fitting)
    orders = {chosen.positions: chosen.order for chosen in fewer}
    refused = {*looked_at} - {*orders} | {rows.cut}
    chosen = [p for p in dict.fromkeys([*worth_placing(fewer), *close]) if p not in refused]
    some = {positions: rows.numbers.with_whole(rows.cut - positions) for positions in chosen}
    chosen.sort(key=lambda positions: len(some[positions].graph))
    for positions in chosen:
        if positions in orders:
            yield Candidate(cuts.of(positions), orders[positions])
            continue
        like = fitting(positions, some[positions].graph, some[positions].like(ordered.order))
        if like is None:
            continue
        if (small := cuts.of_until(positions, deadline)) is None:
            return
        alike = carried(rows, like, some[positions], small)
        if keeps(small.graph, alike, capacity):
            yield Candidate(small, alike)


def _order_that_fits(
    graph: MemoryGraph, order: Sequence[int], most: int, saved: int, deadline: float | None
) -> Sequence[int] | None:
    """Return `order`, or a smoother one, of a choice in numbers that is placed in `most` bytes, or
    in hardly more; None where no such order is found with the work that `saved` calls are worth."""
    problem = live_ranges(graph, order)
    close = most * (1 + NUMBERS)
    if any(place(problem, method).arena <= close for method in QUICK):
        return order
    pays = _pays_to_ask(saved, len(graph) + saved)
    if not pays or problem.load > most or clock.late(deadline):
        return None
    arena = _at_once(graph, order, deadline).placement.arena
    if arena <= close or arena > most * (1 + NEAR):
        return order if arena <= close else None
    if not (work := _work(saved, graph)):
        return None
    if asked(problem, most, work / 4, deadline):
        return order
    smoother = None
    if saved >= SMOOTHER_CALLS * len(graph):
        smoother = next(smoother_orders(graph, order, problem.load, deadline), None)
    fits = smoother and asked(live_ranges(graph, smoother), most, work, deadline)
    return smoother if fits else None


def _at_once(graph: MemoryGraph, order: Sequence[int], deadline: float | None) -> Joint:
    joint = nearest(graph, [order], 0, deadline, work=0)
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
    with clock.watched("arena of these rows"):  # whose bound is none of other rows
        joint = solve(
            placed.stands.graph,
            placed.joint.order,
            placed.ordered.lower_bound,
            clock.left(deadline),
            known=placed.joint.placement if placed.candidate.rows.cut else None,
            calm_first=bool(placed.candidate.rows.cut),
        )
    clock.tell(joint.placement.arena)
    return replace(placed, joint=joint)


def _whole(cuts: Cuts, deadline: float | None) -> Placed:
    """Return whole operators, ordered and placed as the pipeline would."""
    rows = cuts.of(())
    ordered = schedule(rows.graph, "auto", clock.left(deadline, 1 / 2))
    return _solved(_standing(rows, ordered, deadline), deadline)


def _nearest(placed: Placed, capacity: int, deadline: float | None, work: float) -> Placed:
    """Return the candidate in its order, placed in `capacity` bytes if that is found with so much
    work."""
    graph, order = placed.candidate.rows.graph, placed.candidate.order
    joint = nearest(graph, [order], capacity, deadline, work)
    return placed if joint is None else replace(placed, joint=joint)
