"""The processes of a sweep: they end with it, and one that dies costs the row of its graph."""

import os
import signal
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest
from cells import cell

import memopt
from memopt.api import sweep_rows
from memopt.api.processes import Processes
from memopt.api.small_graphs import solved
from memopt.api.sweep_rows import Here, Task
from memopt.text.usage import Terminated


def test_ctrl_c_waits_for_a_process_that_is_starting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else that process was known to nobody, and solved on."""
    known: list[int] = []

    def start(self: ProcessPoolExecutor, *_: object) -> Future[None]:
        signal.raise_signal(signal.SIGINT)
        known.append(1)
        return Future()

    monkeypatch.setattr(ProcessPoolExecutor, "submit", start)
    before = signal.getsignal(signal.SIGINT)
    with Processes(1) as pool, pytest.raises(KeyboardInterrupt):
        pool.submit(print)
    assert known and signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("kind", [KeyboardInterrupt, Terminated, GeneratorExit, BrokenPipeError])
def test_whatever_ends_a_sweep_ends_its_processes(
    kind: type[BaseException], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else it waited for what they had begun: SIGTERM, or `memopt sweep ... | head -1`."""
    ended: list[type[BaseException]] = []

    class Pool(Here):
        def __init__(self, *_: object) -> None:
            pass

        def end(self) -> None:
            ended.append(kind)

    monkeypatch.setattr(sweep_rows, "Processes", Pool)
    tasks = [Task(cell(i), "memgraph-model{alignment=1}") for i in range(2)]
    rows: Any = sweep_rows.rows(tasks, 2)
    assert next(rows).error is None
    with pytest.raises(kind):
        rows.throw(kind)
    assert ended == [kind]
    assert len(list(sweep_rows.rows(tasks, 2))) == 2 and ended == [kind]


class Mortal(Here):
    """A pool that breaks at a task named "killer" as Python's does: what it had and what it gets
    fails."""

    pools = 0

    def __init__(self, *_: object) -> None:
        Mortal.pools += 1
        self.pending: list[tuple[Future[Any], Any, list[Task]]] = []
        self.error: BrokenProcessPool | None = None

    def end(self) -> None:
        pass

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Any:
        if self.error is not None:
            raise self.error
        future: Future[Any] = Future()
        self.pending.append((future, fn, args[0]))
        if any(task.name.startswith("killer") for task in args[0]):
            self.error = BrokenProcessPool("a process died")
            for waiting, _, _ in self.pending:
                waiting.set_exception(self.error)
        elif len(self.pending) > 2 or len(args[0]) == 1:
            for waiting, solve, tasks in self.pending:
                waiting.set_result(solve(tasks))
            self.pending.clear()
        return future


@pytest.mark.parametrize("pipeline", ["", "memgraph-model{alignment=1}"])
def test_a_process_that_dies_costs_the_row_of_its_graph(
    pipeline: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Solve again, each alone, those that were in work beside it."""
    Mortal.pools = 0
    monkeypatch.setattr(sweep_rows, "Processes", Mortal)
    monkeypatch.setattr(sweep_rows, "START", 0.0)
    killers = (5, 11)
    tasks = [
        Task(cell(i), pipeline, name=f"killer{i}" if i in killers else f"{i}") for i in range(14)
    ]
    rows = list(sweep_rows.rows(tasks, 2))
    assert [row.graph for row in rows] == [task.name for task in tasks]
    assert [i for i, row in enumerate(rows) if row.error is not None] == list(killers)
    assert rows[5].error == (
        "killer5: error: the process that solved it died, also with nothing beside it"
    )
    assert [row.peak for row in rows if row.peak] == [
        row.peak for i, row in enumerate(sweep_rows.rows(tasks, 1)) if i not in killers
    ]
    assert 3 <= Mortal.pools <= 5
    with pytest.raises(BrokenProcessPool):  # where no process can be started at all
        list(sweep_rows.rows([Task(cell(0), pipeline, name="killer")] * 12, 2))
    with pytest.raises(BrokenProcessPool):  # of somebody else's
        list(sweep_rows.rows(tasks, 1, Mortal()))


def test_chunks_for_which_memory_is_short_are_solved_one_by_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def solve(texts: list[bytes]) -> list[Any]:
        if len(texts) > 1:
            raise MemoryError
        return solved(texts)

    monkeypatch.setattr(sweep_rows, "solved", solve)
    rows = list(sweep_rows.rows([Task(cell(seed)) for seed in range(3)], 1))
    assert [row.peak for row in rows] == [memopt.peak(cell(seed)).peak for seed in range(3)]


@pytest.mark.deep
def test_a_real_process_that_dies_costs_one_row() -> None:
    class Killer:
        def __reduce__(self) -> tuple[Any, tuple[int]]:
            return os._exit, (1,)

    graphs: list[Any] = [cell(0), Killer(), cell(1), cell(2)]
    rows = list(memopt.sweep(graphs, jobs=2, pipeline="memgraph-model{alignment=1}"))
    assert [row.error is None for row in rows] == [True, False, True, True]
    assert "graph 1: error: the process that solved it died" in str(rows[1].error)
