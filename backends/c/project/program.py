"""The plan's memory in the program around a model: arenas of main.c, or the model's objects."""

from xdsl.ir import SSAValue

from memopt.backends.c.emit.banks import bank_arrays, bank_example, bank_values
from memopt.backends.c.emit.layout import Layout

ENDS = ("INPUT_0", "OUTPUT_0")

RAM = """#ifdef __arm__
__attribute__((section(".arena")))
#endif
__attribute__((aligned(16))) static uint8_t ram[CANARY + memory_bytes_0 + CANARY];
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
    array = f"static uint8_t arena[{upper}_ARENA_BYTES] "
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
        guard = max(64, layout.model.alignment.data)
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
    return {
        "memory_count": "1",
        "memories": f"enum {{ memory_bytes_0 = {sizes[0]} }};\n{RAM}\n{table}\n"
        f"{start}(void)k;\n  return ram + CANARY;\n}}\n",
        "memory_pointers": "  uint8_t *arena = ram + CANARY;\n",
        "memory_text": f"one arena of **{layout.arena} bytes** that you give it",
        "memory_words": "the arena",
        "guard": "",
        "cmake_guard": "",
    }
