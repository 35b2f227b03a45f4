"""`--time-limit` of a command: it includes reading the file and printing the answer."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.passes import ModulePass

LEAST = 0.1  # of a limit, which its pass has in any case


def in_time(passes: Sequence[ModulePass], reading: float) -> tuple[ModulePass, ...]:
    """The passes with their limits in seconds such that what was asked for is kept as a whole: the
    first limit includes what `reading` the module took, the last what printing it takes, which is
    as much."""
    limited = [i for i, step in enumerate(passes) if _limit(step) is not None]
    found = list(passes)
    for i in limited[:1] + limited[-1:]:
        asked, limit = _limit(passes[i]) or 0.0, _limit(found[i]) or 0.0
        shorter = max(limit - reading, LEAST * asked)
        found[i] = cast("ModulePass", replace(cast("Any", found[i]), time_limit=shorter))
    return tuple(found)


def _limit(step: ModulePass) -> float | None:
    return getattr(step, "time_limit", None)
