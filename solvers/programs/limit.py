"""The limit of a question to CP-SAT, apart from it: a caller may never ask, and does
not load OR-Tools then."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Limit:
    """How long to solve: `seconds`, else (None) `work` in CP-SAT's deterministic unit, about a
    second each, else until it is done. With `always` the work is a limit beside seconds too."""

    seconds: float | None = None
    work: float | None = None
    always: bool = False
