"""Scratch of a target's kernels, as `memgraph.scratch` of the operations."""

from collections.abc import Mapping

from xdsl.dialects.builtin import ArrayAttr
from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.dialects.attributes.model import ModelAttr
from memopt.dialects.attributes.placement import ScratchAttr
from memopt.dialects.memgraph.behaviour import behaviour_of
from memopt.dialects.memgraph.plan import (
    SCRATCH,
    makes_virtual,
    model_of,
    reads_virtual,
    scratch_list,
)
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.rows.operations import RowOp
from memopt.targets.core.kernels import workspace_of
from memopt.targets.core.planned_for import target_of, with_called
from memopt.targets.core.target import target_named


def asked_scratch(func: FuncOp, old: ModelAttr, new: ModelAttr) -> dict[Operation, int]:
    """Bytes of scratch of the operations where it changes, because the kernels of the new target
    work in other than those of the old."""
    before, after = (with_called(target_named(m.target.data), m) for m in (old, new))
    changed: dict[Operation, int] = {}
    of_rows: dict[tuple[SSAValue, bool], int] = {}
    for op in func.body.walk():
        is_row = type(op) is RowOp
        if not is_row and isinstance(op, ConstantOp):
            continue
        if not is_row or reads_virtual(op):
            size = workspace_of(op, after)
        else:  # as another row of its operator
            kind = op.operands[0], makes_virtual(op)
            if kind not in of_rows:
                of_rows[kind] = workspace_of(op, after)
            size = of_rows[kind]
        if size and not behaviour_of(op, new).executes:
            size = 0  # computed when code is written
        sizes = [s.bytes.data for s in scratch_list(op) or ()] if SCRATCH in op.attributes else []
        given_by_plan = sizes and sizes != [workspace_of(op, before)]  # its own
        if not given_by_plan and sizes != [size] * bool(size):
            changed[op] = size
    return changed


def write_scratch(asked: Mapping[Operation, int]) -> None:
    """Let operations work in so many bytes, 0 for none."""
    for op, size in asked.items():
        op.attributes.pop(SCRATCH, None)
        if size:
            op.attributes[SCRATCH] = ArrayAttr([ScratchAttr(size)])


def forget_scratch(func: FuncOp) -> None:
    """Drop the scratch that is just what the kernels of the function's target work in; before its
    operations change, after which they may ask for other."""
    target = target_of(func)
    marked = [op for op in func.body.walk() if SCRATCH in op.attributes]
    sizes = {op: [s.bytes.data for s in entries] for op in marked if (entries := scratch_list(op))}
    write_scratch({op: 0 for op, held in sizes.items() if held == [workspace_of(op, target)]})


def ask_scratch(func: FuncOp) -> None:
    """Write down what the kernels of the function's target work in, where nothing is written."""
    model = model_of(func)
    write_scratch(asked_scratch(func, model, model))
