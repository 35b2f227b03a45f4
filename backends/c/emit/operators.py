"""The operators of a function in the order in which they run, whole ones and rows between them."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from memopt.backends.c.emit.calls import Source
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.whole import add_operator
from memopt.backends.c.inline.sums import overwriting
from memopt.backends.c.rows.loop import add_row_program, run_rows, start_rows
from memopt.backends.c.rows.paired_rows import RowsCalled, are_pair
from memopt.backends.c.rows.row_program import (
    Move,
    RowOperator,
    moves_of,
    row_operators,
    rows_of_operators,
)
from memopt.backends.c.stream.streaming import Stream, guarded
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import has_kind
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp

MOVE, RECEIVE = -1, -2  # what calls[] has besides operators, until it is known how many there are


@dataclass(frozen=True)
class Program:
    """Declarations of all that runs, and the state that a streamed run keeps between rows."""

    declared: str = ""
    stream: Stream | None = None


def add_operators(out: Source, live: Sequence[Sequence[int]]) -> Program:
    """Add everything that runs. `live` are the groups that are in memory during each operation.
    Raises MemoptError if something has no kernel."""
    has_rows = has_kind(out.layout.operations, RowOp)
    of_operator = rows_of_operators(out.layout) if has_rows else {}
    numbers: dict[RowOp, range] = {}
    operators: list[RowOperator] = []
    calls: list[RowsCalled] = []
    moves: list[Move] = []
    stretches: list[tuple[int, int, int]] = []  # where in out.calls, and which calls
    index = 0
    for op, groups in zip(out.layout.operations, live, strict=True):
        if not isinstance(op, RowOp | ReceiveOp | RecallOp | RetainOp | SlideOp):
            add_operator(out, op, index, groups)
            index += 1
            continue
        for rows in overwriting(of_operator.pop(op.operator, ())) if isinstance(op, RowOp) else ():
            row_ops = row_operators(out.layout, out.constants, out.isa, rows, f"op{index}")
            its_numbers = range(len(operators), len(operators) + len(row_ops))
            numbers |= dict.fromkeys(rows, its_numbers)
            operators += row_ops
            index += 1
        first = len(calls)
        entries: Sequence[int] = (RECEIVE,)
        if isinstance(op, RowOp):
            entries = numbers[op]
        elif not isinstance(op, ReceiveOp):
            state_moves = moves_of(out.layout, op)
            moves += state_moves
            entries = [MOVE] * len(state_moves)
        goes_on = bool(stretches) and stretches[-1][::2] == (len(out.calls) - 1, first)
        made_now = (op,) if isinstance(op, RowOp) else ()
        calls += [RowsCalled(number, groups, made_now) for number in entries]
        if goes_on and _are_pair(out.layout, operators, calls, len(entries)):
            calls[-2:] = [calls[-2].paired(calls[-1])]
        if goes_on:
            stretches[-1] = (stretches[-1][0], stretches[-1][1], len(calls))
        else:
            stretches.append((len(out.calls), first, len(calls)))
            out.calls.append("")
    if not calls:
        return Program()
    if not operators:
        raise MemoptError("C backend: rows are received, and no operator runs in rows")
    above = {MOVE: len(operators), RECEIVE: len(operators) + bool(moves)}
    numbered = [replace(c, number=above.get(c.number, c.number)) for c in calls]
    widths = add_row_program(out, operators, numbered, moves)
    for o in operators:
        if o.inlined is not None:
            out.row_kernels += (o.inlined.kernel, *o.inlined.called)
        out.row_kernels.append(o.call.call.kernel)
    if out.layout.received is not None:
        out.calls = guarded(out.calls, stretches)
        return Program(stream=Stream(widths, len(operators) + bool(moves)))
    for at, first, last in stretches:
        out.calls[at] = run_rows(widths, first, last)
    return Program(start_rows(widths, len(operators)))


def _are_pair(
    layout: Layout, operators: Sequence[RowOperator], calls: Sequence[RowsCalled], new: int
) -> bool:
    """Return whether the last call, if it is the only one of `new`, goes into the one before."""
    if new != 1 or len(calls) < 2:
        return False
    before, last = calls[-2:]
    if before.number != last.number or before.is_pair or not last.rows:
        return False
    return are_pair(layout, operators[last.number], before.rows[0], last.rows[0])
