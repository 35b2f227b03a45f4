"""`--time-limit` of a command: it includes reading the file and printing the answer.

`memopt-opt` has a limit for each of its passes, `compile`, `report` and `memopt.plan` one for all.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, cast

from xdsl.passes import ModulePass

from memopt.passes.memgraph_expand_rows import AUTO, MemgraphExpandRowsPass
from memopt.solvers import clock

LEAST = 0.1  # of a limit, which its pass has in any case


def shorten_limits(passes: Sequence[ModulePass], reading: float) -> tuple[ModulePass, ...]:
    """The passes with their limits in seconds such that what was asked for is kept as a whole: the
    first limit includes what `reading` and verifying the module took, the last what verifying and
    printing it takes, which is as much."""
    limited = [i for i, step in enumerate(passes) if _limit(step) is not None]
    timed = list(passes)
    for i in limited[:1] + limited[-1:]:
        requested, limit = _limit(passes[i]) or 0.0, _limit(timed[i]) or 0.0
        shorter = max(limit - reading, LEAST * requested)
        timed[i] = cast("ModulePass", replace(cast("Any", timed[i]), time_limit=shorter))
    return tuple(timed)


def in_budget(
    passes: Sequence[ModulePass], deadline: float | None, number: int = 0, functions: int = 1
) -> ModulePass:
    """The first of the passes, with its share of the seconds that are left for all of them, so that
    what one does not need is for those after it; `functions` divide that share, of which `number`
    have had theirs."""
    step, own = passes[0], _weight(passes[0]) / functions
    waiting = sum(map(_weight, passes)) - own * number
    requested, remaining = _limit(step), clock.left(deadline)
    if requested is None or remaining is None:
        return step
    share = max(remaining, LEAST * requested) * own / waiting
    return cast("ModulePass", replace(cast("Any", step), time_limit=share))


def _weight(step: ModulePass) -> int:
    """Return how many shares a pass gets: who chooses rows orders and places them, too, which then
    is not done again."""
    if _limit(step) is None:
        return 0
    return 6 if isinstance(step, MemgraphExpandRowsPass) and step.rows == (AUTO,) else 1


def _limit(step: ModulePass) -> float | None:
    return getattr(step, "time_limit", None)
