"""A clock that counts work, by which a limit is kept or not, however fast the machine is."""

import sys
from collections.abc import Callable
from types import FrameType

from memopt.solvers import clock

CALL = 1e-6  # seconds of the clock that a call of a function takes


def work_of(action: Callable[[], object]) -> float:
    """Seconds that `action` takes by the clock that counts calls."""
    calls = 0

    def called(frame: FrameType, event: str, argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    with clock.reading(lambda: calls * CALL):
        sys.setprofile(called)
        try:
            action()
        finally:
            sys.setprofile(None)
    return calls * CALL
