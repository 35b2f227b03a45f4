"""How kernels compute one row of an operator, by the form of its family.

    @kernel(Conv2DOp, "s8", "nhwc", rows=window_rows)      # rows under the window of row r
    @kernel(AddOp, "s8", rows=own_rows)                    # row r of every operand

The kernel is the one that computes the whole operator, with the parameters of the whole operator
where row r depends on r, else with those of the same operator on tensors of one row.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal

from xdsl.ir import Attribute, Block, Operation, SSAValue

from memopt.backends.c.emit.call import (
    C_TYPES,
    Constants,
    KernelCall,
    Rows,
    Table,
    element_kind,
    refuse,
)
from memopt.dialects.memgraph.tensors import bytes_of, rows_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.convolution import ConvBase
from memopt.dialects.operators.pad import PadOp
from memopt.dialects.operators.pooling import PoolBase
from memopt.dialects.operators.transpose_convolution import TransposeConv2DOp
from memopt.dialects.rows.steps import activations, row_type, steps_of


@dataclass(frozen=True)
class Window:
    """Row r reads `size` rows from (r * step - before) / per on, rounded down, those that there
    are."""

    step: int
    before: int
    size: int
    per: int = 1


@dataclass(frozen=True)
class ConstantRows:
    """An operand in flash, of which row r lies `row_bytes` behind row r - 1."""

    table: Table
    row_bytes: int


@dataclass(frozen=True)
class RowCall:
    """The call that a row is, or one of several. `operands` are numbers of what `memgraph.row`
    takes, or constants. With a window the one operand is a tensor of whose rows row r reads those;
    else they are what row r takes; a row that takes fewer may take its last operand again. Rows
    go `in_runs` if a call may make several: `in_turn` if it has read what one reads before it
    writes the next; `by_twos` if it writes a first and a second one, a third and a fourth, channel
    by channel, and has read of both what lies there."""

    call: KernelCall
    operands: tuple[int | ConstantRows, ...]
    window: Window | None = None
    takes_last_again: bool = False
    in_runs: Literal["", "in_turn", "by_twos"] = ""


Lowered = Callable[[Operation, Constants], list[KernelCall]]
"""The kernel's calls of a whole operator."""

RowForm = Callable[[ComputeOp, Constants, Lowered], list[RowCall]]
"""The calls of each row of an operator, the same for every row."""


def window_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Convolutions and pools: the rows under the window; a pool of all rows is a sum."""
    if op.accumulates:
        return summed_rows(op, constants, lowered)
    window = window_under(op)
    assert window is not None
    return [RowCall(call, (0,), window) for call in lowered(op, constants)]


def is_one_pixel(op: Operation) -> bool:
    """Return whether a row of the result is one pixel."""
    return shape_of(op.results[0])[2:3] == (1,)


def rows_in_turn(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Return the row calls of kernels that are done with the window of a row when they write the
    next one: several rows of one pixel are computed in a call. Of wider ones that gains less than
    it costs."""
    calls = window_rows(op, constants, lowered)
    return [replace(c, in_runs="in_turn") for c in calls] if is_one_pixel(op) else calls


