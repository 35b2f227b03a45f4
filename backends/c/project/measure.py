"""Measurement of a written project: its image is linked, its sections read, and it is run."""

import os
import re
import shlex
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from memopt.backends.c.emit.banks import region_bytes
from memopt.backends.c.project.cycles.blocks import MOST, blocks_by
from memopt.backends.c.project.cycles.instructions import Cycles, cycles_of, instructions_of
from memopt.backends.c.project.stack import stack_bound
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import Target, target_named
from memopt.targets.core.timing import Timing

IN_SCRIPT = r"^  (\S+) .*: \{"  # all of its output sections
IN_FLASH = r"^  (\S+) (?:0x\w+ )?: \{.*\}"  # output sections of our script, besides .data
AT_ADDRESS = r"^  (\S+) 0x\w+ .*\{"  # output sections at addresses of their own
STATIC_RAM = (".data", ".bss")
HEADER_GUARD = "MEMOPT_CUSTOM_H"  # of a project that calls what the user writes
SECONDS = 120  # for one inference under emulation
CYCLES = ("cycles_estimated", "cycles_range")
PLAUSIBLE = 0.7, 4.0  # cycles of an instruction, on the average
OF_A_RUN = ("stack", "instructions", *CYCLES)
OVERFLOW = r"region `(\w+)' overflowed by (\d+) byte"
TOO_LONG = f"one inference takes more than {SECONDS} s under emulation"
NOT_RUN = "--measure=quick runs nothing"
NO_TIMING = "no table of this core's timing is known"


def _defined(directory: Path, what: str) -> int:
    """The value of the model header's macro that ends in `what`, bytes."""
    for header in sorted(directory.glob("*.h")):
        match = re.search(rf"^#define \w+_{what} (\d+)u", header.read_text(), re.MULTILINE)
        if match:
            return int(match[1])
    raise MemoptError(f"no header defines {what}", str(directory))


def run_make(
    directory: Path, build: str, *arguments: str, seconds: float | None = SECONDS
) -> subprocess.CompletedProcess[str]:
    """Run make in a project, which builds in the folder `build`; what it has started ends with it.
    Raises subprocess.TimeoutExpired after `seconds`."""
    command = ["make", "-s", "-C", str(directory), f"BUILD={build}", *arguments]
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,  # so that compiler and emulator end with it
    ) as process:
        try:
            out, error = process.communicate(timeout=seconds)
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, error)


def _sections(listing: str) -> dict[str, tuple[int, int]]:
    """Section name -> bytes and address, from `size -A`."""
    rows = (line.split() for line in listing.splitlines())
    section_rows = (row for row in rows if len(row) == 3 and row[1].isdigit())
    return {row[0]: (int(row[1]), int(row[2])) for row in section_rows}


