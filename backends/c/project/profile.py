"""Instructions and cycles of each operator of a written project, in an emulator.

    profile_project(Path("fw"), "cortex-m4")[3].instructions

The program is built with -DMEMOPT_PROFILE and says of each operator, or of some rows of it, how
many instructions ran; what the measuring itself takes is measured first, and subtracted.
"""

import re
import shutil
import subprocess
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from memopt.backends.c.project.cycles.instructions import Cycles
from memopt.backends.c.project.measure import (
    TOO_LONG,
    cycles_by,
    run_make,
    run_on_zeros,
    without_a_clock,
)
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import Target, target_named

AROUND = "memopt_profile_begins", "memopt_profile_ends"
NOTHING = 0xFFFFFFFF  # the number of what runs between them when nothing does


@dataclass(frozen=True)
class Profiled:
    """An operator by its number in the source: how often it was called, and what all its calls
    took; cycles are estimated, None where the core's timing is not known."""

    number: int
    calls: int
    instructions: int
    cycles: int | None


def profile_project(directory: Path, target: str) -> list[Profiled]:
    """Return the operators of one inference on zeros, by their numbers. Raises MemoptError for a
    board that nothing here runs, and where the program does not run."""
    board = target_named(target, "c")
    check_board(board)
    with tempfile.TemporaryDirectory(prefix="memopt-") as build:
        run = "CFLAGS=-O2 -DMEMOPT_PROFILE", *run_on_zeros(directory, build)
        try:
            ran = run_make(directory, build, *run)
        except subprocess.TimeoutExpired:
            raise MemoptError(TOO_LONG, str(directory)) from None
        if ran.returncode:
            text = ran.stderr.strip().splitlines() or ["make failed"]
            raise MemoptError(f"the profile does not run: {text[0][:200]}", str(directory))
        text = re.findall(r"^profiled (\d+)\ntook (\d+)$", ran.stderr, re.MULTILINE)
        spans = [(int(number), int(took)) for number, took in text]
        command = run_make(directory, build, "-n", *run).stdout
        cycles = _cycles(Path(build), command, board, [number for number, _ in spans])
    return _summed(spans, cycles)


def check_board(board: Target) -> None:
    """Raise MemoptError for a board whose instructions nothing here counts."""
    if not board.has_memories or not board.emulator:
        raise MemoptError(f"{board.name} has no emulator that counts: a board has, by --target")
    tools = ("make", board.compiler, board.qemu)
    if missing := [tool for tool in tools if not shutil.which(tool)]:
        raise MemoptError(f"{', '.join(missing)} not found, which count instructions")


def _cycles(
    build: Path, command: str, board: Target, numbers: Sequence[int]
) -> Mapping[int, Cycles] | None:
    """Return the cycles of each operator, by its number and 1; None where they are not known."""
    if board.timing is None:
        return None
    words = without_a_clock(command, board)
    program = next(build.glob("*.elf"))
    tools = board.compiler.removesuffix("gcc")
    return cycles_by(words, program, tools, board.timing, lambda n: numbers[n] + 1, AROUND)


def _summed(
    spans: Sequence[tuple[int, int]], cycles: Mapping[int, Cycles] | None
) -> list[Profiled]:
    calls = Counter(number for number, _ in spans)
    instructions: Counter[int] = Counter()
    for number, took in spans:
        instructions[number] += took
    beside = instructions.pop(NOTHING, 0)

    def estimated(number: int) -> int | None:
        if cycles is None:
            return None
        return max(0, cycles[number + 1].middle - calls[number] * cycles[NOTHING + 1].middle)

    return [
        Profiled(n, calls[n], max(0, took - beside * calls[n]), estimated(n))
        for n, took in sorted(instructions.items())
    ]
