"""`Planned -> Built`: the files of a planned model."""

from collections.abc import Mapping
from dataclasses import dataclass

from memopt.backends.c.project.project_files import Project
from memopt.compile.plan import Planned


@dataclass(frozen=True)
class Built:
    """Files by their names, the C project that they are of, if any, and what is to be said."""

    planned: Planned
    files: Mapping[str, str | bytes]
    project: Project | None = None
    warnings: tuple[str, ...] = ()
