"""Cycles of what a program does between two of its functions, run in QEMU."""

import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from memopt.backends.c.project.cycles.blocks import blocks_of
from memopt.backends.c.project.cycles.instructions import instructions_of
from memopt.backends.c.project.cycles.pricing import Cycles, cycles_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.timing import Timing

STARTS, STOPS = "platform_ticks_start", "platform_instructions"  # around what is measured


def estimated_cycles(
    command: Sequence[str],
    program: Path,
    tools: str,
    timing: Timing,
    spans: range | None = None,
) -> Cycles | None:
    """Return the cycles between the functions that measure, of all times that they are called or of
    those in `spans`; None if more blocks of instructions run than are counted.

    `command` runs `program` in QEMU; its log goes through a pipe, as it has a line for each block.
    `tools` begins the names of the compiler's tools (`arm-none-eabi-`). Raises MemoptError if the
    program does not run to its end.
    """
    listing = _output(f"{tools}objdump", "-d", "-w", str(program))
    code = instructions_of(listing.splitlines())
    symbols = {
        row[2]: int(row[0], 16) & ~1
        for line in _output(f"{tools}nm", str(program)).splitlines()
        if len(row := line.split()) == 3
    }
    source, goal = os.pipe()
    logged = [*command, "-d", "exec,nochain,in_asm", "-D", f"/dev/fd/{goal}"]
    with os.fdopen(source) as lines:
        runs = subprocess.Popen(
            logged, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(goal,)
        )
        os.close(goal)  # so that the log ends with who writes it
        ran = blocks_of(lines, symbols[STARTS], symbols[STOPS], spans=spans)
        if ran is None:
            runs.kill()
    if runs.wait() and ran is not None:
        raise MemoptError(f"the image does not run: exit code {runs.returncode}", str(program))
    return ran and cycles_of(ran, code, timing)


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
