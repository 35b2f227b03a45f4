"""A Makefile that builds a program around the model and runs it, and CMake's file for a library."""

from memopt.backends.c.project.project_files import Files, Project, model_files, program_files


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    build = ("Makefile", "CMakeLists.txt", "README.md")
    return (
        model_files(project)
        | program_files(project)
        | {file: project.filled(f"{file}.in") for file in build}
    )
