"""Rows of a sweep: handed out in chunks, in order or as they are done.

JSON graphs go out in chunks of hundreds, of which the native library solves what it can; what is
left comes back and goes out again by itself, or by few where few seconds are enough for each. So a
graph that takes long holds up no worker and no row but its own, and in order those behind it. One
whose process dies, as where memory is short, is solved again with nothing beside it.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from itertools import islice
from multiprocessing import get_context
from typing import TYPE_CHECKING, Any, cast

from memopt.api.peaks import Peak, peak_and_work, peak_of, work_of_source
from memopt.api.plain_graphs import GraphWork
from memopt.api.plans import plan
from memopt.api.processes import Processes
from memopt.api.small_graphs import has_time, small_text, solved
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import only_function
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.text.diagnostics import diagnose

if TYPE_CHECKING:
    from memopt.api.sources import Source

# Graphs of a chunk of small ones: each chunk is twice as large as the one before, up to so many, so
# that first rows come soon and few graphs keep all workers busy.
FIRST_CHUNK, CHUNK = 8, 256
# Graphs that go out together of those that the library leaves, where one takes less than so many
# seconds by what was seen of so many.
FEW, QUICK, SEEN = 8, 0.01, 16
AHEAD = 4  # chunks per worker that are handed out and not yet solved: a generator need not end
WORKERS = 64  # of an executor that does not say how many it has
DEATHS = 10  # pools in a row that may break without a row: else no process can be started
START = 0.5  # seconds of small graphs that are solved here before processes are started for them


@dataclass(frozen=True)
class Row:
    """The answer for one graph: bytes, and seconds with reading it. `error` is one line, or None
    and then the figures are there. `order` has the operators' names in the order found. `macs` are
    multiplications: of operators that know theirs, or of nodes of a JSON graph with `attrs` that
    say them ("macs"); `weights` are bytes of the constants that operators read, which a device has
    in flash. Both are None where nobody knows. `arena` is of a sweep of plans; `fits` says whether
    the weights fit into the flash that was given."""

    graph: str
    peak: int | None
    lower_bound: int | None
    proof: str | None
    optimal: bool
    seconds: float
    error: str | None = None
    order: tuple[str, ...] = ()
    macs: int | None = None
    weights: int | None = None
    arena: int | None = None
    fits: bool | None = None


@dataclass(frozen=True)
class Task:
    """A graph, the passes that it gets first, seconds for its search, what its row calls it (the
    path, or its place among the graphs), a file of answers, whether the row has the order, bytes of
    flash, and words of a plan ({"target": "cortex-m4"}), None where no plan is asked for."""

    graph: "Source | MemoryGraph"
    pipeline: str = ""
    time_limit: float | None = None
    name: str = ""
    cache: str | None = None
    has_order: bool = True
    flash: int | None = None
    plan: Mapping[str, str] | None = None

    @property
    def label(self) -> str:
        return self.name or (
            str(self.graph) if isinstance(self.graph, str | os.PathLike) else "graph"
        )

    @property
    def may_be_small(self) -> bool:
        """Return whether the native library may solve the graph, by what can be seen at once."""
        graph = self.graph
        if (
            self.pipeline
            or self.plan
            or not has_time(self.time_limit)
            or isinstance(graph, MemoryGraph)
        ):
            return False
        is_path = isinstance(graph, str | os.PathLike)
        return not is_path or os.fspath(cast("str", graph)).endswith(".json")


def rows(
    tasks: Iterable[Task], jobs: int, executor: Executor | None = None, in_order: bool = True
) -> Iterator[Row]:
    """Return one row per task, from `jobs` processes (1: from this one) or an executor; in order,
    or as they are done."""
    return _rows(iter(tasks), jobs, executor, in_order)


def _rows(
    tasks: Iterator[Task], jobs: int, executor: Executor | None, in_order: bool
) -> Generator[Row]:
    with ExitStack() as stack:

        def processes() -> Executor:
            # a new interpreter each: a forked one could inherit a lock that OR-Tools or rich holds
            pool = stack.enter_context(Processes(jobs, get_context("spawn")))
            stack.push(_ended(pool))
            return pool

        if executor is not None:
            handout = Handout(tasks, executor, workers_of(executor))
        elif jobs == 1:
            handout = Handout(tasks, Here(), lambda: 1)
        else:
            handout = Handout(tasks, Here(), lambda: jobs, processes, processes)
        yield from handout.in_order() if in_order else (row for _, row in handout.as_done())


def _ended(pool: Processes) -> Callable[..., bool]:
    """Return what ends the processes where nobody wants the rows any more, such as at Ctrl-C or
    SIGTERM, or once a generator is closed; else the pool would wait for what they began."""

    def end(kind: type[BaseException] | None, *_: object) -> bool:
        if kind is not None:
            pool.end()
        return False

    return end


def workers_of(executor: Executor) -> Callable[[], int]:
    """Return what says how many workers an executor has now: `workers()` of one whose workers join
    and leave, the number of one of Python's."""
    count: Callable[[], int] | None = getattr(executor, "workers", None)
    known: int = getattr(executor, "_max_workers", WORKERS)
    return (lambda: known) if count is None else count


