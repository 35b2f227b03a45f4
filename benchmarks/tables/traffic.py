"""Traffic between memories: SERENITY's Figure 11, and what QEMU counts of generated C."""

import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from benchmarks.executed.accesses import Accesses, counted, plugin_fault
from benchmarks.tables.graphs import SWIFTNET, shared_folder, swiftnet
from benchmarks.tables.papers import SERENITY_11
from benchmarks.tables.table import Table
from memopt.backends.c.project.write import write_project
from memopt.compile.driver import load_model
from memopt.dialects.attributes.memories import TrafficAttr
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.memgraph.functions import only_function
from memopt.dialects.memgraph.plan import OFF_CHIP, plan_of
from memopt.passes.memgraph_memory import MemgraphMemoryPass
from memopt.passes.memgraph_model import MemgraphModelPass
from memopt.passes.memgraph_schedule import MemgraphSchedulePass
from memopt.passes.memgraph_traffic import traffic_problem
from memopt.solvers.memories.traffic import Traffic, least_traffic

ON_CHIP = (64, 96, 128, 192, 256)  # KiB
CORE = "cortex-m7"
BANKS = "dtcm:16K@1,sram:320K@2"
OUTSIDE = "chip:{}K@1,outside:4M@100"  # where only the bytes outside are paid
OUTSIDE_BYTES = 1 << 32
ORDERED = (
    f"models/{SWIFTNET}.tflite",
    "models/mcunet_vww_int8.tflite",
    "graphs/hrnet_w18_small_v1.json",
    "graphs/randwire_s0.json",
)
COUNTED = ("dscnn_kws_int8", "resnet8_int8", "person_detect_int8", "mcunet_vww_int8")


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
        chosen = _ordered_for_traffic(kib * 1024, case.path)
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


def orders(tick: Callable[[str], None], time_limit: float | None, quick: bool) -> Table:
    """Orders for what is paid, with so much on the chip: bytes off it, and cycles of two banks."""
    table = Table(
        "orders",
        "Orders for bytes off the chip, and for the cost of two memories (1 and 2 a byte)",
        (
            "network",
            "on chip B",
            "least peak, belady B",
            "order for traffic B",
            "bound of all orders B",
            "least peak, cost",
            "order for cost",
            "bound of all orders",
        ),
        (
            "On the chip: a quarter, a half and three quarters of the least peak. Cost:"
            " `memgraph-memory`, without and with `reorder=true`, each within the time limit; its"
            " bound of all orders is one with results in place as they are.",
        ),
    )
    for name in ORDERED[:1] if quick else ORDERED:
        path = shared_folder() / name
        for share in (2,) if quick else (1, 2, 3):
            peak = plan_of(only_function(_ordered(load_model(path, {}), "auto")))
            assert peak is not None
            on_chip = peak.peak.data * share // 64 * 16
            tick(f"{path.stem}, {on_chip:,} B on the chip")
            rule = least_traffic(
                traffic_problem(only_function(_ordered(load_model(path, {}), "auto")), on_chip)
            )
            moved = _ordered_for_traffic(on_chip, path, time_limit)
            costs = [_cost(path, on_chip, time_limit, reorder) for reorder in (False, True)]
            table.add(
                path.stem,
                on_chip,
                rule.moved,
                moved.moved.data,
                moved.orders_lower_bound.data,
                costs[0].cost.data,
                costs[1].cost.data,
                costs[1].orders_lower_bound.data,
            )
    return table


def _cost(path: Path, on_chip: int, time_limit: float | None, reorder: bool) -> TrafficAttr:
    """Return what two memories cost in the order of least peak, or in one chosen for the cost."""
    module = _ordered(load_model(path, {}), "auto")
    banks = f"chip:{on_chip}@1,outside:{OUTSIDE_BYTES}@2"
    MemgraphMemoryPass(banks=banks, time_limit=time_limit, reorder=reorder).apply(Context(), module)
    plan = plan_of(only_function(module))
    assert plan is not None and plan.costs is not None
    return plan.costs


def accesses(tick: Callable[[str], None], quick: bool) -> Table:
    """Return what a plan over memories counts of each, beside what its C loads and stores there."""
    fault = plugin_fault()
    table = Table(
        "accesses",
        "Bytes moved in each memory: as planned, and counted by QEMU in the generated C",
        ("model", "order", "memory", "B used", "plan B", "counted B", "loaded B", "stored B"),
        (
            f"One inference on {CORE}, whole operators. Plan: the bytes of tensors that operators"
            " read and write. Counted: different bytes that each call loads, and stores; fewer"
            " where a strided window leaves pixels out. Loaded and stored: all accesses, as"
            " kernels read a byte many times.",
            *([] if fault is None else [f"Nothing is counted here: {fault}."]),
        ),
    )
    runs = [(name, "least peak", BANKS) for name in (COUNTED[:1] if quick else COUNTED)]
    for kib in () if quick else (64, 128, 192):
        runs += [(SWIFTNET, order, OUTSIDE.format(kib)) for order in ("least peak", "traffic")]
    for name, order, banks in runs if fault is None else ():
        tick(f"{name} {order} {banks}")
        module = load_model(shared_folder() / "models" / f"{name}.tflite", {})
        MemgraphModelPass(target=CORE).apply(Context(), module)
        if order == "traffic":
            on_chip = banks.split("@")[0].split(":")[1]
            _for_traffic(module, on_chip)
        else:
            MemgraphSchedulePass().apply(Context(), module)
        MemgraphMemoryPass(banks=banks).apply(Context(), module)
        plan = plan_of(only_function(module))
        assert plan is not None
        with tempfile.TemporaryDirectory(prefix="memopt-") as folder:
            write_project(module, Path(folder) / "c", "net", CORE)
            stretches = counted(Path(folder) / "c", CORE)
        for m in plan.memories:
            moved = [s.memories.get(m.memory.data, Accesses(0, 0, 0, 0)) for s in stretches]
            table.add(
                name,
                order,
                f"{m.memory.data}:{m.capacity.data}",
                m.bytes.data,
                m.moved.data,
                sum(a.different_loaded + a.different_stored for a in moved),
                sum(a.loaded for a in moved),
                sum(a.stored for a in moved),
            )
    return table


def _for_traffic(module: ModuleOp, on_chip: int | str, time_limit: float | None = None) -> None:
    """Order, without a time limit the same on every run."""
    how: Any = {"objective": "traffic", "on_chip": on_chip, "time_limit": time_limit}
    MemgraphSchedulePass(**how).apply(Context(), module)


def _ordered_for_traffic(on_chip: int, path: Path, time_limit: float | None = None) -> OffChipAttr:
    """Return what moves in the order chosen for it."""
    module = load_model(path, {})
    _for_traffic(module, on_chip, time_limit)
    attribute = only_function(module).attributes[OFF_CHIP]
    assert isinstance(attribute, OffChipAttr)
    return attribute


def _ordered(module: ModuleOp, method: str) -> ModuleOp:
    MemgraphSchedulePass(method).apply(Context(), module)  # type: ignore[arg-type]
    return module


def _ratio(before: int, after: int) -> float | None:
    return before / after if after else None
