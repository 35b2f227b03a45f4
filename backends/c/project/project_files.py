"""Project as all layouts take it: the model as text, and the values of templates."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from memopt.backends.c.emit.banks import link_values
from memopt.backends.c.emit.c_text import filled, plain
from memopt.backends.c.emit.header import c_type_of
from memopt.backends.c.emit.layout import Layout, bytes_in
from memopt.backends.c.emit.sections import output_sections
from memopt.backends.c.emit.source import Emitted, emit_files
from memopt.backends.c.kernels import Form, names_of, needed_files, text_of
from memopt.backends.c.project.build_values import called_values, target_values
from memopt.backends.c.project.program import buffers, example, feed, memory_values, transfer
from memopt.backends.c.weights.blob import GIVE, IN_CMAKE, MAPPED, MAPPED_AS, RULE, Blob
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import shape_of
from memopt.targets.core.target import Target

FIRMWARE = Path(__file__).parent / "firmware"

Files = dict[str, str]
"""Path in the project -> text."""


def fill(template: str, values: dict[str, str]) -> str:
    """A file of firmware/ with every `@key@` replaced. Raises KeyError for a key without value."""
    return filled((FIRMWARE / template).read_text(), values)


def _tensor_lines(layout: Layout) -> str:
    lines = ["| | tensor | type | shape | bytes | offset |", "|---|---|---|---|---|---|"]
    for what, values in (("input", layout.inputs), ("output", layout.outputs)):
        for i, value in enumerate(values):
            address = layout.planned(value)
            where = f"{address.offset} in {address.base}" if address else "caller's"
            lines.append(
                f"| {what} {i} | {plain(name_of(value))} | {c_type_of(value)} | "
                f"{'x'.join(map(str, shape_of(value)))} | {bytes_in(value)} | {where} |"
            )
    return "\n".join(lines)


def _values(emitted: Emitted, name: str, target: Target) -> dict[str, str]:
    layout = emitted.layout
    kernel_sources = [f"kernels/memopt_{k}.c" for k in sorted(emitted.kernels)]
    model_sources = [f"{name}.c", *kernel_sources]
    platform_sources = [f"platform/{p}" for p in target.platform if p.endswith(".c")]
    memory, called = memory_values(layout, name), called_values([layout], name, [name])
    blob = blob_values(emitted.blob, name)
    if emitted.blob is not None:
        platform_sources.append(f"{name}_weights.c")
    program = f"{name}.elf" if target.has_memories else name
    cmake = (
        f"\n# Only here: a project that adds this folder gets the library alone.\n"
        f"if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
        f"  add_executable({name}_main main.c {' '.join(platform_sources)})\n"
        f"  target_include_directories({name}_main PRIVATE platform)\n"
        f"  target_link_libraries({name}_main PRIVATE {name})\n{memory['cmake_guard']}"
        f"{blob['cmake_weights']}endif()\n"
        if not target.has_memories
        else ""
    )
    storage = layout.storage
    return {
        "name": name,
        "NAME": name.upper(),
        "target": target.name,
        "program": program,
        "sources": " \\\n  ".join([*model_sources, "main.c", *platform_sources]),
        "in_order": "",
        "library_sources": " \\\n  ".join(model_sources),
        "objects": "$(notdir $(SOURCES))",
        "vpath": "VPATH = kernels:platform:custom\n" + called["cmsis_nn_make"],
        "headers": "*.h kernels/*.h platform/*.h",
        "includes": "-I. -Ikernels -Iplatform $(CMSIS_NN_FLAGS)",
        "custom_sources": " $(wildcard custom/*.c)" if layout.is_custom else "",
        "custom_files": "file(GLOB CUSTOM custom/*.c)\n" if layout.is_custom else "",
        "custom_list": " ${CUSTOM}" if layout.is_custom else "",
        "model_sources": "\n  ".join(["", *model_sources]),
        "cmake_program": cmake,
        "buffers": buffers(layout, name),
        "feed": feed(layout, name),
        "write_outputs": transfer(layout, name, "output"),
        **blob,
        "tools": (FIRMWARE / "main_tools.c").read_text(),
        "example": example(layout, name),
        "tensors": _tensor_lines(layout),
        **called,
        **memory,
        **target_values(target, program),
        **(link_values(layout, target) if layout.banks else {"bank_sections": ""}),
        "named_sections": output_sections(storage, target) if storage.sections else "",
    }


@dataclass(frozen=True)
class Project:
    """A model as C, its name and the board that it is for. With `own_kernels` the kernels' names
    begin with the model's, so that it is linked with other such models. Without `has_startup` there
    is no program around it. With the `origin`, which says of which model it is, it answers through
    a serial port."""

    emitted: Emitted
    name: str
    target: Target
    own_kernels: bool = False
    has_startup: bool = True
    origin: str = ""

    @cached_property
    def values(self) -> dict[str, str]:
        """Return the values that the templates of firmware/ name. Raises MemoptError for a bank
        without room."""
        return _values(self.emitted, self.name, self.target)

    def filled(self, template: str, **more: str) -> str:
        """A file of firmware/ for this model."""
        return fill(template, self.values | more)

    def text(self, template: str, more: dict[str, str] | None = None) -> str:
        """`template` for this model."""
        return filled(template, self.values | (more or {}))


def model_files(project: Project) -> Files:
    """The model, and its kernels as files beside it."""
    emitted = project.emitted
    names = names_of(project.name, emitted.kernels) if project.own_kernels else ""
    kernels = kernel_texts(emitted.kernels, emitted.form, names)
    return network_files(project, "kernels/") | kernels


def network_files(project: Project, folder: str) -> Files:
    """The model alone, whose kernels lie in `folder`."""
    header, source = emit_files(project.emitted, project.name, folder)
    return {f"{project.name}.h": header, f"{project.name}.c": source}


def kernel_texts(kernels: Iterable[str], form: Form, names: str = "") -> Files:
    """The folder of kernels, as `text_of` has them."""
    files = needed_files(kernels)
    return {f"kernels/{file.name}": text_of(file, form, names) for file in files}


def program_files(project: Project) -> Files:
    """`main.c`, the platform below it, and what maps weights that are a file."""
    blob, main = project.emitted.blob, project.filled("main.c.in")
    mapped = {} if blob is None else {f"{project.name}_weights.c": project.text(MAPPED)}
    return {"main.c": main} | mapped | platform_files(project)


def blob_values(blob: Blob | None, name: str) -> dict[str, str]:
    """Return the templates' values for weights that are a file, if they are."""
    if blob is None:
        return dict.fromkeys(
            ("give_weights", "weights_rule", "extern_weights", "cmake_weights"), ""
        )
    values = blob.values(name)
    return {
        "give_weights": filled(GIVE, values),
        "weights_rule": filled(RULE, values),
        "extern_weights": filled(f"{MAPPED_AS}\n", values),
        "cmake_weights": filled(IN_CMAKE, values),
    }


def platform_files(project: Project) -> Files:
    """Return the files of the machine that `main.c` needs."""
    files: Files = {}
    for file in project.target.platform:
        given = file.removesuffix(".in")
        text = (FIRMWARE / file).read_text() if given == file else project.filled(file)
        files[f"platform/{given}"] = text
    return files
