"""Shared objects in C: static arrays that no caller gives, and a function that says where they lie.

static uint8_t object_3_memory[2 * MEMOPT_GUARD + 4096] MEMOPT_OBJECT(3);
"""

from collections.abc import Sequence

from memopt.backends.c.emit.layout import Layout, Memory
from memopt.backends.c.emit.sections import ARENA

SETTINGS = """/* Shared objects: separate arrays, each for one tensor at a time. Define
 * MEMOPT_OBJECT to put them elsewhere, MEMOPT_GUARD (a multiple of the alignment) for bytes
 * around each. */
#ifndef MEMOPT_OBJECT
#if defined(__arm__) || defined(__riscv)
#define MEMOPT_OBJECT(index) \\
  __attribute__((aligned(@alignment@), section(".arena.object_" #index)))
#else
#define MEMOPT_OBJECT(index) __attribute__((aligned(@alignment@)))
#endif
#endif
#ifndef MEMOPT_GUARD
#define MEMOPT_GUARD 0
#endif
"""


def _signature(name: str) -> str:
    return f"uint8_t *{name}_object(int index)"


def object_sizes(objects: Sequence[Memory], upper: str) -> str:
    """The macros of the header that say how many objects there are, and their bytes."""
    sizes = "".join(f"#define {upper}_{m.name.upper()}_BYTES {m.bytes}u\n" for m in objects)
    return f"#define {upper}_OBJECTS {len(objects)}\n{sizes}"


def declare_objects(name: str) -> str:
    """The declaration of the function that gives the start of an object."""
    return (
        "/* The start of a shared object, a static array of the model; null for other numbers. */\n"
        f"{_signature(name)};\n\n"
    )


def define_objects(layout: Layout, name: str) -> str:
    """The arrays, each with a section of its own for a linker script to place, and the function."""
    arrays = "".join(
        f"static uint8_t {m.name}_memory[2 * MEMOPT_GUARD + {max(m.bytes, 1)}] "
        f"MEMOPT_OBJECT({k});\n#define {m.name} ({m.name}_memory + MEMOPT_GUARD)\n"
        for k, m in enumerate(layout.objects)
    )
    cases = "".join(
        f"    case {k}:\n      return {m.name};\n" for k, m in enumerate(layout.objects)
    )
    settings, section = SETTINGS, layout.storage.sections.get(ARENA)
    if section is not None:
        settings = settings.replace("defined(__arm__) || defined(__riscv)", "1")
        settings = settings.replace(".arena.", f"{section}.")
    return (
        settings.replace("@alignment@", str(layout.alignment))
        + arrays
        + f"\n{_signature(name)} {{\n  switch (index) {{\n{cases}"
        "    default:\n      return NULL;\n  }\n}\n\n"
    )
