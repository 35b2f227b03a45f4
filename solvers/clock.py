"""The clock that every time limit is kept by, seconds that only go forward, and what a search that
is under way knows, for who shows it meanwhile.

    deadline = clock.deadline(time_limit)
    while not clock.late(deadline): ...

    with clock.watched("peak"):
        clock.tell(1_024, 896)          # clock.standing(): a peak of 1,024 bytes, none below 896

It is read in one place so that tests can put another clock there (`reading`): one that counts work
instead of seconds shows that a limit is kept on every machine, however loaded.
"""

import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import dataclass
from math import isfinite

from memopt.solvers.errors import ProblemError


class TimeIsOverError(Exception):
    """The deadline is over, and what was asked for is worth nothing if it is not finished."""


_read: Callable[[], float] = time.monotonic


def now() -> float:
    """Seconds since some moment that does not change."""
    return _read()


def check(time_limit: float | None) -> None:
    """Raise ProblemError for what is no limit: not a number, without end, or negative seconds."""
    if time_limit is not None and not (isfinite(time_limit) and time_limit >= 0):
        raise ProblemError(f"time_limit={time_limit}: seconds, finite and not negative")


def deadline(time_limit: float | None) -> float | None:
    """The moment `time_limit` seconds from now; None if there is no limit."""
    return None if time_limit is None else now() + time_limit


def sooner(deadline: float | None, seconds: float) -> float | None:
    """A deadline that leaves so many seconds for what comes after; None if there is none."""
    return None if deadline is None else deadline - seconds


def late(deadline: float | None) -> bool:
    """Return whether there is a deadline, and it is over."""
    return deadline is not None and now() >= deadline


def raise_if_late(deadline: float | None) -> None:
    """Raise TimeIsOverError if there is a deadline, and it is over."""
    if late(deadline):
        raise TimeIsOverError


def left(deadline: float | None, share: float = 1.0) -> float | None:
    """A share of the seconds that are left, at least 0; None if there is no deadline."""
    return None if deadline is None else max(0.0, share * (deadline - now()))


@dataclass(frozen=True)
class Standing:
    """The state of a search: the `best` so far, in bytes, of what it is after, and a proven
    `bound`; None as long as it knows none."""

    aim: str
    best: int | None = None
    bound: int | None = None


_watched: list[Standing] = []  # the outermost search first


@contextmanager
def watched(aim: str) -> Generator[None]:
    """In this block a search is after the least `aim`. One inside another tells nothing: what it is
    after is a part, or one of many."""
    _watched.append(Standing(aim))
    try:
        yield
    finally:
        _watched.pop()


def tell(best: int, bound: int | None = None) -> None:
    """Say what the search under way knows by now; what was known is not forgotten."""
    if len(_watched) == 1:
        known = _watched[0]
        bests = [b for b in (known.best, best) if b is not None]
        bounds = [b for b in (known.bound, bound) if b is not None]
        _watched[0] = Standing(known.aim, min(bests), max(bounds, default=None))


def standing() -> Standing | None:
    """Return what the search under way knows, also to another thread; None if there is none."""
    outermost = _watched[:1]
    return outermost[0] if outermost else None


@contextmanager
def reading(clock: Callable[[], float]) -> Generator[None]:
    """In this block time is what `clock` says, in seconds. Not for several threads at once."""
    global _read
    before, _read = _read, clock
    try:
        yield
    finally:
        _read = before
