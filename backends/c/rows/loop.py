"""Row graphs in the generated file: tables in flash, and one loop that runs them.

operators[]         of each: kernel, parameters, window, and the tables of its rows' places
op5_out_at[32]      where each row of a tensor lies, in units of the smallest alignment there is
calls[]             what runs, a byte each: an operator, whose rows run in ascending order, or
                    several rows of it (row_runs.py)
run_rows(..., 0, 231);
"""

from collections.abc import Sequence, Set
from dataclasses import replace

from memopt.backends.c.emit.c_text import array, filled, int_literal, plain
from memopt.backends.c.emit.call import Table
from memopt.backends.c.emit.calls import Source, add_parameters, table_name, tensor_text
from memopt.backends.c.emit.header import bytes_in
from memopt.backends.c.rows.live_rows import LiveRows
from memopt.backends.c.rows.row_calls import ConstantRows
from memopt.backends.c.rows.row_numbers import Numbers, numbers_of
from memopt.backends.c.rows.row_places import Places, places_of
from memopt.backends.c.rows.row_program import Move, RowOperator, received_in_order
from memopt.backends.c.rows.row_runs import RowsCalled
from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.dialects.memgraph.names import name_of

TYPES = """\
/* Rows. Row r of a result is made of `size` rows of each operand, from r * step - before on, those
 * that there are; out_rows and the strides are for the kernel, see memopt_rows. A place is in units
 * of @unit@ B from the start of @memory@. */
typedef @place@ row_place;
typedef @number@ row_number;
typedef struct {
  memopt_kernel *kernel;
  const void *params;
  const row_place *in_at[@operands@]; /* where the rows of each operand lie */
  const row_place *out_at;   /* and those of the result */
@more_fields@  row_number operands, step, before, size, in_rows, out_rows;
  int32_t in_stride, out_stride;
} row_operator;
"""

FIELDS = {
    "constant": """  const void *constant; /* the operand without places, if there is one */
  int32_t constant_row; /* bytes from its row to its row */
""",
    "constants": """  const void *constant[@operands@]; /* each operand without places */
  int32_t constant_row[@operands@]; /* bytes from its row to its row */
""",
    "scratch": """  const row_place *scratch_at; /* where each row works, if it does */
""",
    "rows": """  const row_number *rows; /* those that are made */
""",
    "aligned": """  row_number aligned; /* operands behind those, read at the row itself */
""",
    "per": """  row_number per; /* divides the first row, rounded down */
""",
}
"""Fields that row operators have if one of them uses them."""

LOOP = """/* Calls `from` to `to` - 1; `next` has the row that each operator makes next.@stops@ */
static @kind@ run_rows(@parameter@, row_number *next, int32_t from, int32_t to) {
  const void *in[@pointers@];
  int32_t call, begin, end, k, r;
  for (call = from; call < to@condition@; ++call) {
@moving@@split@    const row_operator *const o = &operators[@number@];
    const int32_t row = @row@;
    const int32_t top = @top@;
    memopt_rows rows = {row, row + o->out_rows@more@, o->out_stride, top, 0, o->in_stride};
    const void **pointer = in;
    memopt_valid_taps(top, o->in_rows, o->size@under@, 1, &begin, &end);
    rows.in_first = top + begin;
    rows.in_count = end - begin;
    for (k = 0; k < o->operands; ++k) {
      for (r = 0; r < rows.in_count; ++r) {
        *pointer++ = @operand@;
      }
    }
@aligned@@second@    PROFILE_ROW(0, @number@);
    o->kernel(o->params, &rows, in, ROW_AT(o->out_at[row]), @scratch@);
    PROFILE_ROW(1, @number@);
@trace@  }
@answer@}
"""

WHOLE = {"stops": "", "kind": "void", "condition": "", "answer": ""}
MOVING = """    if (calls[call] == MOVE) {
      const row_move *const m = &moves[next[MOVE]++];
      memmove(ROW_AT(m->to), ROW_AT(m->from), m->bytes);
      continue;
    }
"""

MOVES = """/* What stays from window to window: copied in this order, whenever calls[] says so. */
typedef struct {
  row_place to, from;
  uint32_t bytes;
} row_move;
MEMOPT_TABLES static const row_move moves[@count@] = {
@moves@};
"""

