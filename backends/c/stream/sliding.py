"""A network on a window that slides: what is pushed is new, all else stays in its state.

    static net_state state;
    net_start(&state, arena, NULL);
    for (;;) {
      if (net_push_row(&state, next_frame())) {}      1 when the output is that of a whole window
    }

A window begins when its first row is asked for or pushed, and not when the one before it ends:
until then its output stays in the arena.
"""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.header import c_type_of
from memopt.backends.c.emit.layout import Layout, row_bytes
from memopt.backends.c.rows.row_program import Move
from memopt.backends.c.stream.streaming import (
    Parts,
    Stream,
    declared_pointers,
    memory_of_state,
    stored_arguments,
)
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
@stored@  state->rows = (int32_t)@NAME@_NEW_ROWS; /* the first row begins a window */
  return 0;
}

@type@ *@name@_row_place(@name@_state *state) {
@memory@  if (state->rows == (int32_t)@NAME@_NEW_ROWS) {
    state->rows = 0;
    state->call = 0;
    memset(state->next, 0, sizeof state->next);
    (void)go_on(state);
  }
  return (@type@ *)ROW_AT(received_at[state->rows]);
}

int @name@_push_row(@name@_state *state, const @type@ *row) {
  @type@ *place;
  if (row == NULL) {
    return -1;
  }
  place = @name@_row_place(state);
  if (row != place) {
    memcpy(place, row, @NAME@_ROW_BYTES);
  }
  ++state->rows;
  ++state->call;
  if (!go_on(state)) {
    return 0;
  }
  if (state->windows < @NAME@_FIRST_WINDOW) {
    ++state->windows; /* before that one, what is kept is not all of real rows */
  }
  return state->windows == @NAME@_FIRST_WINDOW;
}
"""

HEADER = """/* Inference on a window of @HEIGHT@ rows that slides by @ROWS@: @name@_start once, then
 * @name@_push_row without end. A row is @ROW@. */
typedef struct { /* what runs have come to, and rows that stay; nothing of it is for the caller */
@pointers@  union {
    uint8_t bytes[@NAME@_KEPT_BYTES];
    @word@ alignment;
  } kept;
  int32_t call;
  int32_t rows;
  int32_t windows;
  int@bits@_t next[@operators@];
} @name@_state;

/* Begins before the first row, whatever was pushed. Returns 0@answers@. */
int @name@_start(@name@_state *state@arguments@);

/* Copies a row, which may be changed then, and runs what needs no later one. Returns 1 when the
 * output is that of the last @HEIGHT@ rows: after @NAME@_FIRST_ROWS, then after every @ROWS@;
 * else 0; less than 0 if `row` is null. Between a 1 and the next call the @memory@ holds nothing
 * but the output. */
int @name@_push_row(@name@_state *state, const @type@ *row);

/* Where the next row will lie. What is written there is pushed by
 * @name@_push_row(state, @name@_row_place(state)), which copies nothing. */
@type@ *@name@_row_place(@name@_state *state);

"""

MOVES = """/* What stays from window to window: copied in this order, whenever calls[] says so. */
typedef struct {
  row_place to, from;
  uint32_t bytes;
} row_move;
static const row_move moves[@count@] = {
@moves@};
"""


def move_table(moves: Sequence[Move], place: Sequence[tuple[int, int]]) -> str:
    """The table; `place` has the numbers of both places of each."""
    lines = [f"  {{{to}, {at}, {m.bytes}u}},\n" for m, (to, at) in zip(moves, place, strict=True)]
    return filled(MOVES, {"count": str(len(moves)), "moves": "".join(lines)})


def _values(layout: Layout, name: str, received: SSAValue, stream: Stream) -> dict[str, str]:
    held, kind = stored_arguments(layout), c_type_of(received)
    sliding = layout.sliding
    assert sliding is not None
    sizes = "][".join(map(str, shape_of(received)[2:]))
    answers = "" if layout.objects else "; 1 if a memory is null or not aligned"
    return {
        "name": name,
        "NAME": name.upper(),
        "HEIGHT": str(sliding.height),
        "ROWS": str(sliding.rows),
        "ROW": f"{row_bytes(received)} bytes, {kind} [{sizes}]",
        "type": kind,
        "pointers": "".join(f"  {type_} *{word};\n" for type_, word in held),
        "arguments": "".join(f", {type_} *{word}" for type_, word in held),
        "stored": "".join(f"  state->{word} = {word};\n" for _, word in held),
        "answers": f"{answers}; 2 if another pointer is null",
        "memory": "arena" if not (layout.objects or layout.banks) else "memory",
        "word": f"int{8 * sliding.alignment}_t",
        "bits": str(stream.numbers.row_bits),
        "operators": str(stream.operators),
    }


def sliding_header(layout: Layout, name: str, received: SSAValue, stream: Stream) -> str:
    """Return the header's declarations of a sliding run."""
    return filled(HEADER, _values(layout, name, received, stream))


def sliding_functions(
    layout: Layout, name: str, received: SSAValue, stream: Stream, parts: Parts
) -> str:
    """The functions of a model that keeps rows."""
    memory = memory_of_state(layout, stream.numbers)
    values = {
        **_values(layout, name, received, stream),
        "declared": declared_pointers(layout, parts) + memory + parts.declared,
        "memory": memory,
        "checks": parts.checks,
        "body": parts.body,
    }
    return filled(FUNCTIONS, values)
