"""A planned function to C: one arena given by the caller, one kernel call per operator.

Given `%1 = memgraph.add %0, %c ... {memgraph.order = 3, memgraph.offset = [1024]}`
Result `memopt_add_s8(&op3_params, &op3_rows, ARENA(const int8_t, 0), ..., ARENA(int8_t, 1024));`

With shared objects there are static arrays, `AT(int8_t, object_3)`, and no arena; over several
memories the caller gives each, `AT(int8_t, arena_dtcm + 64)`.

The plan is verified first; nothing is planned here. Equal modules give equal text.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.weights import Weights
from memopt.backends.c.call import Constants, KernelCall, Rows, Table, refuse
from memopt.backends.c.constants import constants_of
from memopt.backends.c.header import (
    bytes_in,
    c_type_of,
    header,
    run_signature,
)
from memopt.backends.c.kernels import inlined
from memopt.backends.c.layout import Address, Layout, layout_of, live_groups
from memopt.backends.c.lowering import lower
from memopt.backends.c.objects import define_objects
from memopt.backends.c.text import array, float_literal, identifier, int_literal, plain
from memopt.backends.checked import Checked
from memopt.dialects.attributes import SourceAttr
from memopt.dialects.errors import MemoptError
from memopt.dialects.names import name_of
from memopt.targets.core.registry import target_named


@dataclass
class _Source:
    """The parts of the C file while it is written; `tables` finds equal arrays again."""

    layout: Layout
    constants: Constants
    name: str
    isa: tuple[str, ...]
    data: list[str] = field(default_factory=list[str])
    calls: list[str] = field(default_factory=list[str])
    kernels: list[str] = field(default_factory=list[str])
    tables: dict[tuple[str, bytes], str] = field(default_factory=dict[tuple[str, bytes], str])


@dataclass(frozen=True)
class Emitted:
    """`header` and `source` of a model, and the kernels that it calls, in order of first use."""

    header: str
    source: str
    kernels: tuple[str, ...]
    layout: Layout


def _table(out: _Source, table: Table, name: str) -> str:
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


def _parameters(out: _Source, call: KernelCall, prefix: str) -> None:
    lines: list[str] = []
    for key, value in call.fields:
        if isinstance(value, Table):
            text = _table(out, value, f"{prefix}_{key}")
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
    rows: Rows = call.rows
    out.data.append(
        f"static const memopt_rows {prefix}_rows = "
        f"{{0, {rows.end}, 0, {rows.in_stride}, {rows.out_stride}}};\n"
    )


def _pointer(address: Address, c_type: str, written: bool) -> str:
    qualified = c_type if written else f"const {c_type}"
    if address.base == "arena":
        return f"ARENA({qualified}, {address.offset})"
    offset = f" + {address.offset}" if address.offset else ""
    return f"AT({qualified}, {address.base}{offset})"


def _operand(out: _Source, value: SSAValue | Table, c_type: str, name: str) -> str:
    if isinstance(value, Table):
        return _table(out, value, name)
    return _pointer(out.layout.addresses[value], c_type, written=False)


def _call(out: _Source, call: KernelCall, op: Operation, prefix: str) -> str:
    begin = f" + {call.in_offset}" if call.in_offset else ""
    types = call.operand_types or (call.c_type,) * len(call.operands)
    arguments = [
        _operand(out, value, c_type, f"{prefix}_operand_{i}") + begin
        for i, (value, c_type) in enumerate(zip(call.operands, types, strict=True))
    ]
    result = out.layout.addresses[op.results[call.result]]
    begin = f" + {call.out_offset}" if call.out_offset else ""
    arguments.append(_pointer(result, call.c_type, written=True) + begin)
    if call.batches == 1:
        text = ",\n      ".join([f"&{prefix}_params, &{prefix}_rows", *arguments])
        return f"  memopt_{call.kernel}({text});\n"
    arguments[:-1] = [f"{a} + batch * {call.in_batch}" for a in arguments[:-1]]
    arguments[-1] += f" + batch * {call.out_batch}"
    text = ",\n        ".join([f"&{prefix}_params, &{prefix}_rows", *arguments])
    return (
        f"  for (batch = 0; batch < {call.batches}; ++batch) {{\n"
        f"    memopt_{call.kernel}({text});\n  }}\n"
    )


def _trace(out: _Source, op: Operation) -> str:
    source = op.attributes.get("memgraph.source")
    ids: Sequence[int] = source.tensor_ids if isinstance(source, SourceAttr) else ()
    lines: list[str] = []
    for i, value in enumerate(op.results):
        tensor = ids[i] if i < len(ids) else 0xFFFFFFFF
        pointer = _pointer(out.layout.addresses[value], "uint8_t", written=False)
        lines.append(
            f'  TRACE({tensor}u, "{plain(name_of(value))}",\n'
            f"        {pointer}, {bytes_in(value)}u);\n"
        )
    return "".join(lines)


def _comment(out: _Source, op: Operation, index: int, live: Sequence[int]) -> str:
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


def _operator(out: _Source, op: Operation, index: int, live: Sequence[int]) -> None:
    calls = lower(op, out.constants, out.isa)
    text = _comment(out, op, index, live)
    for number, call in enumerate(calls):
        for value in call.operands:
            if not isinstance(value, Table) and value not in out.layout.addresses:
                raise refuse(op, f"the operand {name_of(value)} is no buffer")
        prefix = f"op{index}" if len(calls) == 1 else f"op{index}_{number}"
        _parameters(out, call, prefix)
        text += _call(out, call, op, prefix)
        if call.kernel not in out.kernels:
            out.kernels.append(call.kernel)
    out.calls.append(text + _trace(out, op))


def _checks(layout: Layout, name: str) -> str:
    upper = name.upper()
    lines = [
        f"  if ({m.name} == NULL || (uintptr_t){m.name} % {upper}_ARENA_ALIGNMENT != 0u) {{\n"
        "    return 1;\n  }\n"
        for m in layout.memories
        if m.given
    ]
    if layout.model.io.data == "caller":
        pointers = [f"input_{i}" for i in range(len(layout.inputs))]
        pointers += [f"output_{i}" for i in range(len(layout.outputs))]
        if pointers:
            test = " || ".join(f"{p} == NULL" for p in pointers)
            lines.append(f"  if ({test}) {{\n    return 2;\n  }}\n")
    return "".join(lines)


def _copies_in(layout: Layout) -> str:
    lines: list[str] = []
    for i, value in enumerate(layout.inputs):
        address = layout.planned(value)
        if address is None or not bytes_in(value):
            continue
        pointer = _pointer(address, "uint8_t", written=True)
        lines.append(
            f"  if (input_{i} != NULL) {{\n"
            f"    memmove({pointer}, input_{i}, {bytes_in(value)}u);\n  }}\n"
        )
    return "".join(lines)


def _copies_out(out: _Source) -> str:
    """Outputs that do not already lie where the caller wants them."""
    lines: list[str] = []
    for i, value in enumerate(out.layout.outputs):
        size = bytes_in(value)
        address = out.layout.addresses.get(value)
        if address is not None and (address.base == f"output_{i}" or not size):
            continue
        if address is not None:
            source = _pointer(address, "uint8_t", written=False)
        else:
            constant = out.constants(value)
            if constant is None:
                raise MemoptError(f"C backend: output {name_of(value)} is no buffer")
            source = _table(out, Table(c_type_of(value), constant), f"output_{i}_value")
        lines.append(
            f"  if (output_{i} != NULL) {{\n    memmove(output_{i}, {source}, {size}u);\n  }}\n"
        )
    return "".join(lines)


PREAMBLE = """#define ARENA(type, offset) ((type *)(void *)(arena + (offset)))
#define AT(type, pointer) ((type *)(void *)(pointer))