STREAMED = {
    "stops": "\n * Stops at a row to be received, and returns the call that it came to.",
    "kind": "int32_t",
    "condition": " && calls[call] != RECEIVE",
    "answer": "  return call;\n",
}

ALIGNED = """    for (k = 0; k < o->aligned; ++k) {
      *pointer++ = ROW_AT(o->in_at[o->operands + k][row]);
    }
"""

ALONE = {
    "split": "",
    "next": "next[calls[call]]++",
    "number": "calls[call]",
    "more": "",
    "under": "",
    "second": "",
    "trace": "    TRACE_ROW(calls[call], row, ROW_AT(o->out_at[row]));\n",
}

RUNS = {
    "split": """    const int32_t number = calls[call] & (MORE - 1);
    const int32_t more = calls[call] / MORE;
""",
    "next": "next[number]",
    "number": "number",
    "more": " + more",
    "under": " + more * o->step",
    "second": """    next[number] = (row_number)(next[number] + 1 + more);
    if (more > 0) {
      rows.out_stride = (int32_t)((uint8_t *)ROW_AT(o->out_at[row + 1]) -
                                  (uint8_t *)ROW_AT(o->out_at[row]));
    }
""",
    "trace": """    for (r = row; r <= row + more; ++r) {
      TRACE_ROW(number, r, ROW_AT(o->out_at[r]));
    }
""",
}
SCRATCH = """
              o->scratch_at != NULL ? ROW_AT(o->scratch_at[row]) : NULL"""
FIRST = "row * o->step - o->before"
DIVIDED = """(row * o->step - o->before + o->per * o->size) / o->per - o->size"""
OPERAND = "ROW_AT(o->in_at[k][rows.in_first + r])"
WITH_CONSTANTS = f"""o->in_at[k] != NULL
            ? {OPERAND}
            : (const void *)((const uint8_t *)o->constant +
                             (rows.in_first + r) * o->constant_row)"""

WITH_SEVERAL = WITH_CONSTANTS.replace("constant +", "constant[k] +").replace("_row)", "_row[k])")
PLACELESS = {"constant": WITH_CONSTANTS, "constants": WITH_SEVERAL}

TRACED = """/* The rows of a tensor are traced one after the other. */
#ifdef MEMOPT_TRACE
static const struct {
  int32_t first; /* rows before are no results: sums, or what a later call completes */
  uint32_t tensor;
  const char *name;
  uint32_t bytes;
  int32_t at; /* bytes into the row at which the call writes */
} traced[] = {
@traced@};
#define TRACE_ROW(number, row, data) \\
  if ((row) >= traced[number].first) \\
  TRACE(traced[number].tensor, traced[number].name, \\
        (const uint8_t *)(data) - traced[number].at, traced[number].bytes)
#else
#define TRACE_ROW(number, row, data) ((void)0)
#endif
"""

PROFILED = """#ifdef MEMOPT_PROFILE
static const uint16_t profiled[] = {@profiled@};
#define PROFILE_ROW(event, number) PROFILE(event, profiled[number])
#else
#define PROFILE_ROW(event, number) ((void)0)
#endif
"""


