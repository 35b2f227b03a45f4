"""`Built -> Measured`; and planned again where a bound of its stack has cost a model speed.

`--ram` leaves the arena what a board has beside upper bounds of stack and static RAM. A plan of so
few bytes may have no room for the scratch of fast kernels, while the one that nobody fitted needs
no more than the board has, once it is measured.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from memopt.compile.pipelines import SettledOptions
from memopt.compile.plan import Built, Planned
from memopt.compile.target_facts import beside_arena
from memopt.passes.memgraph_kernels import held_back, may_become
from memopt.passes.plan.words import RAM
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.solvers import clock
from memopt.targets.core.target import target_named

LESS = 0.99  # of the time, for an emulator does not count the same to the last cycle


@dataclass(frozen=True)
class Measured:
    """A planned model with the report's `target` entry; `built` is None where that follows from the
    plan alone."""

    planned: Planned
    facts: dict[str, Any]
    built: Built | None = None

    @property
    def beside(self) -> int:
        """Return the bytes of RAM beside the arena."""
        return self.facts["ram"] - self.facts["arena"]

    @property
    def time(self) -> int | None:
        """Return the cycles of an inference, instructions where the core has no table of them."""
        cycles: int | None = self.facts["cycles_estimated"]
        return self.facts["instructions"] if cycles is None else cycles


Measure = Callable[[Planned], Measured]


def faster_within(first: Measured, measure: Measure, ram: int) -> Measured:
    """Return a model; or a faster plan of it that, measured, needs no more than `ram`, where that
    holds kernels of the model's plan back. Raises MemoptError.

    Tried is what was wished for, or its rows of the fewest bytes, with which kernels have the most
    room. If it needs too much, and the rows are ours to choose, they fit what is left beside its
    stack, and then beside that of the first plan.
    """
    wished = first.planned.wished
    if wished is None or not _may_be_faster(first, ram):
        return first
    second = _again(first, wished, measure)
    if second is None:
        return first
    best = _better(first, second, ram)
    free = first.planned.imported.request.chooses_rows and second.facts["ram"] > ram
    for beside in (second.beside, first.beside) if free else ():
        fit = ram - beside
        more = fit > first.facts["arena"]
        third = _again(first, replace(wished, fit=fit), measure) if more else None
        if third is not None and (best := _better(first, third, ram)) is not first:
            break
    return best


def _may_be_faster(first: Measured, ram: int) -> bool:
    planned, plan = first.planned, first.planned.known.plan
    fit = ram - beside_arena(target_named(planned.options.target))
    # whole operators that were not fitted would be planned the same again
    is_whole = plan.family.data == "order" and may_become(plan.arena) <= fit
    return (
        planned.options.optimize != RAM
        and first.time is not None
        and "bounds" not in first.facts
        and not is_whole
        and held_back(planned.known.func) > 0
    )


def _again(first: Measured, options: SettledOptions, measure: Measure) -> Measured | None:
    """Return the model by these options, measured; None if there is no time or no room for that, or
    no fewer kernels are held back than in the first plan."""
    planned = first.planned
    if clock.late(planned.imported.seconds.deadline(options.time_limit)):
        return None
    with suppress(DoesNotFitError):
        other = planned.again(options)
        if held_back(other.known.func) < held_back(planned.known.func):
            return measure(other)
    return None


def _better(first: Measured, other: Measured, ram: int) -> Measured:
    """Return the other one if the board has its bytes, and it is faster or the board lacks those of
    the first: fast kernels take scratch and less stack."""
    faster = first.time is not None and other.time is not None and other.time < first.time * LESS
    better = faster or first.facts["ram"] > ram
    return other if better and other.facts["ram"] <= ram else first
