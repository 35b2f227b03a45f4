"""`memopt profile MODEL --target=cortex-m4`: what each operator takes."""

import argparse
import csv
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memopt.backends.c.project.profile import check_board
from memopt.backends.report.table import aligned, counted
from memopt.backends.report.wording import short
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.compile.profile import Line, profile
from memopt.compile.stages import build, check, plan, read
from memopt.dialects.memgraph.errors import printable
from memopt.targets.core.target import target_named
from memopt.text.progress import Spinner
from memopt.text.usage import UsageError, path_text

COLUMNS: tuple[str, ...] = (
    "operator",
    "kind",
    "calls",
    "instructions",
    "cycles",
    "ms",
    "macs",
    "bytes",
    "share",
)
UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9}


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "profile",
        help="instructions, cycles and milliseconds of each operator",
        description="Run the generated C in QEMU on zeros, and print what each operator takes: "
        "instructions, cycles estimated by the core's manual, of rows all together.",
        epilog="examples:\n  memopt profile net.tflite --target=cortex-m4 --clock=84M",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=path_text, metavar="MODEL", help="a model that becomes C")
    parser.add_argument(
        "--clock", metavar="84M", help="of the board, in Hz (K, M: thousands, millions), for ms"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="the same as JSON")
    how.add_argument("--csv", action="store_true", help="the same as CSV")
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the table."""
    clock = None if args.clock is None else hertz(args.clock)
    request = request_of(args, Path(args.model), is_built=True)
    check(request)
    target = target_named(args.target)
    if target.output != "c":
        raise UsageError("profile is of C targets: TFLM is not built here")
    check_board(target)
    with Spinner("profiling"):
        lines = profile(build(plan(read(request))))
    entries = entries_of(lines, clock)
    total = _total(entries)
    if args.json:
        content = {"model": request.path.name, "target": args.target, "clock": clock}
        print(json.dumps({**content, "operators": entries, "total": total}, indent=2))
    elif args.csv:
        writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(entries)
    else:
        print(f"{request.path.name} for {args.target}, one inference on zeros")
        print("\n".join(_table([*entries, total], clock is not None)))


def hertz(text: str) -> int:
    """Return a clock in Hz: `84M`, `84000000`. Raises UsageError."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([KMG]?)(?:Hz)?", text)
    if match is None or not float(match[1]):
        raise UsageError(f"--clock={text}: Hz, such as 84M")
    return round(float(match[1]) * UNITS[match[2]])


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


def _total(entries: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return the sums; None where a part is not known."""

    def summed(key: str) -> Any:
        values = [entry[key] for entry in entries]
        return None if None in values else sum(values)

    sums = {key: summed(key) for key in ("calls", "instructions", "cycles", "ms", "macs")}
    sizes = [entry["bytes"] for entry in entries if entry["bytes"] is not None]
    return {"operator": "all", "kind": "", **sums, "bytes": max(sizes, default=None), "share": 1.0}


def _table(entries: Sequence[dict[str, Any]], has_clock: bool) -> list[str]:
    columns = [name for name in COLUMNS if name != "ms" or has_clock]
    rows = [columns, *([_cell(name, entry[name]) for name in columns] for entry in entries)]
    return aligned(rows, {columns.index("operator"), columns.index("kind")})


def _cell(name: str, value: Any) -> str:
    if value is None or isinstance(value, int):
        return counted(value)
    if name == "ms":
        return f"{value:.3f}"
    if name == "share":
        return f"{100 * value:.1f} %"
    return printable(short(str(value), 40))
