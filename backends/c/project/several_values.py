"""Templates' values for several models: their program, libraries and README."""

from collections.abc import Sequence

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.sections import ARENA
from memopt.backends.c.project.build_values import called_values, target_values
from memopt.backends.c.project.program import arena_section, buffers, feed, memory_arrays, transfer
from memopt.backends.c.project.project_files import Project, fill

ARRAY = """\
@section@__attribute__((aligned(64))) static uint8_t
    @array@[CANARY + @OWNER@_ARENA_BYTES - MEMOPT_ARENA_SHRINK + CANARY];
"""
ROW = '    {"@name@", @name@_step, @array@ + CANARY, @NAME@_ARENA_BYTES - MEMOPT_ARENA_SHRINK},\n'
LIBRARY = """\
add_library(@name@ STATIC
  @sources@)
target_include_directories(@name@ PUBLIC ${CMAKE_CURRENT_SOURCE_DIR} @folders@)
target_link_libraries(@name@ PUBLIC @below@)

"""
PROGRAM = """\
# Only here: a project that adds this folder gets the libraries alone.
if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)
  add_executable(memopt_models_main main.c @platform@)
  target_include_directories(memopt_models_main PRIVATE platform)
  target_link_libraries(memopt_models_main PRIVATE @names@)
endif()
"""
SHARED_ARENA = """

@section@static uint8_t arena[MEMOPT_MODELS_ARENA_BYTES]
    __attribute__((aligned(MEMOPT_MODELS_ARENA_ALIGNMENT))); /* of all models */"""
SECTION = """
## @name@

```c
@example@
```

@tensors@
"""


def values_of(
    projects: Sequence[Project], shares_kernels: bool, shares_arena: bool, how: str
) -> dict[str, str]:
    """Key of a template -> text, for models of one board; `how` they are built, for README.md."""
    board = projects[0].target
    program = "memopt_models.elf" if board.has_memories else "memopt_models"
    names = [p.name for p in projects]
    has_custom_ops = any(p.emitted.layout.is_custom for p in projects)
    sources = [source for p in projects for source in _sources(p, shares_kernels)]
    if shares_kernels:
        sources += _kernels(all_kernels(projects))
    platform = [f"platform/{file}" for file in board.platform if file.endswith(".c")]
    owners = {"ram": "MEMOPT_MODELS"} if shares_arena else {f"{n}_ram": n.upper() for n in names}
    layout = projects[0].emitted.layout
    arrays = [
        filled(ARRAY, {"array": array, "OWNER": owner, "section": arena_section(layout, owner)})
        for array, owner in owners.items()
    ]
    rows = [
        filled(ROW, {"name": n, "NAME": n.upper(), "array": "ram" if shares_arena else f"{n}_ram"})
        for n in names
    ]
    libraries = ["memopt_kernels"] if shares_kernels else names
    called = called_values([p.emitted.layout for p in projects], "memopt_models", libraries)
    return {
        **projects[0].values,
        **target_values(board, program),
        **called,
        "name": "memopt_models",
        "names": ", ".join(names),
        "program": program,
        "in_order": f"of {', '.join(names)}\n# ",
        "sources": " \\\n  ".join([*sources, "main.c", *platform]),
        "custom_sources": " $(wildcard custom/*.c)" if has_custom_ops else "",
        "objects": "$(SOURCES)",
        "vpath": called["cmsis_nn_make"],
        "headers": "*.h */*.h */*/*.h",
        "includes": " ".join(f"-I{folder}" for folder in (".", "platform", *names))
        + " $(CMSIS_NN_FLAGS)",
        "memories": "\n".join(arrays),
        "steps": "".join(map(_step, projects)),
        "models": "".join(rows),
        "libraries": _libraries(projects, shares_kernels, has_custom_ops),
        "cmake_program": ""
        if board.has_memories
        else filled(PROGRAM, {"platform": " ".join(platform), "names": " ".join(names)}),
        "build_text": filled(
            how, {"run_text": "", "names": ", ".join(names), **target_values(board, program)}
        ),
        **_readme(projects, shares_kernels, shares_arena),
    }


def all_kernels(projects: Sequence[Project]) -> set[str]:
    """The kernels of all models, each once."""
    return {k for p in projects for k in p.emitted.kernels}


def _kernels(names: set[str], folder: str = "kernels") -> list[str]:
    return [f"{folder}/memopt_{k}.c" for k in sorted(names)]


def _sources(project: Project, shares_kernels: bool) -> list[str]:
    """The sources of a model, with the kernels that are its own."""
    own = set[str]() if shares_kernels else set(project.emitted.kernels)
    return [f"{project.name}/{project.name}.c", *_kernels(own, f"{project.name}/kernels")]


def _step(project: Project) -> str:
    """The function of main.c that runs a model once."""
    layout, name = project.emitted.layout, project.name
    values = {
        "name": name,
        "NAME": name.upper(),
        "buffers": "".join(f"  {s}\n" for s in buffers(layout, name).strip().splitlines()),
        "feed": feed(layout, name),
        "write_outputs": transfer(layout, name, "output"),
    }
    return fill("main_step.c.in", values)


def _libraries(projects: Sequence[Project], shares_kernels: bool, has_custom_ops: bool) -> str:
    """Return the lines of CMakeLists.txt for a library of each model, and those that they need."""
    names = [p.name for p in projects]
    lines, below = "", ["m"]
    if has_custom_ops:
        lines += "file(GLOB CUSTOM custom/*.c)\n" + _library(
            "memopt_custom", ["${CUSTOM}"], names, below
        )
        below = ["memopt_custom", *below]
    if shares_kernels:
        kernels = _kernels(all_kernels(projects))
        lines += _library("memopt_kernels", kernels, [], ["m"])
        below = ["memopt_kernels", *below]
    for p in projects:
        lines += _library(p.name, _sources(p, shares_kernels), [p.name], below)
    return lines


def _library(name: str, sources: list[str], folders: list[str], below: list[str]) -> str:
    values = {
        "name": name,
        "sources": "\n  ".join(sources),
        "folders": " ".join(folders),
        "below": " ".join(below),
    }
    return filled(LIBRARY, values)


def _readme(
    projects: Sequence[Project], shares_kernels: bool, shares_arena: bool
) -> dict[str, str]:
    kernels = (
        "Kernels are\nshared: `kernels/` has each of them once."
        if shares_kernels
        else "The names of\neach model's kernels begin with its own."
    )
    arenas = [p.emitted.layout.arena for p in projects]
    has_section = ARENA in projects[0].emitted.layout.storage.sections
    section = "MEMOPT_MODELS_ARENA_SECTION " if has_section else ""
    arena = (
        f"All run in one arena of **{max(arenas)} bytes**, one after the other: what one leaves\n"
        "there, its outputs too, is gone when the next one begins."
        if shares_arena
        else f"Each runs in an arena of its own, **{sum(arenas)} bytes** together."
    )
    sections = ""
    for p in projects:
        example = p.values["example"]
        if shares_arena:
            example = example.removeprefix(memory_arrays(p.emitted.layout, p.name))
        values = {"name": p.name, "example": example, "tensors": p.values["tensors"]}
        sections += filled(SECTION, values)
    return {
        "kernels_text": kernels,
        "arena_text": arena,
        "shared_arena": filled(SHARED_ARENA, {"section": section}) if shares_arena else "",
        "sections": sections,
    }
