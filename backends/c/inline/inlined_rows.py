"""Virtual rows that a row reads and makes itself: how many, and where.

    %c0 = memgraph.row %concat[0] (%a0, %b0) {virtual}
    %c1 = memgraph.row %concat[1] (%a1, %b1) {virtual}
    %y0 = memgraph.row %conv[0] (%c0, %c1)        makes c0 and c1 in scratch, one behind the other

From types alone, so that the scratch is known before the order. A row that several rows of a reader
read is made by each of them: it stays in memory no longer than a call.

An epilogue makes sums of products, one of its two operands: some columns of the row in scratch,
then what it computes of these, and so on. A whole row in scratch would be as much as the virtual
row: nothing would be won.

    %b0 = memgraph.row %conv[0] (%a0, %a1) {virtual}     a quarter of %b0 at a time
    %y0 = memgraph.row %add[0] (%b0, %x0)                may take the place of %x0
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from memopt.backends.c.emit.call import scratch_rounded
from memopt.backends.c.rows.row_calls import reached_under, window_under
from memopt.dialects.attributes.model import GENERIC
from memopt.dialects.memgraph.plan import inlined_by, is_virtual, makes_virtual, reads_virtual
from memopt.dialects.memgraph.tensors import bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.pooling import PoolBase
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.operators.weighing import WeighingOp
from memopt.dialects.rows.operations import RowOp
from memopt.dialects.rows.steps import activations, steps_of

PARTS = 4  # of a row, each an even number of columns, since kernels compute two pixels at once


@dataclass(frozen=True)
class Slot:
    """Where in scratch rows of a value are made, `row_bytes` apart; 0 if it is one at a time."""

    at: int
    row_bytes: int


def made_sums(values: Sequence[SSAValue]) -> list[int]:
    """Return the indices of the values that are virtual sums of products."""
    return [k for k, v in enumerate(values) if isinstance(v, OpResult) and _is_sum(v)]


def _is_sum(value: OpResult) -> bool:
    operator = value.op.whole if isinstance(value.op, RowOp) else value.op
    return makes_virtual(value.op) and isinstance(operator, WeighingOp)


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
    computed = [m for m in makers if isinstance(m, ComputeOp) and computes(m)]
    if len(computed) < len(makers):
        return False
    if made_sums(op.operands):
        return _can_be_epilogue(op)
    if not all(map(_has_one, computed)):
        return False
    read = [v for v in op.operands if not is_constant_expression(v, GENERIC)]
    if isinstance(op, ConvBase | PoolBase):
        return op.window.sizes[2][0] == 1  # rows between the taps are not there to be made of
    if isinstance(op, TransposeConv2DOp) and reached_under(op).size > 1:
        return False
    return _has_one(op, least=len(read) > 1 or isinstance(op, TransposeConv2DOp))


def _can_be_epilogue(op: ComputeOp) -> bool:
    """Return whether rows of a whole operation can make the sums that it reads: of a convolution of
    buffers, beside one other buffer, all of one shape."""
    sums = inlined_by(op)
    if len(op.operands) != 2 or len(sums) != 1 or not isinstance(sums[0].op, ConvBase):
        return False
    shape = shape_of(op.results[0])
    alike = all(shape_of(v) == shape for v in op.operands) and len(shape) == 4
    return alike and not any(is_constant_expression(v, GENERIC) for v in op.operands)


def columns_of(value: SSAValue) -> list[range]:
    """The columns of a row of sums that are made at a time, in their order."""
    width = shape_of(value)[2]
    step = max(2, -(-width // (2 * PARTS)) * 2)
    return [range(at, min(at + step, width)) for at in range(0, width, step)]


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
    """Return the values that are made for a virtual one, itself last."""
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
    if not reads_virtual(row):
        return 0
    if numbers := made_sums(row.inputs):
        value = row.inputs[numbers[0]]
        columns, width = len(columns_of(value)[0]), shape_of(value)[2]
        return scratch_rounded(-(-(bytes_of(value.type) or 0) * columns // width))
    return _slots(row)[1]


def _operands(row: RowOp) -> list[tuple[int, OpResult]]:
    """Return the first value of each virtual operand, and the operand's number."""
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