/* With -DMEMOPT_TRACE the program gives memopt_trace, called with every result. */
#ifdef MEMOPT_TRACE
void memopt_trace(uint32_t tensor, const char *name, const void *data, uint32_t bytes);
#define TRACE(tensor, name, data, bytes) memopt_trace(tensor, name, data, bytes)
#else
#define TRACE(tensor, name, data, bytes) ((void)0)
#endif

"""


def emit(
    module: ModuleOp,
    name: str = "model",
    target: str | None = None,
    weights: Weights | None = None,
    known: Checked | None = None,
) -> Emitted:
    """Header and source of the module's planned function.

    `name` becomes the prefix of everything public; `target` as in `layout_of`; `weights`
    says where the model files are, next to the working directory if not given; `known`, what the
    planner knows of the function. Raises
    MemoptError for a function without a valid plan and for operators without a kernel.
    """
    name = identifier(name)
    layout = layout_of(module, target, known)
    isa = target_named(target or layout.model.target.data).isa
    constants = constants_of(weights or Weights.of(module), layout.model)
    out = _Source(layout, constants, name, isa)
    live = live_groups(layout)
    for index, op in enumerate(layout.operations):
        _operator(out, op, index, live[index])
    after = _copies_out(out)
    before = _checks(layout, name) + _copies_in(layout)
    batched = any("batch <" in call for call in out.calls)
    unused = "".join(
        f"  (void){pointer};\n"
        for pointer in _pointers(layout)
        if pointer not in before + after + "".join(out.calls)
    )
    body = (
        ("  int32_t batch;\n" if batched else "")
        + before
        + unused
        + "\n".join(out.calls)
        + after
        + "  return 0;\n"
    )
    objects = define_objects(layout, name) if layout.objects else ""
    includes = "".join(f'#include "memopt_{kernel}.h"\n' for kernel in sorted(out.kernels))
    source = (
        f'#include "{name}.h"\n\n#include <string.h>\n\n{includes}\n{PREAMBLE}'
        + objects
        + "\n".join(out.data)
        + f"\n{run_signature(layout, name)} {{\n{body}}}\n"
    )
    return Emitted(header(layout, name), source, tuple(out.kernels), layout)


def _pointers(layout: Layout) -> list[str]:
    return [f"input_{i}" for i in range(len(layout.inputs))] + [
        f"output_{i}" for i in range(len(layout.outputs))
    ]


def emit_c(
    module: ModuleOp, output: IO[str], name: str = "model", weights: Weights | None = None
) -> None:
    """`-t c`: one self-contained C file, the kernels that the model uses as static functions."""
    emitted = emit(module, name, None, weights)
    first, rest = emitted.source.split("\n", 1)
    assert first.startswith("#include")
    body = "\n".join(line for line in rest.split("\n") if not line.startswith('#include "memopt_'))
    output.write(
        "/* Written by memopt: do not edit. */\n"
        + emitted.header
        + "\n#define MEMOPT_KERNEL static\n\n"
        + inlined(emitted.kernels)
        + "\n"
        + body
    )
