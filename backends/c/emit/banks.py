"""Several memories in C: the caller gives each, and a section per memory says where it belongs.

#define NET_DTCM_BYTES 49152u
#define NET_DTCM_MEMORY __attribute__((section(".memopt.dtcm"), aligned(16)))

NET_DTCM_MEMORY static uint8_t dtcm[NET_DTCM_BYTES];
"""

from memopt.backends.c.emit.layout import Layout, Memory
from memopt.dialects.memgraph.errors import MemoptError
from memopt.targets.core.target import Target

CANARIES = 128  # bytes that the program puts around each memory


def _name(memory: Memory) -> str:
    return memory.planned.memory.data


def _section(memory: Memory) -> str:
    return f".memopt.{_name(memory)}"


def bank_macros(layout: Layout, upper: str) -> str:
    """The macros of the header: bytes of every memory, and the attribute that puts it there."""
    lines: list[str] = []
    for m in layout.banks:
        prefix = f"{upper}_{_name(m).upper()}"
        lines += [
            f"/* {_name(m)}: {m.bytes} B of {m.planned.capacity.data} B; a run reads and writes "
            f"{m.planned.moved.data} B there */",
            f"#define {prefix}_BYTES {m.bytes}u",
            f"#define {prefix}_MEMORY "
            f'__attribute__((section("{_section(m)}"), aligned({layout.alignment})))',
        ]
    return "\n".join(lines) + "\n"


def bank_arrays(layout: Layout, name: str) -> str:
    """An array for each memory."""
    upper = name.upper()
    return "".join(
        f"{upper}_{_name(m).upper()}_MEMORY static uint8_t {m.name}"
        f"[{upper}_{_name(m).upper()}_BYTES];\n"
        for m in layout.banks
    )


def bank_example(layout: Layout, name: str) -> str:
    """The call for a README."""
    upper, arrays = name.upper(), bank_arrays(layout, name)
    if layout.model.io.data == "caller":
        return f"{arrays}\n/* give {name}_run these, every input and room for every output */"
    ends = [*layout.inputs[:1], *layout.outputs[:1]]
    where = [a.base if (a := layout.planned(v)) else "?" for v in ends]
    calls = [m.name for m in layout.banks]
    calls += ["0"] * (len(layout.inputs) + len(layout.outputs))
    return (
        f"{arrays}\n/* fill {where[0]} + {upper}_INPUT_0_OFFSET */\n"
        f"if ({name}_run({', '.join(calls)}) == 0) {{\n"
        f"  /* read {where[-1]} + {upper}_OUTPUT_0_OFFSET */\n}}"
    )


def bank_values(layout: Layout, name: str) -> dict[str, str]:
    """Return the templates' values for the memories: an array of main.c for each, with its
    canaries."""
    upper, banks = name.upper(), layout.banks
    arrays = pointers = ""
    starts, sizes = list[str](), list[str]()
    for k, m in enumerate(banks):
        prefix = f"{upper}_{_name(m).upper()}"
        size = f"memory_bytes_{k}"
        arrays += (
            f"enum {{ {size} = {prefix}_BYTES - MEMOPT_ARENA_SHRINK }};\n"
            f"{prefix}_MEMORY static uint8_t ram_{k}[CANARY + {size} + CANARY];\n\n"
        )
        starts.append(f"ram_{k} + CANARY")
        sizes.append(size)
        pointers += f"  uint8_t *{m.name} = ram_{k} + CANARY;\n"
    listed = ", ".join(f"{_name(m)} **{m.bytes} bytes**" for m in banks)
    return {
        "memory_count": str(len(banks)),
        "memories": arrays
        + f"static const uint32_t memory_bytes[] = {{{', '.join(sizes)}}};\n\n"
        + "static uint8_t *memory_start(uint32_t k) {\n"
        + f"  static uint8_t *const starts[] = {{{', '.join(starts)}}};\n"
        + "  return starts[k];\n}\n",
        "memory_pointers": pointers,
        "memory_text": f"memories that you give it ({listed})",
        "memory_words": "every memory",
        "guard": "",
        "cmake_guard": "",
    }


def link_values(layout: Layout, target: Target) -> dict[str, str]:
    """The linker script's regions and sections of the banks.

    Every bank gets a region of its capacity and the canaries, in the second half of the RAM or in
    other memory of the board. Raises MemoptError if the board has no room for one.
    """
    if not target.memories:
        return {"bank_sections": ""}
    *others, (ram, start, _) = target.memories
    half = region_bytes(target.memories[-1][2]) // 2
    rooms = [*target.rooms, (int(start, 16) + half, half)]
    rooms.sort(key=lambda room: room[1])  # small banks into small memories
    lines = [f"  {n} : ORIGIN = {o}, LENGTH = {s}" for n, o, s in others]
    lines.append(f"  {ram} : ORIGIN = {start}, LENGTH = {half}")
    sections = ""
    for m in layout.banks:
        need = -(-(m.planned.capacity.data + CANARIES) // 64) * 64
        fitting = [k for k, (_, room) in enumerate(rooms) if room >= need]
        if not fitting:
            raise MemoptError(
                f"C backend: {target.emulator} has no room for {_name(m)} of {need - CANARIES} B"
            )
        at, room = rooms[fitting[0]]
        rooms[fitting[0]] = (at + need, room - need)
        region = f"BANK_{_name(m)}"
        lines.append(f"  {region} : ORIGIN = 0x{at:08x}, LENGTH = {need}")
        sections += f"  {_section(m)} (NOLOAD) : {{ *({_section(m)}) }} > {region}\n"
    return {"memory": "\n".join(lines), "bank_sections": sections}


def region_bytes(text: str) -> int:
    """`4M` in bytes."""
    return int(text[:-1]) << {"K": 10, "M": 20}[text[-1]]
