"""Time limits as options of passes."""

from math import isfinite


def check_seconds(time_limit: float | None) -> None:
    """Raise ValueError, which is a wrong command line, unless these are seconds above 0."""
    if time_limit is not None and not (isfinite(time_limit) and time_limit > 0):
        raise ValueError(f"time-limit={time_limit:g}: seconds, finite and more than 0")
