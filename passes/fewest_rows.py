"""Which operators have to be cut into rows so that the peak is no more than wanted: the fewest that
are found, because every row is a call of its kernel.

An operator that needs more by itself, its operands and results whole, is cut in any case, and so is
one that reads what is received in rows. Of the others the last ones are left whole, as many as
possible, for tensors get smaller; then halves of those before, and so on. Of every choice it is
decided whether it has an order that fits.
"""

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.passes.expand_rows import computing, cut, reads_received
from memopt.passes.extract import extract
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.within import within

STATES = 4_000  # what fits takes hardly more of them than it has rows
TRIES = 40  # after which what is left stays cut


class DoesNotFitError(MemoptError):
    """No rows have so few bytes; the text says which do."""


@dataclass(frozen=True)
class Chosen:
    """Operators to be cut, by position among those that run; `calls` are the operators and rows of
    the plan. `fewest`: no other choice fits with fewer of them cut."""

    positions: frozenset[int]
    calls: int
    fewest: bool


def fewest_rows(func: FuncOp, time_limit: float | None = None, most: int | None = None) -> Chosen:
    """What to cut for a peak of `most` bytes, by default that of all in rows; `time_limit` in
    seconds, after which what is left stays cut. Raises DoesNotFitError if `most` is not reached.
    """
    return ever_fewer_rows(func, time_limit, most)[-1]


def ever_fewer_rows(
    func: FuncOp, time_limit: float | None = None, most: int | None = None
) -> list[Chosen]:
    """As `fewest_rows`, and what was found before it, each with no more calls than the last."""
    deadline = clock.deadline(time_limit)
    whole = extract(func)
    step = {op: k for k, op in enumerate(whole.memory.operations)}
    running = computing(func)
    in_rows = func.clone()
    able = frozenset(cut(in_rows, range(len(running))))
    rows = extract(in_rows).graph
    if most is None:
        most = schedule(rows, "auto", clock.left(deadline)).peak
    elif not _fits(rows, most, deadline):
        least = schedule(rows, "auto", clock.left(deadline))
        if least.peak > most:
            raise DoesNotFitError(_too_much(least.peak, least.optimal, most))
    needed = frozenset(
        k
        for k in able
        if reads_received(op := running[k])
        or (op in step and _alone(whole.graph, step[op]) > most)  # views are no step
    )
    if needed == able:
        return [Chosen(able, len(rows), True)]
    small = with_cut(func, needed)
    if _fits(small, most, deadline):
        return [Chosen(needed, len(small), True)]
    found = [Chosen(able, len(rows), False)]
    rest = sorted(able - needed)
    fits, less = len(rest), 0  # so many of them in rows fit, so many do not
    while fits - less > 1 and not clock.late(deadline):
        half = (less + fits) // 2
        chosen = needed.union(rest[:half])
        small = with_cut(func, chosen)
        if _fits(small, most, deadline):
            fits = half
            found.append(Chosen(chosen, len(small), False))
        else:
            less = half
    waiting = _halves(rest[:fits])
    for tried, group in enumerate(waiting):
        if tried == TRIES or clock.late(deadline):
            break
        chosen = found[-1].positions.difference(group)
        small = with_cut(func, chosen)
        if len(small) <= found[-1].calls and _fits(small, most, deadline):
            found.append(Chosen(chosen, len(small), False))
        else:
            waiting += _halves(group)
    return found


def with_cut(func: FuncOp, positions: Collection[int]) -> MemoryGraph:
    """The memory graph with these cut, in a copy of `func`."""
    copy = func.clone()
    cut(copy, positions)
    return extract(copy).graph


def _fits(graph: MemoryGraph, most: int, deadline: float | None) -> bool:
    """Whether an order is found whose peak is at most that."""
    try:
        return within(graph, most, deadline, STATES) is not None
    except clock.TimeIsOverError:
        return False


def _too_much(least: int, proven: bool, most: int) -> str:
    how = "is proven to be the least" if proven else "is the least that was found"
    return f"all rows need {least:,} B, which {how}: {least - most:,} B more than {most:,} B"


def _halves(group: list[int]) -> list[list[int]]:
    """Both halves; nothing of a single one."""
    half = len(group) // 2
    return [group[:half], group[half:]] if half else []


def _alone(whole: MemoryGraph, operator: int) -> int:
    """Bytes of an operator with whole operands and results, one of them in place if that may be."""
    touched = sum(whole.groups[g].size for g in whole.touches[operator])
    saved = (whole.groups[c.operand].size for c in whole.candidates[operator])
    return touched + whole.workspace[operator] - max(saved, default=0)