def add_row_program(
    out: Source,
    operators: Sequence[RowOperator],
    calls: Sequence[RowsCalled],
    moves: Sequence[Move],
    profiled: Sequence[int],
) -> Numbers:
    """Types, tables and loop; the number above the last operator's is the next of `moves`, if there
    are any, then a row to be received. `profiled` are the operators' numbers in the whole file."""
    received = out.layout.received
    places = () if received is None else places_of(out.layout, received_in_order(received))
    more = max(call.more for call in calls)
    numbers = numbers_of(operators, places, moves, more)
    used = _used(operators, bool(moves))
    out.data.append(_types(numbers, operators, used))
    entries = "".join(_entry(out, o, numbers, used) for o in operators)
    out.data.append(f"static const row_operator operators[{len(operators)}] = {{\n{entries}}};\n")
    out.data.append(_calls(out, calls, numbers))
    if more:
        comment = "in calls[]: another row behind it, too"
        out.data.append(f"enum {{ MORE = {numbers.more} }}; /* {comment} */\n")
    if received is not None:
        out.data.append(_beside_operators(len(operators), bool(moves)))
        out.data.append(array("row_place", "received_at", _numbered(places, numbers)))
    if moves:
        lines = "".join(
            f"  {{{numbers.place(m.to)}, {numbers.place(m.source)}, {m.bytes}u}},\n" for m in moves
        )
        out.data.append(filled(MOVES, {"count": str(len(moves)), "moves": lines}))
    traced = "".join(_traced(o) for o in operators)
    out.data.append(filled(TRACED, {"traced": traced}))
    out.data.append(filled(PROFILED, {"profiled": ", ".join(map(str, profiled))}))
    how = {**(WHOLE if received is None else STREAMED), **(RUNS if more else ALONE)}
    pointers = max(_pointers(operators[c.number], c) for c in calls if c.rows)
    values = {
        **how,
        "parameter": "uint8_t *const *memory" if len(numbers.bases) > 1 else "uint8_t *memory",
        "pointers": str(max(1, pointers)),
        "moving": MOVING if moves else "",
        "row": f"o->rows[{how['next']}]" if "rows" in used else how["next"],
        "operand": next((t for field, t in PLACELESS.items() if field in used), OPERAND),
        "top": DIVIDED if "per" in used else FIRST,
        "aligned": ALIGNED if "aligned" in used else "",
        "scratch": SCRATCH if "scratch" in used else "NULL",
    }
    out.data.append(f"#define ROW_AT(place) ((void *)({_at(numbers)}))\n\n{filled(LOOP, values)}")
    return numbers


def _used(operators: Sequence[RowOperator], has_moves: bool) -> frozenset[str]:
    """The fields of the table of operators that some of them use."""
    constants = max(sum(isinstance(p, ConstantRows) for p in o.operands) for o in operators)
    uses = {
        "constant": constants == 1,
        "constants": constants > 1,
        "scratch": any(o.works_at for o in operators),
        "rows": has_moves or not all(o.is_dense for o in operators),
        "aligned": any(o.aligned for o in operators),
        "per": any(w.per > 1 for o in operators if (w := o.call.window) is not None),
    }
    return frozenset(field for field, is_used in uses.items() if is_used)


def _beside_operators(above: int, has_moves: bool) -> str:
    """The numbers in `calls` that are no operators'."""
    words = f"MOVE = {above}, RECEIVE = {above + 1}" if has_moves else f"RECEIVE = {above}"
    meaning = "the next move, the next row" if has_moves else "the next row"
    return f"enum {{ {words} }}; /* in calls[]: {meaning} */\n"


def _types(numbers: Numbers, operators: Sequence[RowOperator], used: Set[str]) -> str:
    several = len(numbers.bases) > 1
    memory = "the memory that its highest bits say" if several else f"`{numbers.bases[0]}`"
    values = {
        "unit": str(numbers.unit),
        "memory": memory,
        "place": f"uint{numbers.place_bits}_t",
        "number": f"int{numbers.row_bits}_t",
        "operands": str(max(len(o.operands) for o in operators)),
    }
    fields = "".join(text for field, text in FIELDS.items() if field in used)
    return filled(TYPES.replace("@more_fields@", fields), values)


def _pointers(o: RowOperator, call: RowsCalled) -> int:
    """How many rows a call reads at most."""
    window = o.call.window
    under = 1 + call.more if window is None else window.size + call.more * window.step
    return (len(o.operands) - o.aligned) * under + o.aligned


def _numbered(places: Places, numbers: Numbers) -> Array:
    return np.array([numbers.place(a) for a in places] or [0], np.int64)