def measure_project(directory: Path, target: str, runs: bool = True) -> dict[str, Any]:
    """Bytes that a project written by write_project needs, and instructions of one inference.

    Keys: name, arena, stack (deepest use below the call, painted), stack_bound (the most that it
    can be, by the call tree), static_ram (.data and .bss besides arena and stack), flash (the whole
    image, with the program around the model), sections (of a linked image: name, address, bytes),
    instructions (emulated), cycles_estimated (of them, by the core's manual) with its cycles_range;
    None where it does not apply or could not be measured, as of an image that is larger than the
    emulator's memories, or of a run where nothing `runs`, and then `not_measured` says why. Nothing
    is left in `directory`. Raises MemoptError if the project does not compile.
    """
    facts: dict[str, Any] = {
        "name": target,
        "arena": _defined(directory, "ARENA_BYTES"),
        "stack": None,
        "stack_bound": None,
        "static_ram": None,
        "flash": None,
        "instructions": None,
        "cycles_estimated": None,
        "cycles_range": None,
        "not_measured": {},
    }
    measured = ("stack_bound", "static_ram", "flash", *OF_A_RUN)
    board = target_named(target, "c")
    if not board.has_memories:
        facts["not_measured"] = dict.fromkeys(measured, "a host has no memories of its own")
        return facts
    if any(HEADER_GUARD in header.read_text() for header in directory.glob("*.h")):
        facts["not_measured"] = dict.fromkeys(measured, "custom operators are yours to write")
        return facts
    tools = ("make", board.compiler, board.size)
    missing = [tool for tool in tools if not shutil.which(tool)]
    if missing:
        because = f"{', '.join(missing)} not found"
        facts["not_measured"] = dict.fromkeys(measured, because)
        return facts
    with tempfile.TemporaryDirectory(prefix="memopt-") as build:
        build_run = run_make(directory, build)
        if over := re.findall(OVERFLOW, build_run.stderr):
            by = ", ".join(f"{region} by {int(size):,} B" for region, size in over)
            because = f"the image is larger than QEMU's {board.emulator}: {by}"
            facts["not_measured"] = dict.fromkeys(measured, because)
            return facts
        if build_run.returncode:
            text = (
                build_run.stderr.strip() or build_run.stdout.strip() or "make failed"
            ).splitlines()
            errors = [line for line in text if "error" in line] or text
            raise MemoptError(f"the image does not build: {errors[0]}", str(directory))
        listed = _sections(run_make(directory, build, "size").stdout)
        sections = {name: size for name, (size, _) in listed.items()}
        script = next((directory / "platform").glob("*.ld")).read_text()
        in_flash = {".data", *re.findall(IN_FLASH, script, re.MULTILINE)}
        facts["flash"] = sum(sections.get(name, 0) for name in in_flash)
        facts["sections"] = [
            {"name": name, "address": listed[name][1], "bytes": listed[name][0]}
            for name in re.findall(IN_SCRIPT, script, re.MULTILINE)
            if sections.get(name)
        ]
        facts["static_ram"] = sum(sections.get(name, 0) for name in STATIC_RAM)
        facts["stack_bound"] = stack_bound(next(Path(build).glob("*.elf")), board)
        if facts["stack_bound"] is None:
            facts["not_measured"]["stack_bound"] = "its call tree has no bound"
        if runs:
            at_addresses = re.findall(AT_ADDRESS, script, re.MULTILINE)
            apart = {name: listed[name] for name in at_addresses if sections.get(name)}
            ran = _run_if_emulated(directory, build, board, apart)
        else:
            ran = {"not_measured": dict.fromkeys(OF_A_RUN, NOT_RUN)}
        why = facts["not_measured"] | ran.get("not_measured", {})
        facts |= ran | {"not_measured": why}
    return facts


def _run_if_emulated(
    directory: Path, build: str, board: Target, apart: Mapping[str, tuple[int, int]]
) -> dict[str, Any]:
    """Return the facts of a run, or why there is none; sections that lie `apart` have bytes and an
    address."""
    if nowhere := [name for name, (size, at) in apart.items() if not _emulated(board, at, size)]:
        because = f"QEMU's {board.emulator} has no memory where {', '.join(nowhere)} lies"
        return {"not_measured": dict.fromkeys(OF_A_RUN, because)}
    if not shutil.which(board.qemu):
        return {"not_measured": dict.fromkeys(OF_A_RUN, f"{board.qemu} not found")}
    return _run(directory, build, board)


def _emulated(board: Target, start: int, size: int) -> bool:
    """Return whether the emulated board has memory of so many bytes at an address."""
    own = [(int(at, 16), region_bytes(length)) for _, at, length in board.memories]
    return any(at <= start and start + size <= at + length for at, length in (*own, *board.rooms))


def run_on_zeros(directory: Path, build: str) -> tuple[str, ...]:
    """Return what make is told to run one inference on zeros, which are written into `build`."""
    zeros = Path(build) / "zeros.bin"
    zeros.write_bytes(bytes(_bytes_of_a_run(directory)))
    return "run", f"IN={zeros}", f"OUT={build}/out.bin"


def _bytes_of_a_run(directory: Path) -> int:
    """Bytes of input to the end of a run; of a window that slides, of one in which it has slid."""
    try:
        rows = _defined(directory, "FIRST_ROWS") + _defined(directory, "NEW_ROWS")
    except MemoptError:
        return _defined(directory, "INPUT_BYTES")
    return rows * _defined(directory, "ROW_BYTES")


def _measured_spans(directory: Path) -> range | None:
    """Return which of the stretches that main.c measures are those of the inference whose
    instructions it prints, None for all.

    Of a row that is pushed there are two: where it is put, and what runs with it. The last run of a
    window that slides is the one in which it has slid.
    """
    try:
        row_bytes = _defined(directory, "ROW_BYTES")
    except MemoptError:
        return None
    try:
        first, rows = _defined(directory, "FIRST_ROWS"), _defined(directory, "NEW_ROWS")
    except MemoptError:
        first, rows = 0, _defined(directory, "INPUT_BYTES") // row_bytes
    return range(2 * first, 2 * (first + rows))


