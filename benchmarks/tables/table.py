"""A table: what is measured, how it is printed."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from benchmarks.tables.graphs import Case
from memopt.solvers.problems.memory_graph import MemoryGraph, Schedule
from memopt.solvers.scheduling import schedule


@dataclass
class Table:
    """One table. A column whose name ends in "*" is quoted from a paper, not measured."""

    name: str
    title: str
    columns: tuple[str, ...]
    notes: tuple[str, ...] = ()
    rows: list[tuple[Any, ...]] = field(default_factory=list[tuple[Any, ...]])

    def add(self, *values: Any) -> None:
        """Append a row; raises ValueError if it does not fit the columns."""
        if len(values) != len(self.columns):
            raise ValueError(f"{self.name}: {len(values)} values, {len(self.columns)} columns")
        self.rows.append(values)

    def markdown(self) -> str:
        """The table as GitHub shows it."""
        cells = [list(self.columns), *([_cell(v) for v in row] for row in self.rows)]
        widths = [max(3, *(len(row[i]) for row in cells)) for i in range(len(self.columns))]
        numeric = [
            all(not isinstance(row[i], str) for row in self.rows) and bool(self.rows)
            for i in range(len(self.columns))
        ]

        def line(row: Sequence[str]) -> str:
            padded = [
                text.rjust(w) if n else text.ljust(w)
                for text, w, n in zip(row, widths, numeric, strict=True)
            ]
            return f"| {' | '.join(padded)} |"

        rule = ["-" * (w - 1) + (":" if n else "-") for w, n in zip(widths, numeric, strict=True)]
        body = [line(cells[0]), f"| {' | '.join(rule)} |", *map(line, cells[1:])]
        notes = [f"{note}\n" for note in self.notes]
        return "\n".join([f"## {self.title}\n", *notes, *body, ""])

    def as_json(self) -> dict[str, Any]:
        return {
            "table": self.name,
            "title": self.title,
            "notes": list(self.notes),
            "rows": [dict(zip(self.columns, row, strict=True)) for row in self.rows],
        }


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return f"{value:.3f}" if abs(value) < 100 else f"{value:,.1f}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def to_json(tables: Sequence[Table], facts: dict[str, Any]) -> str:
    """All tables, with what they were run with."""
    return json.dumps({**facts, "tables": [t.as_json() for t in tables]}, indent=2) + "\n"


@dataclass
class Run:
    """Inputs of the tables: graphs, seconds for each solver call, random orders drawn.

    `tick` is told what is under way. `operators` is about the size of generated graphs.
    """

    cases: list[Case]
    time_limit: float
    samples: int
    tick: Callable[[str], None]
    operators: int = 2000

    def timed(
        self, what: str, graph: MemoryGraph, method: str, **options: Any
    ) -> tuple[Schedule, float]:
        """Run one method on one graph; return its verified answer and its seconds."""
        self.tick(f"{what}: {method}")
        started = time.perf_counter()
        answer = schedule(graph, method, self.time_limit, **options)
        return answer, round(time.perf_counter() - started, 4)


def reduction(before: int, after: int, beside: int = 0) -> float:
    """Return the per cent that `after` bytes are less than `before`, with as many `beside` both."""
    return 100 * (before - after) / (before + beside) if before + beside else 0.0


def kb(size: int) -> float:
    """Bytes in the papers' KB, which is 1024 B here."""
    return round(size / 1024, 2)
