"""A Makefile that builds a program around the model and runs it, and CMake's file for a library.

Without start-up code the Makefile builds a library.
"""

from memopt.backends.c.project.example import readme
from memopt.backends.c.project.project_files import Files, Project, model_files, program_files

HOW = """`make` builds `build/lib@name@.a`; or take the sources into your build, by CMake the
library `@name@`. Start-up code, linker script and main are yours."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    if not project.has_startup:
        return model_files(project) | {
            "Makefile": project.filled("Makefile_library.in"),
            "CMakeLists.txt": project.filled("CMakeLists.txt.in", cmake_program=""),
            "README.md": readme(project, HOW),
        }
    build = ("Makefile", "CMakeLists.txt", "README.md")
    return (
        model_files(project)
        | program_files(project)
        | {file: project.filled(f"{file}.in") for file in build}
    )
