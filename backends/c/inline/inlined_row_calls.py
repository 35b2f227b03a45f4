"""A row that makes the virtual rows that it reads, in the generated file: what it makes them of.

static const int32_t op5_0_from[] = {-1};        the first operand of the call: it is a buffer
static const memopt_inlined_row_step op5_steps[] = {
    {memopt_copy, &op5_0_params, op5_0_from, 1, 1, 8, 12, 0, 12},
    ...
memopt_inlined_row runs them for each row under the window, then the kernel of the reader.

static const memopt_epilogue_part op5_parts[] = {
    {&op5_0_params, &op5_1_params, 1, 128, 128, 0, 0},      the first columns, the next ones
    ...
memopt_epilogue_row makes columns in scratch by the kernel of a convolution, with the parameters of
one that is as wide, then computes the operation of them.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, OpResult, SSAValue

from memopt.backends.c.emit.call import Constants, KernelCall, refuse
from memopt.backends.c.emit.calls import Source, add_parameters
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.lowering import lower, lower_rows
from memopt.backends.c.inline.inlined_producers import MOST_OPERANDS
from memopt.backends.c.inline.inlined_rows import columns_of, made_for, made_sums, slots_of
from memopt.backends.c.rows.row_calls import ConstantRows, RowCall
from memopt.backends.c.rows.row_places import Places, numbered
from memopt.dialects.memgraph.plan import is_virtual, reads_virtual
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp

Operands = tuple[Places | ConstantRows, ...]


@dataclass(frozen=True)
class InlinedRows:
    """Work of each row of an operator before it computes: the kernel that does both, those that
    it calls, and what adds `<prefix>_params` to the file, given the reader's call and the prefix.
    The last `aligned` operands are read at the row itself, whatever the window of the others is."""

    kernel: str
    called: tuple[str, ...]
    add: Callable[[Source, KernelCall, str], None]
    aligned: int = 0


@dataclass(frozen=True)
class _Step:
    """One call. Of each operand `sources` says where in scratch its row is, or, as -1 - n, that it
    is operand n of the row operator. It writes rows, `row_bytes` apart, into scratch from `at`
    on."""

    call: KernelCall
    sources: tuple[int, ...]
    at: int
    row_bytes: int


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
    slots = slots_of(next(row for row in rows if reads_virtual(row)))
    operands: list[Places | ConstantRows] = []
    steps: list[_Step] = []
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
        if number not in slots:  # several rows of one operand, of which a row is made at a time
            raise refuse(rows[0].whole, f"memopt_{made.call.kernel} reads no virtual row")
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
                    raise refuse(op, f"memopt_{call.call.kernel} makes no row of a virtual tensor")
                sources_of_step: list[int] = []
                for operand in call.operands:
                    if isinstance(operand, ConstantRows):
                        raise refuse(op, "a virtual row made of a constant")
                    part = op.inputs[operand]
                    if part in places:
                        sources_of_step.append(places[part] + call.call.in_offset)
                        continue
                    parts = {n: _row(chain[at]).inputs[operand] for n, chain in chains.items()}
                    sources_of_step.append(given(numbered(layout, parts, call.call.in_offset)))
                start = slot.at + call.call.out_offset
                steps.append(_Step(call.call, tuple(sources_of_step), start, slot.row_bytes))
    if len(sources) > MOST_OPERANDS or any(len(s.sources) > MOST_OPERANDS for s in steps):
        raise refuse(rows[0].whole, f"memopt_{made.call.kernel} reads no virtual row")
    return tuple(operands), InlinedRows(
        "inlined_row",
        tuple(step.call.kernel for step in steps),
        partial(_add_steps, steps, sources),
    )


def _row(value: OpResult) -> RowOp:
    if not isinstance(value.op, RowOp):
        raise refuse(value.op, "virtual, but no row")
    return value.op


def _add_steps(
    steps: Sequence[_Step], sources: Sequence[int], out: Source, reader: KernelCall, prefix: str
) -> None:
    """The parameters of `memopt_inlined_row`; `sources` are those of the reader."""
    lines: list[str] = []
    for step in (*steps, _Step(reader, tuple(sources), 0, 0)):
        name, call = f"{prefix}_{len(lines)}", step.call
        add_parameters(out, call, name)
        text = ", ".join(map(str, step.sources))
        out.data.append(f"static const int32_t {name}_from[] = {{{text}}};\n")
        rows = call.rows.end, call.rows.in_stride, call.rows.out_stride
        count = len(step.sources)
        numbers = (count, *(rows if call is not reader else (0, 0, 0)), step.at, step.row_bytes)
        text = ", ".join(map(str, numbers))
        lines.append(f"    {{memopt_{call.kernel}, &{name}_params, {name}_from, {text}}},\n")
    out.data.append(
        f"static const memopt_inlined_row_step {prefix}_steps[] = {{\n{''.join(lines)}}};\n\n"
        f"static const memopt_inlined_row_params {prefix}_params = {{\n"
        f"    .steps = {prefix}_steps,\n    .makers = {len(lines) - 1},\n}};\n"
    )


@dataclass(frozen=True)
class _Part:
    """Some columns of a row: the call that makes them in scratch, that of the operation, and where
    they begin in rows of the other operand and of the result, in bytes."""

    maker: KernelCall
    reader: KernelCall
    read_at: int
    out_at: int


def makers_of(rows: Sequence[RowOp]) -> list[RowOp]:
    """The rows of sums that each of the rows makes."""
    (number,) = made_sums(rows[0].inputs)
    return [cast("RowOp", row.inputs[number].owner) for row in rows]


def epilogue_row(
    layout: Layout,
    constants: Constants,
    isa: tuple[str, ...],
    rows: Sequence[RowOp],
    under: Mapping[int, SSAValue],
) -> tuple[RowCall, Operands, InlinedRows]:
    """The call of an operator whose rows make one of two operands; where the rows that are `under`
    the window of that lie, and the other operand's. Raises MemoptError where kernels do not compute
    some columns of them, and for a plan with other scratch."""
    operator, (number,) = rows[0].whole, made_sums(rows[0].inputs)
    (maker,) = lower_rows(makers_of(rows)[0].whole, constants, isa)
    other = {r.index.data: r.inputs[1 - number] for r in rows}
    width = shape_of(operator.results[0])[2]
    parts: list[_Part] = []
    for columns in columns_of(operator.results[0]):
        reader = _of_columns(operator, len(columns), constants, isa)
        at = [
            (bytes_of(v.type) or 0) * columns.start // width
            for v in (rows[0].inputs[1 - number], rows[0].outputs[0])
        ]
        parts.append(_Part(_call_for_columns(operator, maker.call, columns), reader, *at))
    operands = numbered(layout, under, 0), numbered(layout, other, 0)
    kernels = tuple(c.kernel for part in parts for c in (part.maker, part.reader))
    add = partial(_add_parts, parts, number)
    return maker, operands, InlinedRows("epilogue_row", kernels, add, aligned=1)


def _add_parts(
    parts: Sequence[_Part], number: int, out: Source, reader: KernelCall, prefix: str
) -> None:
    """The parameters of `memopt_epilogue_row`, which makes operand `number` of the reader."""
    lines: list[str] = []
    for k, part in enumerate(parts):
        names = f"{prefix}_{2 * k}", f"{prefix}_{2 * k + 1}"
        add_parameters(out, part.maker, names[0])
        add_parameters(out, part.reader, names[1])
        rows = part.reader.rows
        numbers = rows.end, rows.in_stride, rows.out_stride, part.read_at, part.out_at
        text = ", ".join(map(str, numbers))
        lines.append(f"    {{&{names[0]}_params, &{names[1]}_params, {text}}},\n")
    out.data.append(
        f"static const memopt_epilogue_part {prefix}_parts[] = {{\n{''.join(lines)}}};\n\n"
        f"static const memopt_epilogue_row_params {prefix}_params = {{\n"
        f"    .maker = memopt_{parts[0].maker.kernel},\n"
        f"    .reader = memopt_{parts[0].reader.kernel},\n"
        f"    .parts = {prefix}_parts,\n    .count = {len(lines)},\n"
        f"    .made = {number},\n}};\n"
    )


def _call_for_columns(op: ComputeOp, call: KernelCall, columns: range) -> KernelCall:
    """A convolution's call for some columns of the result: where they begin is as if there were
    less padding before the first, or less of the image."""
    fields = dict(call.fields)
    step, before = fields.get("stride_w"), fields.get("pad_left")
    if not isinstance(step, int) or not isinstance(before, int) or "out_w" not in fields:
        raise refuse(op, f"memopt_{call.kernel} makes no columns of a virtual tensor")
    fields |= {"out_w": len(columns), "pad_left": before - columns.start * step}
    return replace(call, fields=tuple(fields.items()))


def _of_columns(
    op: ComputeOp, columns: int, constants: Constants, isa: tuple[str, ...]
) -> KernelCall:
    """The call of the operation on rows of so many columns."""
    tensors = [cast("AnyTensor", v.type) for v in (*op.operands, *op.results)]
    types: list[Attribute] = [
        TensorType(t.element_type, [1, 1, columns, t.get_shape()[3]], t.encoding) for t in tensors
    ]
    inside = Block(arg_types=types[:-1])
    one = type(op).create(
        operands=inside.args, result_types=types[-1:], properties=dict(op.properties)
    )
    one.location = op.location
    (call,) = lower(one, constants, isa)
    one.erase(safe_erase=False)
    if list(call.operands) != list(inside.args):
        raise refuse(op, f"memopt_{call.kernel} computes no columns of a row")
    return replace(call, operands=())
