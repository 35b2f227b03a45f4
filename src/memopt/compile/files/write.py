"""Files that `memopt compile` writes for a planned model: C, measured, report.json and
plan.mlir."""

import json
from pathlib import Path

from memopt.backends.c.project.write import write_texts
from memopt.compile.driver import model_files, relative_files
from memopt.compile.files.folder import publish
from memopt.compile.files.staging import staging
from memopt.compile.report import Report
from memopt.text.diagnostics import write_file
from memopt.text.ir_text import module_text


def write(report: Report, force: bool) -> None:
    """Write all files of a built model into the folder of its request, or none of them."""
    measured = report.measured
    folder = measured.planned.imported.request.folder
    assert measured.built is not None
    with staging(folder) as staged:
        files = measured.built.files
        write_texts({n: text for n, text in files.items() if isinstance(text, str)}, staged)
        for name, data in files.items():
            if isinstance(data, bytes):
                write_file(staged / name, data)
        publish(staged, folder, force, leave(report, staged, folder))


def leave(report: Report, staged: Path, folder: Path) -> tuple[Path, ...]:
    """Write report.json and plan.mlir into `staged`, which becomes `folder`, and return the files
    that were read."""
    planned = report.measured.planned
    write_file(staged / "report.json", json.dumps(report.content, indent=2) + "\n")
    sources = (planned.imported.request.path, *model_files(planned.after))
    relative_files(planned.after, folder)
    write_file(staged / "plan.mlir", module_text(planned.after))
    return sources