class Here(Executor):
    """An executor that solves at once, in this process."""

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_result(fn(*args, **kwargs))
        return future


@dataclass(frozen=True)
class Chunk:
    """Tasks with their numbers; small ones get the library alone, and come back where that is not
    enough. One that is alone has the executor for itself."""

    tasks: list[tuple[int, Task]]
    is_small: bool = False
    is_alone: bool = False

    def submit(self, executor: Executor) -> "Future[list[Row | None]]":
        return executor.submit(
            solve_small if self.is_small else solve_each, [task for _, task in self.tasks]
        )


@dataclass
class Handout:
    """Tasks that are handed out: to `executor` at first, to another once that is worth its start
    (`later`; None: never), and to a new one of `renew` when that is broken (None: that is an
    error)."""

    tasks: Iterator[Task]
    executor: Executor
    workers: Callable[[], int]
    later: Callable[[], Executor] | None = None
    renew: Callable[[], Executor] | None = None
    chunk: int = FIRST_CHUNK
    number: int = 0
    seen: int = 0  # graphs that the library left, and their seconds
    seconds: float = 0.0
    begun: float = field(default_factory=time.monotonic)
    next: Task | None = None  # looked at, and not handed out
    unsolved: deque[tuple[int, Task]] = field(default_factory=deque[tuple[int, Task]])
    lost: deque[tuple[int, Task]] = field(default_factory=deque[tuple[int, Task]])
    is_broken: bool = False
    deaths: int = 0  # of executors since the last row
    waiting: "dict[Future[list[Row | None]], Chunk]" = field(
        default_factory=dict["Future[list[Row | None]]", Chunk]
    )

    def in_order(self) -> Generator[Row]:
        """Yield the rows in order; those that are done before are put aside."""
        aside: dict[int, Row] = {}
        following = 0
        for number, row in self.as_done():
            aside[number] = row
            while following in aside:
                yield aside.pop(following)
                following += 1

    def as_done(self) -> Generator[tuple[int, Row]]:
        """Yield number and row of each task as it is done; what nobody waits for any more is taken
        back."""
        try:
            while True:
                self._hand_out()
                if not self.waiting and not self.lost:
                    return
                for future in wait(self.waiting, return_when=FIRST_COMPLETED).done:
                    chunk = self.waiting.pop(future)
                    try:
                        rows = future.result()
                    except BrokenExecutor as error:
                        yield from self._broken(chunk, error)
                    else:
                        self.deaths = 0
                        yield from self._taken(chunk, rows)
        finally:
            for future in self.waiting:
                future.cancel()

    def _broken(self, chunk: Chunk, error: BrokenExecutor) -> Generator[tuple[int, Row]]:
        """Put aside what an executor had when it broke; a task that it had alone gets its row.
        Raises BrokenExecutor where a new one would not help."""
        self.deaths += not self.is_broken
        self.is_broken = True
        if self.renew is None or self.deaths > DEATHS:
            raise error
        if not chunk.is_alone:
            self.lost.extend(chunk.tasks)
            return
        text = "the process that solved it died, also with nothing beside it"
        for number, task in chunk.tasks:
            yield number, _error_row(task, MemoptError(text), 0.0)

    def _hand_out(self) -> None:
        if self.lost or self.is_broken:
            if self.waiting:
                return  # of the executor that broke, or alone
            if self.is_broken and self.renew is not None:
                self.executor, self.is_broken = self.renew(), False
            if self.lost:
                self._submit(Chunk([self.lost.popleft()], is_alone=True))
                return
        while len(self.waiting) < max(1, AHEAD * self.workers()):
            chunk = self._next_chunk()
            if not chunk.tasks or self._submit(chunk).done():
                return  # rows that are done are worth more than others begun

    def _submit(self, chunk: Chunk) -> "Future[list[Row | None]]":
        try:
            future = chunk.submit(self._executor(chunk))
        except BrokenExecutor as error:  # before it had the chunk
            future, chunk = Future[list[Row | None]](), replace(chunk, is_alone=False)
            future.set_exception(error)
        self.waiting[future] = chunk
        return future

    def _executor(self, chunk: Chunk) -> Executor:
        """Return who solves the next chunk: others once it takes long, and several could."""
        if self.later is not None and not (chunk.is_small and self._begins()):
            is_last = len(chunk.tasks) == 1 and not self.unsolved and self._peek() is None
            if not is_last:
                self.executor, self.later = self.later(), None
        return self.executor

    def _begins(self) -> bool:
        """Return whether small graphs are solved here, as processes take longer to start."""
        return self.later is not None and time.monotonic() - self.begun < START

    def _peek(self) -> Task | None:
        if self.next is None:
            self.next = next(self.tasks, None)
        return self.next

    def _next_chunk(self) -> Chunk:
        """Return the next tasks: first what the library left, but for the first half second."""
        following = self._peek() if not self.unsolved or self._begins() else None
        if following is not None and following.may_be_small:
            size, self.chunk = self.chunk, min(CHUNK, 2 * self.chunk)
            return Chunk(list(islice(self._following(is_small=True), size)), is_small=True)
        size = FEW if self.seen >= SEEN and self.seconds < QUICK * self.seen else 1
        if self.unsolved:
            return Chunk([self.unsolved.popleft() for _ in range(min(size, len(self.unsolved)))])
        return Chunk(list(islice(self._following(is_small=False), size)))

    def _following(self, is_small: bool) -> Iterator[tuple[int, Task]]:
        """Take tasks of one kind as long as they follow each other."""
        while (task := self._peek()) is not None and task.may_be_small == is_small:
            self.number, self.next = self.number + 1, None
            yield self.number - 1, task

    def _taken(self, chunk: Chunk, rows: "list[Row | None]") -> Generator[tuple[int, Row]]:
        for (number, task), row in zip(chunk.tasks, rows, strict=True):
            if row is None:
                self.unsolved.append((number, task))
                continue
            if not chunk.is_small:
                self.seen, self.seconds = self.seen + 1, self.seconds + row.seconds
            yield number, row


