"""The program around a model: the plan's memory in it, and how main.c runs the model once.

The memory is arenas of main.c, or the model's objects. Inputs are read from a file, whole or row by
row, outputs are written.
"""

from math import prod

from xdsl.ir import SSAValue

from memopt.backends.c.emit.banks import bank_arrays, bank_example, bank_values
from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.header import c_type_of
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.sections import ARENA
from memopt.dialects.memgraph.tensors import shape_of

ENDS = ("INPUT_0", "OUTPUT_0")

IN_ARENA = """#if defined(__arm__) || defined(__riscv)
__attribute__((section(".arena")))
#endif
"""
RAM = """__attribute__((aligned(64))) static uint8_t ram[CANARY + memory_bytes_0 + CANARY];
"""

WHOLE = """\
@read@    if (got == 0u && (@NAME@_INPUT_BYTES != 0u || runs != 0u)) {
      break;
    }
    if (got != @NAME@_INPUT_BYTES) {
      return fail("incomplete input in ", in_path, 1);
    }
    platform_ticks_start();
    if (@name@_run(@arguments@) != 0) {
      return fail("@name@_run refused its arguments", "", 1);
    }
    instructions = platform_instructions();
"""

STREAMED = """\
    uint64_t ran = 0;
    int done = 0;
    if (@first@@name@_start(@arguments@) != 0) {
      return fail("@name@_start refused its arguments", "", 1);
    }
    while (done == 0) {
      void *row;
      size_t more;
      platform_ticks_start();
      row = @name@_row_place(&state);
      ran += platform_instructions();
      more = platform_read(in, row, @NAME@_ROW_BYTES);
      got += more;
      if (more != @NAME@_ROW_BYTES) {
        break;
      }
      platform_ticks_start();
      done = @name@_push_row(&state, row);
      ran += platform_instructions();
    }
    if (got == 0u) {
      break;
    }
    if (done != 1) {
      return fail("incomplete input in ", in_path, 1);
    }
    instructions = ran;
"""


def start_of(layout: Layout, value: SSAValue, name: str, tensor: str) -> str:
    """In C, where the tensor (`INPUT_0`) lies in the plan's memory; empty if it does not."""
    if layout.planned(value) is None:
        return ""
    prefix = f"{name.upper()}_{tensor}"
    address = layout.planned(value)
    assert address is not None
    base = f"{name}_object({prefix}_OBJECT)" if layout.objects else address.base
    return f"{base} + {prefix}_OFFSET"


def example(layout: Layout, name: str) -> str:
    """The call for a README."""
    if layout.received is not None:
        return streamed_example(layout, name)
    if layout.banks:
        return bank_example(layout, name)
    upper, objects = name.upper(), layout.objects
    arena = _arena(layout, name)
    if layout.model.io.data == "caller":
        what = "every input" if objects else "the arena, every input"
        return f"{arena}/* give {name}_run {what} and room for every output */"
    calls = ["arena"] * (not objects) + ["0"] * (len(layout.inputs) + len(layout.outputs))
    base = [f"{name}_object({upper}_{x}_OBJECT)" if objects else "arena" for x in ENDS]
    return (
        f"{arena}/* fill {base[0]} + {upper}_INPUT_0_OFFSET */\n"
        f"if ({name}_run({', '.join(calls)}) == 0) {{\n"
        f"  /* read {base[1]} + {upper}_OUTPUT_0_OFFSET */\n}}"
    )


def memory_arrays(layout: Layout, name: str) -> str:
    """The arrays that a program gives the model; none for shared objects."""
    return bank_arrays(layout, name) + "\n" if layout.banks else _arena(layout, name)


def _arena(layout: Layout, name: str) -> str:
    upper = name.upper()
    section = f"{upper}_ARENA_SECTION " if ARENA in layout.storage.sections else ""
    array = f"{section}static uint8_t arena[{upper}_ARENA_BYTES] "
    aligned = f"__attribute__((aligned({upper}_ARENA_ALIGNMENT)));\n\n"
    return "" if layout.objects else array + aligned


def streamed_example(layout: Layout, name: str) -> str:
    """The calls for a README of a model that is fed row by row, whose window may slide."""
    memories = memory_arrays(layout, name)
    outputs = "0" if layout.model.io.data != "caller" else "output_0"
    given = [m.name for m in layout.memories if m.given] + [outputs] * len(layout.outputs)
    where = start_of(layout, layout.outputs[0], name, "OUTPUT_0") or "output_0"
    if layout.sliding is not None:
        return (
            f"{memories}static {name}_state state;\n\n"
            f"if ({name}_start(&state, {', '.join(given)}) == 0) {{\n  for (;;) {{\n"
            f"    /* fill row, {name.upper()}_ROW_BYTES: the next frame */\n"
            f"    if ({name}_push_row(&state, row) == 1) {{\n"
            f"      /* read {where} */\n    }}\n  }}\n}}"
        )
    return (
        f"{memories}static {name}_state state;\n\n"
        f"if ({name}_start(&state, {', '.join(given)}) == 0) {{\n  do {{\n"
        f"    /* fill row, {name.upper()}_ROW_BYTES of the image, from the top */\n"
        f"  }} while ({name}_push_row(&state, row) == 0);\n  /* read {where} */\n}}"
    )


