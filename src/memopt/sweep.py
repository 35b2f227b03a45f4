"""`memopt sweep GRAPH...`: peak, bound and proof of many graphs, on all cores.

Rows come in the order of the command line, whichever process is done first. A graph that cannot be
read has a row with its error; the others are not touched by that.
"""

import argparse
import json
import os
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from dataclasses import asdict, dataclass
from multiprocessing import get_context
from typing import TYPE_CHECKING

from memopt.diagnostics import diagnose
from memopt.dialects.errors import MemoptError
from memopt.driver import build_pipeline
from memopt.opt import pipeline_text
from memopt.usage import UsageError

if TYPE_CHECKING:
    from rich.progress import Progress

CHUNK = 8  # graphs that a process takes at once: fewer messages, still an even load


@dataclass(frozen=True)
class Row:
    """The answer for one graph: bytes, and seconds with reading it. `error` is one line, or None
    and then the figures are there."""

    graph: str
    peak: int | None
    lower_bound: int | None
    proof: str | None
    optimal: bool
    seconds: float
    error: str | None = None


@dataclass(frozen=True)
class Task:
    """A file, the passes that it gets first, and seconds for its search."""

    path: str
    pipeline: str
    time_limit: float | None


def solve(task: Task) -> Row:
    """The row of one file; whatever goes wrong becomes its error."""
    from memopt.api import peak

    start = time.perf_counter()
    try:
        found = peak(task.path, pipeline=task.pipeline, time_limit=task.time_limit)
    except Exception as error:
        seconds = round(time.perf_counter() - start, 6)
        text = str(diagnose(error, task.path))
        return Row(task.path, None, None, None, False, seconds, text)
    seconds = round(time.perf_counter() - start, 6)
    return Row(task.path, *found, found.optimal, seconds)


def rows(tasks: Sequence[Task], jobs: int) -> Iterator[Row]:
    """One row per task, in order, from `jobs` processes (1: from this one)."""
    if jobs == 1 or len(tasks) == 1:
        yield from map(solve, tasks)
        return
    # a new interpreter each: a forked one could inherit a lock that OR-Tools or rich holds
    pool: Executor = ProcessPoolExecutor(min(jobs, len(tasks)), get_context("spawn"))
    with pool:
        yield from pool.map(solve, tasks, chunksize=max(1, min(CHUNK, len(tasks) // jobs)))


def sweep(args: argparse.Namespace) -> None:
    """The command. Raises MemoptError at the end if some graph could not be solved."""
    jobs = args.jobs if args.jobs is not None else os.cpu_count() or 1
    if jobs < 1:
        raise UsageError(f"--jobs={jobs}: one process or more")
    steps = [("model", args.memory_model), ("prepare", args.prepare)]
    pipeline = pipeline_text([(flag, value) for flag, value in steps if value], None)
    build_pipeline(pipeline)  # wrong usage is told once, not per graph
    tasks = [Task(path, pipeline, args.time_limit) for path in args.graphs]
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
