"""What would help where no rows fit, solved and not guessed: the text for the refusal."""

from xdsl.dialects.func import FuncOp

from memopt.dialects.errors import MemoptError
from memopt.passes.expand_rows import expand
from memopt.passes.extract import extract
from memopt.passes.stream_input import close_stream, receive_rows
from memopt.solvers.scheduling import schedule


def streamed_text(func: FuncOp, time_limit: float | None = None) -> str:
    """What all rows need if the input is received row by row, `time_limit` in seconds for the
    order; empty if it cannot be. `func` stays as it is."""
    copy = func.clone()
    try:
        receive_rows(copy)
        expand(copy, None)
        close_stream(copy)
    except MemoptError:
        return ""
    found = schedule(extract(copy).graph, "auto", time_limit)
    return f"; with stream-input they need {found.peak:,} B"
