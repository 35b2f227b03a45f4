"""`python -m benchmarks training`: captured training steps, ordered and placed."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from statistics import fmean, median

from benchmarks.tables.captures import NAMES, capture_text
from benchmarks.tables.table import Table, reduction
from memopt.analysis.persistent import variables_of
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.frontends.json.read import read
from memopt.passes.plan.extract import extract
from memopt.solvers.placement import place
from memopt.solvers.problems.memory_graph import MemoryGraph, Proof, live_ranges, profile
from memopt.solvers.scheduling import schedule

ALIGNMENT = 64  # bytes, as PyTorch's allocator for the CPU has it


@dataclass(frozen=True)
class Captured:
    """A training step as numbers; `persistent` are the bytes beside the arena: what the step is
    given, and what stays from one to the next."""

    name: str
    graph: MemoryGraph
    variables: tuple[int, ...]

    @property
    def persistent(self) -> int:
        return sum(self.variables)


@dataclass(frozen=True)
class Measured:
    """Bytes of the order that the program has and of the best one, and CPU seconds of the order
    and of the places."""

    case: Captured
    source: int
    peak: int
    lower_bound: int
    proof: Proof
    arena: int
    order_seconds: float
    place_seconds: float

    @property
    def optimal(self) -> bool:
        return self.proof != "none" and self.peak == self.lower_bound


def captured(name: str) -> Captured:
    """A kept capture. Raises OSError for a name that there is not."""
    return case_of(capture_text(name).encode(), name)


def case_of(text: bytes, name: str) -> Captured:
    """Return a JSON graph as numbers. Raises MemoptError."""
    func = only_function(read(text, name))
    graph = replace(extract(func).graph, alignment=ALIGNMENT, offset_alignment=ALIGNMENT)
    sizes = (bytes_of(op.result.type) or 0 for op in variables_of(func.body.ops))
    return Captured(name, graph, tuple(sizes))


def measure(case: Captured, time_limit: float | None) -> Measured:
    """Order and place one; `time_limit` in seconds for each of the two."""
    source = profile(case.graph, range(len(case.graph))).peak
    started = time.process_time()
    solved = schedule(case.graph, "auto", time_limit)
    ordered = time.process_time()
    arena = place(live_ranges(case.graph, solved.order), "auto", time_limit).arena
    ended = time.process_time()
    return Measured(
        case,
        source,
        solved.peak,
        solved.lower_bound,
        solved.proof,
        arena,
        ordered - started,
        ended - ordered,
    )


def chosen(names: Sequence[str], quick: bool) -> tuple[str, ...]:
    """The captures asked for, all without names. Raises KeyError for one that there is not."""
    for name in names:
        if name not in NAMES:
            raise KeyError(name)
    return tuple(names) or (NAMES[:1] if quick else NAMES)


def training(
    names: Sequence[str], time_limit: float | None, tick: Callable[[str], None]
) -> list[Table]:
    """Return one row per capture, and OLLA's figures beside their means."""
    table = Table(
        "training",
        "Captured training steps",
        (
            *("step", "operators", "persistent B", "program order B", "peak B", "bound B"),
            *("proof", "optimal", "arena B", "saved %", "of all bytes %"),
            *("order CPU s", "place CPU s"),
        ),
        (
            "Program order is what PyTorch runs: forward, backward, then all updates. All bytes:"
            " with weights, statistics, what the optimiser keeps, and the batch, which are the"
            " caller's while the step runs (persistent). Every tensor is rounded up to 64 B.",
        ),
    )
    done: list[Measured] = []
    for name in names:
        tick(name)
        done.append(m := measure(captured(name), time_limit))
        table.add(
            *(name, len(m.case.graph), m.case.persistent, m.source, m.peak, m.lower_bound),
            *(m.proof, m.optimal, m.arena, _saved(m, 0), _saved(m, m.case.persistent)),
            *(round(m.order_seconds, 3), round(m.place_seconds, 3)),
        )
    return [table, _beside_olla(done)]


def _saved(m: Measured, persistent: int) -> float:
    """Per cent of the program's bytes, those of `persistent` among them."""
    return round(reduction(m.source, m.arena, persistent), 1)


def _beside_olla(done: Sequence[Measured]) -> Table:
    table = Table(
        "training-olla",
        "Beside OLLA",
        ("what", "memopt", "OLLA*", "comparable"),
        (
            "OLLA: Steiner et al., 2022, sections 5.3 to 5.6, on other networks, PyTorch 1.11 and"
            " a GPU; the figures with * are its own.",
        ),
    )
    fragmented = max(reduction(m.arena, m.peak) for m in done)
    table.add("fragmentation of the plan, %", round(fragmented, 2), "0", "yes: of the plans alone")
    orders = median(m.order_seconds for m in done)
    places = median(m.place_seconds for m in done)
    text = "the task, not the machine: OLLA's solver is Gurobi 9.1.1"
    table.add("order, median CPU s", round(orders, 2), "1.4", text)
    table.add("places, median CPU s", round(places, 2), "5.7", text)
    table.add("operators, at most", max(len(m.case.graph) for m in done), "2,007", "yes")
    table.add("proven optimal", sum(m.optimal for m in done), "not all", "within its 5 minutes")
    saved = fmean(_saved(m, m.case.persistent) for m in done)
    text = "in part: no fragmentation on either side, but other networks"
    table.add("saved by order alone, mean %", round(saved, 1), "22.5 (b 1), 10.1 (b 32)", text)
    text = "no: its baseline has the fragmentation of the CUDA allocator, 7.9 % and 26.1 %"
    table.add("saved in all, mean %", round(saved, 1), "30.4 (b 1), 36.1 (b 32)", text)
    return table
