"""A function's argument received row by row: what is done before operators are cut, and after.

Before:
    %x0, %x1 = memgraph.split_rows %x : !t
    %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !s
After:
    %x0 = memgraph.receive %x[0] : !t
    %x1 = memgraph.receive %x[1] : !t
    %y0 = memgraph.row %f[0] (%x0, %x1) : (!r, !r) -> !s

While operators are cut the argument is a `memgraph.join` of what is received, so that its readers
are cut, or tried out, like those of any other tensor.
"""

from collections.abc import Sequence

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.foreign.foreign_operator import is_view
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, operator_name, place_of
from memopt.dialects.memgraph.plan import drop_plan, model_of
from memopt.dialects.memgraph.tensors import MOST_ROWS, has_few_rows, rows_of, shape_of
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, is_received, received_rows
from memopt.dialects.rows.steps import steps_of
from memopt.passes.rows.expand import name_rows

WHO = "memgraph-expand-rows{stream-input}"


def receive_rows(func: FuncOp) -> None:
    """Receive the argument of a function in rows, which are joined for its readers. Raises
    MemoptError for what cannot be received."""
    block, place = body_of(func), f"@{func.sym_name.data}"
    if len(block.args) != 1:
        names = ", ".join(map(name_of, block.args)) or "none"
        raise MemoptError(f"{WHO}: one input is streamed, the function has {names}", place)
    (value,) = block.args
    name, rows, fault = name_of(value), rows_of(value), ""
    if not rows:
        fault = f"{name}, {'x'.join(map(str, shape_of(value)))}, has no rows"
    elif not has_few_rows(value):
        fault = f"{name} has {rows:,} rows, more than {MOST_ROWS:,}"
    elif is_received(value):
        fault = f"{name} is received in rows already"
    elif model_of(func).io.data == "kept":
        fault = f"{name} is not kept, as the memory model asks"
    elif not _readers(value):
        fault = f"nothing reads {name}"
    if fault or not rows:
        raise MemoptError(f"{WHO}: {fault}", place)
    drop_plan(func)
    received = [ReceiveOp(value, r) for r in range(rows)]
    join = JoinOp([op.result for op in received], value.type)
    value.replace_uses_with_if(join.result, lambda use: not isinstance(use.operation, ReceiveOp))
    Rewriter.insert_op([*received, join], InsertPoint.at_start(block))
    name_rows(value, join.parts)
    join.result.name_hint = value.name_hint


def _readers(value: SSAValue) -> set[Operation]:
    """Return the readers of a tensor, in another shape too."""
    readers: set[Operation] = set()
    for op in (use.operation for use in value.uses):
        shows = is_view(op, GENERIC) and steps_of(op) is None
        readers |= (_readers(op.results[0]) if shows else set()) or {op}
    return readers


def close_stream(func: FuncOp) -> None:
    """After operators were cut: every row is received right before it is needed. Raises MemoptError
    if more than rows of the argument is."""
    block = body_of(func)
    received = [op for op in block.ops if isinstance(op, ReceiveOp)]
    joined = [op for op in block.ops if isinstance(op, JoinOp) and received_rows(op.result)]
    readers = {op for join in joined for op in _readers(join.result)}
    for op in block.ops:
        if op in readers:
            why = "has no rows" if steps_of(op) is None else "is not cut"
            text = f"{operator_name(op)} {why}, it reads all of {name_of(block.args[0])}"
            raise MemoptError(f"{WHO}: {text}", place_of(op))
    _delay(block, received)


def _delay(block: Block, received: Sequence[Operation]) -> None:
    """Move each right before what needs it, or a later one, first."""
    number = {op: r for r, op in enumerate(received)}
    done = 0
    for op in list(block.ops):
        if op in number:
            continue
        needed = [
            number[v.op] + 1 for v in op.operands if isinstance(v, OpResult) and v.op in number
        ]
        end = len(received) if op is block.last_op else max(needed, default=0)
        for row in received[done:end]:
            row.detach()
            Rewriter.insert_op(row, InsertPoint.before(op))
        done = max(done, end)
