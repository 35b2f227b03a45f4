"""The header of a generated model: sizes, places and types of what goes in and out.

    int8_t net_quantize_input_0(float value);
    float net_dequantize_output_0(int8_t value);

Floats become quantised inputs, and quantised outputs floats, as TensorFlow Lite Micro's QUANTIZE
rounds: the float32 ratio to the nearest integer, halves away from zero. That needs no library, and
compiles as C99 and as C++.
"""

from collections.abc import Mapping, Sequence
from typing import cast

from xdsl.dialects.builtin import Float32Type, Float64Type
from xdsl.ir import SSAValue

from memopt.backends.c.emit.banks import bank_macros
from memopt.backends.c.emit.c_text import float_literal, plain
from memopt.backends.c.emit.custom import custom_declarations, custom_types
from memopt.backends.c.emit.layout import Layout, bytes_in, row_bytes
from memopt.backends.c.emit.objects import declare_objects, object_sizes
from memopt.backends.c.emit.sections import ARENA, attribute
from memopt.backends.c.weights.blob import Blob
from memopt.backends.c.weights.stored import check_declaration
from memopt.dialects.attributes.input_range import declared_range
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import AnyTensor, encoding_of, shape_of

RANGES = {
    "int8_t": (-128, 127),
    "uint8_t": (0, 255),
    "int16_t": (-32768, 32767),
    "uint16_t": (0, 65535),
}

# The ratio is clamped while it is a float: what an int32 cannot hold has no conversion in C.
_NEAREST = """/* The integer nearest to value / scale + zero_point, halves away from zero, kept
 * within low..high; NaN counts as 0. */
@HELPER@ int32_t @name@_nearest(float value, float scale, int32_t zero_point, int32_t low,
                                int32_t high) {
  const float ratio = value / scale;
  const float least = (float)(low - zero_point);
  if (ratio >= (float)(high - zero_point)) {
    return high;
  }
  if (ratio > least) {
    int32_t whole = (int32_t)ratio; /* towards zero; the rest is exact */
    if (ratio - (float)whole >= 0.5f) {
      ++whole;
    } else if (ratio - (float)whole <= -0.5f) {
      --whole;
    }
    return whole + zero_point;
  }
  return ratio <= least ? low : zero_point;
}
"""

_MACRO = """#ifdef __GNUC__
#define @HELPER@ static __inline__ __attribute__((unused))
#else
#define @HELPER@ static inline
#endif
"""


def c_type_of(value: SSAValue) -> str:
    """The C type of a tensor's elements. Refuses types that C99 has no equal of."""
    element = cast("AnyTensor", value.type).element_type
    if isinstance(element, Float32Type):
        return "float"
    if isinstance(element, Float64Type):
        return "double"
    name = str(element)
    word = name.removeprefix("s").removeprefix("u")
    if word == "i1":
        return "uint8_t"
    if word in ("i8", "i16", "i32", "i64"):
        return f"{'u' if name.startswith('u') else ''}int{word[1:]}_t"
    raise MemoptError(f"C backend: no C type for {name}, the type of {name_of(value)}")


def run_signature(layout: Layout, name: str) -> str:
    """The declaration of the run function, without semicolon."""
    given = [f"uint8_t *{m.name}" for m in layout.memories if m.given]
    given += [f"const {c_type_of(layout.inputs[i])} *input_{i}" for i in layout.given_inputs]
    if layout.received is not None:
        given += [f"{name}_read_row *read_row", "void *context"]
    given += [f"{c_type_of(v)} *output_{i}" for i, v in enumerate(layout.outputs)]
    return f"int {name}_run({', '.join(given) or 'void'})"


