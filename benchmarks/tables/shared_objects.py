"""Pisarchyk & Lee's Table 1: shared objects by every strategy, beside the figures of the paper."""

import csv
import time
from pathlib import Path

from benchmarks.tables.graphs import shared_folder
from benchmarks.tables.table import Run, Table
from memopt.solvers.problems.placement import Buffer, PlacementProblem
from memopt.solvers.shared_objects import options, share
from memopt.solvers.shared_objects.ties import TIES

MIB = 1 << 20
NETWORKS = ("mobilenet_v1", "mobilenet_v2", "deeplab_v3", "inception_v3", "posenet")

# "Efficient Memory Management for Deep Neural Net Inference" (arXiv:2001.03288), Table 1; its MB
# are MiB. BlazeFace is left out: its graph is not known.
TABLE_1 = {
    "Greedy by size": (4.594, 7.178, 6.437, 10.337, 6.347),
    "Greedy by size improved": (4.594, 6.891, 6.437, 10.337, 6.347),
    "Greedy by breadth": (6.125, 6.699, 6.437, 10.676, 8.390),
    "Greedy (Lee)": (4.594, 8.039, 7.168, 12.703, 6.347),
    "Min-cost flow (Lee)": (5.359, 7.513, 8.364, 10.624, 7.359),
    "Lower bound": (4.594, 6.604, 6.105, 8.955, 6.347),
    "Naive": (19.248, 26.313, 48.642, 54.010, 28.556),
}
STRATEGIES: dict[str, str] = {
    "Greedy by size": "shared-objects-by-size",
    "Greedy by size improved": "shared-objects-improved",
    "Greedy by breadth": "shared-objects-by-breadth",
    "Greedy (Lee)": "shared-objects-greedy",
    "Min-cost flow (Lee)": "shared-objects-min-cost-flow",
}


def problem_of(path: Path) -> PlacementProblem:
    """The buffers of a CSV with the columns lower, upper (exclusive) and size. Raises OSError."""
    with path.open(encoding="utf-8") as file:
        rows = [{k: int(v) for k, v in row.items()} for row in csv.DictReader(file)]
    return PlacementProblem(
        tuple(Buffer(f"b{i}", r["size"], r["lower"], r["upper"], i) for i, r in enumerate(rows))
    )


def shared_objects(run: Run) -> Table:
    """MiB of all objects; the graphs of MobileNet and PoseNet are the paper's, bound for bound."""
    columns = [c for n in NETWORKS for c in (n, f"{n}*")]
    table = Table(
        "shared-objects",
        "Shared objects: Pisarchyk & Lee's Table 1, MiB",
        ("strategy", *columns),
        (
            "The greedy strategies depend on how ties are broken, which the paper leaves open: by"
            " size and by breadth the best of four orders, each of them below."
            " Inception v3 is another graph than the paper's (the order of its branches is not"
            " known). Proven: no assignment needs fewer bytes.",
        ),
    )
    folder = shared_folder() / "alloc" / "pisarchyk"
    problems = [problem_of(folder / f"{n}.csv") for n in NETWORKS]

    def add(row: str, ours: list[float | str]) -> None:
        quoted = TABLE_1.get(row, (None,) * len(NETWORKS))
        pairs = zip(ours, quoted, strict=True)
        table.add(row, *(value for pair in pairs for value in pair))

    with_ties = {method for o in options() if o.name == "ties" for method in o.methods}
    for row, method in STRATEGIES.items():
        run.tick(f"shared objects: {row}")
        add(row, [round(share(p, method).total / MIB, 3) for p in problems])
        for order in TIES if method in with_ties else ():
            totals = [share(p, method, ties=order).total for p in problems]
            add(f"- {order} first", [round(total / MIB, 3) for total in totals])
    exact: list[float | str] = []
    proven: list[float | str] = []
    seconds: list[float | str] = []
    for name, problem in zip(NETWORKS, problems, strict=True):
        run.tick(f"shared objects: {name}, exact")
        started = time.perf_counter()
        answer = share(problem, "shared-objects", run.time_limit)
        seconds.append(round(time.perf_counter() - started, 2))
        exact.append(round(answer.total / MIB, 3))
        proven.append("yes" if answer.optimal else f"bound {answer.lower_bound / MIB:.3f}")
    add("Exact", exact)
    add("proven", proven)
    add("seconds", seconds)
    bounds = [share(p, "shared-objects-greedy").lower_bound for p in problems]
    add("Lower bound", [round(b / MIB, 3) for b in bounds])
    add("Naive", [round(sum(b.size for b in p.buffers) / MIB, 3) for p in problems])
    return table
