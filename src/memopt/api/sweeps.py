"""`memopt.sweep(graphs)`: peak, bound and proof of many graphs, on all cores or any executor.

Rows come in the order of the graphs, whichever worker is done first. A graph that cannot be read
has a row with its error; the others are not touched by that.
"""

import os
import time
from collections import deque
from collections.abc import Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Executor, Future, as_completed, wait
from dataclasses import dataclass
from itertools import islice
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from xdsl.dialects.builtin import ModuleOp

from memopt.api.peaks import peak_and_macs
from memopt.api.processes import Processes
from memopt.api.sources import Model, seconds
from memopt.compile.driver import IR, build_pipeline
from memopt.frontends.core.registry import suffixes
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.text.diagnostics import diagnose
from memopt.text.ir_text import module_text

if TYPE_CHECKING:
    from memopt.api.sources import Source

CHUNK = 8  # graphs that a worker takes at once: fewer messages, still an even load
AHEAD = 256  # chunks handed out and not yet solved: a generator need not end

Graphs: TypeAlias = "Source | MemoryGraph | Iterable[Source | MemoryGraph]"


@dataclass(frozen=True)
class Row:
    """The answer for one graph: bytes, and seconds with reading it. `error` is one line, or None
    and then the figures are there. `order` has the operators' names in the order found. `macs` are
    multiplications: of operators that know theirs, or of nodes of a JSON graph with `attrs` that
    say them ("macs"); None where nobody knows."""

    graph: str
    peak: int | None
    lower_bound: int | None
    proof: str | None
    optimal: bool
    seconds: float
    error: str | None = None
    order: tuple[str, ...] = ()
    macs: int | None = None


@dataclass(frozen=True)
class Task:
    """A graph, the passes that it gets first, seconds for its search, and what its row calls it:
    the path, or its place among the graphs."""

    graph: "Source | MemoryGraph"
    pipeline: str = ""
    time_limit: float | None = None
    name: str = ""

    @property
    def label(self) -> str:
        return self.name or (str(self.graph) if isinstance(self.graph, str | Path) else "graph")


def sweep(
    graphs: Graphs,
    *,
    executor: Executor | None = None,
    jobs: int | None = None,
    pipeline: str = "",
    time_limit: float | None = None,
) -> Iterator[Row]:
    """The least peak of each graph: one Row per graph, in order, as soon as it is known.

    `graphs` are paths, folders (then every .tflite, .onnx, .json, .hlo and .mlir below, sorted), or
    anything that `memopt.peak` takes; a generator need not end. `executor` is anything with the
    `submit` of `concurrent.futures`; it is left open. Without one there are `jobs` processes, one
    per core by default (1: this one; several need a main module that can be imported). `pipeline`
    and `time_limit` are for each graph as for `peak`.

    Raises ValueError and TypeError at once for an argument that there is not, and OSError for a
    folder that cannot be read; what is wrong with a graph is in its row.

        >>> with ThreadPoolExecutor(2) as pool:
        ...     found = list(memopt.sweep("candidates/", executor=pool, time_limit=60))
        >>> [row.graph for row in found if row.optimal]
        ['candidates/cell0.json', 'candidates/cell1.json']
    """
    if jobs is not None and executor is not None:
        raise ValueError("jobs goes without executor, which has its own workers")
    if jobs is not None and jobs < 1:
        raise ValueError(f"jobs={jobs}: one process or more")
    if executor is not None and not callable(getattr(executor, "submit", None)):
        raise TypeError(f"executor: {type(executor).__name__} has no submit()")
    seconds(time_limit)
    build_pipeline(pipeline)  # a wrong one is told once, not per graph
    tasks = (Task(_sendable(graph), pipeline, time_limit, name) for name, graph in _listed(graphs))
    return _rows(tasks, executor, jobs or os.cpu_count() or 1)


