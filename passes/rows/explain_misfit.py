"""Help where no rows fit, solved and not guessed: the text for the refusal.

; with --stream-input they need 13,440 B; with --int8-io they need 20,880 B
"""

from xdsl.dialects.func import FuncOp

from memopt.dialects.memgraph.errors import MemoptError
from memopt.passes.memgraph_int8_io import store_border
from memopt.passes.plan.extract import extract
from memopt.passes.rows.expand import expand
from memopt.passes.rows.stream_input import close_stream, receive_rows
from memopt.solvers import clock
from memopt.solvers.scheduling import schedule

STREAM, STORED = "--stream-input", "--int8-io"
BOTH = f"{STREAM} and {STORED}"


def helping_text(func: FuncOp, streamed: bool, time_limit: float | None = None) -> str:
    """Return the bytes that all rows need with another border than that of `func`, as text.

    Its input is received row by row if `streamed`; `time_limit` in seconds is for all orders.
    Borders that cannot be are left out. `func` stays as it is, and has no rows yet.
    """
    deadline = clock.deadline(time_limit)
    found: dict[str, int] = {}
    for name, stream, stored in (
        (STREAM, True, False),
        (STORED, streamed, True),
        (BOTH, True, True),
    ):
        if (streamed and name != STORED) or (name == BOTH and len(found) < 2):
            continue
        if clock.late(deadline):
            break
        peak = _peak(func, stream, stored, clock.left(deadline))
        if peak is not None:
            found[name] = peak
    if BOTH in found and found[BOTH] >= min(found[STREAM], found[STORED]):
        del found[BOTH]
    return "".join(f"; with {name} they need {peak:,} B" for name, peak in found.items())


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
