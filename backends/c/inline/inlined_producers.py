"""Virtual tensors that an operation reads and makes itself: which rows, and where.

    %c = memgraph.concat %a, %b axis 3 {virtual}      made by its reader, a row at a time
    %y = memgraph.conv_2d %c, %w window<[3, 3]> ...    in scratch: three rows of %c

From types alone, so that the scratch is known before the order. Rows that a window leaves are
dropped, so each is made once. Where a row is not made of one row, all of the tensor is made at
once, while its reader runs.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import Operation, OpResult, SSAValue

from memopt.backends.c.emit.broadcast import groups_of
from memopt.backends.c.emit.call import refuse, scratch_rounded
from memopt.backends.c.rows.row_calls import Window, window_under
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.plan import inlined_by, is_virtual
from memopt.dialects.memgraph.tensors import bytes_of, rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.traits import Pointwise

WHOLE = Window(0, 0, 1)
MOST_OPERANDS = 2  # of a step: MEMOPT_INLINED_OPERANDS of kernels/memopt_inlined.h

Workspace = Callable[[Operation], int]


@dataclass(frozen=True)
class Made:
    """A virtual tensor, its producer, and the bytes of a row of it. `at` is where in
    scratch the row in hand lies, the first row of the window if it has one."""

    value: OpResult
    op: ComputeOp
    row_bytes: int
    at: int


@dataclass(frozen=True)
class Inlining:
    """`calls` calls of a reader, of which each reads the rows under `window`, of `rows` that are
    made. `made` has the makers before who reads what they make; the first value that the operation
    itself reads lies under the window. `scratch` is bytes."""

    made: tuple[Made, ...]
    rows: int
    calls: int
    window: Window
    scratch: int


def inlining_of(op: Operation, workspace: Workspace) -> Inlining:
    """Return how an operation makes the virtual tensors that it reads. `workspace` says in how many
    bytes the kernel of an operation works by itself.

    Raises MemoptError where no kernel does: several images, kernels that work in scratch.
    """
    if not isinstance(op, ComputeOp):
        raise refuse(op, f"{op.name} reads a tensor in parts, which no kernel does")
    read = [v for v in dict.fromkeys(op.operands) if is_virtual(v)]
    makers = {v: _maker(op, v) for v in inlined_by(op)}
    for each in (op, *makers.values()):
        if workspace(each):
            raise refuse(each, "it works in scratch, and what it reads or makes is virtual")
        if window_under(each) is not None and shape_of(each.operands[0])[0] != 1:
            raise refuse(each, "several images, of which one is in parts or made by its reader")
    rows, window = _rows(read[0]) or 1, _window(op, read)
    if window is None or not all(_is_by_rows(v, maker, rows) for v, maker in makers.items()):
        rows, window = 1, WHOLE
    calls = 1 if window == WHOLE else _rows(op.results[0]) or 1
    inlined: list[Made] = []
    at = scratch_rounded(min(window.size, rows) * _row_bytes(read[0], rows))
    for value, maker in makers.items():
        size = _row_bytes(value, rows)
        inlined.append(Made(value, maker, size, 0 if value is read[0] else at))
        at += 0 if value is read[0] else scratch_rounded(size)
    return Inlining(tuple(inlined), rows, calls, window, at)


def _maker(reader: ComputeOp, value: OpResult) -> ComputeOp:
    """Return the operation that makes a value. Refuses one that no kernel computes."""
    if not isinstance(value.op, ComputeOp):
        raise refuse(reader, f"no kernel makes {value.op.name} where it is read")
    return value.op


def _window(op: ComputeOp, read: list[SSAValue]) -> Window | None:
    """The rows that each row of an operation reads of what it makes, None if it needs all."""
    rows = _rows(read[0])
    if rows is None or op.accumulates:
        return None
    if _is_row_to_row(op, rows):
        return Window(1, 0, 1)
    return None if _rows(op.results[0]) is None else window_under(op)


def _is_by_rows(value: OpResult, op: ComputeOp, rows: int) -> bool:
    """Return whether rows of a value can be made one by one: of the same rows of operands that are
    made, too, or as a kernel makes them of buffers."""
    if _is_row_to_row(op, rows):
        return True
    alone = not any(map(is_virtual, op.operands))
    return alone and op.is_made_by_reader and _rows(value) == rows and not op.accumulates


def _is_row_to_row(op: ComputeOp, rows: int) -> bool:
    """Return whether row r of the results is made of row r of each operand that is no constant."""
    if op.accumulates or any(_rows(r) != rows for r in op.results):
        return False
    if op.has_trait(Pointwise) and len(op.operands) == 2:
        shapes = [shape_of(v) for v in op.operands]
        if shapes[0] != shapes[1] and len(groups_of(shapes, shape_of(op.results[0]))) > 2:
            return False  # memopt_broadcast makes all rows at once
    compared = range(1 if op.has_trait(Pointwise) else rows)  # of those the other rows are alike
    for k, v in enumerate(op.operands):
        if is_constant_expression(v, GENERIC):
            continue
        if _rows(v) != rows or any(op.rows_read(k, r) != range(r, r + 1) for r in compared):
            return False
    return True


def _rows(value: SSAValue) -> int | None:
    """Rows of an image as kernels count them, None if it is none or has no columns."""
    return rows_of(value) if len(shape_of(value)) == 4 else None


def _row_bytes(value: SSAValue, rows: int) -> int:
    return (bytes_of(value.type) or 0) // rows
