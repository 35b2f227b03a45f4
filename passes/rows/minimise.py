"""Which operators have to be cut into rows so that the peak is no more than wanted: the fewest that
are found, because every row is a call of its kernel.

An operator that needs more by itself, its operands and results whole, is cut in any case, and so is
one that reads what is received in rows. Of the others as many as possible are left whole while the
rest keeps to the order of all rows (`partial_rows.py`), half of them, halves of what cannot be, and
so on; then the same is asked of any order. What is not decided after so much work stays cut.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.operators.accumulation import sum_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import SumsUp
from memopt.passes.rows.expand import computing, reads_received
from memopt.passes.rows.numbers import Cuts, InRows, carried
from memopt.solvers import clock
from memopt.solvers.errors import ProblemError
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.bounded_order import bounded_order
from memopt.solvers.scheduling.partial_rows import Rows, SomeWhole

# Counts of work, so that the answer is the same on every machine: together a few seconds.
LEAST = 20_000  # states for the least peak of all rows
STATES = 3_000  # for one question; what fits takes hardly more of them than it has rows
LOOKED = 100_000  # steps of the graphs in which choices are tried out as numbers
CALLS = 1_500  # of the graphs of choices that are cut and searched

Worth = Callable[[frozenset[int], MemoryGraph, Sequence[int]], Sequence[int] | None]


def always(positions: frozenset[int], graph: MemoryGraph, order: Sequence[int]) -> Sequence[int]:
    """Return the order: any choice is worth being cut."""
    return order


class DoesNotFitError(MemoptError):
    """No rows have so few bytes; the text says which do, `needed` too, if it is not 0."""

    def __init__(self, text: str, place: str = "", needed: int = 0) -> None:
        super().__init__(text, place)
        self.needed = needed


@dataclass(frozen=True)
class Chosen:
    """Operators to be cut, by position among those that run; `order` is one of the operators and
    rows of the plan that fits. `fewest`: no other choice fits with fewer of them cut."""

    positions: frozenset[int]
    order: tuple[int, ...]
    fewest: bool

    @property
    def calls(self) -> int:
        return len(self.order)


def ever_fewer_rows(
    func: FuncOp, time_limit: float | None = None, limit: int | None = None
) -> list[Chosen]:
    """Return choices of operators to cut for a peak of `limit` bytes, by default that of all in
    rows, each with no more calls than the one before; the last is the best.

    `time_limit` is in seconds, after which what is left stays cut. Raises DoesNotFitError if the
    `limit` is not reached.
    """
    deadline, cuts = clock.deadline(time_limit), Cuts(func)
    rows = cuts.of(range(len(computing(func))))
    order = None if limit is None else order_within(rows.graph, limit, deadline)
    if order is None:
        least = schedule(rows.graph, "auto", clock.left(deadline), max_states=LEAST)
        order, limit = least.order, least.peak if limit is None else limit
        if least.peak > limit:
            proof = ", and no order of these rows needs less"
            how = proof if least.optimal else " in the best order that was found"
            text = f"{limit:,} B are {least.peak - limit:,} B too few: all operators in rows need"
            raise DoesNotFitError(f"{text} {least.peak:,} B{how}", needed=least.peak)
    assert limit is not None
    return fewer_rows(cuts, rows, order, limit, deadline)


def fewer_rows(
    cuts: Cuts,
    rows: InRows,
    order: Sequence[int],
    most: int,
    deadline: float | None,
    calls: int = CALLS,
    worth: Worth = always,
) -> list[Chosen]:
    """Return ever fewer rows, where `order` of all `rows` has a peak of at most `most` bytes;
    `calls` are those of all choices that are searched for another order. `worth` is given a choice
    whose numbers keep the peak, these and an order, and returns the order that it is cut for, None
    if it is not."""
    uncut_problem, running, able = cuts.whole, computing(cuts.func), rows.cut
    step = {op: k for k, op in enumerate(uncut_problem.memory.operations)}
    needed = frozenset(
        k
        for k in able
        if _stays_in_rows(op := running[k])
        or (op in step and _alone(uncut_problem.graph, step[op]) > most)  # views are no step
    )
    if needed == able or clock.late(deadline):
        return [Chosen(able, tuple(order), needed == able)]
    some = rows.numbers.with_whole(able - needed)
    like: Sequence[int] | None = some.like(order)
    if not keeps(some.graph, like, most):
        like = order_within(some.graph, most, deadline)
    few = _kept(cuts, rows, some, like, needed, most, deadline, worth)
    is_searched = few is None and len(some.graph) <= calls
    if is_searched and (small := cuts.of_until(needed, deadline)):
        few = order_within(small.graph, most, deadline)
    if few is not None:
        return [Chosen(needed, few, True)]
    choices = [Chosen(able, tuple(order), False)]
    question = able - needed, most, tuple(order)
    if (uncut := rows.uncut.get(question)) is None:
        uncut = _whole(rows.numbers, order, most, sorted(able - needed), deadline)
        if not clock.late(deadline):
            rows.uncut[question] = uncut
    if uncut and (calls or able - uncut != needed):  # else those that were looked at
        some = rows.numbers.with_whole(uncut)
        like = some.like(order)
        fewer = _kept(cuts, rows, some, like, able - uncut, most, deadline, worth)
        if fewer is not None:
            choices.append(Chosen(able - uncut, fewer, False))
    seen = 0
    waiting = _halves(sorted(choices[-1].positions - needed))
    for group in waiting:
        if seen + choices[-1].calls > calls or clock.late(deadline):
            break
        chosen = choices[-1].positions.difference(group)
        if (small := cuts.of_until(chosen, deadline)) is None:
            break
        graph = small.graph
        seen += len(graph)
        fewer = order_within(graph, most, deadline) if len(graph) <= choices[-1].calls else None
        if fewer is not None:
            choices.append(Chosen(chosen, fewer, False))
        else:
            waiting += _halves(group)
    return choices


def _stays_in_rows(op: Operation) -> bool:
    """Return whether an operator is in rows whatever it takes."""
    sums_up = isinstance(op, ComputeOp) and op.has_trait(SumsUp)  # with what it adds up
    return reads_received(op) or sums_up or sum_of(op) is not None


def _kept(
    cuts: Cuts,
    rows: InRows,
    some: SomeWhole,
    order: Sequence[int] | None,
    positions: frozenset[int],
    most: int,
    deadline: float | None,
    worth: Worth,
) -> tuple[int, ...] | None:
    """Return an order with only these operators cut, of a peak of at most `most` bytes: the one
    that is this `order` of `some`, or another one; None where there is no order to begin with, or
    none that is `worth` it."""
    order = None if order is None else worth(positions, some.graph, order)
    small = None if order is None else cuts.of_until(positions, deadline)
    if order is None or small is None:
        return None
    alike = carried(rows, order, some, small)
    if keeps(small.graph, alike, most):
        return alike
    return order_within(small.graph, most, deadline)


def _whole(
    rows: Rows, order: Sequence[int], most: int, able: list[int], deadline: float | None
) -> frozenset[int]:
    """Which of these may be whole for a peak of `most`, if the rest keeps to `order` of all rows:
    half of them, halves of those that may not, and so on."""
    uncut = frozenset[int]()
    waiting, looked = _halves(able) or [able], 0
    for group in waiting:
        if looked > LOOKED or clock.late(deadline):
            break
        more = uncut.union(group)
        some = rows.with_whole(more)
        looked += len(rows.graph) + len(some.graph)
        if profile(some.graph, some.like(order)).peak <= most:
            uncut = more
        else:
            waiting += _halves(group)
    return uncut


def keeps(graph: MemoryGraph, order: Sequence[int], most: int) -> bool:
    """Return whether an order of rows, carried over, is one of this graph and its peak is at most
    `most`.

    A whole operator reads a tensor of which its rows read none, if their windows are padding.
    """
    try:
        return profile(graph, order).peak <= most
    except ProblemError:
        return False


def order_within(graph: MemoryGraph, most: int, deadline: float | None) -> tuple[int, ...] | None:
    """An order whose peak is at most that, if one is found."""
    try:
        return bounded_order(graph, most, deadline, STATES)
    except clock.TimeIsOverError:
        return None


def _halves(group: list[int]) -> list[list[int]]:
    """Both halves; nothing of a single one."""
    half = len(group) // 2
    return [group[:half], group[half:]] if half else []


def _alone(whole: MemoryGraph, operator: int) -> int:
    """Bytes of an operator with whole operands and results, one of them in place if that may be."""
    touched = sum(whole.groups[g].size for g in whole.touches[operator])
    saved = (whole.groups[c.operand].size for c in whole.candidates[operator])
    return touched + whole.workspace[operator] - max(saved, default=0)
