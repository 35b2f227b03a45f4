"""A library for CMake; built by itself for a host, with the program around it."""

from memopt.backends.c.project.example import readme
from memopt.backends.c.project.project_files import Files, Project, model_files, program_files

HOW = """`add_subdirectory` this folder and link `@name@`; the kernels it calls are in `kernels/`.
For a board, give CMake the toolchain file of your project."""


def files(project: Project) -> Files:
    """Path -> text of the whole project."""
    has_program = project.has_startup and not project.target.has_memories
    program = program_files(project) if has_program else {}
    none = {} if has_program else {"cmake_program": ""}
    return (
        model_files(project)
        | program
        | {
            "CMakeLists.txt": project.filled("CMakeLists.txt.in", **none),
            "README.md": readme(project, HOW),
        }
    )
