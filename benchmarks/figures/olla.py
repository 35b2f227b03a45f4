"""OLLA's Figures 7 to 13 (Steiner et al., 2022): training steps, ordered and placed.

Its networks, as `benchmarks/executed/networks.py` draws them, its batches of 1 and 32, captured by
PyTorch 2.13 with stochastic gradient descent. The paper's text has means and outliers; the figures'
bars are not in it.
"""

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, median
from time import process_time
from typing import Any

from benchmarks.executed.steps import built, named
from benchmarks.figures.caching_allocator import Reserved, reserved
from benchmarks.tables.captured import Measured, captured, case_of, measure
from benchmarks.tables.captures import NAMES
from benchmarks.tables.papers import OLLA_7
from benchmarks.tables.table import Table, reduction
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import live_ranges, profile
from memopt.solvers.scheduling import schedule

NETWORKS = (
    *("alexnet", "vgg11", "googlenet", "mnasnet", "mobilenetv2", "efficientnet"),
    *("resnet18", "resnet3d", "vit", "transformer", "xlm-r"),
)
STEPS = tuple(f"{name}:{batch}" for batch in (1, 32) for name in NETWORKS)
QUICK = NAMES[:1]
SECONDS = (0.1, 0.3, 1.0, 3.0, 10.0)
OUTLIERS = {"olla-10": ("efficientnet",), "olla-12": ("efficientnet", "googlenet")}
TABLES = tuple(f"olla-{number}" for number in range(7, 14))


@dataclass(frozen=True)
class Step:
    """A step of training with what was measured of it."""

    name: str
    measured: Measured

    @property
    def batch(self) -> int:
        match = re.search(r"(?::|_b)(\d+)", self.name)
        return int(match[1]) if match else 0

    @property
    def persistent(self) -> int:
        return self.measured.case.persistent

    @cached_property
    def pytorch(self) -> Reserved:
        """Return what PyTorch's allocator for GPUs reserves, weights included."""
        case = self.measured.case
        return reserved(live_ranges(case.graph, range(len(case.graph))), case.variables)

    def saved(self, before: int, after: int) -> float:
        """Return the per cent of `before`, where neither has what stays, of all that is needed."""
        return reduction(before, after, self.persistent)


@dataclass(frozen=True)
class Figure:
    """`columns` of a step. Per cent and seconds have a mean or a median for each batch, beside
    which stands what OLLA's text says of the last column."""

    title: str
    note: str
    columns: tuple[tuple[str, Callable[[Step], Any]], ...]
    middle: Callable[[Iterable[float]], float]
    quoted: dict[int, str]


BY_RULES = (
    "PyTorch: its caching allocator for GPUs by its rules, in the order of the program, without"
    " operators' workspace (`benchmarks/figures/caching_allocator.py`); no GPU ran."
)
FIGURES = {
    "olla-7": Figure(
        "OLLA, Figure 7: peak reduction by order alone",
        "No fragmentation on either side. Of all bytes: weights, statistics and batch among them.",
        (
            ("program order B", lambda s: s.measured.source),
            ("best order B", lambda s: s.measured.peak),
            ("bound B", lambda s: s.measured.lower_bound),
            ("proof", lambda s: s.measured.proof),
            ("of what comes and goes %", lambda s: reduction(s.measured.source, s.measured.peak)),
            ("of all bytes %", lambda s: s.saved(s.measured.source, s.measured.peak)),
        ),
        fmean,
        {batch: str(saved) for batch, saved in OLLA_7.items()},
    ),
    "olla-8": Figure(
        "OLLA, Figure 8: fragmentation",
        f"{BY_RULES} Its fragmentation: what it reserves above the most that tensors have, and, as"
        " OLLA counts, above what they have when the last segment comes. OLLA's plans have none.",
        (
            ("plan's arena B", lambda s: s.measured.arena),
            ("plan's fragmentation %", lambda s: reduction(s.measured.arena, s.measured.peak)),
            ("PyTorch reserves B", lambda s: s.pytorch.segments),
            ("above the most %", lambda s: reduction(s.pytorch.segments, s.pytorch.highest)),
            ("as OLLA counts %", lambda s: reduction(s.pytorch.segments, s.pytorch.live_then)),
        ),
        fmean,
        {1: "7.9", 32: "26.1"},
    ),
    "olla-9": Figure(
        "OLLA, Figure 9: seconds of ordering",
        "OLLA: Gurobi 9.1.1, the median of both batches; its worst but EfficientNet is 5.2 s.",
        (
            ("operators", lambda s: len(s.measured.case.graph)),
            ("optimal", lambda s: s.measured.optimal),
            ("CPU s", lambda s: s.measured.order_seconds),
        ),
        median,
        {1: "1.4", 32: "1.4"},
    ),
    "olla-11": Figure(
        "OLLA, Figure 11: seconds of placing",
        "OLLA: Gurobi 9.1.1, the median of both batches.",
        (
            ("operators", lambda s: len(s.measured.case.graph)),
            ("fragmentation %", lambda s: reduction(s.measured.arena, s.measured.peak)),
            ("CPU s", lambda s: s.measured.place_seconds),
        ),
        median,
        {1: "5.7", 32: "5.7"},
    ),
    "olla-13": Figure(
        "OLLA, Figure 13: total peak reduction",
        f"{BY_RULES} All bytes on both sides.",
        (
            ("PyTorch reserves B", lambda s: s.pytorch.segments),
            ("arena and what stays B", lambda s: s.measured.arena + s.persistent),
            ("less %", lambda s: reduction(s.pytorch.segments, s.measured.arena + s.persistent)),
        ),
        fmean,
        {1: "30.4", 32: "36.1"},
    ),
}