def solve_each(tasks: list[Task]) -> "list[Row | None]":
    """Solve the tasks one by one, in a worker."""
    return [solve(task) for task in tasks]


def solve_small(tasks: list[Task]) -> "list[Row | None]":
    """Solve what the native library does, in a worker; the rest is None."""
    start = time.perf_counter()
    try:
        texts = [small_text(task.graph) for task in tasks]
        share = (time.perf_counter() - start) / max(1, len(tasks))
        answers = iter(solved([text for text in texts if text is not None]))
    except MemoryError:
        return [None] * len(tasks)  # it may be enough for one at a time
    rows: list[Row | None] = []
    for task, text in zip(tasks, texts, strict=True):
        answer = None if text is None else next(answers)
        if answer is None:
            rows.append(None)
            continue
        rows.append(_row(task, peak_of(answer), answer.work, answer.seconds + share))
    return rows


def solve(task: Task) -> Row:
    """Return the row of one graph that is not the library's; what goes wrong becomes its error."""
    start = time.perf_counter()
    try:
        if task.plan:
            return _planned_row(task, start)
        peak, work = peak_and_work(
            task.graph, task.pipeline, task.time_limit, cache=task.cache, is_left=True
        )
    except Exception as error:
        return _error_row(task, error, time.perf_counter() - start)
    return _row(task, peak, work, time.perf_counter() - start)


def _row(task: Task, peak: Peak, work: GraphWork, seconds: float) -> Row:
    return Row(
        task.label, peak.peak, peak.lower_bound, peak.proof, peak.optimal, round(seconds, 6), None,
        peak.order if task.has_order else (), work.macs, work.weights, None,
        is_fitting(task, work.weights),
    )  # fmt: skip


def _error_row(task: Task, error: Exception, seconds: float) -> Row:
    line = str(diagnose(error, task.label))
    return Row(task.label, None, None, None, False, round(seconds, 6), line)


def is_fitting(task: Task, weights: int | None) -> bool | None:
    """Return whether weights fit into the task's flash; None if one of both is not known."""
    return None if task.flash is None or weights is None else weights <= task.flash


def _planned_row(task: Task, start: float) -> Row:
    """Return the row of what `memopt.plan` plans."""
    if isinstance(task.graph, MemoryGraph):
        raise TypeError("a MemoryGraph has no operators that a plan could be made of")
    words: dict[str, Any] = dict(task.plan or {})
    planned = plan(task.graph, pipeline=task.pipeline, time_limit=task.time_limit, **words)
    work = work_of_source(task.graph, only_function(planned.module))
    return Row(
        task.label, planned.peak, planned.lower_bound, planned.proof, planned.optimal,
        round(time.perf_counter() - start, 6), None, planned.order if task.has_order else (),
        work.macs, work.weights, planned.arena, is_fitting(task, work.weights),
    )  # fmt: skip
