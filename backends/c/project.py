"""A buildable project around a planned function: sources, Makefile, CMake, README, firmware.

    write_project(module, Path("out"), "resnet8", "cortex-m4")
    make -C out run IN=in.bin OUT=out.bin

Everything is written into a temporary directory first and moved into place at the end: a failure
leaves nothing half-written.
"""

import os
import shutil
import tempfile
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.weights import Weights
from memopt.backends.c.banks import link_values
from memopt.backends.c.custom import customs_of
from memopt.backends.c.emit import Emitted, emit, emit_files
from memopt.backends.c.feeding import buffers, feed, transfer
from memopt.backends.c.header import c_type_of
from memopt.backends.c.kernels import needed_files, text_of
from memopt.backends.c.layout import Layout, bytes_in
from memopt.backends.c.measure import measure_project
from memopt.backends.c.program import example, memory_values
from memopt.backends.c.templates import target_values
from memopt.backends.c.text import file_name, filled, plain
from memopt.backends.checked import Checked
from memopt.dialects.errors import MemoptError
from memopt.dialects.names import name_of
from memopt.dialects.tensors import shape_of
from memopt.targets.core.registry import target_named
from memopt.targets.core.target import Target

__all__ = ["fill", "measure_project", "write_project"]

FIRMWARE = Path(__file__).parent / "firmware"


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
    memory = memory_values(layout, name)
    program = f"{name}.elf" if target.has_memories else name
    cmake = (
        f"\n# Only here: a project that adds this folder gets the library alone.\n"
        f"if(CMAKE_SOURCE_DIR STREQUAL CMAKE_CURRENT_SOURCE_DIR)\n"
        f"  add_executable({name}_main main.c {' '.join(platform_sources)})\n"
        f"  target_include_directories({name}_main PRIVATE platform)\n"
        f"  target_link_libraries({name}_main PRIVATE {name})\n{memory['cmake_guard']}endif()\n"
        if not target.has_memories
        else ""
    )
    return {
        "name": name,
        "NAME": name.upper(),
        "target": target.name,
        "program": program,
        "sources": " \\\n  ".join([*model_sources, "main.c", *platform_sources]),
        "custom_sources": " $(wildcard custom/*.c)" if customs_of(layout) else "",
        "custom_files": "file(GLOB CUSTOM custom/*.c)\n" if customs_of(layout) else "",
        "custom_list": " ${CUSTOM}" if customs_of(layout) else "",
        "model_sources": "\n  ".join(["", *model_sources]),
        "cmake_program": cmake,
        "buffers": buffers(layout, name),
        "feed": feed(layout, name),
        "write_outputs": transfer(layout, name, "output"),
        "example": example(layout, name),
        "tensors": _tensor_lines(layout),
        **memory,
        **target_values(target, program),
        **link_values(layout, target),
    }


def _write(directory: Path, emitted: Emitted, name: str, target: Target) -> None:
    values = _values(emitted, name, target)
    header, source = emit_files(emitted, name)
    (directory / f"{name}.h").write_text(header)
    (directory / f"{name}.c").write_text(source)
    (directory / "kernels").mkdir()
    for file in needed_files(emitted.kernels):
        text = text_of(file, emitted.rounds_even)
        (directory / "kernels" / file.name).write_text(text)
    (directory / "platform").mkdir()
    for file in target.platform:
        if file.endswith(".in"):
            text = fill(file, values)
            (directory / "platform" / file.removesuffix(".in")).write_text(text)
        else:
            shutil.copyfile(FIRMWARE / file, directory / "platform" / file)
    for file in ("Makefile.in", "CMakeLists.txt.in", "README.md.in", "main.c.in"):
        (directory / file.removesuffix(".in")).write_text(fill(file, values))


def write_project(
    module: ModuleOp,
    directory: Path,
    name: str,
    target: str,
    weights: Weights | None = None,
    known: Checked | None = None,
) -> None:
    """Write `<name>.c`, `<name>.h`, its kernels and a program around them into `directory`.

    `target` is the name of one whose output is C. `directory` is made if missing; files of the
    same name are replaced, others stay. Raises MemoptError for what cannot be emitted or written.
    """
    board = target_named(target, "c")
    name = file_name(name)
    emitted = emit(module, name, target, weights, known)
    try:
        directory.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=directory.parent, prefix=f".{directory.name}.") as tmp:
            staged = Path(tmp) / "project"
            staged.mkdir()
            _write(staged, emitted, name, board)
            if directory.exists():
                _replace_entries(staged, directory)
            else:
                os.rename(staged, directory)  # noqa: PTH104
    except OSError as error:
        raise MemoptError(error.strerror or "cannot be written", str(directory)) from None


def _replace_entries(staged: Path, directory: Path) -> None:
    """Move every file of `staged` over the one of the same name, each in one step."""
    for file in sorted(p for p in staged.rglob("*") if p.is_file()):
        goal = directory / file.relative_to(staged)
        goal.parent.mkdir(parents=True, exist_ok=True)
        os.replace(file, goal)  # noqa: PTH105
