"""The tables of `python -m benchmarks place`: every strategy and peer on every instance."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from benchmarks.tables import peers
from benchmarks.tables.generator import Instance, planted, twenty
from benchmarks.tables.graphs import chosen, listed, shared_folder
from benchmarks.tables.plans import plans
from benchmarks.tables.scale import scale
from benchmarks.tables.shared_objects import MIB, NETWORKS, shared_objects
from benchmarks.tables.table import Run, Table
from benchmarks.tables.traffic import accesses, off_chip, orders
from memopt.api.place_csv import problem_of
from memopt.dialects.memgraph.errors import MemoptError
from memopt.formats.minimalloc import Row, read_rows
from memopt.solvers.errors import ProblemError
from memopt.solvers.placement import METHODS, place, prove
from memopt.solvers.problems.placement import PlacementProblem
from memopt.verify.buffers import verify_rows

QUICK = ("mobilenet_v1", "deeplab_v3", "planted-200-50-0")

# Pisarchyk & Lee (arXiv:2001.03288), Table 2, offset calculation; MiB. NETWORKS gives the order.
TABLE_2 = {
    "Greedy by size": (4.594, 5.742, 4.653, 7.914, 6.271),
    "Greedy by breadth": (4.594, 5.742, 4.653, 7.914, 7.359),
    "Greedy (Lee)": (6.125, 6.508, 4.985, 10.624, 8.362),
    "Strip packing (Sekiyama)": (4.594, 6.029, 4.321, 7.914, 6.271),
    "Lower bound": (4.594, 5.742, 4.320, 7.914, 6.271),
    "Naive": (19.248, 26.313, 48.642, 54.010, 28.556),
}
STRATEGIES: dict[str, str] = {
    "Greedy by size": "greedy-by-size",
    "Greedy by breadth": "greedy-by-breadth",
    "Greedy (Lee)": "tflite",
    "Strip packing (Sekiyama)": "best-fit",
}


@dataclass
class PlaceRun:
    """Instances by name, seconds for each solver call; `tick` is told what is under way."""

    instances: list[tuple[str, tuple[Row, ...]]]
    time_limit: float
    quick: bool
    tick: Callable[[str], None]


def instances(names: Sequence[str]) -> list[tuple[str, tuple[Row, ...]]]:
    """Files, or names of shared/alloc and the generator (`planted-BUFFERS-LIVE-SEED`); all of them
    for no names. Raises MemoptError, OSError."""
    if not names:
        folder = shared_folder() / "alloc"
        paths = [*sorted(folder.glob("*.csv")), *sorted(folder.glob("*/*.csv"))]
        if not paths:
            raise MemoptError(f"no {folder}: set MEMOPT_SHARED, or name files with --graphs")
        listed = [(p.stem, read_rows(p.read_bytes(), str(p))) for p in paths]
        return listed + [(i.name, _rows(i)) for i in twenty()]
    return [(Path(n).stem if n.endswith(".csv") else n, _chosen(n)) for n in names]


def _chosen(name: str) -> tuple[Row, ...]:
    folder = shared_folder() / "alloc"
    known = [p for p in sorted(folder.rglob("*.csv")) if name in (p.stem, p.stem.split(".")[0])]
    for path in (Path(name), *known):
        if path.is_file():
            return read_rows(path.read_bytes(), str(path))
    parts = name.split("-")
    if parts[0] == "planted" and len(parts) == 4 and all(p.isdigit() for p in parts[1:]):
        try:
            return _rows(planted(int(parts[1]), int(parts[2]), seed=int(parts[3])))
        except ValueError as error:
            raise MemoptError(f"{name}: {error}") from error
    raise MemoptError(f"{name}: neither a file, nor in {folder}, nor planted-BUFFERS-LIVE-SEED")


def _rows(instance: Instance) -> tuple[Row, ...]:
    return tuple(Row(b.name, b.lower, b.upper, b.size) for b in instance.problem.buffers)


COLUMNS = ("buffers", "bound B", "strategy", "arena B", "arena / bound", "optimal", "seconds")


def strategies(run: PlaceRun) -> Table:
    """Return one row per instance and strategy."""
    table = Table(
        "strategies",
        "All strategies and peers",
        ("instance", *COLUMNS),
        (
            f"Each within {run.time_limit:g} s where it takes a limit. The bound is the largest"
            " that any strategy proved. Every answer was verified from its rows alone. minimalloc"
            " is asked for the bound; no arena: not found, not there in time, or refused.",
        ),
    )
    for name, rows in run.instances:
        problem, first = problem_of(rows)
        answers: list[tuple[str, int | None, float]] = []
        bound = problem.load
        for method in METHODS:
            run.tick(f"{name}: {method}")
            started = time.perf_counter()
            try:
                answer = prove(PlacementProblem(problem.buffers), method, run.time_limit)
            except ProblemError as error:
                answers.append((f"{method}, refused: {error}", None, 0.0))
                continue
            seconds = time.perf_counter() - started
            placed = [_at(r, answer.placement.offsets[i]) for r, i in zip(rows, first, strict=True)]
            answers.append((method, verify_rows(placed), seconds))
            bound = max(bound, answer.lower_bound)
        answers += _peers(run, name, rows, bound)
        for who, arena, seconds in answers:
            ratio = round(arena / bound, 4) if arena is not None and bound else None
            optimal = arena == bound
            table.add(name, len(rows), bound, who, arena, ratio, optimal, round(seconds, 4))
    return table


def _at(row: Row, offset: int) -> Row:
    return Row(row.name, row.lower, row.upper, row.size, row.alignment, row.gaps, offset)


def _peers(
    run: PlaceRun, name: str, rows: tuple[Row, ...], bound: int
) -> list[tuple[str, int | None, float]]:
    """(peer, arena, seconds with the start of its process) of those that are there."""
    calls: list[tuple[str, Callable[[], list[Row] | None]]] = []
    if peers.vela_is_there():
        calls.append(("Vela", lambda: peers.placed_by_vela(rows, run.time_limit)))
    if peers.minimalloc():
        calls.append(
            ("minimalloc", lambda: peers.placed_by_minimalloc(rows, bound, run.time_limit))
        )
    answers: list[tuple[str, int | None, float]] = []
    for peer, call in calls:
        run.tick(f"{name}: {peer}")
        started = time.perf_counter()
        try:
            placed = call()
            arena = None if placed is None else verify_rows(placed)
            answers.append((peer, arena, time.perf_counter() - started))
        except MemoptError as error:
            answers.append((f"{peer}, failed: {error.text}", None, 0.0))
    return answers


def summary(table: Table) -> Table:
    """Return the summary of `strategies`: each strategy over all instances."""
    result = Table(
        "summary",
        "The strategies over all instances",
        ("strategy", "answers", "optimal", "mean arena / bound", "worst", "seconds in all"),
        ("Only over the instances that a strategy has an answer for.",),
    )
    results: dict[str, list[tuple[float, bool, float]]] = {}
    for row in table.rows:
        _, _, _, who, _, ratio, optimal, seconds = row
        if ratio is not None:
            results.setdefault(who, []).append((ratio, optimal, seconds))
    for who, answers in results.items():
        ratios = [a[0] for a in answers]
        result.add(
            who,
            len(answers),
            sum(a[1] for a in answers),
            round(sum(ratios) / len(ratios), 4),
            max(ratios),
            round(sum(a[2] for a in answers), 2),
        )
    return result


def pisarchyk(run: PlaceRun) -> Table:
    """Offset calculation on the paper's networks, MiB."""
    columns = [c for n in NETWORKS for c in (n, f"{n}*")]
    table = Table(
        "pisarchyk",
        "Offsets: Pisarchyk & Lee's Table 2, MiB",
        ("strategy", *columns),
        ("Columns marked * are the paper's. The strategies depend on how ties are broken.",),
    )
    folder = shared_folder() / "alloc" / "pisarchyk"
    problems: list[PlacementProblem] = []
    for network in NETWORKS:
        path = folder / f"{network}.csv"
        problems.append(problem_of(read_rows(path.read_bytes(), str(path)))[0])

    def add(row: str, ours: list[float]) -> None:
        quoted = TABLE_2.get(row, (None,) * len(NETWORKS))
        table.add(row, *(v for pair in zip(ours, quoted, strict=True) for v in pair))

    for row, method in STRATEGIES.items():
        run.tick(f"pisarchyk: {row}")
        add(row, [round(place(p, method).arena / MIB, 3) for p in problems])
    add("auto", [round(place(p, "auto").arena / MIB, 3) for p in problems])
    add("Lower bound", [round(p.load / MIB, 3) for p in problems])
    add("Naive", [round(sum(b.size for b in p.buffers) / MIB, 3) for p in problems])
    return table


def _plans(run: PlaceRun) -> Table:
    cases = chosen(("hrnet_w18_small_v1",)) if run.quick else listed()
    return plans(Run(cases, run.time_limit, 0, run.tick))


def _shared_objects(run: PlaceRun) -> Table:
    return shared_objects(Run([], run.time_limit, 0, run.tick))


TABLES: dict[str, Callable[[PlaceRun], Table]] = {
    "strategies": strategies,
    "pisarchyk": pisarchyk,
    "shared-objects": _shared_objects,
    "scale": lambda run: scale(run.tick, run.quick),
    "plans": _plans,
    "traffic": lambda run: off_chip(run.tick, run.time_limit),
    "orders": lambda run: orders(run.tick, run.time_limit, run.quick),
    "accesses": lambda run: accesses(run.tick, run.quick),
}
