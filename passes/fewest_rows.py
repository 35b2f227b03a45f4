"""Which operators have to be cut into rows so that the peak is no more than wanted: the fewest that
are found, because every row is a call of its kernel.

An operator that needs more by itself, its operands and results whole, is cut in any case. Of the
others as many as possible are left whole: all of them, or halves of them, and so on. Of every
choice it is decided whether it has an order that fits, none is guessed.
"""

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.passes.expand_rows import computing, cut
from memopt.passes.extract import extract
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.scheduling import schedule
from memopt.solvers.scheduling.within import within


@dataclass(frozen=True)
class Chosen:
    """Operators to be cut, by position among those that run; `calls` are the operators and rows of
    the plan. `fewest`: no other choice fits with fewer of them cut."""

    positions: frozenset[int]
    calls: int
    fewest: bool


def fewest_rows(func: FuncOp, time_limit: float | None = None, most: int | None = None) -> Chosen:
    """What to cut for a peak of `most` bytes, by default that of all in rows; `time_limit` in
    seconds, after which what is left stays cut. Raises MemoptError if `most` is not reached.
    """
    deadline = clock.deadline(time_limit)
    whole = extract(func)
    step = {op: k for k, op in enumerate(whole.memory.operations)}
    running = computing(func)
    able = frozenset(cut(func.clone(), range(len(running))))
    rows = with_cut(func, able)
    if most is None:
        most = schedule(rows, "auto", clock.left(deadline)).peak
    elif not _fits(rows, most, deadline):
        least = schedule(rows, "auto", clock.left(deadline))
        raise MemoptError(_too_much(least.peak, least.optimal, most))
    needed = frozenset(k for k in able if _alone(whole.graph, step[running[k]]) > most)
    small = with_cut(func, needed)
    if _fits(small, most, deadline):
        return Chosen(needed, len(small), True)
    chosen, calls = able, len(rows)
    waiting = _halves(sorted(able - needed))  # not all of them, as was seen
    while waiting and not clock.late(deadline):
        group = waiting.pop()
        small = with_cut(func, chosen.difference(group))
        if len(small) <= calls and _fits(small, most, deadline):
            chosen, calls = chosen.difference(group), len(small)
        else:
            waiting += _halves(group)
    return Chosen(chosen, calls, False)


def with_cut(func: FuncOp, positions: Collection[int]) -> MemoryGraph:
    """The memory graph with these cut, in a copy of `func`."""
    copy = func.clone()
    cut(copy, positions)
    return extract(copy).graph


def _fits(graph: MemoryGraph, most: int, deadline: float | None) -> bool:
    """Whether an order is found whose peak is at most that."""
    try:
        return within(graph, most, deadline) is not None
    except clock.TimeIsOverError:
        return False


def _too_much(least: int, proven: bool, most: int) -> str:
    how = "is proven to be the least" if proven else "is the least that was found"
    return f"all rows need {least:,} B, which {how}: {least - most:,} B more than {most:,} B"


def _halves(group: list[int]) -> list[list[int]]:
    """The second half and, to be tried before it, the first; nothing of a single one."""
    half = len(group) // 2
    return [group[half:], group[:half]] if half else []


def _alone(whole: MemoryGraph, operator: int) -> int:
    """Bytes of an operator with whole operands and results, one of them in place if that may be."""
    touched = sum(whole.groups[g].size for g in whole.touches[operator])
    saved = (whole.groups[c.operand].size for c in whole.candidates[operator])
    return touched + whole.workspace[operator] - max(saved, default=0)
