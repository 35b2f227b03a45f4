"""The header by which a computer runs a model on a board, through a serial port.

hello_of(project)     # what the board says of itself, which `memopt validate --port` compares
serial_files(project, files)
"""

import hashlib

from memopt.backends.c.emit.layout import Layout, bytes_in
from memopt.backends.c.project.program import arguments, buffers, start_of
from memopt.backends.c.project.project_files import Files, Project

VERSION = 1  # of the protocol
HASH = 8  # bytes of each hash that is told
NAME = 64  # bytes of a name that are told
RESET = "        @name@_reset();\n"
CHECKED = " Call @name@_set_weights before."


def hello_of(project: Project) -> bytes:
    """Return the data that a board answers to HELLO: which model it has, of which code."""
    emitted = project.emitted
    code = f"{emitted.header}{emitted.source}".encode()
    ends = emitted.layout.inputs, emitted.layout.outputs
    sizes = [sum(map(bytes_in, end)).to_bytes(4, "little") for end in ends]
    hashes = [hashlib.sha256(data).digest()[:HASH] for data in (project.origin.encode(), code)]
    return b"".join([bytes([VERSION]), *hashes, *sizes, project.name.encode()[:NAME]])


def serial_files(project: Project, files: Files) -> Files:
    """Return the header, beside that of the model among the `files` of a layout; none for a project
    without origin."""
    if not project.origin:
        return {}
    layout, name = project.emitted.layout, project.name
    header_path = next(file for file in files if file.rpartition("/")[2] == f"{name}.h")
    memory_parameters = "".join(
        f", uint8_t *{memory.name}" for memory in layout.memories if memory.given
    )
    hello_bytes = [f"0x{byte:02X}u" for byte in hello_of(project)]
    lines = [", ".join(hello_bytes[at : at + 12]) for at in range(0, len(hello_bytes), 12)]
    text = project.filled(
        "serial.h.in",
        memory_parameters=memory_parameters,
        hello=",\n      ".join(lines),
        buffers="".join(f"  {line}\n" for line in buffers(layout, name).splitlines() if line),
        inputs=_tensors(layout, name, "input"),
        outputs=_tensors(layout, name, "output"),
        arguments=", ".join(arguments(layout)),
        reset=project.text(RESET) if layout.variables else "",
        needs=project.text(CHECKED) if layout.storage.in_file else "",
    )
    return {f"{header_path.removesuffix('.h')}_serial.h": text}


def _tensors(layout: Layout, name: str, what: str) -> str:
    """Return the elements of the array of inputs or outputs: where they lie, and bytes."""
    values = layout.inputs if what == "input" else layout.outputs
    ends = [(f"{what.upper()}_{i}", f"{what}_{i}", value) for i, value in enumerate(values)]
    return "".join(
        f"\n      {{{start_of(layout, value, name, end) or array}, {name.upper()}_{end}_BYTES}},"
        for end, array, value in ends
    )
