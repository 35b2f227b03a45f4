"""A planned function to C: one arena given by the caller, one kernel call per operator.

Given `%1 = memgraph.add %0, %c ... {memgraph.order = 3, memgraph.offset = [1024]}`
Result `in[0] = arena + 0; in[1] = op3_operand_1;
        memopt_sum_line_s8(&op3_params, &op3_rows, in, arena + 1024, NULL);`

With shared objects there are static arrays, `object_3 + 0`, and no arena; over several memories the
caller gives each, `arena_dtcm + 64`.

The plan is verified first; nothing is planned here. Equal modules give equal text.
"""

import re
from dataclasses import dataclass, field, replace
from typing import IO

from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation

from memopt.analysis.constants import constants_of
from memopt.analysis.persistent import initial_of
from memopt.analysis.weights import Weights
from memopt.backends.c.emit.c_text import LargeArrays, identifier, pieces_of, plain
from memopt.backends.c.emit.call import Table
from memopt.backends.c.emit.calls import Source, pointer, table_name
from memopt.backends.c.emit.header import bytes_in, c_type_of, header, run_signature
from memopt.backends.c.emit.layout import Layout, layout_of
from memopt.backends.c.emit.objects import define_objects
from memopt.backends.c.emit.operators import add_operators
from memopt.backends.c.emit.sections import section_macros
from memopt.backends.c.kernels import Form, declarations, inlined
from memopt.backends.c.stream.streaming import Parts, stream_functions, stream_header
from memopt.backends.c.weights.blob import ALIGNMENT, BASE, NOT_SET, Blob
from memopt.backends.c.weights.storage import ArrayStorage
from memopt.backends.c.weights.stored import check_function
from memopt.backends.checked import Checked
from memopt.dialects.arithmetic.even_rounding import rounds_even
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import elements_of
from memopt.targets.core.planned_for import with_called
from memopt.targets.core.target import target_named

WRITTEN = "/* Written by memopt: do not edit. */\n"


@dataclass(frozen=True)
class Emitted:
    """`header` of a model, `source` without the kernels and what declares them, the names of those
    that it calls, in order of first use, and the form of their texts. `operators` by the numbers
    that the source gives them; the `blob` is what it leaves to a file of weights, `large` arrays
    are marks in the source."""

    header: str
    source: str
    kernels: tuple[str, ...]
    layout: Layout
    form: Form
    operators: tuple[Operation, ...] = ()
    blob: Blob | None = None
    large: LargeArrays = field(default_factory=LargeArrays)


def _checks(layout: Layout, name: str) -> str:
    upper = name.upper()
    lines = [
        f"  if ({m.name} == NULL || (uintptr_t){m.name} % {upper}_ARENA_ALIGNMENT != 0u) {{\n"
        "    return 1;\n  }\n"
        for m in layout.memories
        if m.given
    ]
    if layout.model.io.data == "caller":
        pointers = [f"input_{i}" for i in layout.given_inputs]
        pointers += [f"output_{i}" for i in range(len(layout.outputs))]
        if pointers:
            test = " || ".join(f"{p} == NULL" for p in pointers)
            lines.append(f"  if ({test}) {{\n    return 2;\n  }}\n")
    if layout.storage.in_file:
        lines.append(f"  if (weights == NULL) {{\n    return {NOT_SET};\n  }}\n")
    return "".join(lines)


def _copies_in(layout: Layout) -> str:
    lines: list[str] = []
    for i, value in enumerate(layout.inputs):
        address = layout.planned(value)
        if address is None or not bytes_in(value):
            continue
        lines.append(
            f"  if (input_{i} != NULL) {{\n"
            f"    memmove({pointer(address, written=True)}, input_{i}, {bytes_in(value)}u);\n  }}\n"
        )
    return "".join(lines)


def _copies_out(out: Source) -> str:
    """Outputs that do not already lie where the caller wants them."""
    lines: list[str] = []
    for i, value in enumerate(out.layout.outputs):
        size = bytes_in(value)
        address = out.layout.addresses.get(value)
        if address is not None and (address.base == f"output_{i}" or not size):
            continue
        if address is not None:
            source = pointer(address)
        else:
            constant = out.constants(value)
            if constant is None:
                raise MemoptError(f"C backend: output {name_of(value)} is no buffer")
            source = table_name(out, Table(c_type_of(value), constant), f"output_{i}_value")
        lines.append(
            f"  if (output_{i} != NULL) {{\n    memmove(output_{i}, {source}, {size}u);\n  }}\n"
        )
    return "".join(lines)


