"""Facts about a plan in rows: operators and tensors, each once, and how many calls they take."""

from collections.abc import Mapping
from typing import Any

from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from memopt.analysis.persistent import sliding_of
from memopt.analysis.storage_groups import BlockMemory
from memopt.dialects.memgraph.tensors import is_buffer
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowOp
from memopt.dialects.rows.state import MOVING, row_of


def operators_run(memory: BlockMemory) -> int:
    """The operators that run, rows of one counted once; receiving and keeping rows is none."""
    ran = [op for op in memory.operations if not isinstance(op, (ReceiveOp, *MOVING))]
    return len({op.operation if isinstance(op, RowOp) else op for op in ran})


def tensors_held(memory: BlockMemory) -> int:
    """The tensors that are not constant, rows of one counted once, its sums included."""
    return len({_tensor_of(v) for v in memory.of_value if is_buffer(v.type)})


def rows_dict(memory: BlockMemory, whole_peak: int | None) -> Mapping[str, int | None] | None:
    """`plan.rows` of `report.json`: operators in rows, steps of the plan, and the peak in bytes of
    whole operators, None where it is not known; None for a plan of whole operators."""
    cut = {op.operator for op in memory.operations if isinstance(op, RowOp)}
    if not cut:
        return None
    calls = len(memory.operations)
    return {"operators_cut": len(cut), "calls": calls, "whole_peak": whole_peak}


def rows_line(plan: Mapping[str, Any], operators: int) -> list[str]:
    """Return the facts about rows for people."""
    if not (rows := plan.get("rows")):
        return []
    peak = rows["whole_peak"]
    beside = "" if peak is None else f"; whole operators have a peak of {peak:,} B"
    cut = f"{rows['operators_cut']} of {operators} operators in rows"
    return [f"rows      {cut}, {rows['calls']:,} calls{beside}"]


def sliding_dict(func: FuncOp) -> Mapping[str, int] | None:
    """`plan.sliding` of `report.json`: rows of a window and those of them that are new, the first
    window whose output is right, bytes that stay between windows beside the arena, and
    multiplications of a window of which those of `kept_macs` are not done again; None for a plan
    that keeps nothing."""
    sliding = sliding_of(func)
    if sliding is None:
        return None
    return {
        "rows": sliding.height,
        "new_rows": sliding.rows,
        "first_window": sliding.runs,
        "kept_bytes": sliding.bytes,
        "macs": sliding.macs,
        "kept_macs": sliding.kept_macs,
    }


def sliding_lines(plan: Mapping[str, Any]) -> list[str]:
    """Return the facts about a sliding window for people."""
    if not (s := plan.get("sliding")):
        return []
    share = s["kept_macs"] / max(s["macs"], 1)
    return [
        f"sliding   {s['new_rows']} of {s['rows']} rows are new in a window: "
        f"{s['macs'] - s['kept_macs']:,} of {s['macs']:,} MACs, {share:.1%} saved",
        f"kept      {s['kept_bytes']:,} B from window to window, beside the arena; "
        f"the first output is that of window {s['first_window']}",
    ]


def _tensor_of(value: SSAValue) -> SSAValue:
    while row := row_of(value.owner.parts[0] if isinstance(value.owner, JoinOp) else value):
        value = row[0]
    return value
