"""Kernel calls in the generated file: constants, parameters, pointers, and the lines of a call.

in[0] = arena + 16384;
in[1] = arena + 32768;
memopt_sum_line_s8(&op3_params, &op3_rows, in, arena + 0, NULL);

A kernel that works in scratch gets its place instead of NULL, `arena + 512`.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from xdsl.ir import Operation

from memopt.backends.c.emit.c_text import (
    LARGE,
    ConstantArray,
    LargeArrays,
    array,
    float_literal,
    int_literal,
    mark_large,
    plain,
)
from memopt.backends.c.emit.call import Constants, KernelCall, Table
from memopt.backends.c.emit.layout import Address, Layout
from memopt.backends.c.kernels import field_order
from memopt.backends.c.weights.blob import Blob
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.attributes.operators import SourceAttr
from memopt.dialects.memgraph.names import name_of


@dataclass
class Source:
    """The parts of the C file while it is written; `tables` finds equal arrays again, `pointers` is
    how many operands a call has at most, `needed` as Form has it, `operators` by number, `weights`
    by the names of their arrays, or in a `blob`; `large` arrays are marks in the `data`."""

    layout: Layout
    constants: Constants
    name: str
    isa: tuple[str, ...]
    data: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    made: list[KernelCall] = field(default_factory=list[KernelCall])
    pointers: int = 0
    row_kernels: list[str] = field(default_factory=list[str])
    tables: dict[tuple[str, bool, bytes], str] = field(
        default_factory=dict[tuple[str, bool, bytes], str]
    )
    large: LargeArrays = field(default_factory=LargeArrays)
    needed: set[str] = field(default_factory=set[str])
    operators: list[Operation] = field(default_factory=list[Operation])
    weights: dict[str, Table] = field(default_factory=dict[str, Table])
    blob: Blob | None = None


def table_name(out: Source, table: Table, name: str) -> str:
    """The name of a constant array, `name` if there is no equal one yet, or its place in the
    blob."""
    blob = None if table.is_looked_up else out.blob
    digest = hashlib.sha256(np.ascontiguousarray(table.values).reshape(-1).data).digest()
    key = (table.c_type, blob is not None, digest)
    if key in out.tables:
        return out.tables[key]
    if blob is not None:
        out.tables[key] = blob.add(table)
    else:
        out.tables[key] = name
        if not table.is_looked_up:
            out.weights[name] = table
        kind = "TABLES" if table.is_looked_up else "WEIGHTS"
        if table.values.size > LARGE:
            large = ConstantArray(table.c_type, name, table.values, kind)
            out.data.append(mark_large(out.large, large, digest.hex()))
        else:
            out.data.append(array(table.c_type, name, table.values, kind))
    return out.tables[key]


def add_parameters(out: Source, call: KernelCall, prefix: str) -> None:
    """The constants of a call, `<prefix>_params`."""
    texts, constant = dict[str, str](), "const "
    for key, value in call.fields:
        if isinstance(value, Table):
            out.needed.update(value.needs)
            text = table_name(out, value, f"{prefix}_{key.replace('.', '_')}")
            if out.blob is not None and not value.is_looked_up:
                out.blob.point(f"{prefix}_params.{key}", value.c_type, text)
                text, constant = "NULL", ""
        elif isinstance(value, KernelCall):
            add_parameters(out, value, f"{prefix}_{key}")
            out.made.append(value)
            text = f"&{prefix}_{key}_params"
        elif isinstance(value, float):
            text = float_literal(value)
        elif isinstance(value, int):
            text = int_literal(value)
        else:
            text = value
        texts[key] = text
    order = field_order(call.kernel)
    fields = [(key, texts[key]) for key in sorted(texts, key=order.__getitem__)]
    out.data.append(
        f"static {constant}memopt_{call.kernel}_params {prefix}_params = "
        f"{{\n{initialisers(fields, '    ')}}};\n"
    )


def initialisers(fields: Sequence[tuple[str, str]], indent: str) -> str:
    """Lines of the (name, value) of a struct; `packed.taps` is one in a field that is a struct."""
    lines: list[str] = []
    for name, group in groupby(fields, key=lambda field: field[0].partition(".")[0]):
        inner = [(key.partition(".")[2], text) for key, text in group]
        text = inner[0][1]
        if inner[0][0]:
            text = f"{{\n{initialisers(inner, f'{indent}    ')}{indent}}}"
        lines.append(f"{indent}.{name} = {text},\n")
    return "".join(lines)


def add_rows(out: Source, call: KernelCall, prefix: str) -> None:
    """The rows of a call, `<prefix>_rows`."""
    rows = call.rows
    out.data.append(
        f"static const memopt_rows {prefix}_rows = "
        f"{{0, {rows.end}, {rows.out_stride}, 0, 1, {rows.in_stride}}};\n"
    )


def pointer(address: Address, written: bool = False) -> str:
    """A place in memory as C, a pointer to bytes."""
    if address.base.startswith(("input_", "output_", "variable_")):  # typed, and not always there
        kind = "uint8_t" if written else "const uint8_t"
        return f"({kind} *){address.base} + {address.offset}" if address.offset else address.base
    return f"{address.base} + {address.offset}"


def operand_text(out: Source, call: KernelCall, number: int, prefix: str) -> str:
    """Return where a call reads an operand, in C."""
    value = call.operands[number]
    if isinstance(value, Table):
        name = table_name(out, value, f"{prefix}_operand_{number}")
        return f"(const uint8_t *){name} + {call.in_offset}" if call.in_offset else name
    address = out.layout.addresses[value]
    return pointer(replace(address, offset=address.offset + call.in_offset))


def result_text(out: Source, call: KernelCall, op: Operation) -> str:
    """Return where a call writes, in C."""
    value = op.results[call.result] if call.written is None else call.written
    address = out.layout.addresses[value]
    return pointer(replace(address, offset=address.offset + call.out_offset), written=True)


def scratch_text(out: Source, op: Operation) -> str:
    """Return where an operation works, in C; NULL if it needs no memory for that."""
    if op not in out.layout.scratch:
        return "NULL"
    return pointer(out.layout.scratch[op][1], written=True)


def call_text(out: Source, call: KernelCall, op: Operation, prefix: str) -> str:
    """The lines of a call, in a loop if there are several images."""
    result = result_text(out, call, op)
    operands = [operand_text(out, call, i, prefix) for i in range(len(call.operands))]
    indent = "  "
    if call.batches > 1:
        indent = "    "
        operands = [f"(const uint8_t *)({o}) + batch * {call.in_batch}" for o in operands]
        result = f"(uint8_t *)({result}) + batch * {call.out_batch}"
    lines = [f"in[{i}] = {operand};\n" for i, operand in enumerate(operands)]
    constant = f"&{prefix}_params, &{prefix}_rows"
    lines.append(f"memopt_{call.kernel}({constant}, in, {result}, {scratch_text(out, op)});\n")
    text = "".join(indent + line for line in lines)
    if call.batches == 1:
        return text
    return f"  for (batch = 0; batch < {call.batches}; ++batch) {{\n{text}  }}\n"


def tensor_text(op: Operation, index: int) -> str:
    """Number and name of a result, as TRACE takes them."""
    source = op.attributes.get("memgraph.source")
    ids: Sequence[int] = source.tensor_ids if isinstance(source, SourceAttr) else ()
    tensor = ids[index] if index < len(ids) else 0xFFFFFFFF
    return f'{tensor}u, "{plain(name_of(op.results[index]))}"'
