"""Several models in one folder, each in one of its own, and a program that runs them in turn.

    files = several_files(Several((first, second), shares_arena=True), "make")

DIR/<name>/ has what one model has; `memopt_models.h` beside it includes the headers of all. Kernels
are each model's own, their names begin with its name; or they are shared and lie in DIR/kernels/.
Models that never run together share one arena, the largest of theirs.
"""

from dataclasses import dataclass, replace

from memopt.backends.c.emit.c_text import LargeArrays
from memopt.backends.c.emit.header import bytes_in, fits, holds
from memopt.backends.c.emit.layout import row_bytes
from memopt.backends.c.emit.sections import ARENA, attribute
from memopt.backends.c.emit.source import WRITTEN
from memopt.backends.c.kernels import joined
from memopt.backends.c.project.layouts import MAKE, layout_named
from memopt.backends.c.project.project_files import (
    Files,
    Project,
    fill,
    kernel_texts,
    model_files,
    network_files,
    platform_files,
)
from memopt.backends.c.project.several_values import all_kernels, values_of
from memopt.dialects.memgraph.errors import MemoptError

BUILDS = (MAKE, "cmake")  # whose models are one program; others have libraries for one
HOW_MAKE = """`make` builds a program around them and `make run IN=in.bin OUT=out.bin`
@run_text@: IN has an input of each model in this order, once or many times, and OUT gets their
outputs. Around every arena there are canaries; the program exits with 2 if a model wrote outside
its own."""
HOW_CMAKE = """`add_subdirectory` this folder and link the libraries of the models that you use:
@names@.
For a board, give CMake the toolchain file of your project."""
# folders of the whole, and what GNU make would read before `Makefile`
TAKEN = frozenset({"build", "custom", "kernels", "platform", "makefile", "gnumakefile"})


@dataclass(frozen=True)
class Several:
    """Models for one board, and what they have in common."""

    projects: tuple[Project, ...]
    shares_kernels: bool = False
    shares_arena: bool = False

    @property
    def large(self) -> LargeArrays:
        """The arrays that are marks in the sources."""
        return {m: a for project in self.projects for m, a in project.emitted.large.items()}

    @property
    def arena(self) -> int:
        """Bytes of the shared arena, or of all arenas."""
        sizes = [p.emitted.layout.arena for p in self.projects]
        return max(sizes) if self.shares_arena else sum(sizes)


def several_files(several: Several, layout: str) -> Files:
    """Path -> text. Raises MemoptError for models that are no program together."""
    check_names([p.name for p in several.projects])
    _check(several, layout)
    files: Files = {}
    headers: list[str] = []
    for project in several.projects:
        texts = _model(project, layout, several.shares_kernels)
        files |= {f"{project.name}/{file}": text for file, text in texts.items()}
        headers += [f for f in files if f.rpartition("/")[2] == f"{project.name}.h"]
    files["memopt_models.h"] = _header(several, headers)
    if layout not in BUILDS:
        return files
    if several.shares_kernels:
        form = joined(p.emitted.form for p in several.projects)
        files |= kernel_texts(sorted(all_kernels(several.projects)), form)
    board = several.projects[0].target
    how = HOW_MAKE if layout == MAKE else HOW_CMAKE
    values = values_of(several.projects, several.shares_kernels, several.shares_arena, how)
    templates = {"CMakeLists.txt": "CMakeLists_models.txt.in", "README.md": "README_models.md.in"}
    if layout == MAKE:
        templates["Makefile"] = "Makefile.in"
    if layout == MAKE or not board.has_memories:
        templates["main.c"] = "main_models.c.in"
        files |= platform_files(several.projects[0])
    return files | {file: fill(template, values) for file, template in templates.items()}


def check_names(names: list[str]) -> None:
    """Raise MemoptError for models that cannot lie beside each other."""
    for name in names:
        if names.count(name) > 1:
            raise MemoptError(f"two of the models are called {name}; rename a file")
        if name in TAKEN:
            raise MemoptError(f"a model beside others cannot be called {name}; rename its file")


def _check(several: Several, layout: str) -> None:
    for project in several.projects:
        memories = project.emitted.layout.memories
        if len(memories) != 1 or memories[0].kind in ("object", "bank"):
            text = "of several models each has one arena, not several memories or objects"
            raise MemoptError(text, project.name)
    if several.shares_kernels and layout not in BUILDS:
        text = f"the layout {layout} has kernels in each model's source, where none is shared"
        raise MemoptError(text)


def _model(project: Project, layout: str, shares_kernels: bool) -> Files:
    """The files of a model's own folder."""
    if layout not in BUILDS:
        return layout_named(layout)(project)
    if shares_kernels:
        return network_files(project, "../kernels/")
    return model_files(replace(project, own_kernels=True))


def _header(several: Several, headers: list[str]) -> str:
    """`memopt_models.h`."""
    projects, total = several.projects, "MEMOPT_MODELS_ARENA_BYTES"
    includes = "".join(f'#include "{header}"\n' for header in headers)
    given = "the largest arena, in which all of them run" if several.shares_arena else "all arenas"
    alignment = max(p.emitted.layout.alignment for p in projects)
    stays = sum(bytes_in(op.result) for p in projects for op in p.emitted.layout.variables)
    variables = f"#define MEMOPT_MODELS_VARIABLE_BYTES {stays}u /* static: they stay */\n"
    section = projects[0].emitted.layout.storage.sections.get(ARENA)
    macro = f"#define MEMOPT_MODELS_ARENA_SECTION {attribute(section)}\n" if section else ""
    checks = [
        holds(
            f"{p.name.upper()}_ARENA_BYTES <= {total}",
            f"{p.name}_needs_a_larger_arena",
            f"{p.name} needs a larger arena than {total}",
        )
        for p in projects
    ]
    return (
        f"{WRITTEN}#ifndef MEMOPT_MODELS_H\n#define MEMOPT_MODELS_H\n\n{includes}\n"
        f"#define {total} {several.arena}u /* of {given} */\n"
        f"#define MEMOPT_MODELS_ARENA_ALIGNMENT {alignment}u\n{macro}"
        f"#define MEMOPT_MODELS_INPUT_BYTES {sum(map(_first_input, projects))}u "
        f"/* of an inference of each */\n{variables if stays else ''}\n"
        f"{fits('memopt_models', bool(stays))}{''.join(checks)}\n#endif /* MEMOPT_MODELS_H */\n"
    )


def _first_input(project: Project) -> int:
    """Bytes until the first output: of a window that slides more than until later ones."""
    layout = project.emitted.layout
    if layout.sliding is not None and layout.received is not None:
        return layout.sliding.runs * layout.sliding.rows * row_bytes(layout.received)
    return sum(map(bytes_in, layout.inputs))
