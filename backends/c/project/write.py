"""A buildable project around a planned function, in the layout of the build that takes it.

    write_project(module, Path("out"), "resnet8", "cortex-m4")
    make -C out run IN=in.bin OUT=out.bin

Everything is written into a temporary directory first and moved into place at the end: a failure
leaves nothing half-written.
"""

import os
import tempfile
from dataclasses import replace
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.weights import Weights
from memopt.backends.c.emit.c_text import LargeArrays, file_name, pieces_of
from memopt.backends.c.emit.source import emit
from memopt.backends.c.project.layouts import MAKE, layout_named
from memopt.backends.c.project.measure import measure_project
from memopt.backends.c.project.project_files import Files, Project, fill
from memopt.backends.c.weights.storage import ArrayStorage
from memopt.backends.checked import Checked
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import target_named

__all__ = ["fill", "make_project", "measure_project", "write_files", "write_project", "write_texts"]


def make_project(
    module: ModuleOp,
    name: str,
    target: str,
    weights: Weights | None = None,
    known: Checked | None = None,
    own_kernels: bool = False,
    specialised: bool = True,
    storage: ArrayStorage | None = None,
) -> Project:
    """The planned function as C for `target`, the name of one whose output is C; see Project for
    `own_kernels`, Form for `specialised`, ArrayStorage. Raises MemoptError for what cannot be
    emitted."""
    board = target_named(target, "c")
    name = file_name(name)
    emitted = emit(module, name, target, weights, known, storage)
    form = replace(emitted.form, specialised=specialised)
    return Project(replace(emitted, form=form), name, board, own_kernels)


def write_project(
    module: ModuleOp,
    directory: Path,
    name: str,
    target: str,
    weights: Weights | None = None,
    known: Checked | None = None,
) -> None:
    """`make_project` and `write_files` in the layout `make`."""
    write_files(make_project(module, name, target, weights, known), directory, MAKE)


def write_files(project: Project, directory: Path, layout: str) -> None:
    """Write the files of a layout into `directory`, which is made if missing; files of the same
    name are replaced, others stay. Raises MemoptError for what cannot be written."""
    write_texts(layout_named(layout)(project), directory, project.emitted.large)
    for file, data in weight_files(project).items():
        (directory / file).write_bytes(data)


def weight_files(project: Project) -> dict[str, bytes]:
    """Return the file of weights, if they are one: path -> bytes."""
    blob = project.emitted.blob
    return {} if blob is None else {f"{project.name}.weights.bin": bytes(blob.data)}


def write_texts(files: Files, directory: Path, large: LargeArrays) -> None:
    """`write_files` for texts that are there, with the arrays that are marks in them."""
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}.") as tmp:
            staged = Path(tmp) / "project"
            staged.mkdir()
            for file, text in files.items():
                (staged / file).parent.mkdir(parents=True, exist_ok=True)
                with (staged / file).open("w") as out:
                    out.writelines(pieces_of(text, large))
            if directory.exists():
                _replace_entries(staged, directory)
            else:
                os.rename(staged, directory)  # noqa: PTH104
    except OSError as error:
        raise MemoptError(error.strerror or "cannot be written", str(directory)) from None


def _replace_entries(staged: Path, directory: Path) -> None:
    """Move every file of `staged` over the one of the same name, each in one step."""
    for file in sorted(p for p in staged.rglob("*") if p.is_file()):
        goal = directory / file.relative_to(staged)
        goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, goal)  # noqa: PTH105
