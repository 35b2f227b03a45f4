"""One source and its header, for any build: the kernels are static functions of the source."""

from memopt.backends.c.project.example import library, readme
from memopt.backends.c.project.project_files import Files, Project

HOW = """Compile `@name@.c` with your sources, as C99 or later; link with `-lm`."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    return library(project, "") | {"README.md": readme(project, HOW)}
