"""Rows that are kept from run to run: what `memgraph-slide` does to a function in rows.

A row that is one of the run before is not computed again. If a row that is new reads it, it is
recalled from state, and a row of this run is retained in its place for the next.
"""

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.errors import MemoptError
from memopt.dialects.functions import body_of, has_kind
from memopt.dialects.names import is_named, name_of, rename
from memopt.dialects.plan import drop_plan
from memopt.dialects.rows import ReceiveOp, RowOp
from memopt.dialects.state import RecallOp, RetainOp, SlideOp, StateOp
from memopt.passes.kept_rows import Kept, Row, kept_rows_in, rows_in


def keep_rows(func: FuncOp, rows: int) -> None:
    """Compute the rows that are new where the input slides on by `rows`, and keep the others.
    Raises MemoptError if none is kept."""
    block = body_of(func)
    if has_kind(block.ops, StateOp):
        text = "memgraph-slide: rows are kept from run to run already"
        raise MemoptError(text, f"@{func.sym_name.data}")
    kept, row = kept_rows_in(func, rows), rows_in(func)
    drop_plan(func)
    value_of = {at: value for value, at in row.items()}
    old = [op for op in block.ops if isinstance(op, RowOp | ReceiveOp) and _is_kept(op, row, kept)]
    wanted = _wanted(func, set(old), kept, row)
    states = [_state(tensor, wanted[tensor], kept[tensor].shift, value_of) for tensor in wanted]
    for op in reversed(old):
        Rewriter.erase_op(op)
    for state in states:
        _retain(state, value_of)


def _is_kept(op: Operation, row: Mapping[SSAValue, Row], kept: Mapping[SSAValue, Kept]) -> bool:
    return op.results[0] in row and _is_in(kept, *row[op.results[0]])


def _is_in(kept: Mapping[SSAValue, Kept], tensor: SSAValue, r: int) -> bool:
    return tensor in kept and r in kept[tensor].rows


def _wanted(
    func: FuncOp,
    old: set[Operation],
    kept: Mapping[SSAValue, Kept],
    row: Mapping[SSAValue, Row],
) -> dict[SSAValue, list[int]]:
    """The rows that are recalled: those that something new reads, and what these are in runs to
    come, which has to wait for them."""
    found: dict[SSAValue, set[int]] = {}
    for op in body_of(func).ops:
        for value in () if op in old else op.operands:
            if value not in row:
                continue
            tensor, r = row[value]
            while _is_in(kept, tensor, r):
                found.setdefault(tensor, set()).add(r)
                r += kept[tensor].shift
    return {tensor: sorted(rows) for tensor, rows in found.items()}


def _state(
    tensor: SSAValue, rows: list[int], shift: int, value_of: Mapping[Row, SSAValue]
) -> StateOp:
    """The state of a tensor and its rows, which whoever read them gets from there."""
    first = value_of[tensor, rows[0]].owner
    assert isinstance(first, RowOp | ReceiveOp)
    of, number = (first.input, 0) if isinstance(first, ReceiveOp) else (first.operator, 0)
    if isinstance(tensor, OpResult):
        number = tensor.index
    state = StateOp(of, rows, shift, number)
    hint = of.name_hint
    state.result.name_hint = f"{hint}_kept" if hint else None
    _insert_before(first, state)
    for r in rows:
        value = value_of[tensor, r]
        recall = RecallOp(state.result, r, tensor.type)
        recall.result.name_hint = value.name_hint
        if is_named(value):
            rename(recall, {0: name_of(value)})
        _insert_before(first, recall)
        value.replace_all_uses_with(recall.result)
    return state


def _retain(state: StateOp, value_of: Mapping[Row, SSAValue]) -> None:
    """Slide a state once it has been read, and retain what is new in it, each as soon as it is
    there."""
    block = state.parent
    assert block is not None
    place = {op: at for at, op in enumerate(block.ops)}
    readers = set(state.readers)
    last = next(op for op in reversed(place) if op in readers)
    slide = SlideOp(state.result)
    Rewriter.insert_op(slide, InsertPoint.after(last))
    at, behind = place[last], slide
    for r in state.kept:
        if r + state.later in state.kept:
            continue
        value = value_of[state.tensor, r + state.later]
        made = value.owner
        assert isinstance(made, Operation)
        retain = RetainOp(value, state.result, r)
        if place[made] > at:
            at, behind = place[made], made
        Rewriter.insert_op(retain, InsertPoint.after(behind))
        behind = retain


def _insert_before(op: Operation, new: Operation) -> None:
    Rewriter.insert_op(new, InsertPoint.before(op))
