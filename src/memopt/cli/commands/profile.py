"""`memopt profile MODEL --target=cortex-m4`: what each operator takes."""

import argparse
import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memopt.backends.report.profile_page import profile_html
from memopt.backends.report.table import aligned, counted
from memopt.backends.report.wording import short
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.cli.page import check_page, facts_of
from memopt.compile.profile import check_profiled, entries_of, profile_of, total_of
from memopt.compile.stages import check, final_build, read
from memopt.dialects.memgraph.errors import printable
from memopt.text.diagnostics import progress, write_output
from memopt.text.format import hertz
from memopt.text.usage import path_text

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


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "profile",
        help="instructions, cycles and milliseconds of each operator",
        description="Run the generated C in QEMU on zeros, and print what each operator takes: "
        "instructions, cycles estimated by the core's manual, of rows all together.",
        epilog="examples:\n  memopt profile net.tflite --target=cortex-m4 --clock=84M\n"
        "  memopt profile net.tflite --target=cortex-m4 --clock=84M --html=profile.html",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=path_text, metavar="MODEL", help="a model that becomes C")
    parser.add_argument(
        "--clock", metavar="84M", help="of the board, in Hz (K, M: thousands, millions), for ms"
    )
    how = parser.add_mutually_exclusive_group()
    how.add_argument("--json", action="store_true", help="the same as JSON")
    how.add_argument("--csv", action="store_true", help="the same as CSV")
    parser.add_argument(
        "--html", type=path_text, metavar="FILE", help="a page with a bar for each operator, too"
    )
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the table, and write the page."""
    check_page(args.html, (Path(args.model),))
    clock = None if args.clock is None else hertz(args.clock)
    request = request_of(args, Path(args.model), is_built=True)
    check(request)
    check_profiled(args.target)
    with progress("profiling"):
        lines = profile_of(final_build(read(request)))
    entries = entries_of(lines, clock)
    total = total_of(entries)
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
    if args.html:
        facts = facts_of(args.words, args.target)
        facts.append(("clock", f"{clock:,} Hz" if clock else "not given"))
        page = profile_html(request.path.name, facts, entries, total)
        write_output(args.html, page, (request.path,))


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
