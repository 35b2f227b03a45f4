"""A network whose input arrives row by row: its run can stop before a row that is not there yet.

    net_state state;
    net_start(&state, arena, NULL);
    while ((done = net_push_row(&state, camera_row())) == 0) {}      1 when the output is ready

What runs is one function that goes on from the call it had come to: rows by `run_rows`, which stops
at a row to be received, and whole operators between them, each behind the number of calls that ran
before it.

Where a window slides, what is pushed is new, all else stays in the state, and pushing never ends:
net_push_row returns 1 when the output is that of a whole window. A window begins when its first row
is asked for or pushed, and not when the one before it ends: until then its output stays in the
arena.
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
@stored@@begin@  return 0;
}

@type@ *@name@_row_place(@const@@name@_state *state) {
@memory@@next_row@}

int @name@_push_row(@name@_state *state, const @type@ *row) {
@placed@  if (row != place) {
    memcpy(place, row, @NAME@_ROW_BYTES);
  }
  ++state->rows;
  ++state->call;
@pushed@}
"""

HEADER = """@says@typedef struct { /* what @come_to@; nothing of it is for the caller */
@pointers@@kept@  int32_t call;
  int32_t rows;
@windows@  int@bits@_t next[@operators@];
} @name@_state;

@start_says@int @name@_start(@name@_state *state@arguments@);

@push_says@int @name@_push_row(@name@_state *state, const @type@ *row);

/* Where the next row will lie@after_last@. What is written there is pushed by
 * @name@_push_row(state, @name@_row_place(state)), which copies nothing. */
@type@ *@name@_row_place(@const@@name@_state *state);

"""

ONCE = {
    "const": "const ",
    "come_to": "a run has come to",
    "kept": "",
    "windows": "",
    "after_last": ", null after the last",
    "says": """/* One inference of rows that the caller pushes, from the top of the input on:
 * @name@_start, then @name@_push_row @HEIGHT@ times. A row is @ROW@. */
""",
    "start_says": """\
/* Begins a run, one that was not finished is given up. Returns as @name@_run. */
""",
    "push_says": """\
/* Copies a row, which may be changed then, and runs what needs no later one. Returns 0; 1 when the
 * output is ready; less than 0 after the last row, or if `row` is null. */
""",
    "begin": "  (void)go_on(state);\n",
    "next_row": """\
  return state->rows < @NAME@_ROWS ? (@type@ *)ROW_AT(received_at[state->rows]) : NULL;
""",
    "placed": """\
  @type@ *const place = @name@_row_place(state);
  if (place == NULL || row == NULL) {
    return -1;
  }
""",
    "pushed": "  return go_on(state);\n",
}
"""Text of a single run, by the hole of the templates that it fills."""

READ_ROW = """/* Writes row `number` to `row`; what it returns, if not 0, ends the run. */
typedef int @name@_read_row(void *context, int32_t number, @type@ *row);

"""

RUN = """
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

SLIDING = {
    "const": "",
    "come_to": "runs have come to, and rows that stay",
    "kept": """\
  union {
    uint8_t bytes[@NAME@_KEPT_BYTES];
    @word@ alignment;
  } kept;
""",
    "windows": "  int32_t windows;\n",
    "after_last": "",
    "says": """\
/* Inference on a window of @HEIGHT@ rows that slides by @NEW@: @name@_start once, then
 * @name@_push_row without end. A row is @ROW@. */
""",
    "start_says": """\
/* Begins before the first row, whatever was pushed. Returns 0@answers@. */
""",
    "push_says": """\
/* Copies a row, which may be changed then, and runs what needs no later one. Returns 1 when the
 * output is that of the last @HEIGHT@ rows: after @NAME@_FIRST_ROWS, then after every @NEW@;
 * else 0; less than 0 if `row` is null. Between a 1 and the next call the @where@ holds nothing
 * but the output. */
""",
    "begin": "  state->rows = (int32_t)@NAME@_NEW_ROWS; /* the first row begins a window */\n",
    "next_row": """\
  if (state->rows == (int32_t)@NAME@_NEW_ROWS) {
    state->rows = 0;
    state->call = 0;
    memset(state->next, 0, sizeof state->next);
    (void)go_on(state);
  }
  return (@type@ *)ROW_AT(received_at[state->rows]);
""",
    "placed": """\
  @type@ *place;
  if (row == NULL) {
    return -1;
  }
  place = @name@_row_place(state);
""",
    "pushed": """\
  if (!go_on(state)) {
    return 0;
  }
  if (state->windows < @NAME@_FIRST_WINDOW) {
    ++state->windows; /* before that one, what is kept is not all of real rows */
  }
  return state->windows == @NAME@_FIRST_WINDOW;
