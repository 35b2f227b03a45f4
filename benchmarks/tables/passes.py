"""`python -m benchmarks passes`: CPU seconds of every pass that is no search, at 10,000 operators.

Each row is one stage of a command in this process, from the same module on: the stages before it in
`STAGES` have run, and what they have derived is handed on, as `memopt-opt` does. Fusing is here
because it is linear, though what it finds it searches for.
"""

import gc
import time
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from benchmarks.tables.large import FAMILIES, ROWS
from benchmarks.tables.table import Table
from memopt.compile.driver import (
    build_pipeline,
    check_module,
    checked_among,
    import_bytes,
    load_text,
    new_context,
    run_pass,
)
from memopt.dialects.memgraph.errors import MemoptError
from memopt.outputs import Wanted, emit
from memopt.passes.plan.planned import Planned
from memopt.solvers.theory.chains import forget
from memopt.text.ir_text import parse_module

# (family, size of about 10,000 operators, size in a quick run)
SIZES: tuple[tuple[str, int, int], ...] = (
    ("butterfly", 10, 6),
    ("chains", 2_000, 100),
    ("layers", 2_000, 100),
    ("drawn", 10_000, 500),
    ("wide", 100, 22),
    ("rows", 25, 2),
    ("network", 2_000, 100),
)
EXPAND = "memgraph-expand-rows{rows=all}"  # nothing to be cut in an opaque graph
STAGES: tuple[str, ...] = (
    "import",
    "check",
    "memgraph-model{target=tflm}",
    "memgraph-prepare{conventions=frelu,view}",
    EXPAND,
    "memgraph-schedule{method=source}",
    "memgraph-schedule{method=rpo}",
    "memgraph-place{method=greedy-by-size}",
    "memgraph-place{method=tflm}",
    "memgraph-verify-plan{placed=true}",
    "memgraph-traffic{on-chip=64M}",
    "-t mlir",
    "reading of -t mlir",
    "-t minimalloc-csv",
    "-t json",
    "-t svg",
    "-t html",
    "memgraph-fuse",
    "memgraph-schedule{method=source}, of hyper-nodes",
)
# heuristics that compare what they place, or search for a while; of the function as STAGES leave it
HEURISTICS: tuple[str, ...] = (
    "memgraph-place{method=best-fit}",
    "memgraph-rewrite",
    "memgraph-model{target=host}",
    "memgraph-schedule{method=source}, for objects",
    "memgraph-place{method=shared-objects-by-size}",
    "memgraph-place{method=shared-objects-by-breadth}",
    "memgraph-place{method=shared-objects-greedy}",
    "memgraph-memory{banks=fast:64M@1,slow:64M@2}",
    "memgraph-partition{k=4}",
)


def stages(
    family: str, size: int, names: Sequence[str] = STAGES
) -> Iterator[tuple[str, Callable[[], object]]]:
    """Every stage with what runs it; to be run in this order."""
    text = FAMILIES[family](size)
    context, module, known = new_context(), list[ModuleOp](), dict[FuncOp, Planned]()
    texts: list[str] = []

    def read() -> None:
        if text.startswith("{"):
            module.append(import_bytes(text.encode(), ".json", f"{family}.json", None))
        else:
            module.append(load_text(context, text, f"{family}.mlir"))

    def run(stage: str) -> None:
        if stage == "import":
            read()
        elif stage == "check":
            check_module(module[0])
        elif stage == "reading of -t mlir":
            parse_module(new_context(), texts[0], f"{family}.mlir")
        elif stage.startswith("-t "):
            wanted = Wanted(Path(), known=checked_among(known))
            texts.append(str(emit(module[0], stage.removeprefix("-t "), wanted)))
        else:
            for step in build_pipeline(stage.split(", ")[0]):
                run_pass(context, module[0], step, known)

    for stage in names:
        yield stage, partial(run, stage)


def passes(quick: bool, tick: Callable[[str], None]) -> Table:
    """Return one row per stage, one column per family."""
    sizes = [(family, small if quick else large) for family, large, small in SIZES]
    counts = [f"{family} {size:,}" for family, size in sizes]
    table = Table(
        "passes",
        "CPU seconds of a pass",
        ("pass", *counts),
        (
            "Seconds of the process, not of the clock on the wall; - where rows are refused.",
            f"`rows` has {2 * ROWS} row operators a block once it is cut.",
        ),
    )
    seconds: dict[str, list[float | None]] = {stage: [] for stage in (*STAGES, *HEURISTICS)}
    for _ in _run("layers", 3):  # what is loaded at first use is no pass's
        pass
    for family, size in sizes:
        tick(f"{family} {size:,}")
        for stage, taken in _run(family, size):
            seconds[stage].append(None if taken is None else round(taken, 2))
    for stage, row in seconds.items():
        table.add(stage, *row)
    return table


def _run(family: str, size: int) -> Iterator[tuple[str, float | None]]:
    """The CPU seconds of every stage, None of one that refuses what is cut into rows."""
    forget()
    for stage, action in stages(family, size, (*STAGES, *HEURISTICS)):
        gc.collect()  # a command has no garbage of another stage to look through
        started = time.process_time()
        try:
            action()
        except MemoptError as error:
            if "a part of a tensor" not in str(error):
                raise
            yield stage, None
        else:
            yield stage, time.process_time() - started
