"""`memopt sweep GRAPH...`: peak, bound and proof of many graphs; what it asks is memopt.sweep."""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any

from memopt.api.answers import check_cache
from memopt.api.dask import dask_executor
from memopt.api.sweep_rows import Row, Task, rows
from memopt.api.sweep_table import Table
from memopt.api.sweeps import files_below, plan_words
from memopt.backends.report.pareto import Point, pareto_svg
from memopt.cli.arguments import pipeline_text
from memopt.compile.driver import IR, build_pipeline
from memopt.compile.options import described
from memopt.dialects.memgraph.errors import MemoptError
from memopt.frontends.core.registry import listed
from memopt.text.diagnostics import progress, write_file
from memopt.text.format import bytes_of_text
from memopt.text.usage import UsageError, add_time_limit, path_text

PLANS = ("target", "rows", "rewrite")  # options of plans that a sweep has


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "sweep",
        help="peak, bound and proof of many graphs",
        description="The least peak of each graph, on all cores, in the order given; with "
        "--target, --rows or --rewrite that of its plan.",
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
        "--csv",
        metavar="FILE",
        type=path_text,
        help="write each row there as it is done; what is there already is not solved again",
    )
    parser.add_argument(
        "--plot",
        metavar="FILE.svg",
        type=path_text,
        help="peaks against multiplications, proven ones filled, and the front of the best",
    )
    parser.add_argument(
        "--dask",
        metavar="ADDRESS",
        help="solve on the workers of this Dask scheduler (pip install memopt[dask])",
    )
    parser.add_argument(
        "--model", dest="memory_model", metavar="KEY=VALUE,...", help="as of memopt-opt"
    )
    parser.add_argument("--prepare", metavar="frelu,view", help="as of memopt-opt")
    for name, _, entry in described():
        if name in PLANS:
            parser.add_argument(f"--{name}", metavar=entry.metavar or "NAME", help=entry.help)
    parser.add_argument(
        "--flash",
        metavar="512K",
        help="what the device has for weights: rows say which fit, and the plot has no others",
    )
    parser.add_argument(
        "--cache",
        metavar="FILE",
        type=path_text,
        help="answers of searches, which other workers, sweeps and later ones share: of equal "
        "graphs, whatever their names",
    )
    parser.add_argument(
        "--as-done", action="store_true", help="rows as they are done, not in the order given"
    )
    add_time_limit(parser, "for each graph")


def run(args: argparse.Namespace) -> None:
    """Raises MemoptError at the end if some graph could not be solved."""
    is_listed = args.json or sys.stderr.isatty() or args.plot is not None
    count, listed_rows, failed = 0, list[Row](), list[Row]()
    for row in _solved(args):
        count += 1
        if row.error is not None:
            failed.append(row)
        if is_listed:
            listed_rows.append(row)
    if args.json:
        print(json.dumps([asdict(row) for row in listed_rows], indent=2))
    elif sys.stderr.isatty():
        print("\n".join(line(row) for row in listed_rows if row.error is None))
    if args.plot is not None:
        write_file(Path(args.plot), pareto_svg([p for row in listed_rows if (p := point(row))]))
    for row in failed:
        print(row.error, file=sys.stderr)
    if failed:
        raise MemoptError(f"{len(failed)} of {count} graphs could not be solved")


def _tasks(args: argparse.Namespace) -> list[Task]:
    """Return the graphs of the command line with what is asked of each. Raises UsageError."""
    steps = [("model", args.memory_model), ("prepare", args.prepare)]
    pipeline = pipeline_text([(flag, value) for flag, value in steps if value], None)
    build_pipeline(pipeline)  # wrong usage is told once, not per graph
    cache = None if args.cache is None else str(Path(args.cache).resolve())
    try:
        words = plan_words({name: getattr(args, name) for name in PLANS}, cache)
    except ValueError as error:
        raise UsageError(f"--{error}") from None
    check_cache(cache)
    flash = None if args.flash is None else bytes_of_text(args.flash)
    return [
        Task(path, pipeline, args.time_limit, path, cache, args.json, flash, words)
        for path in paths(args.graphs)
    ]


def _solved(args: argparse.Namespace) -> Iterator[Row]:
    """Yield a row of each graph, told as soon as it is there; of --json and on a terminal, which
    tell them at the end, in the order of the arguments unless that is not wanted."""
    jobs = args.jobs if args.jobs is not None else os.cpu_count() or 1
    if jobs < 1:
        raise UsageError(f"--jobs={jobs}: one process or more")
    if args.dask is not None and args.jobs is not None:
        raise UsageError("--jobs is of this machine; --dask has its own workers")
    if args.dask is not None and args.cache is not None:
        raise UsageError("--cache is a file of this machine; the workers of --dask have others")
    tasks = _tasks(args)
    places = {task.label: number for number, task in enumerate(tasks)}
    with ExitStack() as stack:
        executor = None if args.dask is None else stack.enter_context(dask_executor(args.dask))
        given = tasks if executor is None else map(sent, tasks)
        is_ordered = args.csv is None and not args.as_done
        solved = partial(rows, jobs=jobs, executor=executor, in_order=is_ordered)
        if args.csv is not None:
            table = stack.enter_context(Table(Path(args.csv)))
            answers = table.resumed(given, solved)
        else:
            answers = solved(given)
        spinner = stack.enter_context(progress("graphs", total=len(tasks)))
        aside: list[Row] = []
        for row in answers:
            if spinner is not None:
                spinner.done += 1
            elif not args.json and row.error is None:
                print(line(row), flush=True)
            if args.csv is None or args.as_done:
                yield row
            else:
                aside.append(row)
    yield from sorted(aside, key=lambda row: places[row.graph])


def sent(task: Task) -> Task:
    """The task with its graph as bytes, for workers that have other disks; one that cannot be read
    goes as it is, and its row says so."""
    with suppress(OSError):
        return replace(task, graph=Path(str(task.graph)).read_bytes())
    return task


def point(row: Row) -> Point | None:
    """A row in the plot; none without multiplications."""
    if row.peak is None or row.macs is None or row.fits is False:
        return None
    return Point(row.graph, row.macs, row.peak, row.optimal)


def paths(given: list[str]) -> list[str]:
    """The graphs of the command line, folders opened. Raises MemoptError for an empty folder."""
    graphs: list[str] = []
    for text in given:
        below = [str(p) for p in files_below(Path(text))] if Path(text).is_dir() else [text]
        if not below:
            raise MemoptError(f"there is no {listed(IR)} in it", text)
        graphs += below
    return graphs


def line(row: Row) -> str:
    """A row for people."""
    verdict = "optimal" if row.optimal else f"bound {row.lower_bound:,} B"
    arena = "" if row.arena is None else f", arena {row.arena:,} B"
    misfit = f", weights {row.weights:,} B do not fit" if row.fits is False else ""
    return f"{row.peak:>14,} B  {verdict}, proof = {row.proof}{arena}{misfit}  {row.graph}"