""",
}
"""Text of runs on a window that slides, by the same holes."""


@dataclass(frozen=True)
class Stream:
    """State of a streamed run besides pointers: the widths of tables, and the number of operators
    with a next row."""

    numbers: Numbers
    operators: int


@dataclass(frozen=True)
class Parts:
    """The text of a run: `body` with all that runs and the copies of outputs, `declared` what it
    needs besides what the state holds, `checks` of the arguments."""

    body: str
    declared: str
    checks: str


def _stored_arguments(layout: Layout) -> list[tuple[str, str]]:
    """(type, name) of the pointers that a run is started with, and that its state holds."""
    memories = [("uint8_t", m.name) for m in layout.memories if m.given]
    return memories + [(c_type_of(v), f"output_{i}") for i, v in enumerate(layout.outputs)]


def _memory_of_state(layout: Layout, numbers: Numbers) -> str:
    """The line that declares `memory`, from which places count, by what a state leads to."""
    own = {m.name for m in layout.memories if not m.given}
    bases = [
        "state->kept.bytes" if b == KEPT else b if b in own else f"(uint8_t *)state->{b}"
        for b in numbers.bases
    ]
    if len(bases) > 1:
        return f"  uint8_t *const memory[] = {{{', '.join(bases)}}};\n"
    return f"  uint8_t *const memory = {bases[0]};\n"


def guarded(calls: Sequence[str], stretches: Sequence[tuple[int, int, int]]) -> list[str]:
    """The texts of a run where `stretches` (index of the text, and the calls in it) run rows, as
    far as rows are there: whole operators run once, when as many calls have run as stand before
    them."""
    of_text = {at: last for at, _, last in stretches}
    end = max(of_text.values())
    texts: list[str] = []
    ran = 0
    for at, text in enumerate(calls):
        if at in of_text:
            ran = of_text[at]
            texts.append(
                f"  state->call = run_rows(memory, state->next, state->call, {ran});\n"
                f"  if (state->call < {ran}) {{\n    return 0;\n  }}\n"
            )
        elif ran == end:
            texts.append(text)
        else:
            texts.append(f"  if (state->call == {ran}) {{\n{text}  }}\n")
    return texts


def _filled(
    layout: Layout, name: str, value: SSAValue, stream: Stream, text: str, **more: str
) -> str:
    """Return a text of the stream that feeds `value`, its holes filled."""
    held, sliding, kind = _stored_arguments(layout), layout.sliding, c_type_of(value)
    sizes = "][".join(map(str, shape_of(value)[2:]))
    values = {
        **more,
        "name": name,
        "NAME": name.upper(),
        "HEIGHT": str(shape_of(value)[1]),
        "ROW": f"{row_bytes(value)} bytes, {kind} [{sizes}]",
        "type": kind,
        "pointers": "".join(f"  {type_} *{word};\n" for type_, word in held),
        "arguments": "".join(f", {type_} *{word}" for type_, word in held),
        "given": "".join(f", {word}" for _, word in held),
        "stored": "".join(f"  state->{word} = {word};\n" for _, word in held),
        "bits": str(stream.numbers.row_bits),
        "operators": str(stream.operators),
        "memory": _memory_of_state(layout, stream.numbers),
        "run": run_signature(layout, name),
    }
    if sliding is not None:
        values["NEW"], values["word"] = str(sliding.rows), f"int{8 * sliding.alignment}_t"
        values["where"] = "memory" if layout.objects or layout.banks else "arena"
        null = "" if layout.objects else "; 1 if a memory is null or not aligned"
        values["answers"] = f"{null}; 2 if another pointer is null"
    for key, fragment in (ONCE if sliding is None else SLIDING).items():
        values[key] = filled(fragment, values)
    return filled(text, values)


def stream_header(layout: Layout, name: str, received: SSAValue, stream: Stream) -> str:
    """Return the header's declarations of a streamed run, or of one on a window that slides."""
    text = HEADER + (READ_ROW if layout.sliding is None else "")
    return _filled(layout, name, received, stream, text)


def stream_functions(
    layout: Layout, name: str, received: SSAValue, stream: Stream, parts: Parts
) -> str:
    """The functions of a model that is fed row by row; of the pointers of a state, a run declares
    those that it uses."""
    used = parts.body + parts.declared
    declared = "".join(
        f"  {kind} *const {word} = state->{word};\n"
        for kind, word in _stored_arguments(layout)
        if re.search(rf"(?<!->)\b{word}\b", used)
    )
    return _filled(
        layout,
        name,
        received,
        stream,
        FUNCTIONS + (RUN if layout.sliding is None else ""),
        declared=declared + _memory_of_state(layout, stream.numbers) + parts.declared,
        body=parts.body,
        checks=parts.checks,
    )
