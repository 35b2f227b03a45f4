"""`memopt explore MODEL --target=cortex-m4`: RAM, flash and cycles by options, side by side."""

import argparse
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memopt.backends.report.pareto import Point as Dot
from memopt.backends.report.pareto import pareto_svg
from memopt.backends.report.table import aligned, counted
from memopt.cli.arguments import add_planning_arguments, request_of
from memopt.cli.page import check_page
from memopt.compile.explore import Point, distinct, front, point, trials
from memopt.compile.stages import check
from memopt.dialects.memgraph.errors import MemoptError, printable
from memopt.text.diagnostics import progress, write_file
from memopt.text.usage import path_text

FIGURES = ("arena", "ram", "flash", "instructions", "cycles", "calls")


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "explore",
        help="RAM, flash and cycles by options, each with its command",
        description="Plan and measure a model by several options: for RAM and for speed, in rows "
        "and whole, rewritten, with its input in rows, with bytes in place of reals. What is given "
        "here stays in all of them.",
        epilog="examples:\n  memopt explore net.tflite --target=cortex-m4 --plot=net.svg",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("model", type=path_text, metavar="MODEL", help="a model that is compiled")
    parser.add_argument(
        "--plot", type=path_text, metavar="FILE.svg", help="arena against cycles as a picture"
    )
    parser.add_argument("--json", action="store_true", help="the same as JSON")
    add_planning_arguments(parser)


def run(args: argparse.Namespace) -> None:
    """Print the table. Raises MemoptError if no option gives a plan."""
    request = request_of(args, Path(args.model), is_built=True)
    check(request)
    check_page(args.plot, (request.path,), "--plot")
    tried = trials(request)
    points: list[Point] = []
    for number, trial in enumerate(tried, 1):
        with progress(f"{number} of {len(tried)}"):
            points.append(point(request, trial))
    if not any(one.figures for one in points):
        raise MemoptError(points[0].refused, args.model)
    if args.plot:
        write_file(Path(args.plot), pareto_svg(dots(points), "plans", "cycles", "best"))
    if args.json:
        print(json.dumps({"points": [one.entry() for one in points if one.figures]}, indent=2))
    else:
        print("\n".join(map(printable, _lines(points))))


def dots(points: Sequence[Point]) -> list[Dot]:
    """Return the points of which cycles, or instructions, are known."""
    best = front(points)
    return [
        Dot(one.command, time, arena, one in best)
        for one in points
        if (time := _time(one)) is not None and (arena := one.figures["arena"]) is not None
    ]


def _time(one: Point) -> int | None:
    cycles = one.figures.get("cycles")
    return one.figures.get("instructions") if cycles is None else cycles


def _lines(points: Sequence[Point]) -> list[str]:
    """Return the table by arena, `*` before what no other beats, and what was refused; of plans of
    the same figures the first."""
    best, known = front(points), distinct(points)
    columns = [name for name in FIGURES if any(one.figures[name] is not None for one in known)]
    rows = [["", *columns, "command"]]
    for one in sorted(known, key=lambda p: (p.figures["arena"] or 0, _time(p) or 0)):
        cells = [counted(one.figures[k]) for k in columns]
        rows.append(["*" if one in best else "", *cells, one.command])
    lines = aligned(rows, {len(columns) + 1})
    lines += [f"refused  {one.command}: {one.refused}" for one in points if one.refused]
    return [*lines, "* no other needs less of RAM, flash or cycles without needing more of another"]
