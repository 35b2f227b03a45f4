"""`python -m benchmarks schedule`: the papers' tables, all methods, the worth of each technique.

Every figure without a "*" in its column is measured by the run itself. Solver calls have the run's
time limit each, and say what they proved within it.
"""

import random
from collections.abc import Callable

from benchmarks.tables.graphs import SWIFTNET, Case, figure_1, swiftnet
from benchmarks.tables.methods import ablation, methods
from benchmarks.tables.papers import (
    LIBERIS_FIGURE_1,
    LIBERIS_SWIFTNET,
    SERENITY_2,
    SERENITY_3,
)
from benchmarks.tables.seconds import seconds, training
from benchmarks.tables.table import Run, Table
from benchmarks.tables.zhong import figure_9, table_2, table_3, table_4, table_5, table_6
from memopt.solvers.problems.memory_graph import MemoryGraph, profile
from memopt.solvers.published.scheduling.dp import hourglasses


def serenity_2(run: Run) -> Table:
    """Plain DP, with divide and conquer, with soft budgets; not contracted, as in the paper."""
    table = Table(
        "serenity-2",
        "SERENITY, Table 2: dynamic programming (1), divide and conquer (2), soft budgets (3)",
        (
            "graph",
            "algorithm",
            "nodes*",
            "seconds*",
            "operators",
            "parts",
            "peak B",
            "proof",
            "states",
            "seconds",
        ),
        (
            "Quoted (*): SwiftNet without rewriting, their graph of 62 nodes; ours is the Visual"
            " Wake Words model. A path through an hourglass passes one state there in any case, so"
            " (2) saves states only together with (3), by a budget for each part.",
        ),
    )
    for case in _with_swiftnet(run):
        for name, divide, budgets in (
            ("1", False, False),
            ("1+2", True, False),
            ("1+2+3", True, True),
        ):
            solved, seconds = run.timed(
                f"{case.title} {name}", case.graph, "dp", divide=divide, budgets=budgets
            )
            table.add(
                case.title,
                name,
                *(SERENITY_2[name] if case.name == SWIFTNET else (None, None)),
                len(case.graph),
                len(hourglasses(case.graph)) if divide else 1,
                solved.peak,
                solved.proof,
                solved.states,
                seconds,
            )
    return table


def _with_swiftnet(run: Run) -> list[Case]:
    model = swiftnet()
    return ([model] if model else []) + run.cases


SHARES = (1.0, 1.1, 1.25, 1.5, 2.0)


def random_order(rng: random.Random, graph: MemoryGraph) -> tuple[int, ...]:
    """A legal order: always one of the ready operators, each as likely."""
    waiting = [len(set(ps)) for ps in graph.predecessors]
    ready = [v for v, w in enumerate(waiting) if w == 0]
    order: list[int] = []
    while ready:
        at = rng.randrange(len(ready))
        ready[at], ready[-1] = ready[-1], ready[at]
        v = ready.pop()
        order.append(v)
        for s in graph.successors[v]:
            waiting[s] -= 1
            if waiting[s] == 0:
                ready.append(s)
    return tuple(order)


def serenity_3(run: Run) -> Table:
    """Share of random orders within a budget."""
    table = Table(
        "serenity-3",
        "SERENITY, Figure 3: share of random orders within a budget",
        (
            "graph",
            "orders",
            "auto B",
            "proof",
            "best B",
            "median B",
            "worst B",
            *(f"<= {share:.2f} x auto" for share in SHARES),
        ),
        (
            f"The paper: of SwiftNet Cell A's orders {SERENITY_3[0]:.1%} fit 250 KB and"
            f" {SERENITY_3[1]:.2%} are optimal. Orders are drawn step by step from the ready"
            " operators, seed 0, which is not uniform over orders.",
        ),
    )
    for case in _with_swiftnet(run):
        best, _ = run.timed(case.title, case.graph, "auto")
        run.tick(f"{case.title}: {run.samples} random orders")
        rng = random.Random(0)
        peaks = sorted(
            profile(case.graph, random_order(rng, case.graph)).peak for _ in range(run.samples)
        )
        shares = (sum(p <= share * best.peak for p in peaks) / len(peaks) for share in SHARES)
        table.add(
            case.title,
            len(peaks),
            best.peak,
            best.proof,
            peaks[0],
            peaks[len(peaks) // 2],
            peaks[-1],
            *(f"{share:.2%}" for share in shares),
        )
    return table


def liberis_table(run: Run) -> Table:
    """Figure 1 and SwiftNet Cell."""
    table = Table(
        "liberis",
        "Liberis: Figure 1, and SwiftNet Cell on Visual Wake Words",
        (
            "graph",
            "default*",
            "best*",
            "source B",
            "liberis B",
            "proof",
            "states",
            "seconds",
            "auto B",
            "auto proof",
        ),
        ("Quoted in bytes for Figure 1, in KB = 1000 B for SwiftNet Cell (Table 1).",),
    )
    graphs: list[tuple[str, tuple[int, int], MemoryGraph]] = [
        ("Figure 1", LIBERIS_FIGURE_1, figure_1())
    ]
    model = swiftnet()
    if model is not None:
        graphs.append((SWIFTNET, LIBERIS_SWIFTNET, model.graph))
    for name, quoted, graph in graphs:
        source, _ = run.timed(name, graph, "source")
        solved, seconds = run.timed(name, graph, "liberis")
        best, _ = run.timed(name, graph, "auto")
        table.add(
            name,
            *quoted,
            source.peak,
            solved.peak,
            solved.proof,
            solved.states,
            seconds,
            best.peak,
            best.proof,
        )
    return table


TABLES: dict[str, Callable[[Run], Table]] = {
    "zhong-2": table_2,
    "zhong-3": table_3,
    "zhong-4": table_4,
    "zhong-5": table_5,
    "zhong-6": table_6,
    "zhong-9": figure_9,
    "serenity-2": serenity_2,
    "serenity-3": serenity_3,
    "liberis": liberis_table,
    "seconds": seconds,
    "training": training,
    "methods": methods,
    "ablation": ablation,
}
