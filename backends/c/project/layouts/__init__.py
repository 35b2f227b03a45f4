"""Layouts, found by their files: `single_file.py` here is `--layout=single-file`.

A layout says which files a project has: `files(project) -> {path: text}`. What is in the files
comes from `backends/c/project/project_files.py`, and the programs that show how the model is called
from `backends/c/project/example.py`; a layout only arranges, for the build that takes it.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING

from memopt.dialects.memgraph.errors import MemoptError
from memopt.modules import load, modules_in

if TYPE_CHECKING:
    from memopt.backends.c.project.project_files import Files, Project

MAKE = "make"  # the default, and the one that is measured
WITH_STARTUP = (MAKE, "cmake")  # that may have a program around the model
WITH_FILES = (*WITH_STARTUP, "single-file")  # beside sources: a file of weights
_FOUND = modules_in(__name__)


def layout_names() -> tuple[str, ...]:
    """The names of all layouts."""
    return tuple(_FOUND)


def layout_named(name: str) -> "Callable[[Project], Files]":
    """Return the function that makes the files of that layout. Raises MemoptError."""
    if name not in _FOUND:
        raise MemoptError(f"layout {name!r} is not one of: {', '.join(_FOUND)}")
    files: Callable[[Project], Files] = load(_FOUND[name], "files").files
    return files
