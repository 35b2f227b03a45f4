"""An order that does not fit, with a few operators elsewhere so that it does.

    order, placement = repaired(graph, orders, Asking(height=20_880))

CP-SAT answers at once about a few steps, hardly ever about hundreds. So a window slides over them:
what began before it stays where it was. Rows are alike, so an order that fits nearly everywhere
fails in a handful of steps, whatever was before. The fewest of these are found by halving; their
operators (then a few more around them) are put into another order, one after the other, as long as
what has begun fits. Then the window starts again.

That finds, and proves nothing: who is told that something does not fit just tries something else.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from memopt.solvers import clock
from memopt.solvers.placement import coarse
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges, profile
from memopt.solvers.problems.placement import Item, Placement, PlacementProblem
from memopt.solvers.programs.limit import Limit

STRIDE = 32  # steps; a window is two of them, one further than the last one
FAR = 256  # steps that a window goes back where nobody knows whether it fits
MARGINS = (0, 2, 4, 8)  # operators before and behind a stretch that move, too
REPAIRS = 20
EACH = 6  # questions about an operator that moves; the orders of ten are millions
# CP-SAT's deterministic time for a question, more of it where that was too little to decide whether
# an order fits; the most only where it is thorough. A tenth of it is about two seconds.
PATIENCE = (0.03, 0.06, 0.3)
# Seconds, about, for all questions unless it is thorough: for a unit of deterministic time of rows,
# and for what that does not count, sending a question to the worker process, however small it is,
# and reading it, for a square of its pieces.
LEFT, SOLVING, SENDING, READING = 2.0, 25.0, 0.005, 5e-7


@dataclass
class Asking:
    """Questions to CP-SAT whether what is live fits below `height` bytes, at multiples of a
    `unit`, that of an order: until `deadline` (`clock.now`), and while there is something `left` of
    the seconds that all are worth, if these are limited. Each may take `work` in CP-SAT's
    deterministic time; `questions` counts them. `problems` are those of orders that are asked about
    more than once."""

    height: int
    unit: int = 1
    deadline: float | None = None
    left: float | None = None
    work: float = PATIENCE[0]
    questions: int = 0
    problems: dict[tuple[int, ...], PlacementProblem] = field(
        default_factory=dict[tuple[int, ...], PlacementProblem]
    )

    @property
    def ended(self) -> bool:
        return clock.late(self.deadline) or (self.left is not None and self.left <= 0)

    def problem(self, graph: MemoryGraph, order: tuple[int, ...]) -> PlacementProblem:
        """Return the placement problem of an order."""
        return self.problems.get(order) or live_ranges(graph, order)

    def ask(
        self, items: Sequence[Item], pinned: Mapping[int, int] = coarse.ANYWHERE
    ) -> coarse.Answer:
        """Ask CP-SAT whether the items fit, some `pinned` to offsets; no answer once questions have
        ended."""
        if not items:
            return coarse.Answer(True, ())
        pieces = sum(len(coarse.rectangles_of(i, self.unit)) for i in items)
        if self.ended or pieces > coarse.MOST:
            return coarse.Answer(None)
        self.questions += 1
        limit = Limit(clock.left(self.deadline), self.work, always=True)
        answer = coarse.ask(items, self.height, self.unit, limit, pinned)
        if self.left is not None:
            self.left -= SENDING + pieces**2 * READING + answer.work * SOLVING
        return answer


def repaired(
    graph: MemoryGraph, orders: Sequence[Sequence[int]], asking: Asking
) -> tuple[tuple[int, ...], Placement] | None:
    """An order near one of `orders` (at least one, no step of theirs above the height that is asked
    about) whose buffers fit below that, with a placement, verified; None if none was found until
    the questions ended.
    """
    for order in orders:
        answer = _repaired(graph, order, asking)
        if answer is not None:
            return answer
    return None


def fitting(
    graph: MemoryGraph, order: Sequence[int], asking: Asking
) -> Placement | tuple[int, int] | None:
    """Return the order placed in the height that is asked about, or steps [lower, upper) of it that
    do not fit, as few as were found; None if neither was found."""
    problem = asking.problem(graph, tuple(order))
    items = [i for i in problem.items if i.pieces]
    asking.unit = coarse.widest_unit(items, asking.height)
    return _fitting(problem, len(order), asking)


class Live:
    """The items of a problem with bytes, by stretches of their steps: who asks for a few steps
    after the other looks through what is live near these alone."""

    def __init__(self, problem: PlacementProblem) -> None:
        self.stretches: dict[int, list[Item]] = {}
        for item in problem.items:
            if item.pieces:
                for at in range(item.lower // STRIDE, -(-item.upper // STRIDE)):
                    self.stretches.setdefault(at, []).append(item)

    def between(self, lower: int, upper: int) -> list[Item]:
        """Return the items with bytes in steps [lower, upper), cut to these."""
        numbers = range(lower // STRIDE, -(-upper // STRIDE))
        near = {i.index: i for at in numbers for i in self.stretches.get(at, ())}
        return clipped([near[index] for index in sorted(near)], lower, upper)


def _repaired(
    graph: MemoryGraph, order: Sequence[int], asking: Asking
) -> tuple[tuple[int, ...], Placement] | None:
    current, patience = tuple(order), iter(PATIENCE if asking.left is None else PATIENCE[:-1])
    asking.work = next(patience)
    for _ in range(REPAIRS):
        outcome = fitting(graph, current, asking)
        if isinstance(outcome, Placement):
            return current, outcome
        if outcome is None:
            asking.work = next(patience, 0.0)
            if not asking.work or asking.ended:
                return None
            continue
        lower, upper = outcome
        for margin in MARGINS:
            first, last = max(0, lower - margin), min(len(current), upper + margin)
            other = _reordered(graph, current, first, last, asking)
            if other is not None:
                current = other
                break
        else:
            return None
    return None


def clipped(items: Sequence[Item], lower: int, upper: int) -> list[Item]:
    """Return the items that are live in steps [lower, upper), cut to these."""
    result: list[Item] = []
    for item in items:
        pieces = tuple(
            replace(p, lower=max(p.lower, lower), upper=min(p.upper, upper))
            for p in item.pieces
            if p.lower < upper and p.upper > lower
        )
        if pieces:
            ends = max(item.lower, lower), min(item.upper, upper)
            result.append(replace(item, pieces=pieces, lower=ends[0], upper=ends[1]))
    return result


def _fitting(
    problem: PlacementProblem, steps: int, asking: Asking
) -> Placement | tuple[int, int] | None:
    """A placement, or steps [lower, upper) that do not fit, as few as were found; None if neither
    was found.

    Two strides at a time: what began before the window stays where it was, and where that leaves no
    room, further back is asked again.
    """
    at: dict[int, int] = {}
    live = Live(problem)
    lower, upper, back = 0, min(2 * STRIDE, steps), STRIDE
    while True:
        items = live.between(lower, upper)
        pinned = {i.index: at[i.index] for i in items if problem.items[i.index].lower < lower}
        answer = asking.ask(items, pinned)
        if answer.offsets is not None:
            at |= zip([i.index for i in items], answer.offsets, strict=True)
            if upper == steps:
                return coarse.placed(problem, [at[i.index] for i in problem.items if i.pieces])
            lower, upper, back = upper - STRIDE, min(upper + STRIDE, steps), STRIDE
            continue
        if back == STRIDE and pinned:
            answer = asking.ask(items)
        if back == STRIDE and answer.fits is False:
            return _shortest_misfit(live, lower, upper, asking)
        # what is undecided is easier only where less of it is pinned
        undecided = answer.fits is None and (back == STRIDE or back >= FAR)
        if asking.ended or lower == 0 or undecided:
            return None
        back = FAR if answer.fits is None else 2 * back
        lower = max(0, upper - STRIDE - back)


def _shortest_misfit(live: Live, lower: int, upper: int, asking: Asking) -> tuple[int, int]:
    """Steps that do not fit, from `lower` to `upper`, but for those that are not needed for that.
    What is not known is taken to fit, which leaves more."""
    fits = lower
    while upper - fits > 1:
        middle = (fits + upper) // 2
        if asking.ask(live.between(lower, middle)).fits is False:
            upper = middle
        else:
            fits = middle
    late = upper
    while late - lower > 1:
        middle = (lower + late) // 2
        if asking.ask(live.between(middle, upper)).fits is False:
            lower = middle
        else:
            late = middle
    return lower, upper


def _reordered(
    graph: MemoryGraph, order: tuple[int, ...], first: int, last: int, asking: Asking
) -> tuple[int, ...] | None:
    """Return `order` with the operators at [first, last) in another one, which fits there; None if
    none was found by `EACH` questions for each of them."""
    inside = order[first:last]
    needs = {v: {p for p in graph.predecessors[v] if p in inside} for v in inside}
    last_question = asking.questions + EACH * len(inside)

    def extended(begun: tuple[int, ...]) -> tuple[int, ...] | None:
        if len(begun) == len(inside):
            return (*order[:first], *begun, *order[last:])
        for v in inside:
            if v in begun or not needs[v].issubset(begun):
                continue
            if asking.ended or asking.questions >= last_question:
                return None
            rest = tuple(w for w in inside if w not in begun and w != v)
            tried = (*order[:first], *begun, v, *rest, *order[last:])
            end = first + len(begun) + 1
            if profile(graph, tried).steps[end - 1] > asking.height:
                continue
            items = [i for i in live_ranges(graph, tried).items if i.pieces]
            if asking.ask(clipped(items, first, end)).fits is True:
                complete = extended((*begun, v))
                if complete is not None:
                    return complete
        return None

    return extended(())
