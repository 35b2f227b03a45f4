"""A planned model as C, measured; and planned again where a bound of its stack has cost it speed.

`--ram` leaves the arena what a board has beside upper bounds of stack and static RAM. A plan of so
few bytes may have no room for the scratch of fast kernels, while the one that nobody fitted needs
no more than the board has, once it is measured.
"""

import argparse
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from memopt.backends.c.project.project_files import Project
from memopt.compile.pipelines import SettledOptions
from memopt.compile.plan import PlannedModel, beside_arena
from memopt.compile.write import facts_of, project_of
from memopt.passes.memgraph_kernels import RAM, held_back, may_become
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.solvers import clock
from memopt.targets.core.registry import target_named
from memopt.text.format import bytes_of_text

LESS = 0.99  # of the time, for an emulator does not count the same to the last cycle


@dataclass(frozen=True)
class MeasuredModel:
    """A model with its C, and the report's `target` entry of that."""

    model: PlannedModel
    project: Project
    facts: dict[str, Any]

    @property
    def beside(self) -> int:
        """Bytes of RAM beside the arena."""
        return self.facts["ram"] - self.facts["arena"]

    @property
    def time(self) -> int | None:
        """Of an inference: cycles, instructions where the core has no table of them."""
        cycles: int | None = self.facts["cycles_estimated"]
        return self.facts["instructions"] if cycles is None else cycles


def measured_model(model: PlannedModel, args: argparse.Namespace) -> MeasuredModel:
    """The model; or a faster plan of it that, measured, needs no more than `--ram`, where
    that holds kernels of the model's plan back. Raises MemoptError.

    Tried is what was wished for, or its rows of the fewest bytes, with which kernels have the most
    room. If it needs too much, and the rows are ours to choose, they fit what is left beside its
    stack, and then beside that of the first plan.
    """
    first = _measured(model, args)
    ram = None if args.ram is None else bytes_of_text(args.ram)
    wished = model.wished
    if ram is None or wished is None or not _may_be_faster(first, ram):
        return first
    second = _again(first, wished, args)
    if second is None:
        return first
    found = _better(first, second, ram)
    free = args.rows is None and args.fit is None and second.facts["ram"] > ram
    for beside in (second.beside, first.beside) if free else ():
        fit = ram - beside
        more = fit > first.facts["arena"]
        third = _again(first, replace(wished, fit=fit), args) if more else None
        if third is not None and (found := _better(first, third, ram)) is not first:
            break
    return found


def _measured(model: PlannedModel, args: argparse.Namespace) -> MeasuredModel:
    found: list[MeasuredModel] = []

    def measure() -> None:
        project = project_of(model, args)
        found.append(MeasuredModel(model, project, facts_of(model, project)))

    model.seconds.run("emit", measure)
    return found[0]


def _may_be_faster(first: MeasuredModel, ram: int) -> bool:
    model, plan = first.model, first.model.known.plan
    fit = ram - beside_arena(target_named(model.target))
    # whole operators that were not fitted would be planned the same again
    whole = plan.family.data == "order" and may_become(plan.arena) <= fit
    return (
        model.options.optimize != RAM
        and first.time is not None
        and "bounds" not in first.facts
        and not whole
        and held_back(model.known.func) > 0
    )


def _again(
    first: MeasuredModel, options: SettledOptions, args: argparse.Namespace
) -> MeasuredModel | None:
    """The model by these options, measured; None if there is no time or no room for that, or no
    fewer kernels are held back than in the first plan."""
    model = first.model
    if clock.late(model.seconds.deadline(options.time_limit)):
        return None
    with suppress(DoesNotFitError):
        other = model.planned_again(options)
        if held_back(other.known.func) < held_back(model.known.func):
            return _measured(other, args)
    return None


def _better(first: MeasuredModel, other: MeasuredModel, ram: int) -> MeasuredModel:
    """The other one if the board has its bytes, and it is faster or the board lacks the first's:
    fast kernels take scratch and less stack."""
    faster = first.time is not None and other.time is not None and other.time < first.time * LESS
    better = faster or first.facts["ram"] > ram
    return other if better and other.facts["ram"] <= ram else first
