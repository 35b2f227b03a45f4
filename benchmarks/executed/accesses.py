"""Loads and stores of generated C in each memory of a plan, counted by QEMU while the program runs.

    for stretch in counted(Path("fw"), "cortex-m7"):     # a project of --memory=dtcm:16K,sram:320K
        print(stretch.operator, stretch.memories["sram"].loaded)

The counter (`accesses.c`, a plugin of QEMU) knows addresses and sections of the linked image, and
nothing of the plan.
"""

import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memopt.backends.c.project.measure import run_make, run_on_zeros, symbols_of, without_a_clock
from memopt.backends.c.project.profile import AROUND, NOTHING, check_board
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import Target, target_named

PLUGIN = Path(__file__).with_suffix(".c")
SECTION = ".memopt."


@dataclass(frozen=True)
class Accesses:
    """Bytes `loaded` and `stored`, and how many different bytes that were."""

    loaded: int
    stored: int
    different_loaded: int
    different_stored: int


@dataclass(frozen=True)
class Stretch:
    """A call of an operator, or of rows of it, by its number in the source."""

    operator: int
    memories: dict[str, Accesses]


def plugin_fault() -> str | None:
    """Return why QEMU cannot count here, None if it can: a compiler is missing, or QEMU was built
    without plugins."""
    if not shutil.which("cc"):
        return "cc not found"
    qemu = shutil.which("qemu-system-arm")
    if qemu is None:
        return "qemu-system-arm not found"
    offered = subprocess.run([qemu, "--help"], capture_output=True, text=True, check=False)
    return None if "-plugin" in offered.stdout else "this QEMU has no plugins"


def counted(directory: Path, target: str) -> list[Stretch]:
    """Return what each call of an operator loads and stores in one inference on zeros, of a project
    of several memories. Raises MemoptError for what does not build or run."""
    board = target_named(target, "c")
    check_board(board)
    if fault := plugin_fault():
        raise MemoptError(fault, str(directory))
    with tempfile.TemporaryDirectory(prefix="memopt-") as build:
        run = "CFLAGS=-O2 -DMEMOPT_PROFILE", *run_on_zeros(directory, build)
        built = run_make(directory, build, run[0])
        if built.returncode:
            raise MemoptError(f"the image does not build: {built.stderr[-200:]}", str(directory))
        command = without_a_clock(run_make(directory, build, "-n", *run).stdout, board)
        return _run(Path(build), command, board)


def _run(build: Path, command: Sequence[str], board: Target) -> list[Stretch]:
    program, counts, plugin = next(build.glob("*.elf")), build / "counts", build / "accesses.so"
    major = re.search(r"version (\d+)", _output(command[0], "--version"))
    version = 1 if major is None or int(major[1]) < 9 else 2  # of the interface, as QEMU asks
    _output("cc", "-shared", "-fPIC", "-O2", f"-DAPI_VERSION={version}", PLUGIN, "-o", plugin)
    at = symbols_of(program, board.compiler.removesuffix("gcc"))
    sections = [
        (row[0].removeprefix(SECTION), row[2], row[1])
        for line in _output(board.size, "-A", program).splitlines()
        if len(row := line.split()) == 3 and row[0].startswith(SECTION)
    ]
    told = f"{plugin},out={counts},begin={at[AROUND[0]]},end={at[AROUND[1]]}"
    told += "".join(f",memory={start}+{size}" for _, start, size in sections)
    ran = subprocess.run([*command, "-plugin", told], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise MemoptError(f"the image does not run: {ran.stderr[-200:]}", str(program))
    operators = [int(n) for n in re.findall(r"^profiled (\d+)$", ran.stderr, re.MULTILINE)]
    stretches = [Stretch(operator, {}) for operator in operators]
    for line in counts.read_text().splitlines():
        number, memory, *moved = map(int, line.split())
        stretches[number].memories[sections[memory][0]] = Accesses(*moved)
    return [stretch for stretch in stretches if stretch.operator != NOTHING]


def _output(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise MemoptError(f"{command[0]}: {done.stderr.strip()[-200:]}")
    return done.stdout