def rows_by_twos(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Return the row calls of kernels that write two rows while they read what is under both."""
    calls = rows_in_turn(op, constants, lowered)
    return [replace(c, in_runs="by_twos" if c.in_runs else "") for c in calls]


def reached_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Transposed convolutions: the rows of which a tap reaches row r."""
    assert isinstance(op, TransposeConv2DOp)
    window = reached_under(op)
    return [RowCall(call, (0,), window) for call in lowered(op, constants)]


def reached_under(op: TransposeConv2DOp) -> Window:
    """Return the rows of which a tap may reach a row; its last may reach none."""
    kernel, stride, dilation, pad = (v[0] for v in op.window.sizes)
    span = (kernel - 1) * dilation
    return Window(1, span - pad - (stride - 1), span // stride + 1, stride)


def window_under(op: ComputeOp) -> Window | None:
    """The rows of operand 0 under the window of each row of a convolution or pool."""
    if not isinstance(op, ConvBase | PoolBase):
        return None
    kernel, stride, dilation, pad = (v[0] for v in op.window.sizes)
    return Window(stride, pad, (kernel - 1) * dilation + 1)


def no_image(op: PadOp) -> str:
    """Nothing of an image, else what is padded."""
    rank = len(shape_of(op.input))
    return "" if rank == 4 else f"rows of a pad of {rank} dimensions"


def pad_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """A row of the image, or none where all is padding."""
    assert isinstance(op, PadOp)
    window = Window(1, int(op.before.get_values()[1]), 1)
    return [RowCall(call, (0,), window) for call in lowered(op, constants)]


def summed_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """A call per row of operand 0, see memopt_part in kernels/memopt_common.h."""
    if not op.accumulates:
        return own_rows(op, constants, lowered)
    steps = steps_of(op)
    if steps is None or list(steps) != list(range(len(steps))):
        raise refuse(op, "a sum over other rows than the first ones")
    parts = (("parts", len(steps)),)
    operands = (0, 1) if len(steps) > 1 else (0,)
    calls = lowered(op, constants)
    if any(call.rows.end != 1 for call in calls):
        raise refuse(op, "rows that are summed, and what lies in them too")
    return [RowCall(replace(call, fields=(*call.fields, *parts)), operands) for call in calls]


def carried_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """A call per row, of the operands that a row takes and of the row before, which the first call
    does not look at."""
    count = len(activations(op)) + (len(steps_of(op) or ()) > 1)
    calls = lowered(op, constants)
    row = Rows(1, 0, 0)
    return [
        RowCall(replace(call, fields=(*call.fields, ("in_rows", 1)), rows=row), tuple(range(count)))
        for call in calls
    ]


def sum_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Rows that several operators have added up, all in one buffer: row r is where that of the
    first one is."""
    return [RowCall(call, (0,), Window(1, 0, 1)) for call in lowered(op, constants)]


def own_rows(op: ComputeOp, constants: Constants, lowered: Lowered) -> list[RowCall]:
    """Row r of every operand: the calls of the operator on tensors of one row."""
    return changed_rows(op, constants, lowered, {})


def changed_rows(
    op: ComputeOp, constants: Constants, lowered: Lowered, properties: Mapping[str, Attribute]
) -> list[RowCall]:
    """Row r of every operand, with these `properties` of the operator on one row."""
    inside, numbers = _of_one_row(op, constants)
    inside.properties.update(properties)
    try:
        calls = lowered(inside, constants)
        row_calls: list[RowCall] = []
        for call in calls:
            operands = tuple(
                ConstantRows(v, 0) if isinstance(v, Table) else numbers[v] for v in call.operands
            )
            row_calls.append(RowCall(replace(call, operands=()), operands))
        return row_calls
    finally:
        inside.erase(safe_erase=False)


def _of_one_row(
    op: ComputeOp, constants: Constants
) -> tuple[ComputeOp, dict[SSAValue, int | ConstantRows]]:
    """The operator on one row of each tensor, and what of `memgraph.row` each operand is."""
    numbers: dict[SSAValue, int | ConstantRows] = {}
    outside = {k: number for number, (k, _) in enumerate(activations(op))}
    operands: list[SSAValue] = []
    for k, value in enumerate(op.operands):
        has_row = op.rows_needed(k, 0) is not None
        rows = rows_of(value) or 0
        if k not in outside and not (has_row and rows > 1):
            operands.append(value)
            continue
        row = Block(arg_types=[row_type(value.type) if has_row else value.type]).args[0]
        numbers[row] = outside[k] if k in outside else constant_rows(op, value, constants)
        operands.append(row)
    one = type(op).create(
        operands=operands,
        result_types=[row_type(r.type) for r in op.results],
        properties=dict(op.properties),
        attributes=dict(op.attributes),
    )
    one.location = op.location
    return one, numbers


def constant_rows(op: ComputeOp, value: SSAValue, constants: Constants) -> ConstantRows:
    """Return the rows of a constant operand. Refuses elements that C has no type for."""
    kind, array = element_kind(value), constants(value)
    if kind not in C_TYPES or array is None:
        raise refuse(op, f"rows of a constant of {kind}")
    return ConstantRows(Table(C_TYPES[kind], array), bytes_of(row_type(value.type)) or 0)
