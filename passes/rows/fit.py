"""The cheapest rows whose arena is at most so many bytes: whole operators where that is enough.

    fit_rows(func, fit=65536)

The peak decides what is cut (`minimise.py`). Where the smallest arena that is found for that is
larger than its peak, and too large, some more is cut: first what lies between, for whole tensors
among rows are hard to place. At last less peak is asked for.
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.memgraph_int8_io import store_border
from memopt.passes.plan.extract import extract
from memopt.passes.rows.expand import computing, expand, reads_received
from memopt.passes.rows.minimise import Chosen, DoesNotFitError, ever_fewer_rows
from memopt.passes.rows.numbers import in_rows
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.solvers import clock, joint
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.scheduling import schedule

STREAM, STORED = "--stream-input", "--int8-io"
BOTH = f"{STREAM} and {STORED}"
TRIES = 3  # choices of one peak that are placed


def fit_rows(func: FuncOp, fit: int, time_limit: float | None = None) -> frozenset[int]:
    """The operators to cut, by position among those that run, for an arena of `fit` bytes;
    `time_limit` in seconds.

    Raises DoesNotFitError, with what is proven, if none is found.
    """
    deadline = clock.deadline(time_limit)
    peak_limit, smallest = fit, None
    while True:
        try:
            cuts = ever_fewer_rows(func, clock.left(deadline), peak_limit)
        except DoesNotFitError as error:
            whole_bytes = _bytes_of_whole(func, fit, deadline)
            if whole_bytes is not None and whole_bytes <= fit:
                return frozenset()
            others = error.needed if smallest is None else smallest
            if whole_bytes is not None and whole_bytes < others:
                text = f"{fit:,} B are {whole_bytes - fit:,} B too few: whole operators need"
                more = f", and rows of them {error.needed:,} B" if smallest is None else ""
                raise DoesNotFitError(f"{text} {whole_bytes:,} B{more}") from error
            if smallest is None:
                raise
            text = f"the smallest arena found has {smallest:,} B, {smallest - fit:,} B too much"
            raise DoesNotFitError(f"{text}; for less than that {error.text}") from error
        tried = [(in_rows(func, positions).graph, positions) for positions in worth_placing(cuts)]
        for graph, positions in sorted(tried, key=lambda t: len(t[0])):
            if smallest is not None and clock.late(deadline):
                text = f"the smallest arena found in time has {smallest:,} B"
                raise DoesNotFitError(f"{text}, {smallest - fit:,} B too much")
            order = schedule(graph, "auto", clock.left(deadline))
            arena = _arena(graph, order, deadline)
            if arena <= fit:
                return positions
            smallest = arena if smallest is None else min(smallest, arena)
            peak_limit = min(peak_limit, order.peak - 1)


def _bytes_of_whole(func: FuncOp, fit: int, deadline: float | None) -> int | None:
    """Return the bytes that whole operators need, which may compute in place where rows of them do
    not: those of their peak if it is above `fit`. None where the input is received in rows, for
    what reads it is not whole."""
    if any(reads_received(op) for op in computing(func)):
        return None
    graph = in_rows(func, frozenset()).graph
    order = schedule(graph, "auto", clock.left(deadline))
    return order.peak if order.peak > fit else _arena(graph, order, deadline)


def worth_placing(found: Sequence[Chosen]) -> list[frozenset[int]]:
    """Return the choices of the fewest calls, and the best of them without holes."""
    able, best = found[0].positions, found[-1].positions
    tried = [best, without_holes(able, best), *(c.positions for c in reversed(found[-TRIES:]))]
    return list(dict.fromkeys(tried))


def without_holes(able: frozenset[int], positions: frozenset[int]) -> frozenset[int]:
    """Return all that is `able` from the first of the positions to the last: whole tensors among
    rows are hard to place."""
    if not positions:
        return positions
    first, last = min(positions), max(positions)
    return frozenset(k for k in able if first <= k <= last)


def _arena(graph: MemoryGraph, order: Schedule, deadline: float | None) -> int:
    """Bytes, as memgraph-place{method=joint} finds them."""
    seconds = clock.left(deadline)
    answer = joint.solve(graph, order.order, order.lower_bound, seconds, calm_first=True)
    return answer.placement.arena


def helping_text(func: FuncOp, streamed: bool, time_limit: float | None = None) -> str:
    """Return the bytes that all rows need with another border than that of `func`, as text.

    Its input is received row by row if `streamed`; `time_limit` in seconds is for all orders.
    Borders that cannot be are left out. `func` stays as it is, and has no rows yet.
    """
    deadline = clock.deadline(time_limit)
    peaks: dict[str, int] = {}
    for name, stream, stored in (
        (STREAM, True, False),
        (STORED, streamed, True),
        (BOTH, True, True),
    ):
        if (streamed and name != STORED) or (name == BOTH and len(peaks) < 2):
            continue
        if clock.late(deadline):
            break
        peak = _peak(func, stream, stored, clock.left(deadline))
        if peak is not None:
            peaks[name] = peak
    if BOTH in peaks and peaks[BOTH] >= min(peaks[STREAM], peaks[STORED]):
        del peaks[BOTH]
    return "".join(f"; with {name} they need {peak:,} B" for name, peak in peaks.items())


def _peak(func: FuncOp, stream: bool, stored: bool, time_limit: float | None) -> int | None:
    """Bytes that all rows need; None if the input cannot be received, or nothing at the border is
    real."""
    copy = func.clone()
    try:
        if stored and not store_border(copy):
            return None
        if stream:
            receive_rows(copy)
        expand(copy, None)
        if stream:
            close_stream(copy)
    except MemoptError:
        return None
    return schedule(extract(copy).graph, "auto", time_limit).peak
