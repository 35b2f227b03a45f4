"""A model as a library of one source, and a C++ program that shows how it is called.

The program reads samples as a sensor would give them (a pattern, until the user writes his own),
quantises them into the place that the plan has for the input, whole or row by row, runs the model
and prints its outputs. It needs one function of the board: `say(text)`.
"""

from memopt.backends.c.emit.header import RANGES, c_type_of, has_conversion
from memopt.backends.c.emit.layout import Layout
from memopt.backends.c.emit.source import header_file, single_source
from memopt.backends.c.project.program import arguments, memory_arrays, start_of
from memopt.backends.c.project.project_files import Files, Project
from memopt.dialects.attributes.input_range import declared_range

SHOWN = 16  # values of an output that the program prints

QUANTISED = """\
/* Sample k of input @i@ in its own units: here a pattern, in yours what the sensor gives. */
static float sensor_@i@(uint32_t k) {
  const int32_t stored = (int32_t)(k * 40503u % @count@u) + (@low@);
  return @NAME@_INPUT_@i@_SCALE * (float)(stored - @NAME@_INPUT_@i@_ZERO_POINT);
}

"""
REAL = """\
/* Sample k of input @i@: here a pattern, in yours what the sensor gives. */
static float sensor_@i@(uint32_t k) {
  return @low@ + (@high@ - (@low@)) * (float)(k * 40503u % 256u) / 255.0f;
}

"""
WHOLE_NUMBER = """\
/* Element k of input @i@: here 0 and 1 in turn. */
static @type@ sensor_@i@(uint32_t k) { return (@type@)(k % 2u); }

"""
FILL = """\
  {
    @type@ *to = (@type@ *)(@where@);
    for (k = 0u; k < @NAME@_INPUT_@i@_BYTES / sizeof *to; ++k) {
      to[k] = @stored@;
    }
  }
"""
RUN = """\
static int infer() {
  uint32_t k;
@fill@  return @name@_run(@arguments@);
}
"""
STREAM = """\
@kept@static int infer() {
  const uint32_t columns = @NAME@_ROW_BYTES / sizeof(@type@);
  uint32_t k;
  int done = 0;
@row@@fill@  if (@first@@name@_start(@arguments@) != 0) {
    return 1;
  }
  while (done == 0) {
    @type@ *to = @name@_row_place(&state);
    for (k = 0u; k < columns; ++k) {
      to[k] = @stored@;
    }
    done = @name@_push_row(&state, to);
    ++row;
  }
  return done == 1 ? 0 : 1;
}
"""
SHOW = """\
  for (k = 0u; k < @NAME@_OUTPUT_@i@_BYTES / sizeof(@type@) && k < @most@u; ++k) {
    const @type@ value = ((const @type@ *)(@where@))[k];
    say("@name@ output @i@ [");
    say_whole((int32_t)k);
    say("] = ");
@say@    say("\\n");
  }
"""


def library(project: Project, folder: str) -> Files:
    """Header and source in `folder`, which ends in a slash or is empty."""
    name, emitted = project.name, project.emitted
    return {
        f"{folder}{name}.h": header_file(emitted),
        f"{folder}{name}.c": single_source(emitted, f'#include "{name}.h"\n'),
    }


def package(project: Project, texts: Files, main: str, text: str, how: str) -> Files:
    """Return the files of a package: the library in src/, the `texts` of a build, the program's
    `text` in `main`, and the page about them."""
    page = {"README.md": readme(project, how)}
    return library(project, "src/") | texts | {main: text} | page


def readme(project: Project, how: str) -> str:
    """Return the page about the model's inputs and outputs, and, by the template `how`, about
    taking it into a build."""
    return project.filled("README_library.md.in", how=project.text(how))


def program(project: Project, head: str, say: str, entry: str) -> str:
    """The program, with what a build includes, how it prints and where it starts."""
    layout, name = project.emitted.layout, project.name
    sensors = "".join(
        project.text(_sensor(layout, i), _input(layout, i, name)) for i in range(len(layout.inputs))
    )
    text = project.filled(
        "example.cpp.in",
        head=head,
        say=say,
        entry=entry,
        memory_arrays=memory_arrays(layout, name),
        sensors=sensors,
        infer=_infer(project),
        show="".join(_shown(project, i) for i in range(len(layout.outputs))),
    )
    return text.rstrip("\n") + "\n"


def _sensor(layout: Layout, index: int) -> str:
    value = layout.inputs[index]
    c_type = c_type_of(value)
    if c_type in ("float", "double") or declared_range(value) is not None:
        return REAL
    return QUANTISED if has_conversion(value, c_type) else WHOLE_NUMBER


def _input(layout: Layout, index: int, name: str) -> dict[str, str]:
    """Return the templates' values for an input; `stored` is its element `k`, in a row `row` of
    them."""
    value = layout.inputs[index]
    c_type, upper = c_type_of(value), name.upper()
    low, high = "-1.0f", "1.0f"
    if declared_range(value) is not None:
        low, high = f"{upper}_INPUT_{index}_LEAST", f"{upper}_INPUT_{index}_MOST"
    elif c_type in RANGES:
        low = str(RANGES[c_type][0])
    count = 1 + RANGES[c_type][1] - RANGES[c_type][0] if c_type in RANGES else 0
    at = "row * columns + k" if value is layout.received else "k"
    sample = f"sensor_{index}({at})"
    is_quantised = has_conversion(value, c_type)
    return {
        "i": str(index),
        "type": c_type,
        "low": low,
        "high": high,
        "count": str(count),
        "where": start_of(layout, value, name, f"INPUT_{index}") or f"input_{index}",
        "stored": f"{name}_quantize_input_{index}({sample})" if is_quantised else sample,
    }


def _infer(project: Project) -> str:
    layout, name = project.emitted.layout, project.name
    given = [i for i, v in enumerate(layout.inputs) if v is not layout.received]
    fill = "".join(project.text(FILL, _input(layout, i, name)) for i in given)
    words = arguments(layout)
    if layout.received is None:
        return project.text(RUN, {"fill": fill, "arguments": ", ".join(words)})
    slides = layout.sliding is not None
    row, started = "uint32_t row = 0u;\n", "static int started;\n"
    values = {
        "fill": fill,
        "arguments": ", ".join(["&state", *words]),
        "kept": f"static {row}{started}\n" if slides else "",  # the window goes on
        "row": "" if slides else f"  {row}",
        "first": "started++ == 0 && " if slides else "",
    }
    index = layout.inputs.index(layout.received)
    return project.text(STREAM, _input(layout, index, name) | values)


def _shown(project: Project, index: int) -> str:
    layout, name = project.emitted.layout, project.name
    value = layout.outputs[index]
    c_type = c_type_of(value)
    if c_type in ("float", "double"):
        say = "    say_real((float)value);\n"
    else:
        say = "    say_whole((int32_t)value);\n"
        if has_conversion(value, c_type):
            real = f"{name}_dequantize_output_{index}(value)"
            say += f'    say(" (");\n    say_real({real});\n    say(")");\n'
    values = {
        "i": str(index),
        "type": c_type,
        "most": str(SHOWN),
        "where": start_of(layout, value, name, f"OUTPUT_{index}") or f"output_{index}",
        "say": say,
    }
    return project.text(SHOW, values)
