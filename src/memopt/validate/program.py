"""A planned network as a program, on the host or in QEMU, and its tensors as it writes them."""

import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from memopt.backends.c.project.layouts import MAKE
from memopt.backends.c.project.measure import run_make
from memopt.backends.c.project.project_files import Project
from memopt.backends.c.project.write import write_files
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.errors import MemoptError
from memopt.validate.stored import Stored

TRACED = "-DMEMOPT_TRACE -DMEMOPT_TRACE_NAMES"
AT_ONCE = 32  # samples in a run of the program
ENDED = {2: "it wrote outside its arena", 3: "it had a fault"}


@dataclass(frozen=True)
class Traced:
    """Bytes that an operator of the program wrote, and the tensor's name in C."""

    name: str
    data: bytes


def traced(trace: bytes) -> list[Traced]:
    """Return what is in a board's trace: bytes as a number of four, name with a 0, the bytes.
    Raises MemoptError for one that ends in between."""
    results: list[Traced] = []
    at = 0
    while at < len(trace):
        size, end = int.from_bytes(trace[at : at + 4], "little"), trace.find(b"\0", at + 4)
        if end < 0 or end + 1 + size > len(trace):
            raise MemoptError(f"the board's trace of {len(trace):,} B ends in a result")
        name, at = trace[at + 4 : end].decode("ascii", "replace"), end + 1 + size
        results.append(Traced(name, trace[end + 1 : at]))
    return results


class Program:
    """A project that is built in a folder, and run there on samples."""

    def __init__(self, project: Project, folder: Path) -> None:
        """Write the project. Raises MemoptError for a board that nothing here runs."""
        target = project.target
        tools = ["make", target.compiler]
        if target.has_memories:
            if not target.emulator:
                raise MemoptError(f"nothing here runs {target.name}: no emulator of it is known")
            tools.append(target.qemu)
        if missing := [tool for tool in tools if not shutil.which(tool)]:
            raise MemoptError(f"{', '.join(missing)} not found, which run {target.name}")
        self._folder = folder / "project"
        write_files(project, self._folder, MAKE)

    def run(self, inputs: Sequence[Array], results: Sequence[Stored]) -> tuple[Array, ...]:
        """Return an array [samples, ...] per output. Raises MemoptError if the program fails."""
        data = b""
        for first in range(0, len(inputs[0]), AT_ONCE):
            data += self._run([array[first : first + AT_ONCE] for array in inputs], "build", "")[0]
        return split_outputs(data, len(inputs[0]), results)

    def trace(self, inputs: Sequence[Array]) -> list[Traced]:
        """Return what the operators write, in the order in which they run; of rows each alone."""
        _, names, trace = self._run(inputs, "traced", TRACED)
        traced: list[Traced] = []
        at = 0
        for name in names:
            if at >= len(trace):
                break
            size = int.from_bytes(trace[at + 4 : at + 8], "little")
            traced.append(Traced(name, trace[at + 8 : at + 8 + size]))
            at += 8 + size
        return traced

    def _run(
        self, inputs: Sequence[Array], build: str, flags: str
    ) -> tuple[bytes, list[str], bytes]:
        """Return the outputs of some samples, the names of what is traced, and the trace."""
        folder = self._folder
        samples = zip(*inputs, strict=True)
        (folder / "in.bin").write_bytes(b"".join(a.tobytes() for sample in samples for a in sample))
        (folder / "trace.bin").write_bytes(b"")
        traced = ["TRACE=trace.bin", f"CFLAGS=-O2 {flags}"] if flags else []
        ran = run_make(folder, build, "run", "IN=in.bin", "OUT=out.bin", *traced, seconds=None)
        if ran.returncode:
            number = re.search(r"Error (\d+)", ran.stderr)
            why = ENDED.get(int(number[1]) if number else 0)
            lines = [line for line in ran.stderr.splitlines() if "error" in line] or [ran.stderr]
            raise MemoptError(f"the program fails: {why or lines[0].strip()[:300]}")
        names = re.findall(r"^(\S+) \d+$", ran.stderr, re.MULTILINE)
        return (folder / "out.bin").read_bytes(), names, (folder / "trace.bin").read_bytes()


def split_outputs(data: bytes, count: int, results: Sequence[Stored]) -> tuple[Array, ...]:
    """Return the outputs of samples, one after the other in `data`."""
    sizes = [int(np.prod(one.shape, dtype=np.int64)) * one.dtype.itemsize for one in results]
    rows = np.frombuffer(data, np.uint8).reshape(count, sum(sizes))
    arrays: list[Array] = []
    at = 0
    for one, size in zip(results, sizes, strict=True):
        part = np.ascontiguousarray(rows[:, at : at + size])
        arrays.append(part.view(one.dtype).reshape(count, *one.shape))
        at += size
    return tuple(arrays)
