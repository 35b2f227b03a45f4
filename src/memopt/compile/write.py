"""What `memopt compile` leaves of a planned model: C, measured, report.json and plan.mlir."""

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

from memopt.backends.c.project.layouts import MAKE
from memopt.backends.c.project.measure import measure_project
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.write import make_project, write_files
from memopt.compile.driver import model_files, relative_files
from memopt.compile.plan import PlannedModel
from memopt.compile.target_facts import c_facts
from memopt.text.diagnostics import write_file
from memopt.text.format import stem_of
from memopt.text.ir_text import module_text


def project_of(model: PlannedModel, args: argparse.Namespace) -> Project:
    """The model as C, as the command line has it. Raises MemoptError."""
    return make_project(
        model.after,
        stem_of(model.path),
        model.target,
        known=model.known,
        own_kernels=not args.shared_kernels,
        specialised=args.specialise != "off",
    )


def facts_of(model: PlannedModel, project: Project) -> dict[str, Any]:
    """The report's `target` entry of a model whose C is not for make: the same code is measured."""
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        write_files(project, Path(folder), MAKE)
        measured = measure_project(Path(folder), model.target)
    return c_facts(model.after, model.target, model.known.plan.arena, measured)


def leave(
    model: PlannedModel, report: dict[str, Any], staged: Path, directory: Path
) -> tuple[Path, ...]:
    """Write report.json and plan.mlir into `staged`, which becomes `directory`; the files that were
    read."""
    write_file(staged / "report.json", json.dumps(report, indent=2) + "\n")
    sources = (model.path, *model_files(model.after))
    relative_files(model.after, directory)
    write_file(staged / "plan.mlir", module_text(model.after))
    return sources