def words_of(text: str) -> frozenset[str]:
    """The words of C that are neither in a comment nor in a string, which name tensors."""
    return frozenset(re.findall(r"\w+", re.sub(r'/\*.*?\*/|"[^"\n]*"', "", text, flags=re.DOTALL)))


ARRAYS = """/* Attributes of constant arrays; tables are those that are looked up. */
#ifndef MEMOPT_WEIGHTS
#define MEMOPT_WEIGHTS
#endif
#ifndef MEMOPT_TABLES
#define MEMOPT_TABLES
#endif

"""
TRACE = """/* With -DMEMOPT_TRACE the program gives memopt_trace, called with every result. */
#ifdef MEMOPT_TRACE
void memopt_trace(uint32_t tensor, const char *name, const void *data, uint32_t bytes);
#define TRACE(tensor, name, data, bytes) memopt_trace(tensor, name, data, bytes)
#else
#define TRACE(tensor, name, data, bytes) ((void)0)
#endif

/* With -DMEMOPT_PROFILE it gives memopt_profile, called before (event 0) and after (event 1) an
 * operator runs, or rows of it; operators have the numbers of the comments below. */
#ifdef MEMOPT_PROFILE
void memopt_profile(int event, uint32_t operation);
#define PROFILE(event, operation) memopt_profile(event, operation)
#else
#define PROFILE(event, operation) ((void)0)
#endif

"""


def emit(
    module: ModuleOp,
    name: str = "model",
    target: str | None = None,
    weights: Weights | None = None,
    known: Checked | None = None,
    storage: ArrayStorage | None = None,
) -> Emitted:
    """Header and source of the module's planned function.

    `name` becomes the prefix of everything public; `target` as in `layout_of`; `weights`
    says where the model files are, next to the working directory if not given; `known`, what the
    planner knows of the function; `storage`, how arrays are written. Raises
    MemoptError for a function without a valid plan and for operators without a kernel.
    """
    name = identifier(name)
    layout = layout_of(module, target, known, weights)
    layout = layout if storage is None else replace(layout, storage=storage)
    board = target_named(target or layout.model.target.data)
    isa = with_called(board, layout.model).isa
    weights = weights or Weights.of(module)
    constants = constants_of(weights, layout.model)
    out = Source(layout, constants, name, isa, blob=Blob() if layout.storage.in_file else None)
    program = add_operators(out)
    after = _copies_out(out)
    before = _checks(layout, name) + first_run(layout, name) + _copies_in(layout)
    batched = any(c.batches > 1 for c in out.made)
    used = words_of(before + after + "".join(out.calls))
    unused = "".join(
        f"  (void){pointer};\n" for pointer in _pointers(layout) if pointer not in used
    )
    declared = (
        (f"  const void *in[{out.pointers}];\n" if out.pointers else "")
        + ("  int32_t batch;\n" if batched else "")
        + program.declared
    )
    runs = "\n".join(out.calls) + after
    received, streamed = layout.received, ""
    if received is None or program.stream is None:
        body = f"{declared}{before}{unused}{runs}  return 0;\n"
        functions = f"\n{run_signature(layout, name)} {{\n{body}}}\n"
    else:
        parts = Parts(runs, declared, before)
        functions = stream_functions(layout, name, received, program.stream, parts)
        streamed = stream_header(layout, name, received, program.stream)
    objects = define_objects(layout, name) if layout.objects else ""
    reset = define_reset(out, weights)
    variables = define_variables(layout)
    if layout.storage.has_check:
        functions = check_function(out.weights, name) + functions
    if out.blob is not None:
        out.blob.data += bytes(0 if out.blob.data else ALIGNMENT)  # no array of C is empty
        functions, variables = out.blob.definition(name) + functions, BASE + variables
    sections = layout.storage.sections
    macros = section_macros(ARRAYS, sections) if sections else ARRAYS
    source = macros + TRACE + objects + variables + "\n".join(out.data) + reset + functions
    kernels = dict.fromkeys([*(c.kernel for c in out.made), *out.row_kernels])
    even = any(rounds_even(op) for op in module.walk())
    form = Form(even, needed=frozenset(out.needed))
    declared_header = header(layout, name, streamed, out.blob)
    operators = tuple(out.operators)
    kernel_names = tuple(kernels)
    return Emitted(
        declared_header, source, kernel_names, layout, form, operators, out.blob, out.large
    )