def _tensor(layout: Layout, value: SSAValue, upper: str, what: str, index: int) -> str:
    prefix = f"{upper}_{what}_{index}"
    shape = shape_of(value)
    lines = [
        f"/* {what.lower()} {index}: {plain(name_of(value))}, {c_type_of(value)} "
        f"[{']['.join(map(str, shape))}] */",
        f"#define {prefix}_BYTES {bytes_in(value)}u",
        f"#define {prefix}_RANK {len(shape)}",
    ]
    lines += [f"#define {prefix}_DIM_{axis} {size}" for axis, size in enumerate(shape)]
    encoding = encoding_of(value)
    if len(encoding.scales) == 1:
        lines.append(f"#define {prefix}_SCALE {float_literal(encoding.scales[0])}")
        lines.append(f"#define {prefix}_ZERO_POINT ({encoding.zero_points[0]})")
    if (promised := declared_range(value)) is not None:
        low, high = map(float_literal, promised)
        lines += [
            f"#define {prefix}_LEAST ({low}) /* promised: the code counts on it */",
            f"#define {prefix}_MOST ({high})",
        ]
    sliding = layout.sliding
    if value is layout.received and sliding is not None:
        lines += [
            f"#define {upper}_ROWS {sliding.height} /* of a window of input {index} */",
            f"#define {upper}_NEW_ROWS {sliding.rows}u /* of them, pushed one by one */",
            f"#define {upper}_FIRST_WINDOW {sliding.runs} /* whose output is right */",
            f"#define {upper}_FIRST_ROWS {sliding.runs * sliding.rows}u /* pushed until then */",
            f"#define {upper}_ROW_BYTES {row_bytes(value)}u",
            f"#define {upper}_KEPT_BYTES {sliding.bytes}u /* of rows that stay, in the state */",
        ]
    elif what == "INPUT" and value is layout.received:
        lines += [
            f"#define {upper}_ROWS {shape[1]} /* of input {index}, pushed one by one */",
            f"#define {upper}_ROW_BYTES {row_bytes(value)}u",
        ]
    address = layout.planned(value)
    if address is not None:
        where = address.base if layout.banks else "the arena"
        if layout.objects:
            number = [m.name for m in layout.objects].index(address.base)
            lines.append(f"#define {prefix}_OBJECT {number}")
            where = "that object"
        lines.append(f"#define {prefix}_OFFSET {address.offset}u /* bytes into {where} */")
    return "\n".join(lines) + "\n"


def _planned_memory(layout: Layout) -> str:
    return "objects" if layout.objects else "memories" if layout.banks else "arena"


def _contract(layout: Layout) -> str:
    if layout.received is not None:
        return _streamed_contract(layout)
    if layout.model.io.data == "caller":
        where = (
            " * Inputs and outputs are the caller's memory and must not overlap each other or the\n"
            f" * {_planned_memory(layout)}; none may be null (2).\n"
        )
    else:
        promise = (
            "Inputs keep their values."
            if layout.model.io.data == "kept"
            else "The run may overwrite the inputs."
        )
        where = (
            f" * Inputs and outputs lie in the {_planned_memory(layout)}, at the "
            "offsets above: fill and read them\n"
            " * there and pass null, or pass pointers and they are copied in first and out after.\n"
            f" * {promise}\n"
        )
    which = "a memory" if layout.banks else "the arena"
    answer = "" if layout.objects else f"; 1 if {which} is null or not aligned"
    return f"/* One inference. Returns 0{answer}.\n{where} */\n"


def _streamed_contract(layout: Layout) -> str:
    memory, is_caller = _planned_memory(layout), layout.model.io.data == "caller"
    where = "lie there at the offsets above, and are copied out where a pointer is not null"
    if is_caller:
        where = f"are the caller's memory and must not overlap each other or the {memory}"
    answer = "" if layout.objects else f"1 if the {memory} is null or not aligned, "
    null = "a pointer" if is_caller else "`read_row`"
    return (
        f"/* One inference of rows that `read_row` writes into the {memory}. Returns 0;\n"
        f" * {answer}2 if {null} is null, 3 if `read_row` ended it.\n"
        f" * Outputs {where}. */\n"
    )


def _reset(name: str) -> str:
    return (
        "/* Forgets all runs: what stays from one to the next is as it was before the first.\n"
        " * It lies in the model, of which there is one sequence of runs. */\n"
        f"void {name}_reset(void);\n\n"
    )


def fits(name: str, variables: bool) -> str:
    """Return the check in the header `<name>.h`: `<NAME>_RAM_BYTES`, if the user defines it, is
    held against the arena, what stays from one run to the next if there are `variables`, and
    `<NAME>_STACK_BYTES`, stack and static RAM of the program, if that is defined too."""
    upper = name.upper()
    stack = f"{upper}_STACK_BYTES"
    stays = f" + {upper}_VARIABLE_BYTES" if variables else ""
    need = f"{upper}_ARENA_BYTES{stays} + ({stack})"
    given = f"{upper}_RAM_BYTES"
    check = holds(
        f"{need} <= ({given})", f"{name}_needs_more_ram", f"{name} needs more RAM than {given}"
    )
    return (
        f"/* With {given} defined as what the model may take of your RAM, a build stops that\n"
        f" * needs more. {stack} is what stack and static RAM add: stack_bound and static_ram\n"
        " * of report.json. */\n"
        f"#ifdef {given}\n#ifndef {stack}\n#define {stack} 0u\n#endif\n{check}#endif\n"
    )


def holds(condition: str, name: str, text: str) -> str:
    """Return the lines that stop a build unless the condition holds, in each C and C++: with `text`
    where the language has a way to say it, else by a type of that name."""
    return (
        "#if defined(__cplusplus) && __cplusplus >= 201103L\n"
        f'static_assert({condition}, "{text}");\n'
        "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
        f'_Static_assert({condition}, "{text}");\n'
        "#else\n"
        f"typedef char {name}[{condition} ? 1 : -1];\n"
        "#endif\n"
    )


