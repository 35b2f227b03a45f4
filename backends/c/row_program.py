"""A planned row graph as the emitter needs it: the operators whose rows run, where rows lie.

Nothing is decided here either: rows and their places are the plan's.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from xdsl.ir import SSAValue

from memopt.backends.c.call import Constants, refuse
from memopt.backends.c.layout import Address, Layout
from memopt.backends.c.lowering import lower_rows
from memopt.backends.c.row_calls import ConstantRows, RowCall
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows import ReceiveOp, RowOp, RowsOp

Places = tuple[Address, ...]
"""Where the rows of a tensor lie."""


@dataclass(frozen=True)
class RowOperator:
    """One kernel call of all `rows` of an operator: where the rows lie that it reads and writes,
    and whether it is the last one that writes into them."""

    prefix: str
    call: RowCall
    rows: Sequence[RowOp]
    operands: tuple[Places | ConstantRows, ...]
    results: Places
    completes: bool

    @property
    def whole(self) -> ComputeOp:
        return self.rows[0].whole

    @property
    def places(self) -> list[Places]:
        """What needs a table."""
        return [p for p in (*self.operands, self.results) if isinstance(p, tuple)]


def rows_of_operators(layout: Layout) -> dict[SSAValue, list[RowOp]]:
    """The rows of each operator in the order in which they run, which is ascending."""
    found: dict[SSAValue, list[RowOp]] = {}
    for op in layout.operations:
        if isinstance(op, RowOp):
            found.setdefault(op.operator, []).append(op)
    return found


def row_operators(
    layout: Layout, constants: Constants, isa: tuple[str, ...], rows: Sequence[RowOp], prefix: str
) -> list[RowOperator]:
    """The calls of an operator of which all rows are given. Raises MemoptError if no kernel
    computes them."""
    calls = lower_rows(rows[0].whole, constants, isa)
    found: list[RowOperator] = []
    for number, made in enumerate(calls):
        call = made.call
        results = _moved(layout, [r.outputs[call.result] for r in rows], call.out_offset)
        operands = tuple(
            operand
            if isinstance(operand, ConstantRows)
            else _moved(layout, _values(made, operand, rows), call.in_offset)
            for operand in made.operands
        )
        name = prefix if len(calls) == 1 else f"{prefix}_{number}"
        completes = all(c.call.result != call.result for c in calls[number + 1 :])
        found.append(RowOperator(name, made, rows, operands, results, completes))
    return found


def _values(made: RowCall, number: int, rows: Sequence[RowOp]) -> Sequence[SSAValue]:
    """An operand: the rows of the tensor under the window, else what each row takes."""
    if made.window is not None:
        return _tensor_under(rows)
    if len(rows[-1].inputs) <= number:
        raise refuse(rows[0].whole, "rows that do not all take as many operands")
    if len(rows[0].inputs) > number:
        return [r.inputs[number] for r in rows]
    # The first part of a sum adds to nothing: it does not look at this operand.
    return [rows[0].outputs[0], *(r.inputs[number] for r in rows[1:])]


def _tensor_under(rows: Sequence[RowOp]) -> Sequence[SSAValue]:
    """All rows of the tensor that windows slide over; none if they see nothing but padding."""
    read = next((v for r in rows for v in r.inputs), None)
    if read is None:
        return ()
    owner = read.owner
    if isinstance(owner, RowsOp):
        return owner.parts
    if isinstance(owner, ReceiveOp):
        return received_in_order(owner.input)
    if isinstance(owner, RowOp) and owner.whole.rows_mode != "part":
        index = owner.outputs.index(read)  # type: ignore[arg-type]
        uses = (use.operation for use in owner.operator.uses)
        made = sorted((o for o in uses if isinstance(o, RowOp)), key=lambda o: o.index.data)
        return [o.outputs[index] for o in made]
    return (read,)


def received_in_order(argument: SSAValue) -> list[SSAValue]:
    """The rows of an argument that is received, from the first on."""
    found = (use.operation for use in argument.uses)
    rows = sorted((o for o in found if isinstance(o, ReceiveOp)), key=lambda o: o.index.data)
    return [o.result for o in rows]


def places_of(layout: Layout, values: Sequence[SSAValue]) -> Places:
    """Where these lie."""
    return _moved(layout, values, 0)


def _moved(layout: Layout, values: Sequence[SSAValue], by: int) -> Places:
    addresses = (layout.addresses[v] for v in values)
    return tuple(replace(a, offset=a.offset + by) for a in addresses)
