"""Rows that a row makes itself, because they are no buffers: how many, and where.

    %c0 = memgraph.row %concat[0] (%a0, %b0) {virtual}
    %c1 = memgraph.row %concat[1] (%a1, %b1) {virtual}
    %y0 = memgraph.row %conv[0] (%c0, %c1)        makes c0 and c1 in scratch, one behind the other

From types alone, so that the scratch is known before the order. A row that several rows of a reader
read is made by each of them: it stays in memory no longer than a call.
"""

from collections.abc import Callable
from dataclasses import dataclass

from xdsl.ir import OpResult

from memopt.backends.c.emit.call import scratch_rounded
from memopt.backends.c.inline.epilogue_rows import can_be_epilogue, columns_bytes, made_sums
from memopt.backends.c.rows.row_calls import window_under
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.plan import inlined_by, is_virtual, makes_virtual
from memopt.dialects.memgraph.tensors import bytes_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.pooling import PoolBase
from memopt.dialects.rows.operations import RowOp
from memopt.dialects.rows.steps import activations, steps_of


@dataclass(frozen=True)
class Slot:
    """Where in scratch rows of a value are made, `row_bytes` apart; 0 if it is one at a time."""

    at: int
    row_bytes: int


def makes_operands(row: RowOp) -> bool:
    """Return whether a row that runs reads one that is no buffer."""
    return not makes_virtual(row) and any(map(is_virtual, row.inputs))


def can_make(op: ComputeOp, computes: Callable[[ComputeOp], bool]) -> bool:
    """Return whether rows of a whole operator can be computed that reads values which are no
    buffers.

    Each row of such a value is made of one row of each operand, and the reader reads adjacent rows
    of it; or it is sums of products. `computes` says it of the kernels of operators that read
    buffers.
    """
    if op.accumulates or not computes(op):
        return False
    makers = [value.op for value in inlined_by(op)]
    if made_sums(op.operands):
        return can_be_epilogue(op) and all(isinstance(m, ComputeOp) and computes(m) for m in makers)
    if not all(isinstance(m, ComputeOp) and _has_one(m) and computes(m) for m in makers):
        return False
    read = [v for v in op.operands if not is_constant_expression(v, GENERIC)]
    if isinstance(op, ConvBase | PoolBase):
        return op.window.sizes[2][0] == 1  # rows between the taps are not there to be made of
    return _has_one(op, least=len(read) > 1)


def _has_one(op: ComputeOp, least: int = 1) -> bool:
    """Return whether each row is made of one row of each operand that is no constant, or of
    `least`."""
    steps = steps_of(op)
    if not steps or op.accumulates:
        return False
    for k, value in enumerate(op.operands):
        if is_constant_expression(value, GENERIC):
            continue
        needed = [op.rows_needed(k, r) for r in steps]
        if any(rows is None or not least <= len(rows) <= 1 for rows in needed):
            return False
    return True


def made_for(value: OpResult) -> list[OpResult]:
    """The values that are made to make one that is no buffer, itself last."""
    return [*inlined_by(value.op), value]


def slots_of(row: RowOp) -> dict[int, list[Slot]]:
    """Return the slots of each operand that a row makes, by its number among those from outside,
    each value behind those that it is made of."""
    return _slots(row)[0]


def _slots(row: RowOp) -> tuple[dict[int, list[Slot]], int]:
    """The slots, and where they end."""
    slots: dict[int, list[Slot]] = {}
    at = 0
    window = window_under(row.whole)
    for number, value in _operands(row):
        operand_slots: list[Slot] = []
        for inlined in made_for(value):
            size = bytes_of(inlined.type) or 0
            is_read = inlined is value
            operand_slots.append(Slot(at, size if is_read else 0))
            rows = window.size if is_read and window is not None else 1
            at += scratch_rounded(size * rows)
        slots[number] = operand_slots
    return slots, at


def row_scratch(row: RowOp) -> int:
    """Bytes in which a row makes what it reads, as many for all rows of its operator that do."""
    if not makes_operands(row):
        return 0
    if numbers := made_sums(row.inputs):
        return scratch_rounded(columns_bytes(row.inputs[numbers[0]]))
    return _slots(row)[1]


def _operands(row: RowOp) -> list[tuple[int, OpResult]]:
    """The first value of each operand that is no buffer, and the operand's number."""
    operands: list[tuple[int, OpResult]] = []
    at = 0
    for number, (k, _) in enumerate(activations(row.whole)):
        needed = row.whole.rows_needed(k, row.index.data)
        count = 1 if needed is None else len(needed)
        value = row.inputs[at] if count else None
        if isinstance(value, OpResult) and is_virtual(value):
            operands.append((number, value))
        at += count
    return operands
