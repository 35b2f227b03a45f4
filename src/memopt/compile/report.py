"""`Measured -> Report`: `report.json` of a network as it was and planned."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects.builtin import IntegerAttr

from memopt.analysis.liveness import peak_scratch
from memopt.analysis.persistent import variable_bytes
from memopt.analysis.work import function_work
from memopt.backends.checked import Checked
from memopt.backends.tflm.hidden import unknown_scratch
from memopt.compile.advice import Advice, fitting_text
from memopt.compile.measure import Measured
from memopt.compile.options import PlanOptions
from memopt.compile.row_facts import operators_run, rows_dict, sliding_dict, tensors_held
from memopt.compile.run_passes import SourcePlan, plan_facts
from memopt.compile.target_facts import (
    check_target_arenas,
    check_target_flash,
    check_target_ram,
    needed_ram,
    timed,
)
from memopt.dialects.attributes.plan import PlanAttr
from memopt.dialects.attributes.rewrites import rewrites_list
from memopt.dialects.memgraph.functions import runs_of
from memopt.dialects.memgraph.plan import SCHEDULES_TRIED, in_float32, model_of, open_batch
from memopt.targets.core.planned_for import runs_file
from memopt.targets.tflm.arena import tflm_arena


@dataclass(frozen=True)
class Report:
    """Content of `report.json` for a measured model, and the options that would save RAM."""

    measured: Measured
    advice: tuple[Advice, ...]
    content: dict[str, Any]

    def check_budgets(self) -> None:
        """Raise MemoptError unless the device needs no more RAM and flash than are given."""
        request, facts = self.measured.planned.imported.request, self.measured.facts
        check_ram(facts, request.options, self.advice)
        if request.flash is not None:
            check_target_flash(facts, request.flash)


def check_ram(facts: dict[str, Any], options: PlanOptions, advice: Sequence[Advice] = ()) -> None:
    """Raise MemoptError unless the device needs no more RAM than `options` give, and say what of
    `advice` would fit."""
    if (ram := options.ram_bytes) is not None:
        check_target_ram(facts, ram, fitting_text(advice, ram))
    elif options.arenas is not None:
        check_target_arenas(facts, *options.arenas)


def report(measured: Measured, is_advised: bool = True) -> Report:
    """Return the report of a measured model, with advice where somebody reads it: the error of a
    RAM that is too small names what would fit."""
    planned = measured.planned
    facts = timed(measured.facts, planned.imported.request.clock)
    ram, need = planned.imported.request.options.ram_bytes, needed_ram(facts)
    is_advised |= ram is not None and need is not None and need > ram
    advice = planned.advice(facts["ram"]) if is_advised else ()
    entries = [one.entry() for one in advice]
    name = planned.imported.request.path.name
    whole_peak = planned.whole_peak()
    content = report_dict(name, planned.before, planned.known, facts, whole_peak, entries)
    return Report(measured, advice, content)


def _source_arena(before: SourcePlan) -> int:
    """Return the bytes that TFLM's own planner needs for the file as it is. Tensors of what its
    operators run are to it as any others."""
    if not runs_of(before.func):
        return before.plan.arena
    return tflm_arena(before.func, planned=False, source_order=True).head


def report_dict(
    name: str,
    before: SourcePlan,
    after: Checked,
    target: dict[str, Any],
    whole_peak: int | None = None,
    advice: Sequence[dict[str, Any]] = (),
) -> dict[str, Any]:
    """Return the content of `report.json`, in bytes, the same for the same input; `whole_peak` is
    that of whole operators, where it is known beside that of rows, `advice` what would save RAM."""
    func, memory = after.func, after.memory
    model = model_of(before.func)
    old, new = before.plan, plan_facts(func)
    work = function_work(func, memory)
    tried = func.attributes.get(SCHEDULES_TRIED)  # only where `arena_optimal` stays open
    hidden = unknown_scratch(func) if runs_file(func) else []
    objects = [m.bytes.data for m in new.memories] if new.kind == "object" else None
    arena_optimal = new.proof.data != "none" and new.arena == new.arena_lower_bound.data
    return {
        "model": name,
        "operators": operators_run(memory),
        "tensors": tensors_held(memory),
        "macs": work.macs,
        "macs_unknown": list(work.unknown),  # kinds of operators that are not among `macs`
        "weights": work.weights,
        "in_float32": in_float32(func),  # real types of the file that are computed so
        "open_batch": open_batch(func),  # inputs of one image, which the file leaves open
        "persistent": variable_bytes(func.body.ops),  # beside the arena, from run to run
        "source": {
            "peak": old.peak.data,
            "arena": _source_arena(before),
            "scratch": peak_scratch(before.memory, model),
            "alignment": model.alignment.data,
            "io": model.io.data,
        },
        "plan": {
            "peak": new.peak.data,
            "scratch": peak_scratch(memory, model_of(func)),  # by which kernels raise the peak
            "io": model_of(func).io.data,
            "lower_bound": new.lower_bound.data,
            "proof": new.proof.data,
            "optimal": new.optimal and not hidden,
            "family": new.family.data,  # what the bounds range over
            "arena": new.arena,
            "arena_lower_bound": new.arena_lower_bound.data,
            "arena_optimal": arena_optimal and not hidden,
            "schedules_tried": tried.value.data if isinstance(tried, IntegerAttr) else None,
            "objects": objects,  # bytes each, in place of one arena
            "objects_lower_bound": new.memories_lower_bound.data if objects else None,
            "alignment": model_of(func).alignment.data,
            "align_io": model_of(func).align_io.data or None,
            "unknown_scratch": hidden,  # operators whose scratch is not in any of these figures
            "rows": rows_dict(memory, whole_peak),
            "sliding": sliding_dict(func),
        },
        "memories": memories_dict(new),
        "rewrites": rewrites_list(func),
        "target": target,
        "advice": list(advice),
    }


def memories_dict(plan: PlanAttr) -> dict[str, Any] | None:
    """`memories` of `report.json`: bytes of each bank, and what their traffic costs; None for a
    plan without banks."""
    if plan.costs is None:
        return None
    return {
        "banks": [
            {
                "name": m.memory.data,
                "capacity": m.capacity.data,
                "cost": m.cost.data,
                "arena": m.bytes.data,
                "moved": m.moved.data,
            }
            for m in plan.memories
        ],
        "cost": plan.costs.cost.data,
        "lower_bound": plan.costs.lower_bound.data,
        "proof": plan.costs.proof.data,
        "optimal": plan.costs.optimal,
    }
