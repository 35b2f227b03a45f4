"""The graphs that the tables are about: those of optima.json, or files."""

import json
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.solvers.problems.memory_graph import MemoryGraph
from memopt.solvers.theory.fusion import contract, modules

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

SWIFTNET = "swiftnet_cell_vww_uint8"


@dataclass(frozen=True)
class Case:
    """A graph under one convention; `optimum` in bytes where one is listed."""

    name: str
    prepare: str
    path: Path
    optimum: int | None = None

    @property
    def title(self) -> str:
        return f"{self.name} ({self.prepare or 'raw'})"

    @cached_property
    def module(self) -> "ModuleOp":
        """The IR at alignment 1, no in-place execution, one function. MemoptError, OSError."""
        from xdsl.context import Context

        from memopt.compile.driver import load_model
        from memopt.dialects.memgraph.functions import functions
        from memopt.passes.memgraph_model import MemgraphModelPass
        from memopt.passes.memgraph_prepare import MemgraphPreparePass

        module = load_model(self.path, {})
        context = Context()
        MemgraphModelPass(alignment=1).apply(context, module)
        if self.prepare:
            conventions: Any = tuple(self.prepare.split(","))
            MemgraphPreparePass(conventions=conventions).apply(context, module)
        count = len(list(functions(module)))
        if count != 1:
            raise MemoptError(f"{count} functions; a benchmark needs one", str(self.path))
        return module

    @cached_property
    def graph(self) -> MemoryGraph:
        """The problem that `module` is. Raises MemoptError and OSError."""
        from memopt.dialects.memgraph.functions import functions
        from memopt.passes.plan.extract import extract

        return extract(next(iter(functions(self.module)))).graph

    @cached_property
    def _contracted(self) -> tuple[MemoryGraph, float]:
        graph = self.graph
        started = time.perf_counter()
        small, _ = contract(graph, modules(graph))
        return small, time.perf_counter() - started

    @property
    def contracted(self) -> MemoryGraph:
        """The graph with its modules contracted; the optimum is the same."""
        return self._contracted[0]

    @property
    def contract_seconds(self) -> float:
        return self._contracted[1]


def shared_folder() -> Path:
    """`MEMOPT_SHARED`, default ../shared."""
    return Path(os.environ.get("MEMOPT_SHARED", Path("..") / "shared"))


def listed() -> list[Case]:
    """Every row of optima.json. Raises MemoptError if the folder is not there."""
    path = shared_folder() / "graphs" / "optima.json"
    if not path.is_file():
        raise MemoptError(f"no {path}: set MEMOPT_SHARED, or name files with --graphs")
    rows: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return [
        Case(r["graph"], r["prepare"], path.parent / f"{r['graph']}.json", r["optimum"])
        for r in rows
    ]


def chosen(names: Sequence[str]) -> list[Case]:
    """Rows of optima.json by name, all their conventions, or files as `FILE` or `FILE:frelu`."""
    cases: list[Case] = []
    for name in names:
        file, _, prepare = name.partition(":")
        if Path(file).is_file():
            cases.append(Case(Path(file).stem, prepare, Path(file)))
            continue
        matching = [c for c in listed() if c.name == file and prepare in ("", c.prepare)]
        if not matching:
            raise MemoptError(f"{name}: neither a file nor a graph of optima.json")
        cases += matching
    return cases


def swiftnet() -> Case | None:
    """Liberis' SwiftNet Cell, None where the models are missing."""
    path = shared_folder() / "models" / f"{SWIFTNET}.tflite"
    return Case(SWIFTNET, "", path) if path.is_file() else None


def figure_1() -> MemoryGraph:
    """Liberis Figure 1: operators 1 to 7 are 0 to 6 here."""
    from memopt.solvers.problems.memory_graph import Group

    sizes = (1568, 3136, 1568, 512, 512, 256, 256, 512)
    reads = ((0,), (1,), (2,), (1,), (3,), (4,), (5, 6))
    groups = tuple(
        Group(
            f"#{t}",
            size,
            (t - 1,) if t else (),
            tuple(v for v, ts in enumerate(reads) if t in ts),
            t == 0,
            t == 7,
        )
        for t, size in enumerate(sizes)
    )
    before = tuple(tuple(t - 1 for t in ts if t) for ts in reads)
    return MemoryGraph(tuple("1234567"), before, groups)
