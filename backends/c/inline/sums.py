"""Operations that add up one buffer: which of them overwrites it, which add, and which is the last.

    %1 = memgraph.conv_2d %a, ...          overwrites, whatever its place among the operands
    %2 = memgraph.conv_2d %b, ...          adds to what is there; of reals, it finishes the sum
    %y = memgraph.accumulate %1, %2, ...   requantises sums of integers, is nothing for reals

As they stand in the function, which is their planned order. Of rows the order is that of the rows
of one number, so those of one operator may overwrite here and add there:

    %p0 = memgraph.row %part[0] (%a0)            overwrites
    %q0 = memgraph.row %other[0] (%b0)           adds
    %q1 = memgraph.row %other[1] (%b1)           overwrites
    %p1 = memgraph.row %part[1] (%a1)            adds
"""

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Block, Operation, OpResult, SSAValue

from memopt.backends.c.emit.call import Constants, Table, refuse
from memopt.backends.c.emit.float32 import float_bias, float_result_range
from memopt.dialects.arithmetic.stored import is_stored
from memopt.dialects.memgraph.plan import order_of
from memopt.dialects.memgraph.structure import YieldOp
from memopt.dialects.operators.accumulation import AccumulateOp, sum_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.operators.traits import SumsUp
from memopt.dialects.rows.operations import RowOp
from memopt.dialects.rows.steps import activations

Fields = tuple[tuple[str, "int | float | str | Table"], ...]


@dataclass(frozen=True)
class Part:
    """Part of an operation in the buffer of a sum: it `adds` to what is there or overwrites it, and
    may be the `last` to add."""

    whole: AccumulateOp
    adds: bool
    last: bool

    @property
    def finishes(self) -> bool:
        """Return whether it leaves the result of the sum."""
        return self.last and not is_stored(self.whole.result)


def part_of(op: Operation) -> Part:
    """Return the part that an operation has in the buffer of its sum."""
    total = sum_of(op)
    assert total is not None
    steps = adders(total)
    return Part(total, steps[0] is not op, steps[-1] is op)


def adders(total: AccumulateOp | RowOp) -> list[Operation]:
    """Return the steps that add up what a step sums, in the order in which they run; where none is
    planned, that of the operands."""
    values = total.inputs if isinstance(total, RowOp) else total.sums
    steps = [v.op for v in values if isinstance(v, OpResult)]
    return sorted(steps, key=lambda op: order_of(op) or 0)


def real_part(op: Operation, channels: int, constants: Constants) -> Fields:
    """The fields adds, act_min, act_max and bias of reals that are added up: bias and activation
    come with the last of them. Refuses a mean."""
    part = part_of(op)
    if part.whole.mean is not None:
        raise refuse(part.whole, f"a mean of what {op.name} leaves, only of means")
    bias = part.whole.bias if part.finishes else None
    return (
        ("adds", int(part.adds)),
        *float_result_range(part.whole if part.finishes else op),
        ("bias", float_bias(op, bias, channels, constants)),
    )


def computed(row: RowOp) -> ComputeOp:
    """The whole operator of a row; of one that adds up a buffer among those that do so, too, in the
    order in which their rows of this number run."""
    total = sum_row_of(row)
    if total is None:
        return row.whole
    block = Block()
    copies = {op: _added(block, op, ()) for op in adders(total) if isinstance(op, RowOp)}
    copies[total] = _added(block, total, [copy.results[0] for copy in copies.values()])
    return copies[row]


def sum_row_of(row: RowOp) -> RowOp | None:
    """Return the row that sums up a buffer to which a row adds, or the row itself if it does so."""
    rows = (row, *(use.operation for use in row.outputs[0].uses))
    return next((r for r in rows if isinstance(r, RowOp) and r.whole.has_trait(SumsUp)), None)


def _added(block: Block, row: RowOp, operands: Sequence[SSAValue]) -> ComputeOp:
    """A copy of the operator of a row, in a block that has what is known before run time; it reads
    `operands`, or new arguments."""
    operator = row.whole
    outside = [v for _, v in activations(operator)]
    given = operands or [block.insert_arg(v.type, len(block.args)) for v in outside]
    mapping: dict[SSAValue, SSAValue] = dict(zip(outside, given, strict=True))
    inside = operator.parent
    assert isinstance(inside, Block)
    copies = {op: op.clone(mapping) for op in inside.ops if not isinstance(op, YieldOp)}
    block.add_ops(copies.values())
    copy = copies[operator]
    assert isinstance(copy, ComputeOp)
    return copy


def overwriting(rows: Sequence[RowOp]) -> list[list[RowOp]]:
    """The rows of an operator, those that overwrite a buffer apart from those that add to it."""
    groups: dict[bool, list[RowOp]] = {True: [], False: []}
    for row in rows:
        total = sum_row_of(row)
        groups[total is None or total is row or adders(total)[0] is row].append(row)
    return [group for group in groups.values() if group]
