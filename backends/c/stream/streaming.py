"""A network whose input arrives row by row: its run can stop before a row that is not there yet.

    net_state state;
    net_start(&state, arena, NULL);
    while ((done = net_push_row(&state, camera_row())) == 0) {}      1 when the output is ready

What runs is one function that goes on from the call it had come to: rows by `run_rows`, which stops
at a row to be received, and whole operators between them, each behind the number of calls that ran
before it.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import SSAValue

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.header import c_type_of, run_signature
from memopt.backends.c.emit.layout import KEPT, Layout, row_bytes
from memopt.backends.c.rows.row_numbers import Numbers
from memopt.dialects.memgraph.tensors import shape_of

FUNCTIONS = """
/* Runs all that comes before the next row; 1 when nothing is left. */
static int go_on(@name@_state *state) {
@declared@@body@  return 1;
}

int @name@_start(@name@_state *state@arguments@) {
  if (state == NULL) {
    return 2;
  }
@checks@  memset(state, 0, sizeof *state);
@stored@  (void)go_on(state);
  return 0;
}

@type@ *@name@_row_place(const @name@_state *state) {
@memory@  return state->rows < @NAME@_ROWS ? (@type@ *)ROW_AT(received_at[state->rows]) : NULL;
}

int @name@_push_row(@name@_state *state, const @type@ *row) {
  @type@ *const place = @name@_row_place(state);
  if (place == NULL || row == NULL) {
    return -1;
  }
  if (row != place) {
    memcpy(place, row, @NAME@_ROW_BYTES);
  }
  ++state->rows;
  ++state->call;
  return go_on(state);
}

@run@ {
  @name@_state state;
  int done = 0;
  const int refused = read_row == NULL ? 2 : @name@_start(&state@given@);
  if (refused) {
    return refused;
  }
  while (!done) {
    @type@ *const place = @name@_row_place(&state);
    if (read_row(context, state.rows, place) != 0) {
      return 3;
    }
    done = @name@_push_row(&state, place);
  }
  return 0;
}
"""


@dataclass(frozen=True)
class Stream:
    """State of a streamed run besides pointers: the widths of tables, and the number of operators
    with a next row."""

    numbers: Numbers
    operators: int


def stored_arguments(layout: Layout) -> list[tuple[str, str]]:
    """(type, name) of the pointers that a run is started with, and that its state holds."""
    memories = [("uint8_t", m.name) for m in layout.memories if m.given]
    return memories + [(c_type_of(v), f"output_{i}") for i, v in enumerate(layout.outputs)]


HEADER = """/* One inference of rows that the caller pushes, from the top of the input on:
 * @name@_start, then @name@_push_row @ROWS@ times. A row is @ROW@. */
typedef struct { /* what a run has come to; nothing of it is for the caller */
@pointers@  int32_t call;
  int32_t rows;
  int@bits@_t next[@operators@];
} @name@_state;

/* Begins a run, one that was not finished is given up. Returns as @name@_run. */
int @name@_start(@name@_state *state@arguments@);

/* Copies a row, which may be changed then, and runs what needs no later one. Returns 0; 1 when the
 * output is ready; less than 0 after the last row, or if `row` is null. */
int @name@_push_row(@name@_state *state, const @type@ *row);

/* Where the next row will lie, null after the last. What is written there is pushed by
 * @name@_push_row(state, @name@_row_place(state)), which copies nothing. */
@type@ *@name@_row_place(const @name@_state *state);

/* Writes row `number` to `row`; what it returns, if not 0, ends the run. */
typedef int @name@_read_row(void *context, int32_t number, @type@ *row);

"""


def stream_header(layout: Layout, name: str, received: SSAValue, stream: Stream) -> str:
    """Return the header's declarations of a streamed run."""
    held, kind = stored_arguments(layout), c_type_of(received)
    sizes = "][".join(map(str, shape_of(received)[2:]))
    values = {
        "name": name,
        "NAME": name.upper(),
        "ROWS": str(shape_of(received)[1]),
        "ROW": f"{row_bytes(received)} bytes, {kind} [{sizes}]",
        "type": kind,
        "pointers": "".join(f"  {type_} *{word};\n" for type_, word in held),
        "arguments": "".join(f", {type_} *{word}" for type_, word in held),
        "bits": str(stream.numbers.row_bits),
        "operators": str(stream.operators),
    }
    return filled(HEADER, values)


@dataclass(frozen=True)
class Parts:
    """The text of a run: `body` with all that runs and the copies of outputs, `declared` what it
    needs besides what the state holds, `checks` of the arguments."""

    body: str
    declared: str
    checks: str


def base_in_state(layout: Layout, base: str) -> str:
    """A memory of the plan or an output, as a pointer to bytes that a state leads to."""
    if base == KEPT:
        return "state->kept.bytes"
    own = any(m.name == base and not m.given for m in layout.memories)
    return base if own else f"(uint8_t *)state->{base}"


def memory_of_state(layout: Layout, numbers: Numbers) -> str:
    """The line that declares `memory`, from which places count."""
    bases = [base_in_state(layout, b) for b in numbers.bases]
    if len(bases) > 1:
        return f"  uint8_t *const memory[] = {{{', '.join(bases)}}};\n"
    return f"  uint8_t *const memory = {bases[0]};\n"


def run_rows_streamed(last: int) -> str:
    """The calls to before `last`, as far as rows are there."""
    return (
        f"  state->call = run_rows(memory, state->next, state->call, {last});\n"
        f"  if (state->call < {last}) {{\n    return 0;\n  }}\n"
    )


def guarded(calls: Sequence[str], stretches: Sequence[tuple[int, int, int]]) -> list[str]:
    """The texts of a run where `stretches` (index of the text, and the calls in it) run rows: whole
    operators run once, when as many calls have run as stand before them."""
    of_text = {at: last for at, _, last in stretches}
    end = max(of_text.values())
    texts: list[str] = []
    ran = 0
    for at, text in enumerate(calls):
        if at in of_text:
            ran = of_text[at]
            texts.append(run_rows_streamed(ran))
        elif ran == end:
            texts.append(text)
        else:
            texts.append(f"  if (state->call == {ran}) {{\n{text}  }}\n")
    return texts


def declared_pointers(layout: Layout, parts: Parts) -> str:
    """The pointers of a state that a run uses, by their names."""
    used = "".join((parts.body, parts.declared))
    return "".join(
        f"  {kind} *const {word} = state->{word};\n"
        for kind, word in stored_arguments(layout)
        if re.search(rf"(?<!->)\b{word}\b", used)
    )


def stream_functions(
    layout: Layout, name: str, received: SSAValue, stream: Stream, parts: Parts
) -> str:
    """The functions of a streamed model."""
    held = stored_arguments(layout)
    declared = declared_pointers(layout, parts)
    memory = memory_of_state(layout, stream.numbers)
    values = {
        "name": name,
        "NAME": name.upper(),
        "type": c_type_of(received),
        "arguments": "".join(f", {kind} *{word}" for kind, word in held),
        "given": "".join(f", {word}" for _, word in held),
        "stored": "".join(f"  state->{word} = {word};\n" for _, word in held),
        "declared": declared + memory + parts.declared,
        "memory": memory,
        "run": run_signature(layout, name),
        "checks": parts.checks,
        "body": parts.body,
    }
    return filled(FUNCTIONS, values)
