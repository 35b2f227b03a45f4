"""`memopt compile A B -o DIR`: several models for one board, each in a folder of its name.

    memopt compile wake.tflite words.tflite --target=cortex-m4 --share-arena -o firmware

DIR/report.json has what they need together, DIR/<name>/report.json what each does. An arena that
they share is as large as the largest of theirs, and none can be smaller than the largest bound of
theirs, as each model needs its own while it runs alone. Who is smaller than that gets the cheapest
plan that fits there.
"""

import argparse
import json
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from memopt.backends.c.emit.c_text import file_name
from memopt.backends.c.project.layouts import MAKE
from memopt.backends.c.project.measure import measure_project
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.several import BUILDS, Several, several_files
from memopt.backends.c.project.write import write_texts
from memopt.cli.summary import summary, with_scratch
from memopt.compile.c import facts_of
from memopt.compile.files.folder import publish
from memopt.compile.files.staging import staging
from memopt.compile.measure import Measured
from memopt.compile.plan import Built, Planned
from memopt.compile.report import check_ram
from memopt.compile.request import FULL, OFF, Request
from memopt.compile.stages import build, leave, plan, read, report
from memopt.compile.target_facts import (
    NOT_COMPILED,
    check_target_flash,
    facts_together,
    not_built,
    target_lines,
    timed,
)
from memopt.passes.plan.words import AUTO
from memopt.passes.rows.minimise import DoesNotFitError
from memopt.targets.core.target import target_named
from memopt.text.diagnostics import write_file
from memopt.text.format import bytes_of_text, sizes, stem_of
from memopt.text.usage import UsageError


def compile_several(args: argparse.Namespace, requests: Sequence[Request], directory: Path) -> None:
    """Compile models into one project; leave nothing behind unless all went well. `args.model` is,
    for who says what went wrong, the model at hand."""
    _check(args)
    layout, models = args.layout or MAKE, list[Planned]()
    for request in requests:
        args.model = str(request.path)
        models.append(plan(read(request)))
    if args.share_arena:
        models = [_cheapest(model, models) for model in models]
    builds, projects = list[Built](), list[Project]()
    for model in models:
        args.model = str(model.imported.request.path)
        builds.append(build(model))
        projects += [project for project in (builds[-1].project,) if project is not None]
    args.model = None
    with staging(directory) as staged:
        several = Several(tuple(projects), args.shared_kernels, args.share_arena)
        write_texts(several_files(several, layout), staged, several.large)
        reports = [report(Measured(built.planned, facts_of(built), built)) for built in builds]
        sources: list[Path] = []
        for project, each in zip(projects, reports, strict=True):
            sources += leave(each, staged / project.name, directory / project.name)
        contents = [each.content for each in reports]
        together = _together(several, contents, args.measure)
        together["target"] = timed(together["target"], requests[0].clock)
        check_ram(together["target"], requests[0].options)
        if args.flash is not None:
            check_target_flash(together["target"], bytes_of_text(args.flash))
        write_file(staged / "report.json", json.dumps(together, indent=2) + "\n")
        publish(staged, directory, args.force, sources)
    print("\n\n".join(map(summary, contents)))
    print(f"\n{_summary(together)}\nwritten   {directory}")
    if args.stats:
        print(*(model.imported.seconds.line() for model in models), sep="\n", file=sys.stderr)


def _check(args: argparse.Namespace) -> None:
    """Raise UsageError for what several models cannot have."""
    names = [file_name(stem_of(Path(model))) for model in args.model]
    if target_named(args.target).output != "c":
        raise UsageError("several models are of C targets; compile them one by one for tflm")
    if args.memory is not None:
        raise UsageError("--memory is of one model: several have one arena each, or one together")
    if args.ram is not None and not args.share_arena:
        text = "how they part it is not planned; --share-arena, or --fit for each alone"
        raise UsageError(f"--ram of several models: {text}")
    if args.no_startup:
        text = "--layout=cmake has a library of each of several for a board"
        raise UsageError(f"--no-startup is of one model; {text}")
    if args.serial:
        raise UsageError("--serial is of one model; compile them one by one")
    if args.weights == "file":
        raise UsageError("--weights=file is of one model; compile them one by one")
    if args.model_path:
        raise UsageError("--model-path is of one model")
    layout = args.layout or MAKE
    if args.shared_kernels and layout not in BUILDS:
        raise UsageError(f"--shared-kernels: --layout={layout} has kernels in each model's source")
    for name in names:
        if names.count(name) > 1:
            raise UsageError(f"two of the models are called {name}; rename a file")


def _cheapest(model: Planned, models: Sequence[Planned]) -> Planned:
    """Return the model as it is, or, if its rows are ours to choose and there is more room than it
    needs, by the cheapest plan that fits into the room that there is anyway."""
    room = max(m.known.plan.arena for m in models)
    free = model.imported.request.chooses_rows and model.options.rows == AUTO
    if not free or model.known.plan.family.data != "rows" or model.known.plan.arena >= room:
        return model
    try:
        return model.again(replace(model.options, fit=room))
    except DoesNotFitError:  # a search may end before it finds what another has found
        return model


def _together(several: Several, reports: Sequence[dict[str, Any]], depth: str) -> dict[str, Any]:
    """DIR/report.json. What is measured is the same code as a project for make."""
    plans = [report["plan"] for report in reports]
    if several.shares_arena:
        least = max(plan["arena_lower_bound"] for plan in plans)
        largest = [plan for plan in plans if plan["arena"] == several.arena]
        is_least = any(plan["arena_optimal"] for plan in largest)
        scratch = min(plan["scratch"] for plan in largest)
    else:
        least = sum(plan["arena_lower_bound"] for plan in plans)
        scratch = sum(plan["scratch"] for plan in plans)
        is_least = all(plan["arena_optimal"] for plan in plans)
    board = several.projects[0].target
    if depth == OFF:
        measured = not_built(board.name, NOT_COMPILED)
    else:
        with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
            write_texts(several_files(several, MAKE), Path(folder), several.large)
            measured = measure_project(Path(folder), board.name, runs=depth == FULL)
    return {
        "models": [_line(*both) for both in zip(several.projects, reports, strict=True)],
        "shared_arena": several.shares_arena,
        "shared_kernels": several.shares_kernels,
        "arena": several.arena,
        "scratch": scratch,
        "arena_lower_bound": least,
        "arena_optimal": is_least,
        "target": facts_together(board, several.arena, [r["target"] for r in reports], measured),
    }


def _line(project: Project, report: dict[str, Any]) -> dict[str, Any]:
    """A model in DIR/report.json; all of it is in DIR/<name>/report.json."""
    plan = report["plan"]
    keys = ("arena", "scratch", "arena_lower_bound", "arena_optimal")
    return {"name": project.name, "model": report["model"], **{key: plan[key] for key in keys}}


def _summary(report: dict[str, Any]) -> str:
    """The union, for people."""
    how = "one for all" if report["shared_arena"] else "together"
    bound = f"bound {sizes(report['arena_lower_bound'])}"
    verdict = "smallest possible" if report["arena_optimal"] else bound
    names = ", ".join(model["name"] for model in report["models"])
    lines = [
        f"models    {len(report['models'])}: {names}",
        f"arena     {with_scratch(report['arena'], report['scratch'])}, {how}, {verdict}",
    ]
    return "\n".join([*lines, *target_lines(report["target"])])
