"""`memopt sweep GRAPH...`: peak, bound and proof of many graphs; what it asks is memopt.sweep."""

import argparse
import json
import os
import sys
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memopt.api.sweeps import Row, Task, files_below, rows
from memopt.arguments import add_time_limit
from memopt.dialects.errors import MemoptError
from memopt.driver import IR, build_pipeline
from memopt.frontends.core.registry import listed
from memopt.shorthands import pipeline_text
from memopt.usage import UsageError, path_text

if TYPE_CHECKING:
    from rich.progress import Progress


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sweep",
        help="peak, bound and proof of many graphs",
        description="The least peak of each graph, on all cores, in the order given.",
    )
    parser.add_argument(
        "graphs",
        nargs="+",
        type=path_text,
        metavar="GRAPH",
        help=f"{listed(IR)}, or a folder of them",
    )
    parser.add_argument("--jobs", type=int, metavar="N", help="processes; default: one per core")
    parser.add_argument("--json", action="store_true", help="one list instead of a table")
    parser.add_argument(
        "--model", dest="memory_model", metavar="KEY=VALUE,...", help="as of memopt-opt"
    )
    parser.add_argument("--prepare", metavar="frelu,view", help="as of memopt-opt")
    add_time_limit(parser, "for each graph")


def run(args: argparse.Namespace) -> None:
    """Raises MemoptError at the end if some graph could not be solved."""
    jobs = args.jobs if args.jobs is not None else os.cpu_count() or 1
    if jobs < 1:
        raise UsageError(f"--jobs={jobs}: one process or more")
    steps = [("model", args.memory_model), ("prepare", args.prepare)]
    pipeline = pipeline_text([(flag, value) for flag, value in steps if value], None)
    build_pipeline(pipeline)  # wrong usage is told once, not per graph
    tasks = [Task(path, pipeline, args.time_limit, path) for path in paths(args.graphs)]
    found: list[Row] = []
    with _progress(len(tasks)) as bar:
        for row in rows(tasks, jobs):
            found.append(row)
            if bar is not None:
                bar.update(bar.task_ids[0], advance=1)
            elif not args.json and row.error is None:
                print(line(row), flush=True)
    if args.json:
        print(json.dumps([asdict(row) for row in found], indent=2))
    elif sys.stderr.isatty():
        print("\n".join(line(row) for row in found if row.error is None))
    failed = [row for row in found if row.error is not None]
    for row in failed:
        print(row.error, file=sys.stderr)
    if failed:
        raise MemoptError(f"{len(failed)} of {len(found)} graphs could not be solved")


def paths(given: list[str]) -> list[str]:
    """The graphs of the command line, folders opened. Raises MemoptError for an empty folder."""
    found: list[str] = []
    for text in given:
        below = [str(p) for p in files_below(Path(text))] if Path(text).is_dir() else [text]
        if not below:
            raise MemoptError(f"there is no {listed(IR)} in it", text)
        found += below
    return found


def line(row: Row) -> str:
    """A row for people."""
    verdict = "optimal" if row.optimal else f"bound {row.lower_bound:,} B"
    return f"{row.peak:>14,} B  {verdict}, proof = {row.proof}  {row.graph}"


def _progress(total: int) -> "AbstractContextManager[Progress | None]":
    """A bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        return nullcontext()
    from rich.console import Console
    from rich.progress import Progress

    bar = Progress(console=Console(stderr=True))
    bar.add_task("graphs", total=total)
    return bar
