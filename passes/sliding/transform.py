"""Rows that are kept from run to run: what `memgraph-slide` does to a function in rows.

A row that is one of the run before is not computed again. If a row that is new reads it, it is
recalled from state, and a row of this run is retained in its place for the next.
"""

from collections.abc import Mapping

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of, has_kind
from memopt.dialects.memgraph.names import full_name, is_named, name_of, place_of, rename
from memopt.dialects.memgraph.plan import drop_plan, makes_virtual
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import SumsUp
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp
from memopt.passes.sliding.recompute_choice import Recalled, choosing, least_work
from memopt.passes.sliding.reuse_analysis import Kept, Row, kept_rows_in, rows_in


def keep_rows(func: FuncOp, rows: int, most: int | None = None) -> None:
    """Compute the rows that are new where the input slides on by `rows`, and keep the others, in at
    most so many bytes. Raises MemoptError if none is kept, or that is not enough."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    if has_kind(block.ops, StateOp):
        raise MemoptError("memgraph-slide: rows are kept from run to run already", place)
    for op in block.ops:
        if isinstance(op, RowOp) and makes_virtual(op):
            text = "memgraph-slide: a virtual row, made by its readers, is not kept"
            raise MemoptError(text, place_of(op))
        cut_op = op.operation if isinstance(op, RowOp) else None
        if cut_op is not None and not isinstance(cut_op, ComputeOp):
            text = f"memgraph-slide: a row of {full_name(cut_op)}, of another dialect, is not kept"
            raise MemoptError(text, place_of(op))
        if cut_op is not None and cut_op.has_trait(SumsUp):
            text = "memgraph-slide: a row that several operators add up is not kept"
            raise MemoptError(text, place_of(op))
    kept_rows, row = kept_rows_in(func, rows), rows_in(func)
    recalled = least_work(choosing(func, row, kept_rows), most, place)
    if not recalled.rows:
        raise MemoptError("memgraph-slide: nothing reads a row of the run before", place)
    drop_plan(func)
    value_of = {at: value for value, at in row.items()}
    old = [op for op in block.ops if _is_old(op, row, kept_rows, recalled)]
    tensors = [t for t in dict.fromkeys(t for t, _ in row.values()) if t in recalled.rows]
    states = [_state(t, sorted(recalled.rows[t]), kept_rows[t].shift, value_of) for t in tensors]
    for op in reversed(old):
        Rewriter.erase_op(op)
    for state in states:
        _retain(state, value_of)


def _is_old(
    op: Operation, row: Mapping[SSAValue, Row], kept: Mapping[SSAValue, Kept], recalled: Recalled
) -> bool:
    """Return whether it makes a row that is not made in this run, or received in one before."""
    if not op.results or op.results[0] not in row:
        return False
    tensor, r = row[op.results[0]]
    if isinstance(op, ReceiveOp):
        return r in kept[tensor].rows
    return isinstance(op, RowOp) and r not in recalled.computed[tensor]


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
    Rewriter.insert_op(state, InsertPoint.before(first))
    for r in rows:
        value = value_of[tensor, r]
        recall = RecallOp(state.result, r, tensor.type)
        recall.result.name_hint = value.name_hint
        if is_named(value):
            rename(recall, {0: name_of(value)})
        Rewriter.insert_op(recall, InsertPoint.before(first))
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
        producer = value.owner
        assert isinstance(producer, Operation)
        retain = RetainOp(value, state.result, r)
        if place[producer] > at:
            at, behind = place[producer], producer
        Rewriter.insert_op(retain, InsertPoint.after(behind))
        behind = retain
