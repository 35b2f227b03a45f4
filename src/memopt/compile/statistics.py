"""Lines of `--stats=json`, one per function, after a pass."""

import json

from xdsl.dialects.builtin import ModuleOp

from memopt.analysis.function_memory import function_memory
from memopt.analysis.liveness import peak_of
from memopt.analysis.work import function_work
from memopt.dialects.attributes.channels import left_out_of
from memopt.dialects.attributes.off_chip import OffChipAttr
from memopt.dialects.attributes.rewrites import rewrites_list
from memopt.dialects.memgraph.functions import functions
from memopt.dialects.memgraph.plan import OFF_CHIP, model_of, plan_of, said_optimal


def statistics(
    module: ModuleOp, name: str, seconds: float, claimed: frozenset[str] = frozenset()
) -> list[str]:
    """Return one JSON line per function: what holds after a pass. Bytes and seconds. The functions
    `claimed` have a plan that was read."""
    lines: list[str] = []
    for func in functions(module):
        plan, model = plan_of(func), model_of(func)
        memory = function_memory(func, model)
        row = {
            "pass": name,
            "function": func.sym_name.data,
            "operators": len(memory.operations),
            "peak": plan.peak.data if plan else peak_of(memory, model),
            "lower_bound": plan.lower_bound.data if plan else None,
            "proof": plan.proof.data if plan else "none",
            "optimal": said_optimal(bool(plan and plan.optimal), func.sym_name.data in claimed),
            "arena": plan.arena if plan and plan.placed else None,
            "seconds": round(seconds, 6),
        }
        if rewritten := rewrites_list(func):
            row |= {"rewrites": rewritten}
        left_out = left_out_of(func)
        if left_out:  # channels, by reason, and what is left to do
            work = function_work(func)
            row |= {"left_out": left_out, "macs": work.macs, "weights": work.weights}
        off_chip = func.attributes.get(OFF_CHIP)
        if plan is not None and plan.costs is not None:
            row["traffic"] = plan.costs.cost.data
        if isinstance(off_chip, OffChipAttr):
            row["off_chip"] = off_chip.moved.data
            if off_chip.objective.data:
                row["off_chip_lower_bound"] = off_chip.orders_lower_bound.data
        lines.append(json.dumps(row))
    return lines
