"""Instructions, cycles and milliseconds of each operator of a model on a board."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from memopt.analysis.work import work_of
from memopt.backends.c.project.layouts import MAKE
from memopt.backends.c.project.profile import Profiled, check_board, profile_project
from memopt.backends.c.project.write import write_files
from memopt.backends.report import timeline_of
from memopt.backends.report.operator_lines import operator_lines
from memopt.backends.report.operators import name_of_operator
from memopt.backends.report.timeline import Timeline
from memopt.compile.plan import Built
from memopt.dialects.memgraph.names import operator_kind
from memopt.dialects.memgraph.plan import model_of
from memopt.targets.core.target import target_named
from memopt.text.usage import UsageError


@dataclass(frozen=True)
class Line:
    """An operator of the model: its result and kind, how often its kernel is called, instructions,
    estimated cycles, multiplications, and the bytes in RAM at its fullest. None is not known."""

    operator: str
    kind: str
    calls: int
    instructions: int
    cycles: int | None
    macs: int | None
    bytes: int | None

    def milliseconds(self, clock: int | None) -> float | None:
        """Return the time at a clock in Hz."""
        return None if clock is None or self.cycles is None else 1000 * self.cycles / clock


def profile_of(built: Built) -> list[Line]:
    """Return the operators of a model that was built as C, in the order in which they first run,
    measured in an inference on zeros. Raises MemoptError."""
    assert built.project is not None
    with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
        write_files(built.project, Path(folder), MAKE)
        measured = profile_project(Path(folder), built.project.target.name)
    known = built.planned.known
    usage = _usage(timeline_of(known.func, known))
    model = model_of(known.func)
    lines: dict[str, Line] = {}
    for one in measured:
        operation = built.project.emitted.operators[one.number]
        name, kind = name_of_operator(operation), operator_kind(operation)
        macs = work_of(operation, model).macs
        told = one.calls, one.instructions, one.cycles, macs, usage.get(name)
        lines[name] = _together(lines[name], one) if name in lines else Line(name, kind, *told)
    return list(lines.values())


def _together(line: Line, more: Profiled) -> Line:
    """Return an operator whose calls have two numbers."""
    cycles = None if line.cycles is None or more.cycles is None else line.cycles + more.cycles
    calls, instructions = line.calls + more.calls, line.instructions + more.instructions
    return replace(line, calls=calls, instructions=instructions, cycles=cycles)


def _usage(t: Timeline) -> dict[str, int]:
    """Return the bytes in RAM while each operator runs, at its fullest, by its name."""
    if t.operators:
        return {line.operator.name: line.usage for line in operator_lines(t)}
    return {step.name: step.bytes for step in t.steps}


def check_profiled(target: str) -> None:
    """Raise UsageError or MemoptError for a target whose programs are not run in QEMU."""
    board = target_named(target)
    if board.output != "c":
        raise UsageError("profile is of C targets: TFLM is not built here")
    check_board(board)


def entries_of(lines: Sequence[Line], clock: int | None) -> list[dict[str, Any]]:
    """Return the operators as JSON has them; `share` is of the cycles, where these are not known of
    the instructions."""
    has_cycles = all(line.cycles is not None for line in lines)
    sums = [(line.cycles if has_cycles else line.instructions) or 0 for line in lines]
    total = max(1, sum(sums))
    return [
        {
            "operator": line.operator,
            "kind": line.kind,
            "calls": line.calls,
            "instructions": line.instructions,
            "cycles": line.cycles,
            "ms": line.milliseconds(clock),
            "macs": line.macs,
            "bytes": line.bytes,
            "share": round(one / total, 4),
        }
        for line, one in zip(lines, sums, strict=True)
    ]


def total_of(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums; None where a part is not known."""

    def summed(key: str) -> Any:
        values = [entry[key] for entry in entries]
        return None if None in values else sum(values)

    sums = {key: summed(key) for key in ("calls", "instructions", "cycles", "ms", "macs")}
    sizes = [entry["bytes"] for entry in entries if entry["bytes"] is not None]
    return {"operator": "all", "kind": "", **sums, "bytes": max(sizes, default=None), "share": 1.0}
