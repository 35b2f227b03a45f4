"""C as a runtime: a compiler runs what we write for a board or a host."""

import hashlib
import tempfile
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.persistent import kept_bytes
from memopt.analysis.weights import files_of
from memopt.backends.c.project.layouts import MAKE, layout_named
from memopt.backends.c.project.measure import measure_project
from memopt.backends.c.project.serial import serial_files
from memopt.backends.c.project.write import make_project, weight_files, write_files
from memopt.compile.compare import Task, task_of
from memopt.compile.measure import Measured, faster_within
from memopt.compile.plan import Built, Planned, check_arena, planned_by
from memopt.compile.read import Imported
from memopt.compile.request import FULL, OFF, Request
from memopt.compile.run_passes import check_kernels_first
from memopt.compile.target_facts import NOT_COMPILED, beside_arena, c_facts, facts_without_a_build
from memopt.passes.plan import share
from memopt.passes.plan.words import AUTO, RAM
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.targets.core.target import target_named
from memopt.text.format import stem_of

TRIES = 3  # plans of a window that slides, the first of which keeps all


class C:
    """Plans, builds and measures what a C compiler takes."""

    def check(self, request: Request) -> None:
        """Refuse nothing: all options are of C."""

    def plan(self, imported: Imported) -> Planned:
        """Return the model planned, so that a board whose RAM is given gets by with it."""
        request, context, seconds = imported.request, imported.context, imported.seconds
        how = context, imported.module, request.options, imported.frontend, seconds
        task = task_of(*how)
        if request.is_built:
            check_kernels_first(context, task.ready, task.options)
        if (ram := request.options.ram_bytes) is None:
            return planned_by(imported, task)
        planned = _within(ram, imported, task)
        check_arena(planned)
        return planned

    def build(self, planned: Planned) -> Built:
        """Return the project, in the layout that is asked for."""
        request = planned.imported.request
        how = request.building
        with planned.imported.seconds.timed("emit"):
            project = make_project(
                planned.after,
                stem_of(request.path),
                request.options.target,
                known=planned.known,
                own_kernels=not how.shared_kernels,
                specialised=how.specialised is not False,
                storage=how.storage,
            )
            origin = origin_of(planned.imported.module) if how.has_serial else ""
            project = replace(project, has_startup=how.has_startup, origin=origin)
            files = layout_named(how.layout or MAKE)(project)
            if how.has_serial:
                files |= serial_files(project, files)
            return Built(planned, files | weight_files(project), project)

    def measure(self, built: Built) -> Measured:
        """Return the build with its figures, or a faster one that the board has room for too."""
        first, ram = _measured(built), built.planned.imported.request.options.ram_bytes
        if ram is None:
            return first
        return faster_within(first, lambda planned: _measured(self.build(planned)), ram)

    def estimate(self, planned: Planned) -> dict[str, Any]:
        """Return what is known of a plan that is not built."""
        target, arena = planned.options.target, planned.known.plan.arena
        return facts_without_a_build(planned.after, target, arena)


RUNTIME = C()


def origin_of(module: ModuleOp) -> str:
    """Return what says of which network a project is: the hashes of its files, or its own text."""
    return ",".join(sorted(files_of(module))) or hashlib.sha256(str(module).encode()).hexdigest()


def _measured(built: Built) -> Measured:
    with built.planned.imported.seconds.timed("emit"):
        return Measured(built.planned, facts_of(built), built)


def facts_of(built: Built) -> dict[str, Any]:
    """Return the report's `target` entry; of a build that is not for make the same code is
    measured, as far as the request asks for it."""
    planned, project = built.planned, built.project
    assert project is not None
    target, arena = project.target.name, planned.known.plan.arena
    depth = planned.imported.request.building.measure
    if depth == OFF:
        return facts_without_a_build(planned.after, target, arena, NOT_COMPILED)
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        write_files(replace(project, has_startup=True), Path(folder), MAKE)
        measured = measure_project(Path(folder), target, runs=depth == FULL)
    if project.emitted.blob is not None and measured["flash"] is not None:
        measured["flash"] -= len(project.emitted.blob.data)  # which may lie anywhere
    return c_facts(planned.after, target, arena, measured)


def _within(ram: int, imported: Imported, task: Task) -> Planned:
    """Return the cheapest plan with which the board surely gets by; if there is none, that of the
    smallest arena, of which is measured what it needs.

    Shared objects take no parts of tensors, so whole operators fit, or it is said what is missing.
    """
    options = task.options
    room = ram - beside_arena(target_named(options.target))
    if options.slide is not None:
        return _keeping_less(planned_by(imported, task), room)
    smallest = replace(options, optimize=RAM)
    if not imported.request.chooses_rows or options.place in share.METHODS:
        planned = planned_by(imported, task)
        if planned.known.plan.arena <= room:
            return planned
        return replace(planned.again(smallest), options=options, wished=options)
    auto = replace(options, rows=AUTO)
    if room > 0:
        with suppress(DoesNotFitError):
            return replace(planned_by(imported, task, replace(auto, fit=room)), wished=auto)
    return replace(planned_by(imported, task, replace(smallest, rows=AUTO)), wished=auto)


def _keeping_less(planned: Planned, room: int) -> Planned:
    """Return a plan with which the board gets by: as much is kept as there is room beside the
    arena, which grows with what is computed again."""
    options = planned.options
    for _ in range(TRIES):
        spare = room - planned.known.plan.arena
        if options.kept is not None or spare < 1 or kept_bytes(planned.known.func) <= spare:
            break
        planned = replace(planned.again(replace(options, kept=spare)), options=options)
    return planned
