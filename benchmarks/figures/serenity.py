"""SERENITY's Figures 10, 12, 13 and 15 (Ahn et al., 2020): cells in TensorFlow Lite's order and
place, in the best order, and rewritten.

The text of the paper has the means of 10 and 13 and the figures of 12; the bars of 15 are not in
it. SwiftNet is the Visual Wake Words model. DARTS is drawn again (float32); RandWire is another
drawing, of ImageNet's size and whole: the paper's graphs for CIFAR were not published.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean, geometric_mean
from time import process_time
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from benchmarks.figures.cells import CELLS, Cell
from benchmarks.tables.papers import SERENITY_10, SERENITY_12, SERENITY_12_SUMS, SERENITY_13
from benchmarks.tables.table import Table
from memopt.dialects.memgraph.functions import only_function
from memopt.passes.memgraph_rewrite import MemgraphRewritePass
from memopt.passes.plan.extract import extract
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import MemoryGraph, live_ranges, profile
from memopt.solvers.problems.placement import Placement
from memopt.solvers.scheduling import schedule
from memopt.text.usage import UsageError

RULES = ("gather", "kernel-wise", "channel-wise")


@dataclass(frozen=True)
class Plan:
    """An order of `graph` with offsets; CPU seconds of the order, and of rewriting before it."""

    graph: MemoryGraph
    order: tuple[int, ...]
    placement: Placement
    seconds: float = 0.0

    @property
    def peak(self) -> int:
        return profile(self.graph, self.order).peak

    @property
    def tops(self) -> list[int]:
        """Return for each step the end of the live buffer that lies highest."""
        problem = live_ranges(self.graph, self.order)
        ends = list(zip(problem.buffers, self.placement.offsets, strict=True))
        return [
            max((at + b.size for b, at in ends if b.lower <= step < b.upper), default=0)
            for step in range(len(self.order))
        ]


@dataclass(frozen=True)
class Measured:
    """A cell as TensorFlow Lite has it, in the best order, and rewritten before that."""

    cell: Cell
    lite: Plan
    ordered: Plan
    rewritten: Plan


def chosen(titles: Sequence[str], quick: bool) -> list[Cell]:
    """Return the cells whose titles are given, all without. Raises UsageError."""
    known = {cell.title: cell for cell in CELLS}
    for title in titles:
        if title not in known:
            raise UsageError(f"no cell is called {title!r}: one of {', '.join(known)}")
    return [known[title] for title in titles] or list(CELLS[:1] if quick else CELLS)


def measure(cell: Cell, limit: float, tick: Callable[[str], None]) -> Measured:
    """Plan a cell, `limit` seconds for each solver call. Raises MemoptError, OSError."""
    tick(cell.title)
    module = cell.module()
    graph = extract(only_function(module)).graph
    source = tuple(range(len(graph)))
    lite = Plan(graph, source, place(live_ranges(graph, source), "tflite"))
    ordered = _planned(module, limit)
    started = process_time()
    MemgraphRewritePass(RULES, time_limit=limit).apply(Context(), module)
    return Measured(cell, lite, ordered, _planned(module, limit, started))


def _planned(module: ModuleOp, limit: float, started: float | None = None) -> Plan:
    started = process_time() if started is None else started
    graph = extract(only_function(module)).graph
    order = schedule(graph, "auto", limit).order
    seconds = process_time() - started
    return Plan(graph, order, place(live_ranges(graph, order), "auto", limit), seconds)


def figure_10(done: Sequence[Measured]) -> Table:
    """Return how many times less an arena is than TensorFlow Lite's."""
    table = Table(
        "serenity-10",
        "SERENITY, Figure 10: times less than TensorFlow Lite's arena",
        ("cell", "order", "order*", "order and rewriting", "order and rewriting*"),
        ("Quoted (*): the means of its nine cells.",),
    )
    ratios = [
        tuple(m.lite.placement.arena / p.placement.arena for p in (m.ordered, m.rewritten))
        for m in done
    ]
    for m, (order, both) in zip(done, ratios, strict=True):
        table.add(m.cell.title, order, None, both, None)
    means = [geometric_mean(r[i] for r in ratios) for i in (0, 1)]
    table.add("geometric mean", means[0], SERENITY_10[0], means[1], SERENITY_10[1])
    return table


def figure_12(done: Sequence[Measured]) -> Table:
    """Return bytes in each step of Cell A, with addresses and without."""
    table = Table(
        "serenity-12",
        "SERENITY, Figure 12: SwiftNet Cell A step by step, KB of 1,000 B",
        (
            "step",
            *("TFLite, with addresses", "order, with addresses", "rewritten, with addresses"),
            *("TFLite", "order", "rewritten"),
        ),
        (
            "With addresses: the end of the live buffer that lies highest. SERENITY counts a"
            " concatenation as nothing (ours does so when rewritten) and adds partial sums in 8"
            " bits, which is not exact (ours: 32).",
        ),
    )
    for m in [m for m in done if m.cell.title == CELLS[0].title]:
        plans = (m.lite, m.ordered, m.rewritten)
        columns = [p.tops for p in plans] + [list(profile(p.graph, p.order).steps) for p in plans]
        for step in range(max(map(len, columns))):
            table.add(step, *(_kb(c[step]) if step < len(c) else None for c in columns))
        table.add("most", *(_kb(max(c)) for c in columns))
        table.add("most*", *SERENITY_12, *SERENITY_12_SUMS)
    return table


def _kb(size: int) -> float:
    return size / 1000


def figure_13(done: Sequence[Measured]) -> Table:
    """Return the seconds that an order takes, and rewriting with it."""
    table = Table(
        "serenity-13",
        "SERENITY, Figure 13: CPU seconds of ordering",
        ("cell", "operators", "order", "order*", "rewritten operators", "with rewriting", "with*"),
        ("Quoted (*): the means of its nine cells.",),
    )
    for m in done:
        sizes = len(m.ordered.graph), len(m.rewritten.graph)
        seconds = m.ordered.seconds, m.rewritten.seconds
        table.add(m.cell.title, sizes[0], seconds[0], None, sizes[1], seconds[1], None)
    means = fmean(m.ordered.seconds for m in done), fmean(m.rewritten.seconds for m in done)
    table.add("mean", None, means[0], SERENITY_13[0], None, means[1], SERENITY_13[1])
    return table


def figure_15(done: Sequence[Measured]) -> Table:
    """Return the bytes of which Figure 10 has the ratios."""
    table = Table(
        "serenity-15",
        "SERENITY, Figure 15: peak memory",
        (
            *("cell", "TFLite arena B", "TFLite* KB", "order arena B", "order peak B", "order* KB"),
            *("rewritten arena B", "rewritten peak B", "rewritten* KB"),
        ),
        ("Quoted (*): KB of 1,000 B, of Cell A, of which the paper's text has them.",),
    )
    for m in done:
        quoted: tuple[Any, ...] = SERENITY_12 if m.cell is CELLS[0] else (None,) * 3
        values: list[Any] = [m.lite.placement.arena, quoted[0]]
        for plan, theirs in zip((m.ordered, m.rewritten), quoted[1:], strict=True):
            values += [plan.placement.arena, plan.peak, theirs]
        table.add(m.cell.title, *values)
    return table


TABLES: dict[str, Callable[[Sequence[Measured]], Table]] = {
    "serenity-10": figure_10,
    "serenity-12": figure_12,
    "serenity-13": figure_13,
    "serenity-15": figure_15,
}
