"""The stages of `memopt compile`, `memopt report` and the API, one after the other.

    imported = read(request)              # Request -> Imported
    planned = plan(imported)              # -> Planned
    built = build(planned)                # -> Built
    measured = measure(built)             # -> Measured; a plan that is not built: estimate(planned)
    report(measured).content              # -> Report: what report.json has
    write(report(measured), force=False)  # C, measured, report.json and plan.mlir in a folder

Each is a frozen dataclass that holds the one before. How a model is planned, built and measured is
a matter of the runtime: C, which a compiler takes, or TensorFlow Lite Micro.
"""

import json
from pathlib import Path
from typing import Any, Protocol

from memopt.backends.c.emit.sections import ARENA
from memopt.backends.c.project.layouts import WITH_FILES, WITH_STARTUP
from memopt.compile.driver import model_files, relative_files
from memopt.compile.files.folder import publish
from memopt.compile.files.staging import staging
from memopt.compile.measure import Measured
from memopt.compile.options import check_conflicts
from memopt.compile.plan import Built, Planned
from memopt.compile.read import Imported, read
from memopt.compile.report import Report, report
from memopt.compile.request import OFF, Request
from memopt.modules import load
from memopt.targets.core.target import target_named
from memopt.text.diagnostics import write_file
from memopt.text.ir_text import module_text
from memopt.text.usage import UsageError

__all__ = [
    "build",
    "check",
    "compiled",
    "estimate",
    "final_build",
    "measure",
    "plan",
    "read",
    "report",
    "write",
]


class Runtime(Protocol):
    """Interface of a runtime that runs a model on a target."""

    def check(self, request: Request) -> None:
        """Raise UsageError for what the runtime does not have."""
        ...

    def plan(self, imported: Imported) -> Planned:
        """Return the model planned. Raises MemoptError, UsageError."""
        ...

    def build(self, planned: Planned) -> Built:
        """Return the files of a planned model. Raises MemoptError for what cannot be built."""
        ...

    def measure(self, built: Built) -> Measured:
        """Return what the device needs for a build, or for another one that serves it better."""
        ...

    def estimate(self, planned: Planned) -> dict[str, Any]:
        """Return what follows from the plan alone of what the device needs."""
        ...


RUNTIMES = {"c": "memopt.compile.c", "tflite": "memopt.compile.tflm"}
"""Output of a target -> module of its runtime, which is loaded for who plans for it."""


def _runtime(request: Request) -> Runtime:
    output = target_named(request.options.target, *RUNTIMES).output
    runtime: Runtime = load(RUNTIMES[output]).RUNTIME
    return runtime


def _has_script(request: Request) -> bool:
    """Return whether a linker script of ours is written."""
    building, target = request.building, target_named(request.options.target, *RUNTIMES)
    is_ours = building.has_startup and building.layout in (None, *WITH_STARTUP)
    return is_ours and target.has_memories


def check(request: Request) -> None:
    """Raise UsageError for options of a build that contradict each other."""
    check_conflicts(request.options)
    if ARENA in request.building.storage.sections and request.options.memory is not None:
        raise UsageError("--section=arena is of one arena; --memory has a section for each memory")
    layout = request.building.layout
    if request.building.storage.addresses and not _has_script(request):
        raise UsageError(
            "--section with an address is of a board's linker script, which --layout="
            f"{' and '.join(WITH_STARTUP)} have; elsewhere yours says where sections lie"
        )
    if request.building.storage.in_file and layout not in (None, *WITH_FILES):
        raise UsageError(f"--weights=file: --layout={layout} takes no files beside its sources")
    if not request.building.has_startup and layout not in (None, *WITH_STARTUP):
        raise UsageError(f"--no-startup: --layout={layout} has no start-up code")
    if request.building.has_serial and request.options.stream_input:
        raise UsageError("--stream-input: a serial port sends whole inputs, and it has none")
    if request.building.has_serial and request.options.slide is not None:
        raise UsageError("--slide: a serial port sends whole inputs, and it has none")
    if request.flash is not None and request.building.measure == OFF:
        raise UsageError("--flash is of an image, and --measure=off builds none; give one of them")
    _runtime(request).check(request)


def plan(imported: Imported) -> Planned:
    """Return an imported model planned for its target. Raises MemoptError, UsageError."""
    return _runtime(imported.request).plan(imported)


def build(planned: Planned) -> Built:
    """Return the files of a planned model. Raises MemoptError for what cannot be built."""
    return _runtime(planned.imported.request).build(planned)


def measure(built: Built) -> Measured:
    """Return what the device needs for a build, or for another one that serves it better."""
    return _runtime(built.planned.imported.request).measure(built)


def estimate(planned: Planned) -> Measured:
    """Return what follows from the plan alone of what the device needs."""
    return Measured(planned, _runtime(planned.imported.request).estimate(planned))


def compiled(imported: Imported, is_advised: bool = True) -> Report:
    """Return the report of a model that is planned, built and measured. Raises MemoptError, also
    where the device needs more RAM than is given."""
    runtime = _runtime(imported.request)
    answer = report(runtime.measure(runtime.build(runtime.plan(imported))), is_advised)
    answer.check_budgets()
    return answer


def final_build(imported: Imported) -> Built:
    """Return the build that `compiled` writes: where RAM is given measures choose it."""
    if imported.request.options.ram is None:
        return build(plan(imported))
    chosen = compiled(imported, is_advised=False).measured.built
    assert chosen is not None
    return chosen


def write(report: Report, force: bool) -> None:
    """Write all files of a built model into the folder of its request, or none of them."""
    built, folder = report.measured.built, report.measured.planned.imported.request.folder
    assert built is not None
    with staging(folder) as staged:
        if built.project is not None:  # what runs a file itself has no texts
            from memopt.backends.c.project.write import write_texts

            texts = {n: text for n, text in built.files.items() if isinstance(text, str)}
            write_texts(texts, staged, built.project.emitted.large)
        for name, data in built.files.items():
            if isinstance(data, bytes):
                write_file(staged / name, data)
        publish(staged, folder, force, leave(report, staged, folder))


def leave(report: Report, staged: Path, folder: Path) -> tuple[Path, ...]:
    """Write report.json and plan.mlir into `staged`, which becomes `folder`, and return the files
    that were read."""
    planned = report.measured.planned
    write_file(staged / "report.json", json.dumps(report.content, indent=2) + "\n")
    sources = (planned.imported.request.path, *model_files(planned.after))
    relative_files(planned.after, folder)
    write_file(staged / "plan.mlir", module_text(planned.after))
    return sources
