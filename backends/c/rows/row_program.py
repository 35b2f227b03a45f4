"""A planned row graph as the emitter needs it: the operators whose rows run, where rows lie.

Nothing is decided here either: rows and their places are the plan's.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.ir import SSAValue

from memopt.backends.c.emit.call import Constants, refuse
from memopt.backends.c.emit.layout import Address, Layout
from memopt.backends.c.emit.lowering import lower_rows
from memopt.backends.c.emit.registry import workspace_of
from memopt.backends.c.inline.inlined_row_calls import (
    InlinedRows,
    epilogue_row,
    inlined_rows,
    makers_of,
)
from memopt.backends.c.inline.inlined_rows import made_sums
from memopt.backends.c.inline.sums import computed, sum_row_of
from memopt.backends.c.rows.row_calls import ConstantRows, RowCall
from memopt.backends.c.rows.row_places import Places, numbered, scratch_of
from memopt.dialects.memgraph.plan import reads_virtual
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import ReceiveOp, RowOp, SplitRowsOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp


@dataclass(frozen=True)
class RowOperator:
    """One kernel call of all `rows` of an operator, or of those that are not kept from the run
    before: where the rows lie that it reads and writes, and whether it is the last one that writes
    into them; `works_at` is where the scratch of each row is, nothing if it has none. `inlined`:
    what it makes of `operands` first."""

    prefix: str
    call: RowCall
    rows: Sequence[RowOp]
    operands: tuple[Places | ConstantRows, ...]
    results: Places
    completes: bool
    inlined: InlinedRows | None
    works_at: Places

    @property
    def whole(self) -> ComputeOp:
        return self.rows[0].whole

    @property
    def end(self) -> int:
        """Return one above the last of the rows."""
        return self.rows[-1].index.data + 1

    @property
    def is_dense(self) -> bool:
        """Return whether the rows are all from the first on."""
        return self.end == len(self.rows)

    @property
    def places(self) -> list[Places]:
        """Return the places that need a table."""
        return [p for p in (*self.operands, self.results, self.works_at) if isinstance(p, tuple)]

    @property
    def aligned(self) -> int:
        """Return how many operands, the last ones, are read at the row itself."""
        return 0 if self.inlined is None else self.inlined.aligned


def rows_of_operators(layout: Layout) -> dict[SSAValue, list[RowOp]]:
    """The rows of each operator in the order in which they run, which is ascending."""
    rows_of: dict[SSAValue, list[RowOp]] = {}
    for op in layout.operations:
        if isinstance(op, RowOp):
            rows_of.setdefault(op.operator, []).append(op)
    return rows_of


def row_operators(
    layout: Layout, constants: Constants, isa: tuple[str, ...], rows: Sequence[RowOp], prefix: str
) -> list[RowOperator]:
    """The calls of an operator of which all rows are given. Raises MemoptError if no kernel
    computes them."""
    calls = lower_rows(computed(rows[0]), constants, isa)
    is_part = sum_row_of(rows[0]) not in (None, rows[0])
    works_at = scratch_of(layout, rows, partial(workspace_of, isa=isa))
    operators: list[RowOperator] = []
    for number, row_call in enumerate(calls):
        call = row_call.call
        made_rows = {r.index.data: r.outputs[call.result] for r in rows}
        results = numbered(layout, made_rows, call.out_offset)
        read = [
            o if isinstance(o, ConstantRows) else _values(row_call, o, rows)
            for o in row_call.operands
        ]
        inlined: InlinedRows | None = None
        if made_sums(rows[0].inputs):
            under = _tensor_under(makers_of(rows))
            row_call, operands, inlined = epilogue_row(layout, constants, isa, rows, under)
        elif any(map(reads_virtual, rows)):
            operands, inlined = inlined_rows(layout, constants, isa, row_call, read, rows)
        else:
            operands = tuple(
                o if isinstance(o, ConstantRows) else numbered(layout, o, call.in_offset)
                for o in read
            )
        name = prefix if len(calls) == 1 else f"{prefix}_{number}"
        completes = not is_part and call.result not in {c.call.result for c in calls[number + 1 :]}
        operators.append(
            RowOperator(name, row_call, rows, operands, results, completes, inlined, works_at)
        )
    return operators


def _values(made: RowCall, number: int, rows: Sequence[RowOp]) -> Mapping[int, SSAValue]:
    """An operand by number of row: the rows of the tensor under the window, else what each row
    takes."""
    if made.window is not None:
        return _tensor_under(rows)
    if made.takes_last_again:
        return {r.index.data: r.inputs[min(number, len(r.inputs) - 1)] for r in rows}
    if len(rows[-1].inputs) <= number:
        raise refuse(rows[0].whole, "rows that do not all take as many operands")
    values = {r.index.data: r.inputs[number] for r in rows if len(r.inputs) > number}
    # The first part of a sum adds to nothing: it does not look at this operand.
    return {rows[0].index.data: rows[0].outputs[0], **values}


def _tensor_under(rows: Sequence[RowOp]) -> Mapping[int, SSAValue]:
    """The rows of the tensor that windows slide over; none if they see nothing but padding."""
    read = next((v for r in rows for v in r.inputs), None)
    if read is None:
        return {}
    owner = read.owner
    if isinstance(owner, SplitRowsOp):
        return dict(enumerate(owner.parts))
    if isinstance(owner, ReceiveOp):
        return _rows_named(owner.input)
    if isinstance(owner, RecallOp):
        state = owner.kept
        return _rows_named(state.of, state.number.data)
    if isinstance(owner, RowOp) and owner.whole.rows_mode != "part":
        return _rows_named(owner.operator, owner.outputs.index(read))  # type: ignore[arg-type]
    return {0: read}


def _rows_named(of: SSAValue, number: int = 0) -> dict[int, SSAValue]:
    """The rows of an argument that is received, or of a result of an operator: those that are made
    in this run and those that are recalled."""
    by_index: dict[int, SSAValue] = {}
    for op in (use.operation for use in of.uses):
        if isinstance(op, ReceiveOp):
            by_index[op.index.data] = op.result
        elif isinstance(op, RowOp):
            by_index[op.index.data] = op.outputs[number]
        elif isinstance(op, StateOp) and op.number.data == number:
            by_index |= {recall.index.data: recall.result for recall in op.of_kind(RecallOp)}
    return by_index


def received_in_order(argument: SSAValue) -> list[SSAValue]:
    """The rows of an argument that is received, from the first on."""
    users = (use.operation for use in argument.uses)
    rows = sorted((o for o in users if isinstance(o, ReceiveOp)), key=lambda o: o.index.data)
    return [o.result for o in rows]


@dataclass(frozen=True)
class Move:
    """`bytes` that are copied from one place to another, which may overlap."""

    to: Address
    source: Address
    bytes: int


def moves_of(layout: Layout, op: RecallOp | RetainOp | SlideOp) -> list[Move]:
    """Return the moves of an operation on state."""
    state = op.kept
    if isinstance(op, RecallOp):
        place = layout.kept_at(state, op.index.data)
        return [Move(layout.addresses[op.result], place, state.row_bytes)]
    if isinstance(op, RetainOp):
        place = layout.kept_at(state, op.index.data)
        return [Move(place, layout.addresses[op.value], state.row_bytes)]
    moves: list[Move] = []
    for r in state.kept:  # ascending, so that none is overwritten before it has moved
        if r + state.later not in state.kept:
            continue
        to, source = (layout.kept_at(state, n) for n in (r, r + state.later))
        before = moves[-1] if moves else None
        if before and (before.to.offset + before.bytes, before.source.offset + before.bytes) == (
            to.offset,
            source.offset,
        ):
            moves[-1] = replace(before, bytes=before.bytes + state.row_bytes)
        else:
            moves.append(Move(to, source, state.row_bytes))
    return moves
