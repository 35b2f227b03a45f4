"""One operator in the generated file: its constants, its kernel calls, and what the comment says.

in[0] = arena + 16384;
in[1] = arena + 32768;
memopt_add_s8(&op3_params, &op3_rows, in, arena + 0, NULL);

A kernel that works in scratch gets its place instead of NULL, `arena + 512`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from xdsl.ir import Operation, OpResult

from memopt.backends.c.call import Constants, KernelCall, Table, refuse
from memopt.backends.c.header import bytes_in
from memopt.backends.c.layout import Address, Layout
from memopt.backends.c.lowering import lower
from memopt.backends.c.registry import workspace_of
from memopt.backends.c.text import array, float_literal, int_literal, plain
from memopt.dialects.attributes import SourceAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.names import name_of
from memopt.dialects.plan import is_gathered


@dataclass
class Source:
    """The parts of the C file while it is written; `tables` finds equal arrays again."""

    layout: Layout
    constants: Constants
    name: str
    isa: tuple[str, ...]
    data: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    made: list[KernelCall] = field(default_factory=list[KernelCall])
    row_kernels: list[str] = field(default_factory=list[str])
    tables: dict[tuple[str, bytes], str] = field(default_factory=dict[tuple[str, bytes], str])


def table_name(out: Source, table: Table, name: str) -> str:
    """The name of a constant array, `name` if there is no equal one yet. Raises MemoptError for
    numbers that C cannot write."""
    key = (table.c_type, table.values.tobytes())
    if key not in out.tables:
        if table.c_type == "float" and not _finite(table):
            raise MemoptError(
                f"C backend: {name} has an infinite value or a NaN, which C99 cannot write"
            )
        out.tables[key] = name
        out.data.append(array(table.c_type, name, table.values))
    return out.tables[key]


def _finite(table: Table) -> bool:
    import numpy as np

    return bool(np.isfinite(table.values).all())


def add_parameters(out: Source, call: KernelCall, prefix: str) -> None:
    """The constants of a call, `<prefix>_params`."""
    lines: list[str] = []
    for key, value in call.fields:
        if isinstance(value, Table):
            text = table_name(out, value, f"{prefix}_{key}")
        elif isinstance(value, float):
            text = float_literal(value)
        elif isinstance(value, int):
            text = int_literal(value)
        else:
            text = value
        lines.append(f"    .{key} = {text},\n")
    out.data.append(
        f"static const memopt_{call.kernel}_params {prefix}_params = {{\n{''.join(lines)}}};\n"
    )


def _rows(out: Source, call: KernelCall, prefix: str) -> None:
    rows = call.rows
    out.data.append(
        f"static const memopt_rows {prefix}_rows = "
        f"{{0, {rows.end}, {rows.out_stride}, 0, 1, {rows.in_stride}}};\n"
    )


def pointer(address: Address, written: bool = False) -> str:
    """A place in memory as C, a pointer to bytes."""
    if address.base.startswith(("input_", "output_")):  # typed, and not always there
        kind = "uint8_t" if written else "const uint8_t"
        return f"({kind} *){address.base} + {address.offset}" if address.offset else address.base
    return f"{address.base} + {address.offset}"


def _operand(out: Source, call: KernelCall, number: int, prefix: str) -> str:
    value = call.operands[number]
    if isinstance(value, Table):
        name = table_name(out, value, f"{prefix}_operand_{number}")
        return f"(const uint8_t *){name} + {call.in_offset}" if call.in_offset else name
    address = out.layout.addresses[value]
    return pointer(replace(address, offset=address.offset + call.in_offset))


def _call(out: Source, call: KernelCall, op: Operation, prefix: str) -> str:
    """The lines of a call, in a loop if there are several images."""
    address = out.layout.addresses[op.results[call.result]]
    result = pointer(replace(address, offset=address.offset + call.out_offset), written=True)
    operands = [_operand(out, call, i, prefix) for i in range(len(call.operands))]
    indent = "  "
    if call.batches > 1:
        indent = "    "
        operands = [f"(const uint8_t *)({o}) + batch * {call.in_batch}" for o in operands]
        result = f"(uint8_t *)({result}) + batch * {call.out_batch}"
    lines = [f"in[{i}] = {operand};\n" for i, operand in enumerate(operands)]
    scratch = (
        pointer(out.layout.scratch[op][1], written=True) if op in out.layout.scratch else "NULL"
    )
    constant = f"&{prefix}_params, &{prefix}_rows"
    lines.append(f"memopt_{call.kernel}({constant}, in, {result}, {scratch});\n")
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


def _trace(out: Source, op: Operation) -> str:
    lines: list[str] = []
    for i, value in enumerate(op.results):
        place = pointer(out.layout.addresses[value])
        lines.append(f"  TRACE({tensor_text(op, i)},\n        {place}, {bytes_in(value)}u);\n")
    return "".join(lines)


def _comment(out: Source, op: Operation, index: int, live: Sequence[int]) -> str:
    groups = [out.layout.memory.groups[i] for i in live]
    total = sum(g.size for g in groups)
    names = ", ".join(f"{plain(g.name, 32)} ({g.size} B)" for g in groups) or "none"
    written = sum(bytes_in(v) for v in op.results)
    kind = op.name.removeprefix("memgraph.").upper()
    name = plain(name_of(op.results[0]), 48) if op.results else ""
    text = f"{index}: {kind} {name}, writes {written} B; live {total} B: {names}"
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if len(line) + len(word) > 92:
            lines.append(line.rstrip())
            line = ""
        line += word + " "
    lines.append(line.rstrip())
    return "  /* " + "\n   * ".join(lines) + " */\n"


def _check_scratch(out: Source, op: Operation) -> None:
    """Refuse a plan with other scratch than the kernel works in."""
    planned, _ = out.layout.scratch.get(op, (0, None))
    needed = workspace_of(op, out.isa)
    if planned != needed:
        text = f"planned with {planned} B of scratch, its kernel works in {needed} B"
        raise refuse(op, f"{text}; memgraph-model with the target, before the order, says it")


def add_operator(out: Source, op: Operation, index: int, live: Sequence[int]) -> None:
    """Add operation number `index`, while which the groups `live` are in memory. Raises
    MemoptError if there is no kernel."""
    calls = lower(op, out.constants, out.isa)
    _check_scratch(out, op)
    text = _comment(out, op, index, live)
    for number, call in enumerate(calls):
        for value in call.operands:
            if not isinstance(value, Table) and value not in out.layout.addresses:
                gathered = isinstance(value, OpResult) and is_gathered(value.op)
                why = "in parts, which no kernel reads" if gathered else "no buffer"
                raise refuse(op, f"the operand {name_of(value)} is {why}")
        prefix = f"op{index}" if len(calls) == 1 else f"op{index}_{number}"
        add_parameters(out, call, prefix)
        _rows(out, call, prefix)
        text += _call(out, call, op, prefix)
        out.made.append(call)
    out.calls.append(text + _trace(out, op))