def arena_section(layout: Layout, owner: str) -> str:
    """Return the lines that put the arena of `owner` into its section."""
    return f"{owner}_ARENA_SECTION\n" if ARENA in layout.storage.sections else IN_ARENA


def memory_values(layout: Layout, name: str) -> dict[str, str]:
    """Return the templates' values for the plan's memory: arenas in main.c, or the model's
    objects."""
    if layout.banks:
        return bank_values(layout, name)
    upper, objects = name.upper(), layout.objects
    sizes = [f"{upper}_{m.name.upper()}_BYTES - MEMOPT_ARENA_SHRINK" for m in layout.memories]
    separator = ",\n    "
    table = f"static const uint32_t memory_bytes[] = {{\n    {separator.join(sizes)}}};\n"
    start = "static uint8_t *memory_start(uint32_t k) {\n  "
    if objects:
        guard = max(64, layout.alignment)
        return {
            "memory_count": str(len(objects)),
            "memories": f"{table}\n{start}return {name}_object((int)k);\n}}\n",
            "memory_pointers": "",
            "memory_text": f"{len(objects)} shared objects of\n**{layout.arena} bytes** "
            "together, static arrays that a linker script may put anywhere",
            "memory_words": "every object",
            "guard": f"-DMEMOPT_GUARD={guard} ",
            "cmake_guard": f"  target_compile_definitions({name} PRIVATE MEMOPT_GUARD={guard})\n",
        }
    section = arena_section(layout, upper)
    return {
        "memory_count": "1",
        "memories": f"enum {{ memory_bytes_0 = {sizes[0]} }};\n{section}{RAM}\n{table}\n"
        f"{start}(void)k;\n  return ram + CANARY;\n}}\n",
        "memory_pointers": "  uint8_t *arena = ram + CANARY;\n",
        "memory_text": f"one arena of **{layout.arena} bytes** that you give it",
        "memory_words": "the arena",
        "guard": "",
        "cmake_guard": "",
    }


def feed(layout: Layout, name: str) -> str:
    """The lines that read the input of one run, and run it."""
    is_whole = layout.received is None
    text, words = (WHOLE, []) if is_whole else (STREAMED, ["&state"])
    words += arguments(layout)
    values = {
        "read": transfer(layout, name, "input"),
        "arguments": ", ".join(words),
        "first": "" if layout.sliding is None else "runs == 0u && ",  # the window goes on
        "name": name,
        "NAME": name.upper(),
    }
    return filled(text, values)


def transfer(layout: Layout, name: str, what: str) -> str:
    """The lines of main.c that read the inputs or write the outputs."""
    values = layout.inputs if what == "input" else layout.outputs
    call, total, file = ("read", "got", "in") if what == "input" else ("write", "put", "out")
    lines: list[str] = []
    for i, value in enumerate(values):
        where = start_of(layout, value, name, f"{what.upper()}_{i}") or f"{what}_{i}"
        lines.append(
            f"    {total} += platform_{call}({file}, {where}, "
            f"{name.upper()}_{what.upper()}_{i}_BYTES);\n"
        )
    return "".join(lines)


def buffers(layout: Layout, name: str) -> str:
    """Memory of main.c for what does not lie in the plan's memory."""
    lines = [] if layout.received is None else [f"static {name}_state state;\n"]
    for what, values in (("input", layout.inputs), ("output", layout.outputs)):
        for i, value in enumerate(values):
            if layout.planned(value) is None and value is not layout.received:
                size = max(1, prod(shape_of(value)))
                lines.append(f"static {c_type_of(value)} {what}_{i}[{size}];\n")
    return "".join(lines) + ("\n" if lines else "")


def arguments(layout: Layout) -> list[str]:
    """Return the arguments with which a run is started, besides a state: memories, then inputs and
    outputs."""
    ends = [(f"input_{i}", layout.inputs[i]) for i in layout.given_inputs]
    ends += [(f"output_{i}", value) for i, value in enumerate(layout.outputs)]
    given = [m.name for m in layout.memories if m.given]
    return given + [name if layout.planned(value) is None else "0" for name, value in ends]
