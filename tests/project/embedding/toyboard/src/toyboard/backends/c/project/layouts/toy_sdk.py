"""A component of the toy board's SDK: a source, its header, and the SDK's list of sources."""

from memopt.backends.c.project.example import library
from memopt.backends.c.project.project_files import Files, Project


def files(project: Project) -> Files:
    """Path -> text of the whole component."""
    return library(project, "src/") | {"component.toy": project.text("sources = src/@name@.c\n")}