def has_conversion(value: SSAValue, c_type: str) -> bool:
    """Return whether a tensor of `c_type` has one scale, and a zero point in the range of the
    type."""
    encoding = encoding_of(value)
    if c_type not in RANGES or len(encoding.scales) != 1:
        return False
    low, high = RANGES[c_type]
    return encoding.scales[0] > 0 and low <= encoding.zero_points[0] <= high


def conversions(name: str, inputs: Mapping[int, str], outputs: Mapping[int, str]) -> str:
    """The functions for these inputs and outputs, index -> C type; empty if there is none."""
    parts = [_MACRO] if inputs or outputs else []
    if inputs:
        parts.append(_NEAREST)
    for i, c_type in inputs.items():
        prefix = f"{name.upper()}_INPUT_{i}"
        low, high = RANGES[c_type]
        parts.append(
            f"/* What input {i} holds for a real value. */\n"
            f"@HELPER@ {c_type} {name}_quantize_input_{i}(float value) {{\n"
            f"  return ({c_type}){name}_nearest(\n"
            f"      value, {prefix}_SCALE, {prefix}_ZERO_POINT, {low}, {high});\n}}\n"
        )
    for i, c_type in outputs.items():
        prefix = f"{name.upper()}_OUTPUT_{i}"
        parts.append(
            f"/* The real value that output {i} stands for. */\n"
            f"@HELPER@ float {name}_dequantize_output_{i}({c_type} value) {{\n"
            f"  return {prefix}_SCALE * (float)((int32_t)value - {prefix}_ZERO_POINT);\n}}\n"
        )
    text = "".join(f"{part}\n" for part in parts)
    return text.replace("@HELPER@", f"{name.upper()}_HELPER").replace("@name@", name)


def _quantised(values: Sequence[SSAValue]) -> dict[int, str]:
    types = {i: c_type_of(v) for i, v in enumerate(values)}
    return {i: t for i, t in types.items() if has_conversion(values[i], t)}


def header(layout: Layout, name: str, streamed: str = "", blob: Blob | None = None) -> str:
    """The text of `<name>.h`; `streamed` declares what feeds the model row by row; the `blob` has
    its weights."""
    upper, sliding = name.upper(), layout.sliding
    parts = [
        f"#ifndef {upper}_H\n#define {upper}_H\n\n#include <stddef.h>\n#include <stdint.h>\n",
        f"#define {upper}_ARENA_BYTES {layout.arena}u"
        f"{' /* of all shared objects */' if layout.objects else ''}"
        f"{' /* of all memories */' if layout.banks else ''}\n"
        f"#define {upper}_ARENA_ALIGNMENT {layout.alignment}u\n",
    ]
    if layout.objects:
        parts.append(object_sizes(layout.objects, upper))
    if layout.banks:
        parts.append(bank_macros(layout, upper))
    if (section := layout.storage.sections.get(ARENA)) is not None and not layout.objects:
        parts.append(f"#define {upper}_ARENA_SECTION {attribute(section)}\n")
    if layout.variables:
        stays = sum(bytes_in(op.result) for op in layout.variables)
        parts.append(f"#define {upper}_VARIABLE_BYTES {stays}u /* static: they stay */\n")
    if blob is not None:
        parts.append(blob.sizes(name))
    parts.append(fits(name, bool(layout.variables)))
    if layout.is_custom:
        parts.append(custom_types())
    for what, values in (("INPUT", layout.inputs), ("OUTPUT", layout.outputs)):
        parts += [_tensor(layout, v, upper, what, i) for i, v in enumerate(values)]
        parts.append(
            f"#define {upper}_{what}S {len(values)}\n"
            f"#define {upper}_{what}_BYTES {sum(map(bytes_in, values))}u /* all of them */\n"
        )
    run = f"{_contract(layout)}{run_signature(layout, name)};\n\n"
    parts.append(
        '#ifdef __cplusplus\nextern "C" {\n#endif\n\n'
        + (declare_objects(name) if layout.objects else "")
        + (_reset(name) if layout.variables else "")
        + (check_declaration(name) if layout.storage.has_check else "")
        + ("" if blob is None else blob.declaration(name))
        + (custom_declarations(layout) if layout.is_custom else "")
        + streamed
        + (run if sliding is None else "")
        + conversions(name, _quantised(layout.inputs), _quantised(layout.outputs))
        + "#ifdef __cplusplus\n}\n#endif\n"
    )
    parts.append(f"#endif /* {upper}_H */\n")
    return "\n".join(parts)