def chosen(names: Sequence[str], quick: bool) -> tuple[str, ...]:
    """Return the steps asked for: NETWORK:BATCH, kept captures, JSON graphs. Raises UsageError."""
    named([n for n in names if n not in NAMES and not Path(n).is_file()])
    return tuple(names) or (QUICK if quick else STEPS)


def measured(name: str, limit: float, tick: Callable[[str], None]) -> Step:
    """Order and place a step, `limit` seconds for each of the two. Raises MemoptError, OSError."""
    tick(name)
    if name in NAMES:
        case = captured(name)
    elif Path(name).is_file():
        case = case_of(Path(name).read_bytes(), Path(name).stem)
    else:
        import memopt.torch

        case = case_of(json.dumps(memopt.torch.capture(built(name))).encode(), name)
    return Step(case.name, measure(case, limit))


def table(name: str, done: Sequence[Step]) -> Table:
    """Return a figure: a row per step, and for each batch the mean or median beside OLLA's."""
    if name in OUTLIERS:
        return _over_time(name, done)
    figure = FIGURES[name]
    names = [column for column, _ in figure.columns]
    result = Table(name, figure.title, ("step", *names, "OLLA*"), (figure.note,))
    for step in done:
        values = (value(step) for _, value in figure.columns)
        result.add(step.name, *values, None)
    for batch in sorted({s.batch for s in done}):
        of = [s for s in done if s.batch == batch]
        middles = (
            figure.middle([value(s) for s in of]) if column.endswith((" %", "CPU s")) else None
            for column, value in figure.columns
        )
        label = f"{'mean' if figure.middle is fmean else 'median'} of batch {batch}"
        result.add(label, *middles, figure.quoted.get(batch))
    return result


def _over_time(name: str, done: Sequence[Step]) -> Table:
    """Return Figure 10 (bytes that orders save) or 12 (fragmentation) at several time limits."""
    is_order = name == "olla-10"
    table = Table(
        name,
        "OLLA, Figure 10: saved by order, by time limit"
        if is_order
        else "OLLA, Figure 12: fragmentation, by time limit",
        ("step", "limit s", "CPU s", "of all bytes %" if is_order else "fragmentation %", "OLLA*"),
        ("The networks that take OLLA longest; its seconds are Gurobi's.",),
    )
    for step in done:
        if not step.name.startswith(OUTLIERS[name]):
            continue
        graph, source = step.measured.case.graph, step.measured.source
        order = () if is_order else schedule(graph, "auto").order
        for limit in SECONDS:
            started = process_time()
            if is_order:
                value = step.saved(source, schedule(graph, "auto", limit).peak)
            else:
                arena = place(live_ranges(graph, order), "auto", limit).arena
                value = reduction(arena, profile(graph, order).peak)
            table.add(step.name, limit, process_time() - started, value, None)
        if is_order:
            theirs = "optimal in 120 s" if step.batch == 1 else "within 1 % of optimal in 300 s"
        else:
            theirs = "below 1 % in 300 s"
        table.add(step.name, *[None] * 3, theirs)
    return table