def _rows(
    tasks: Iterator[Task],
    executor: Executor | None,
    jobs: int,
    in_order: bool = True,
    chunk: int = 1,
) -> Generator[Row]:
    through = _through if in_order else _as_done
    if executor is not None:
        yield from through(executor, tasks, chunk)
        return
    first = list(islice(tasks, jobs * CHUNK))
    if jobs == 1 or len(first) <= 1:
        yield from map(solve, first)
        yield from map(solve, tasks)
        return
    # a new interpreter each: a forked one could inherit a lock that OR-Tools or rich holds
    with Processes(min(jobs, len(first)), get_context("spawn")) as pool:
        chunk = max(1, min(CHUNK, len(first) // jobs))
        try:
            yield from through(pool, _chain(first, tasks), chunk)
        except KeyboardInterrupt:  # else the pool would wait for what its processes began
            pool.end()
            raise


def rows(
    tasks: Iterable[Task], jobs: int, executor: Executor | None = None, in_order: bool = True
) -> Iterator[Row]:
    """Return one row per task, from `jobs` processes (1: from this one) or an executor; in order,
    or as they are done."""
    return _rows(iter(tasks), executor, jobs, in_order, CHUNK)


def _chain(first: list[Task], rest: Iterator[Task]) -> Iterator[Task]:
    yield from first
    yield from rest


def _through(executor: Executor, tasks: Iterator[Task], chunk: int) -> Generator[Row]:
    """Rows in order; what nobody waits for any more is taken back. A graph that takes long holds up
    the rows behind it and no worker: these go on, and their rows are put aside."""
    waiting: deque[Future[list[Row]]] = deque()
    unfinished: set[Future[list[Row]]] = set()
    try:
        for part in iter(lambda: list(islice(tasks, chunk)), []):
            waiting.append(executor.submit(solve_all, part))
            unfinished.add(waiting[-1])
            if len(unfinished) >= AHEAD and waiting[0].running():
                unfinished = wait(unfinished, return_when=FIRST_COMPLETED).not_done
            while waiting and (waiting[0].done() or len(unfinished) >= AHEAD):
                unfinished.discard(waiting[0])
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    finally:
        for future in waiting:
            future.cancel()


def _as_done(executor: Executor, tasks: Iterator[Task], chunk: int) -> Generator[Row]:
    """Rows as they come: a graph that takes long holds up no other."""
    waiting: set[Future[list[Row]]] = set()
    try:
        for part in iter(lambda: list(islice(tasks, chunk)), []):
            waiting.add(executor.submit(solve_all, part))
            if len(waiting) < AHEAD:
                continue
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()
        for future in as_completed(waiting):
            yield from future.result()
    finally:
        for future in waiting:
            future.cancel()


def solve_all(tasks: list[Task]) -> list[Row]:
    """Solve the tasks, in a worker."""
    return [solve(task) for task in tasks]


def solve(task: Task) -> Row:
    """The row of one graph; whatever goes wrong becomes its error."""
    start = time.perf_counter()
    try:
        solved, macs = peak_and_macs(task.graph, task.pipeline, task.time_limit)
    except Exception as error:
        taken = round(time.perf_counter() - start, 6)
        return Row(task.label, None, None, None, False, taken, str(diagnose(error, task.label)))
    taken = round(time.perf_counter() - start, 6)
    return Row(
        task.label, solved.peak, solved.lower_bound, solved.proof, solved.optimal, taken, None,
        solved.order, macs,
    )  # fmt: skip


def files_below(path: Path) -> list[Path]:
    """Every graph in a folder and the folders in it, sorted. Raises OSError."""

    def fail(error: OSError) -> None:
        raise error

    ends = (*suffixes(), IR)
    graphs = [
        Path(folder, name)
        for folder, _, names in os.walk(path, onerror=fail)
        for name in names
        if Path(name).suffix in ends
    ]
    return sorted(graphs)


def _listed(graphs: Graphs) -> Iterator[tuple[str, Any]]:
    """(what its row calls it, graph), folders opened."""
    single = isinstance(
        graphs, str | os.PathLike | bytes | Mapping | ModuleOp | Model | MemoryGraph
    ) or hasattr(graphs, "SerializeToString")
    if not single and not isinstance(graphs, Iterable):
        raise TypeError(f"graphs: a path, a folder, or several graphs, not {type(graphs).__name__}")
    return _opened([graphs] if single else cast("Iterable[Any]", graphs))


def _opened(graphs: Iterable[Any]) -> Iterator[tuple[str, Any]]:
    for number, graph in enumerate(graphs):
        if not isinstance(graph, str | os.PathLike):
            yield graph.name if isinstance(graph, Model) else f"graph {number}", graph
            continue
        path = Path(cast("str | os.PathLike[str]", graph))
        if path.is_dir():
            yield from ((str(p), p) for p in files_below(path))
        else:
            yield os.fspath(cast("str | os.PathLike[str]", graph)), path


def _sendable(graph: Any) -> Any:
    """The graph as another process can get it: IR is not sent, its text is."""
    if isinstance(graph, ModuleOp | Model):
        module = graph if isinstance(graph, ModuleOp) else graph.module
        return module_text(module).encode()
    return graph