def _entry(out: Source, o: RowOperator, numbers: Numbers, used: Set[str]) -> str:
    """The initialiser of a row operator; its tables are added to `out`."""

    def table(places: Places, name: str) -> str:
        values = _numbered(places, numbers)
        row_places = Table("row_place", values, is_looked_up=True)
        return table_name(out, row_places, f"{o.prefix}_{name}")

    call, window = o.call.call, o.call.window
    if o.inlined is None:
        add_parameters(out, call, o.prefix)
    else:
        o.inlined.add(out, call, o.prefix)
    scratch = table(o.works_at, "scratch_at") if o.works_at else "NULL"
    result = table(o.results, "out_at")
    operands: list[str] = []
    constants = [("NULL", "0")] * len(o.operands)
    for k, operand in enumerate(o.operands):
        if isinstance(operand, ConstantRows):
            constant = (
                operand.table if out.blob is None else replace(operand.table, is_looked_up=True)
            )
            name = table_name(out, constant, f"{o.prefix}_operand_{k}")
            constants[k] = name, str(operand.row_bytes)
            operands.append("NULL")
        else:
            operands.append(table(operand, f"in_at_{k}"))
    rows = next((len(p) for p in o.operands if isinstance(p, tuple)), o.end)
    own = (len(o.operands), 1, 0, 1, rows, call.rows.end)
    under = window and (
        len(o.operands) - o.aligned,
        window.step,
        window.before,
        window.size,
        rows,
        1,
    )
    placeless = max(constants, key=lambda one: one[0] != "NULL", default=("NULL", "0"))
    if "constants" in used:
        placeless = tuple("{" + ", ".join(column) + "}" for column in zip(*constants, strict=True))
    words = [
        f"memopt_{(o.inlined or call).kernel}",
        f"&{o.prefix}_params",
        "{" + ", ".join(operands) + "}",
        result,
        *(placeless if {"constant", "constants"} & used else ()),
        *((scratch,) if "scratch" in used else ()),
        *((_row_numbers(out, o),) if "rows" in used else ()),
        *((str(o.aligned),) if "aligned" in used else ()),
        *((str(window.per if window else 1),) if "per" in used else ()),
        *map(int_literal, under or own),
        str(call.rows.in_stride),
        str(call.rows.out_stride),
    ]
    kind = o.whole.name.removeprefix("memgraph.").upper()
    comment = f"  /* {kind} {plain(name_of(o.whole.results[call.result]), 48)} */\n"
    return f"{comment}  {{{', '.join(words)}}},\n"


def _row_numbers(out: Source, o: RowOperator) -> str:
    indices = np.array([r.index.data for r in o.rows], np.int64)
    table = Table("row_number", indices, is_looked_up=True)
    return table_name(out, table, f"{o.prefix}_rows")


def _calls(out: Source, calls: Sequence[RowsCalled], numbers: Numbers) -> str:
    """The numbers, a line of them behind what is live at the fullest of its calls."""
    lines, rows = list[str](), LiveRows.of(out.layout)
    for at in range(0, len(calls), CALLS_IN_LINE):
        line = calls[at : at + CALLS_IN_LINE]
        lines.append(rows.text([call.steps for call in line]))
        entries = (str(call.number + call.more * numbers.more) for call in line)
        lines.append(f"  {', '.join(entries)},\n")
    kind = f"uint{numbers.operator_bits}_t"
    head = f"MEMOPT_TABLES static const {kind} calls[{len(calls)}]"
    return f"{head} = {{\n{''.join(lines)}}};\n"


CALLS_IN_LINE = 24


def _traced(o: RowOperator) -> str:
    call = o.call.call
    size = bytes_in(o.rows[-1].outputs[call.result])
    first = o.end - 1 if o.whole.rows_mode == "part" else 0 if o.completes else o.end
    return f"  {{{first}, {tensor_text(o.whole, call.result)}, {size}u, {call.out_offset}}},\n"


def _at(numbers: Numbers) -> str:
    """The address of a place in C."""
    unit = f" * {numbers.unit}" if numbers.unit > 1 else ""
    if len(numbers.bases) == 1:
        return f"memory + (uint32_t)(place){unit}"
    bits = numbers.place_bits - numbers.memory_bits
    return f"memory[(place) >> {bits}] + ((place) & 0x{(1 << bits) - 1:x}u){unit}"


def start_rows(numbers: Numbers, operators: int) -> str:
    """Return the declarations of net_run that rows need."""
    text = f"  row_number next[{operators}] = {{0}};\n"
    if len(numbers.bases) > 1:
        pointers = ", ".join(f"(uint8_t *){base}" for base in numbers.bases)
        text += f"  uint8_t *const memory[] = {{{pointers}}};\n"
    return text


def run_rows(numbers: Numbers, first: int, last: int) -> str:
    """The calls from `first` to before `last`."""
    (base, *more) = numbers.bases
    memory = "memory" if more else base if base == "arena" else f"(uint8_t *){base}"
    return f"  run_rows({memory}, next, {first}, {last});\n"
