"""A row that makes sums of products as it reads them, in the generated file.

static const memopt_epilogue_part op5_parts[] = {
    {&op5_0_params, &op5_1_params, 1, 128, 128, 0, 0},      the first columns, the next ones
    ...
memopt_epilogue_row makes columns in scratch by the kernel of a convolution, with the parameters of
one that is as wide, then computes the operation of them.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue

from memopt.backends.c.emit.call import Constants, KernelCall, refuse
from memopt.backends.c.emit.calls import Source, add_parameters
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.lowering import lower, lower_rows
from memopt.backends.c.inline.epilogue_rows import columns_of, made_sums
from memopt.backends.c.inline.inlined_rows import row_scratch
from memopt.backends.c.rows.row_calls import RowCall
from memopt.backends.c.rows.row_places import Places, numbered, scratch_of
from memopt.dialects.memgraph.tensors import AnyTensor, bytes_of, shape_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import RowOp

KERNEL = "epilogue_row"


@dataclass(frozen=True)
class Part:
    """Some columns of a row: the call that makes them in scratch, that of the operation, and where
    they begin in rows of the other operand and of the result, in bytes."""

    maker: KernelCall
    reader: KernelCall
    read_at: int
    out_at: int


@dataclass(frozen=True)
class EpilogueRow:
    """The parts of each row, which operand is made, and where the scratch of each row is."""

    parts: tuple[Part, ...]
    made: int
    scratch: Places
    kernel = KERNEL

    @property
    def kernels(self) -> list[str]:
        return [KERNEL, *(c.kernel for part in self.parts for c in (part.maker, part.reader))]

    def add(self, out: Source, reader: KernelCall, prefix: str) -> None:
        """The parameters of a row operator, `<prefix>_params`."""
        lines: list[str] = []
        for k, part in enumerate(self.parts):
            names = f"{prefix}_{2 * k}", f"{prefix}_{2 * k + 1}"
            add_parameters(out, part.maker, names[0])
            add_parameters(out, part.reader, names[1])
            rows = part.reader.rows
            numbers = rows.end, rows.in_stride, rows.out_stride, part.read_at, part.out_at
            text = ", ".join(map(str, numbers))
            lines.append(f"    {{&{names[0]}_params, &{names[1]}_params, {text}}},\n")
        first = self.parts[0]
        out.data.append(
            f"static const memopt_epilogue_part {prefix}_parts[] = {{\n{''.join(lines)}}};\n"
        )
        out.data.append(
            f"static const memopt_{KERNEL}_params {prefix}_params = {{\n"
            f"    .maker = memopt_{first.maker.kernel},\n"
            f"    .reader = memopt_{first.reader.kernel},\n"
            f"    .parts = {prefix}_parts,\n    .count = {len(lines)},\n"
            f"    .made = {self.made},\n}};\n"
        )


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
) -> tuple[RowCall, tuple[Places, Places], EpilogueRow]:
    """The call of an operator whose rows make one of two operands; where the rows that are `under`
    the window of that lie, and the other operand's. Raises MemoptError where kernels do not compute
    some columns of them, and for a plan with other scratch."""
    operator, (number,) = rows[0].whole, made_sums(rows[0].inputs)
    (maker,) = lower_rows(makers_of(rows)[0].whole, constants, isa)
    other = {r.index.data: r.inputs[1 - number] for r in rows}
    width = shape_of(operator.results[0])[2]
    parts: list[Part] = []
    for columns in columns_of(operator.results[0]):
        reader = _of_columns(operator, len(columns), constants, isa)
        at = [
            (bytes_of(v.type) or 0) * columns.start // width
            for v in (rows[0].inputs[1 - number], rows[0].outputs[0])
        ]
        parts.append(Part(_narrowed(operator, maker.call, columns), reader, *at))
    operands = numbered(layout, under, 0), numbered(layout, other, 0)
    return maker, operands, EpilogueRow(tuple(parts), number, scratch_of(layout, rows, row_scratch))


def _narrowed(op: ComputeOp, call: KernelCall, columns: range) -> KernelCall:
    """A convolution's call for some columns of the result: where they begin is as if there were
    less padding before the first, or less of the image."""
    fields = dict(call.fields)
    step, before = fields.get("stride_w"), fields.get("pad_left")
    if not isinstance(step, int) or not isinstance(before, int) or "out_w" not in fields:
        raise refuse(op, f"memopt_{call.kernel} makes no columns of no buffer")
    fields |= {"out_w": len(columns), "pad_left": before - columns.start * step}
    return replace(call, fields=tuple(fields.items()))


def _of_columns(
    op: ComputeOp, columns: int, constants: Constants, isa: tuple[str, ...]
) -> KernelCall:
    """The call of the operation on rows of so many columns."""
    types = [_narrow(v.type, columns) for v in (*op.operands, *op.results)]
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


def _narrow(whole: Attribute, columns: int) -> Attribute:
    tensor = cast("AnyTensor", whole)
    _, _, _, channels = tensor.get_shape()
    return TensorType(tensor.element_type, [1, 1, columns, channels], tensor.encoding)
