"""Which operators have to be cut into rows so that the peak is no more than wanted: the fewest that
are found, because every row is a call of its kernel.

An operator that needs more by itself, its operands and results whole, is cut in any case. Of the
others as many as possible are left whole: all of them, or halves of them, and so on. Every choice
is planned, none is guessed.
"""

from collections.abc import Collection
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.passes.expand_rows import computing, cut
from memopt.passes.extract import extract
from memopt.solvers import clock
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.scheduling import schedule


@dataclass(frozen=True)
class Chosen:
    """Operators to be cut, by position among those that run; `calls` are the operators and rows of
    the plan, `peak` its bytes. `fewest`: no other choice has that peak with fewer of them cut."""

    positions: frozenset[int]
    calls: int
    peak: int
    fewest: bool


def fewest_rows(func: FuncOp, time_limit: float | None = None, most: int | None = None) -> Chosen:
    """What to cut for a peak of `most` bytes, by default that of all in rows; `time_limit` in
    seconds, after which what is left stays cut. Raises MemoptError if all in rows is above `most`.
    """
    deadline = clock.deadline(time_limit)
    whole = extract(func)
    step = {op: k for k, op in enumerate(whole.memory.operations)}
    running = computing(func)
    able = frozenset(cut(func.clone(), range(len(running))))
    all_cut, graph = _planned(func, able, deadline)
    if most is not None and all_cut.peak > most:
        raise MemoptError(f"rows need {all_cut.peak} B, {most} B are wanted")
    most = all_cut.peak if most is None else most
    needed = frozenset(k for k in able if _alone(whole.graph, step[running[k]]) > most)
    found, small = (all_cut, graph) if needed == able else _planned(func, needed, deadline)
    if found.peak <= most:
        return Chosen(needed, len(small), found.peak, True)
    chosen, calls, peak = able, len(graph), all_cut.peak
    waiting = _halves(sorted(able - needed))  # not all of them, as was seen
    while waiting and not clock.late(deadline):
        group = waiting.pop()
        found, small = _planned(func, chosen.difference(group), deadline)
        if found.peak <= most and len(small) < calls:
            chosen, calls, peak = chosen.difference(group), len(small), found.peak
        else:
            waiting += _halves(group)
    return Chosen(chosen, calls, peak, False)


def _planned(
    func: FuncOp, positions: Collection[int], deadline: float | None
) -> tuple[Schedule, MemoryGraph]:
    """The order of least peak that is found with these cut, in a copy of `func`."""
    copy = func.clone()
    cut(copy, positions)
    graph = extract(copy).graph
    return schedule(graph, "auto", clock.left(deadline)), graph


def _halves(group: list[int]) -> list[list[int]]:
    """The second half and, to be tried before it, the first; nothing of a single one."""
    half = len(group) // 2
    return [group[half:], group[:half]] if half else []


def _alone(whole: MemoryGraph, operator: int) -> int:
    """Bytes of an operator with whole operands and results, one of them in place if that may be."""
    touched = sum(whole.groups[g].size for g in whole.touches[operator])
    saved = (whole.groups[c.operand].size for c in whole.candidates[operator])
    return touched + whole.workspace[operator] - max(saved, default=0)
