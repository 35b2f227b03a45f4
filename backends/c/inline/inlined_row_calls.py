"""A row that reads rows which are no buffers, in the generated file: what it makes them of.

static const int32_t op5_0_from[] = {-1};        the first operand of the call: it is a buffer
static const memopt_inlined_row_step op5_steps[] = {
    {memopt_copy, &op5_0_params, op5_0_from, 1, 1, 8, 12, 0, 12},
    ...
memopt_inlined_row runs them for each row under the window, then the kernel of the reader.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from xdsl.ir import OpResult, SSAValue

from memopt.backends.c.emit.call import Constants, KernelCall, refuse
from memopt.backends.c.emit.calls import Source, add_parameters
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.lowering import lower_rows
from memopt.backends.c.inline.inlined_producers import MOST_OPERANDS
from memopt.backends.c.inline.inlined_rows import (
    Slot,
    made_for,
    makes_operands,
    row_scratch,
    slots_of,
)
from memopt.backends.c.rows.row_calls import ConstantRows, RowCall
from memopt.backends.c.rows.row_places import Places, numbered, scratch_of
from memopt.dialects.memgraph.plan import is_virtual
from memopt.dialects.rows.operations import RowOp

KERNEL = "inlined_row"

Operands = tuple[Places | ConstantRows, ...]


@dataclass(frozen=True)
class Step:
    """One call. Of each operand `sources` says where in scratch its row is, or, as -1 - n, that it
    is operand n of the row operator. It writes into `slot`, `offset` bytes from its start."""

    call: KernelCall
    sources: tuple[int, ...]
    slot: Slot
    offset: int = 0


@dataclass(frozen=True)
class InlinedRows:
    """The calls that make what a row reads, where that is, and where the scratch of each row is."""

    steps: tuple[Step, ...]
    sources: tuple[int, ...]
    scratch: Places
    kernel = KERNEL

    @property
    def kernels(self) -> list[str]:
        return [KERNEL, *(step.call.kernel for step in self.steps)]

    def add(self, out: Source, reader: KernelCall, prefix: str) -> None:
        """The parameters of a row operator, `<prefix>_params`."""
        add_inlined_row(out, reader, self, prefix)


def inlined_rows(
    layout: Layout,
    constants: Constants,
    isa: tuple[str, ...],
    made: RowCall,
    read: Sequence[ConstantRows | Mapping[int, SSAValue]],
    rows: Sequence[RowOp],
) -> tuple[Operands, InlinedRows]:
    """The buffers and constants that a call of a row reads in the end, and what it makes of them.
    `read` are the operands of the call, tensors by number of row. Raises MemoptError where kernels
    do not make them row by row, and for a plan with other scratch."""
    slots = slots_of(next(row for row in rows if makes_operands(row)))
    operands: list[Places | ConstantRows] = []
    steps: list[Step] = []
    sources: list[int] = []

    def given(operand: Places | ConstantRows) -> int:
        operands.append(operand)
        return -len(operands)

    for number, values in zip(made.operands, read, strict=True):
        if isinstance(values, ConstantRows):
            sources.append(given(values))
            continue
        some = next(iter(values.values()))
        if not isinstance(some, OpResult) or not is_virtual(some):
            sources.append(given(numbered(layout, values, made.call.in_offset)))
            continue
        assert isinstance(number, int)
        operand_slots = slots[number]
        sources.append(operand_slots[-1].at + made.call.in_offset)
        chains = {n: made_for(v) for n, v in values.items() if isinstance(v, OpResult)}
        first = chains[next(iter(values))]
        places: dict[SSAValue, int] = {v: s.at for v, s in zip(first, operand_slots, strict=True)}
        for at, (value, slot) in enumerate(zip(first, operand_slots, strict=True)):
            op = _row(value)
            for call in lower_rows(op.whole, constants, isa):
                if call.call.result != value.index:
                    continue
                if call.window is not None or call.call.batches > 1:
                    raise refuse(op, f"memopt_{call.call.kernel} makes no row of no buffer")
                sources_of_step: list[int] = []
                for operand in call.operands:
                    if isinstance(operand, ConstantRows):
                        raise refuse(op, "a row of no buffer made of a constant")
                    part = op.inputs[operand]
                    if part in places:
                        sources_of_step.append(places[part] + call.call.in_offset)
                        continue
                    parts = {n: _row(chain[at]).inputs[operand] for n, chain in chains.items()}
                    sources_of_step.append(given(numbered(layout, parts, call.call.in_offset)))
                steps.append(Step(call.call, tuple(sources_of_step), slot, call.call.out_offset))
    if len(sources) > MOST_OPERANDS or any(len(s.sources) > MOST_OPERANDS for s in steps):
        raise refuse(rows[0].whole, f"memopt_{made.call.kernel} reads no row of no buffer")
    return tuple(operands), InlinedRows(
        tuple(steps), tuple(sources), scratch_of(layout, rows, row_scratch)
    )


def _row(value: OpResult) -> RowOp:
    if not isinstance(value.op, RowOp):
        raise refuse(value.op, "no row, and no buffer")
    return value.op


def add_inlined_row(out: Source, reader: KernelCall, inlined: InlinedRows, prefix: str) -> None:
    """The parameters of `memopt_inlined_row` for a row operator, `<prefix>_params`."""
    lines: list[str] = []
    for k, step in enumerate(inlined.steps):
        name, call = f"{prefix}_{k}", step.call
        add_parameters(out, call, name)
        numbers = (
            len(step.sources),
            call.rows.end,
            call.rows.in_stride,
            call.rows.out_stride,
            step.slot.at + step.offset,
            step.slot.row_bytes,
        )
        lines.append(_step(out, call, step.sources, name, numbers))
    name = f"{prefix}_{len(lines)}"
    add_parameters(out, reader, name)
    lines.append(_step(out, reader, inlined.sources, name, (len(inlined.sources), 0, 0, 0, 0, 0)))
    text = "".join(f"    {line},\n" for line in lines)
    out.data.append(f"static const memopt_inlined_row_step {prefix}_steps[] = {{\n{text}}};\n")
    out.data.append(
        f"static const memopt_{KERNEL}_params {prefix}_params = {{\n"
        f"    .steps = {prefix}_steps,\n    .makers = {len(lines) - 1},\n}};\n"
    )


def _step(
    out: Source, call: KernelCall, sources: Sequence[int], name: str, numbers: Sequence[int]
) -> str:
    text = ", ".join(map(str, sources))
    out.data.append(f"static const int32_t {name}_from[] = {{{text}}};\n")
    words = ", ".join(map(str, numbers))
    return f"{{memopt_{call.kernel}, &{name}_params, {name}_from, {words}}}"
