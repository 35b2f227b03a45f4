"""How main.c runs the model once: inputs read from a file, whole or row by row, outputs written."""

from math import prod

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.header import c_type_of
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.project.program import start_of
from memopt.dialects.memgraph.tensors import shape_of

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
