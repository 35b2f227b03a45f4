"""Whole plans: order and offsets of every model and graph, with both bounds."""

import time
from pathlib import Path
from typing import Any

from benchmarks.tables.graphs import Case, shared_folder
from benchmarks.tables.table import Run, Table
from memopt.solvers import joint
from memopt.solvers.scheduling import schedule


def plans(run: Run) -> Table:
    """Models as `memopt compile` plans them (alignment 16), graphs at alignment 1."""
    table = Table(
        "plans",
        "Order and offsets: peak, arena and what bounds them",
        (
            "network",
            "operators",
            "peak B",
            "bound B",
            "proof",
            "arena B",
            "arena bound B",
            "fragmentation %",
            "arena optimal",
            "orders placed",
            "order s",
            "place s",
        ),
        (
            "Bounds hold for every order. Fragmentation is (arena - peak) / arena. Orders placed: 1"
            " where the first one fits into its peak.",
        ),
    )
    for path in models():
        run.tick(path.name)
        table.add(path.stem, *_model(path, run.time_limit))
    for case in run.cases:
        run.tick(case.title)
        table.add(case.title, *_graph(case, run.time_limit))
    return table


def models() -> list[Path]:
    """The models of the shared folder, none if it is not there."""
    folder = shared_folder() / "models"
    return sorted(p for p in folder.glob("*") if p.suffix in (".tflite", ".onnx"))


def _model(path: Path, limit: float) -> tuple[Any, ...]:
    from xdsl.context import Context

    from memopt.analysis.function_memory import function_memory
    from memopt.compile.driver import load_model
    from memopt.compile.pipelines import SettledOptions
    from memopt.compile.run_passes import Seconds, plan_facts, plan_module
    from memopt.dialects.memgraph.functions import only_function
    from memopt.dialects.memgraph.plan import SCHEDULES_TRIED, model_of

    module, seconds = load_model(path, {}), Seconds()
    options = SettledOptions(target="generic", time_limit=limit)
    plan_module(Context(), module, options, seconds)
    func = only_function(module)
    plan = plan_facts(func)
    tried: Any = func.attributes.get(SCHEDULES_TRIED)
    ordering = seconds.stages.get("fuse", 0.0) + seconds.stages["schedule"]
    return (
        len(function_memory(func, model_of(func)).operations),
        plan.peak.data,
        plan.lower_bound.data,
        plan.proof.data,
        *_placed(plan.peak.data, plan.arena, plan.arena_lower_bound.data),
        tried.value.data if tried is not None else 1,
        round(ordering, 4),
        round(seconds.stages["place"], 4),
    )


def _graph(case: Case, limit: float) -> tuple[Any, ...]:
    graph = case.graph
    started = time.perf_counter()
    ordered = schedule(graph, "auto", limit)
    between = time.perf_counter()
    joined = joint.solve(graph, ordered.order, ordered.lower_bound, limit)
    ended = time.perf_counter()
    return (
        len(graph),
        ordered.peak,
        ordered.lower_bound,
        ordered.proof,
        *_placed(ordered.peak, joined.placement.arena, joined.lower_bound),
        joined.schedules,
        round(between - started, 4),
        round(ended - between, 4),
    )


def _placed(peak: int, arena: int, bound: int) -> tuple[int, int, float, bool]:
    share = 100.0 * (arena - peak) / arena if arena else 0.0
    return arena, bound, round(share, 3), arena == bound