def _run(directory: Path, build: str, board: Target) -> dict[str, Any]:
    """Stack, instructions and cycles of one inference on zeros, or that it takes too long."""
    run = run_on_zeros(directory, build)
    try:
        ran = run_make(directory, build, *run)
    except subprocess.TimeoutExpired:
        return {"not_measured": dict.fromkeys(OF_A_RUN, TOO_LONG)}
    if ran.returncode:
        raise MemoptError(f"the image does not run: {ran.stderr.strip()[:200]}", str(directory))
    numbers = dict(re.findall(r"^(\w+) (\d+)$", ran.stderr, re.MULTILINE))
    return {
        "stack": int(numbers["stack_bytes"]),
        "instructions": int(numbers["instructions"]),
        **_cycles(directory, build, run_make(directory, build, "-n", *run).stdout, board, numbers),
    }


def _cycles(
    directory: Path, build: str, command: str, board: Target, numbers: Mapping[str, str]
) -> dict[str, Any]:
    """Cycles of the same, where the core's manual says what instructions take."""
    if board.timing is None:
        return {"not_measured": dict.fromkeys(CYCLES, NO_TIMING)}
    words = without_a_clock(command, board)
    program = next(Path(build).glob("*.elf"))
    tools, spans = board.compiler.removesuffix("gcc"), _measured_spans(directory)
    estimate = estimated_cycles(words, program, tools, board.timing, spans)
    if estimate is None:
        because = f"more than {MOST:,} blocks of instructions run in one inference"
        return {"not_measured": dict.fromkeys(CYCLES, because)}
    instructions = int(numbers["instructions"])
    if not PLAUSIBLE[0] <= estimate.middle / max(1, instructions) <= PLAUSIBLE[1]:
        because = f"{estimate.middle:,} cycles were counted for {instructions:,} instructions"
        return {"not_measured": dict.fromkeys(CYCLES, because)}
    return {"cycles_estimated": estimate.middle, "cycles_range": [estimate.least, estimate.most]}


def without_a_clock(command: str, board: Target) -> list[str]:
    """Return the words by which make runs the emulator of a board, without its clock of
    instructions, which would cut blocks where it stops."""
    words = shlex.split(command[command.index(board.qemu) :].replace("\\\n", " "))
    at = words.index("-icount")
    return words[:at] + words[at + 2 :]


AROUND_A_RUN = "platform_ticks_start", "platform_instructions"  # what measures


def estimated_cycles(
    command: Sequence[str], program: Path, tools: str, timing: Timing, spans: range | None = None
) -> Cycles | None:
    """Return the cycles between the functions that measure, of all times that they are called or of
    those in `spans`; None if more blocks of instructions run than are counted."""
    cycles = cycles_by(
        command, program, tools, timing, lambda n: int(spans is None or n in spans), AROUND_A_RUN
    )
    return None if cycles is None else cycles.get(1, Cycles())


def cycles_by(
    command: Sequence[str],
    program: Path,
    tools: str,
    timing: Timing,
    group: Callable[[int], int],
    around: tuple[str, str],
) -> dict[int, Cycles] | None:
    """Return the cycles between two functions, apart for each group of the number of the time, but
    0; None if more blocks of instructions run than are counted.

    `command` runs `program` in QEMU; its log goes through a pipe, as it has a line for each block.
    `tools` begins the names of the compiler's tools (`arm-none-eabi-`). Raises MemoptError if the
    program does not run to its end.
    """
    listing = _output(f"{tools}objdump", "-d", "-w", str(program))
    code = instructions_of(listing.splitlines())
    symbols = symbols_of(program, tools)
    source, goal = os.pipe()
    logged = [*command, "-d", "exec,nochain,in_asm", "-D", f"/dev/fd/{goal}"]
    with os.fdopen(source) as lines:
        runs = subprocess.Popen(
            logged, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, pass_fds=(goal,)
        )
        os.close(goal)  # so that the log ends with who writes it
        ran = blocks_by(lines, symbols[around[0]], symbols[around[1]], group)
        if ran is None:
            runs.kill()
    if runs.wait() and ran is not None:
        raise MemoptError(f"the image does not run: exit code {runs.returncode}", str(program))
    if ran is None:
        return None
    return {number: cycles_of(one, code, timing) for number, one in ran.items()}


def symbols_of(program: Path, tools: str) -> dict[str, int]:
    """Return the addresses of an image's symbols, those of functions without the bit of Thumb."""
    return {
        row[2]: int(row[0], 16) & ~1
        for line in _output(f"{tools}nm", str(program)).splitlines()
        if len(row := line.split()) == 3
    }


def _output(*command: str) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
