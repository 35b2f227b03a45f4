"""`python -m benchmarks cortex-m` and `scoreboard`: what shared models need on Cortex-M cores.

    cortex_m(models, ("cortex-m4",), tick)   # RAM and its parts, flash, instructions, cycles
    operators(models, tick)                  # instructions of each operator on the Cortex-M4
    scoreboard(models, tick)                 # beside what others have published

Each model is compiled by the command as a user runs it, in a process of its own, linked and run in
QEMU. Cores without a known table of timing have no cycles.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.tables.graphs import shared_folder
from benchmarks.tables.published import FIGURES
from benchmarks.tables.table import Table
from memopt.dialects.memgraph.errors import MemoptError

MODELS = (
    "resnet8_int8",
    "resnet8_float",
    "dscnn_kws_int8",
    "mobilenet_vww96_int8",
    "person_detect_int8",
    "ad01_autoencoder_int8",
    "streaming_wakeword_int8",
    "tinymaix_mnist_resnet_int8",
    "mcunet_vww_int8",
)
QUICK = ("ad01_autoencoder_int8",)
CORES = ("cortex-m4", "cortex-m7", "cortex-m55")
FASTEST = ("--rows=none", "--rewrite=none", "--optimize=speed")  # an operator at a time, as others
WAYS: dict[str, tuple[str, ...]] = {"whole": FASTEST, "as compiled": ()}
MEMOPT = (sys.executable, "-c", "import sys; from memopt.cli import main; sys.exit(main())")
NOTES = (
    "Bytes; one inference in QEMU, millions. `whole`: an operator at a time, the network as it is,"
    " for speed; `as compiled`: by default, in as many rows and with all rewriting that is exact.",
    "Cycles are estimated from the core's manual, without wait states: the middle of the range.",
)


def chosen(names: Sequence[str], quick: bool) -> list[Path]:
    """Shared models, or files. Raises MemoptError."""
    paths: list[Path] = []
    for name in names or (QUICK if quick else MODELS):
        path = Path(name)
        if not path.exists():
            path = shared_folder() / "models" / f"{name}.tflite"
        if not path.exists():
            raise MemoptError(f"no {path}: set MEMOPT_SHARED, or name files with --graphs")
        paths.append(path)
    return paths


def cortex_m(models: Sequence[Path], cores: Sequence[str], tick: Callable[[str], None]) -> Table:
    """Return one row for each model, core and way to compile."""
    columns = ("model", "core", "way", "arena", "stack", "static", "flash")
    table = Table(
        "cortex-m",
        "Models on Cortex-M cores",
        (*columns, "instructions", "cycles", "from", "to"),
        NOTES,
    )
    for path in models:
        for core in cores:
            for way, options in WAYS.items():
                tick(f"{path.stem} {core} {way}")
                measured = compiled(path, core, options)
                lowest, highest = measured["cycles_range"] or (None, None)
                sizes = (measured[key] for key in ("arena", "stack", "static_ram", "flash"))
                speeds = (measured["instructions"], measured["cycles_estimated"], lowest, highest)
                table.add(path.stem, core, way, *sizes, *map(_millions, speeds))
    return table


def operators(models: Sequence[Path], tick: Callable[[str], None]) -> Table:
    """Return one row for each operator, by the names of its results."""
    table = Table(
        "operators",
        "Operators on the Cortex-M4",
        ("model", "operator", "instructions", "share %"),
        ("Instructions of one inference in QEMU, whole operators, for speed.",),
    )
    for path in models:
        tick(f"{path.stem} operators")
        rows = profiled(path)
        total = sum(count for _, count in rows)
        for name, count in rows:
            table.add(path.stem, name, count, round(100 * count / max(total, 1), 1))
    return table


def scoreboard(models: Sequence[Path], tick: Callable[[str], None]) -> Table:
    """Return one row for each figure that others have published of these models."""
    table = Table(
        "scoreboard",
        "Beside what others have published",
        ("model", "core", "what", "memopt", "others*", "ratio", "who*", "source*"),
        (
            "Cycles and instructions: an operator at a time, the network as it is, for speed; RAM:"
            " arena, stack and static RAM by default. The ratio is ours to theirs.",
            "*: as published or as counted before; none was run here.",
        ),
    )
    keys = {"cycles": "cycles_estimated", "instructions": "instructions", "RAM": "ram"}
    known: dict[tuple[str, str, bool], dict[str, Any]] = {}
    paths = {path.stem: path for path in models}
    for figure in FIGURES:
        if figure.model not in paths:
            continue
        all_memory = figure.what != "RAM"
        key = figure.model, figure.core, all_memory
        if key not in known:
            tick(f"{figure.model} {figure.core}")
            known[key] = compiled(paths[figure.model], figure.core, FASTEST if all_memory else ())
        ours = known[key][keys[figure.what]]
        ratio = None if ours is None else round(ours / figure.value, 2)
        others = round(figure.value)
        row = (figure.model, figure.core, figure.what, ours, others, ratio)
        table.add(*row, figure.who, figure.source)
    return table


def compiled(path: Path, core: str, options: Sequence[str]) -> dict[str, Any]:
    """The `target` entry of the report of a model, compiled. Raises MemoptError."""
    with tempfile.TemporaryDirectory(prefix="memopt-") as work:
        return _compile(path, core, options, Path(work) / "out")


def profiled(path: Path) -> list[tuple[str, int]]:
    """Return results of operators, in the order in which they run, and the instructions that they
    took. Raises MemoptError."""
    text = _run(*MEMOPT, "profile", str(path), "--target=cortex-m4", *FASTEST, "--json")
    return [(one["operator"], one["instructions"]) for one in json.loads(text)["operators"]]


def _compile(path: Path, core: str, options: Sequence[str], folder: Path) -> dict[str, Any]:
    _run(*MEMOPT, "compile", str(path), f"--target={core}", *options, "-o", str(folder))
    report: dict[str, Any] = json.loads((folder / "report.json").read_text())
    return report["target"]


def _run(*command: str) -> str:
    """Run a command and return its stdout. Raises MemoptError with its last line if it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MemoptError((done.stderr.strip().splitlines() or ["it failed"])[-1], command[-1])
    return done.stdout


def _millions(count: int | None) -> float | None:
    return None if count is None else round(count / 1e6, 3)
