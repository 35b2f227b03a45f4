"""Seconds of the pass itself: on every graph, and on training graphs of thousands of operators."""

import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from statistics import median

from benchmarks.tables.graphs import Case
from benchmarks.tables.table import Run, Table
from benchmarks.tables.training import SHAPES, training_graph
from memopt.solvers.problems.memory_graph import Schedule

RUNS = 5
SEEDS = 3  # of each shape of training graph


def seconds(run: Run) -> Table:
    """`memgraph-schedule{method=auto}` on every graph, with what it proves, and the sums."""
    table = Table(
        "seconds",
        f"Seconds of the pass: auto, median of {RUNS} runs",
        (
            "graph",
            "operators",
            "peak B",
            "listed optimum* B",
            "bound B",
            "proof",
            "optimal",
            "CPU seconds",
            "wall seconds",
            "most CPU seconds",
        ),
        (
            f"From IR to IR with its plan, alignment 1, each run within {run.time_limit:g} s, on"
            " one core. What fusion remembers of equal cells is forgotten before each run. The"
            " listed optimum (*) is that of optima.json, - where it is open.",
        ),
    )
    for case in run.cases:
        run.tick(f"{case.title}: auto, {RUNS} runs")
        solved, took = _pass(case, run.time_limit)
        table.add(
            case.title,
            len(case.graph),
            solved.peak,
            case.optimum,
            solved.lower_bound,
            solved.proof,
            solved.optimal,
            round(median(cpu for cpu, _ in took), 4),
            round(median(wall for _, wall in took), 4),
            round(max(cpu for cpu, _ in took), 4),
        )
    listed = [row for row in table.rows if row[3] is not None]
    for name, rows in (("sum where an optimum is listed", listed), ("sum", list(table.rows))):
        sums = (round(sum(row[i] for row in rows), 4) for i in (7, 8, 9))
        table.add(
            name,
            sum(row[1] for row in rows),
            *(None,) * 4,
            all(r[6] for r in rows) if rows else None,
            *sums,
        )
    return table


def _pass(case: Case, time_limit: float) -> tuple[Schedule, list[tuple[float, float]]]:
    """The worst answer (they differ where the time limit strikes), and (CPU, wall) seconds."""
    from memopt.dialects.memgraph.functions import functions
    from memopt.passes.memgraph_schedule import order_function
    from memopt.solvers.theory.chains import forget

    took: list[tuple[float, float]] = []
    answers: list[Schedule] = []
    for _ in range(RUNS):
        (func,) = functions(case.module.clone())
        forget()
        cpu, wall = time.process_time(), time.perf_counter()
        answers.append(order_function(func, None, "auto", time_limit)[1])
        took.append((time.process_time() - cpu, time.perf_counter() - wall))
    return max(answers, key=lambda a: (a.peak, -a.lower_bound)), took


@dataclass(frozen=True)
class Task:
    """A training graph to be made, and seconds for its order."""

    shape: str
    operators: int
    seed: int
    time_limit: float


@dataclass(frozen=True)
class Measured:
    """Bytes, seconds of the scheduler, and the most memory that its process had in MB."""

    operators: int
    source: int
    peak: int
    lower_bound: int
    proof: str
    cpu: float
    wall: float
    resident: float


def measure(task: Task) -> Measured:
    """Send one training graph through the scheduler at alignment 1; for a process of its own."""
    import resource

    from memopt.api.peaks import memory_graph
    from memopt.solvers.problems.memory_graph import profile
    from memopt.solvers.scheduling import schedule

    data = training_graph(task.shape, task.operators, task.seed)
    graph = memory_graph(data, "memgraph-model{alignment=1}")
    wall, cpu = time.perf_counter(), time.process_time()
    solved = schedule(graph, "auto", task.time_limit)
    wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    return Measured(
        len(graph),
        profile(graph, range(len(graph))).peak,
        solved.peak,
        solved.lower_bound,
        solved.proof,
        cpu,
        wall,
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def training(run: Run) -> Table:
    """Generated training graphs: peak, gap, seconds and memory."""
    table = Table(
        "training",
        f"Training graphs of about {run.operators:,} operators: auto within {run.time_limit:g} s",
        (
            "graph",
            "operators",
            "source B",
            "peak B",
            "bound B",
            "gap %",
            "proof",
            "CPU seconds",
            "wall seconds",
            "resident MB",
        ),
        (
            "`benchmarks.tables.training` makes them. Each has a process of its own; resident is"
            " the most that it had, with Python, the graph and everything imported.",
        ),
    )
    quick = run.operators < 1000
    tasks = [
        Task(shape, run.operators, seed, run.time_limit)
        for shape in (("residual",) if quick else SHAPES)
        for seed in range(1 if quick else SEEDS)
    ]
    for task, measured in _each(run, tasks):
        table.add(
            f"{task.shape}{task.seed}",
            measured.operators,
            measured.source,
            measured.peak,
            measured.lower_bound,
            round(100 * (measured.peak / measured.lower_bound - 1), 3),
            measured.proof,
            round(measured.cpu, 2),
            round(measured.wall, 2),
            round(measured.resident, 1),
        )
    return table


def _each(run: Run, tasks: list[Task]) -> Iterator[tuple[Task, Measured]]:
    """One after the other, each in a new interpreter, so that memory is its own."""
    for task in tasks:
        run.tick(f"{task.shape}{task.seed}: about {task.operators} operators")
        with ProcessPoolExecutor(1, get_context("spawn")) as process:
            yield task, process.submit(measure, task).result()