def _pointers(layout: Layout) -> list[str]:
    return [f"input_{i}" for i in layout.given_inputs] + [
        f"output_{i}" for i in range(len(layout.outputs))
    ]


def emit_c(
    module: ModuleOp, output: IO[str], name: str = "model", weights: Weights | None = None
) -> None:
    """`-t c`: one self-contained C file, the kernels that the model uses as static functions."""
    emitted = emit(module, name, None, weights)
    output.writelines(pieces_of(single_source(emitted, emitted.header), emitted.large))


def single_source(emitted: Emitted, header: str) -> str:
    """A source that needs no other: `header`, or the line that includes it, and the kernels as
    static functions, so that many such sources make one program."""
    return (
        f"{WRITTEN}{header}"
        f"\n{_includes(emitted)}\n#define MEMOPT_KERNEL static\n\n"
        f"{inlined(emitted.kernels, emitted.form)}\n{emitted.source}"
    )


def emit_files(emitted: Emitted, name: str, folder: str = "") -> tuple[str, str]:
    """`<name>.h` and `<name>.c` beside the kernels' own files, which lie in `folder`."""
    declared = declarations(emitted.kernels, folder)
    return (
        header_file(emitted),
        f'{WRITTEN}#include "{name}.h"\n\n{_includes(emitted)}\n{declared}\n{emitted.source}',
    )


def header_file(emitted: Emitted) -> str:
    """`<name>.h`."""
    return WRITTEN + emitted.header


def _includes(emitted: Emitted) -> str:
    """Headers of the C library that the model's own text needs."""
    # a text is looked through ten times as fast for one word alone
    near = any(word in emitted.source for word in ("INFINITY", "NAN"))
    special = near and re.search(r"\b(INFINITY|NAN)\b", emitted.source) is not None
    special = special or not all(large.is_finite for large in emitted.large.values())
    return ("#include <math.h>\n" if special else "") + "#include <string.h>\n"


FIRST_RUN = "  if (!is_set) {\n    @name@_reset();\n  }\n"


def define_variables(layout: Layout) -> str:
    """The arrays, and whether they hold what runs begin with."""
    if not layout.variables:
        return ""
    lines = [
        f"static {c_type_of(op.result)} variable_{k}[{max(1, elements_of(op.result))}]; "
        f"/* {plain(op.sym.data)} */\n"
        for k, op in enumerate(layout.variables)
    ]
    return f"/* What stays from one run to the next. */\n{''.join(lines)}static uint8_t is_set;\n\n"


def define_reset(out: Source, weights: Weights) -> str:
    """The function that sets them back; tables that it reads are added to `out`."""
    lines: list[str] = []
    for k, op in enumerate(out.layout.variables):
        array, size = initial_of(op, weights), bytes_in(op.result)
        held = set(array.tobytes())
        if len(held) <= 1:
            lines.append(f"  memset(variable_{k}, {max(held, default=0)}, {size}u);\n")
        else:
            table = table_name(out, Table(c_type_of(op.result), array), f"variable_{k}_first")
            lines.append(f"  memcpy(variable_{k}, {table}, {size}u);\n")
    if not lines:
        return ""
    if any("(weights + " in line for line in lines):
        lines.insert(0, "  is_set = 0u;\n  if (weights == NULL) {\n    return;\n  }\n")
    return f"\nvoid {out.name}_reset(void) {{\n{''.join(lines)}  is_set = 1u;\n}}\n"


def first_run(layout: Layout, name: str) -> str:
    """Return the statements with which a run begins."""
    return FIRST_RUN.replace("@name@", name) if layout.variables else ""
