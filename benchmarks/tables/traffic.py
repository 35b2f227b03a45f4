"""SERENITY, Figure 11: traffic to memory off the chip, source order against the best order."""

from collections.abc import Callable

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from benchmarks.tables.graphs import SWIFTNET, Case, swiftnet
from benchmarks.tables.papers import SERENITY_11
from benchmarks.tables.table import Table
from memopt.compile.driver import load_model
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import OFF_CHIP
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_traffic import traffic_problem
from memopt.solvers.memories.traffic import Traffic, least_traffic

ON_CHIP = (64, 96, 128, 192, 256)  # KiB


def off_chip(tick: Callable[[str], None], time_limit: float | None) -> Table:
    """Bytes moved by SwiftNet Cell with so much on the chip: Belady's rule, and the least."""
    table = Table(
        "traffic",
        "SERENITY, Figure 11: bytes moved from and to memory off the chip, SwiftNet Cell",
        (
            "on chip KiB",
            "source, belady B",
            "best order, belady B",
            "times less",
            "times less*",
            "source, least B",
            "best order, least B",
            "proof",
            "times less, least",
            "order for traffic B",
            "bound of all orders B",
            "times less than source",
        ),
        (
            "Best order: that of least peak (`auto`), which need not have the least traffic."
            " Order for traffic: `memgraph-schedule{objective=traffic}`, by `packing`; source at"
            " the least, divided by it, is the last column."
            f" Quoted (*): {SERENITY_11[1]} x at {SERENITY_11[0]} KB, the mean of their networks;"
            " ours is the Visual Wake Words model. `least` is the optimum over what is kept"
            " (CP-SAT), or, where the proof is none, the best within the time limit."
            + ("" if swiftnet() else " The model is missing: set MEMOPT_SHARED."),
        ),
    )
    case = swiftnet()
    if case is None:
        return table
    orders = [_ordered(load_model(case.path, {}), method) for method in ("source", "auto")]
    for kib in ON_CHIP:
        tick(f"{SWIFTNET}, {kib} KiB on the chip")
        problems = [traffic_problem(only_function(m), kib * 1024) for m in orders]
        rule = [least_traffic(p).moved for p in problems]
        least: list[Traffic] = [least_traffic(p, "exact", time_limit) for p in problems]
        best = [t.moved for t in least]
        chosen = _ordered_for_traffic(kib * 1024, case)
        table.add(
            kib,
            *rule,
            _ratio(*rule),
            SERENITY_11[1] if kib == SERENITY_11[0] else None,
            *best,
            "ilp" if all(t.optimal for t in least) else "none",
            _ratio(*best),
            chosen.moved.data,
            chosen.orders_lower_bound.data,
            _ratio(best[0], chosen.moved.data),
        )
    return table


def _ordered_for_traffic(on_chip: int, case: Case) -> OffChipAttr:
    """Return what moves in the order chosen for it, without a time limit: the same on every run."""
    module = load_model(case.path, {})
    MemgraphSchedulePass(objective="traffic", on_chip=on_chip).apply(Context(), module)
    attribute = only_function(module).attributes[OFF_CHIP]
    assert isinstance(attribute, OffChipAttr)
    return attribute


def _ordered(module: ModuleOp, method: str) -> ModuleOp:
    MemgraphSchedulePass(method).apply(Context(), module)  # type: ignore[arg-type]
    return module


def _ratio(before: int, after: int) -> float | None:
    return before / after if after else None
