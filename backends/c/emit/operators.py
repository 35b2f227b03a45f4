"""The operators of a function in the order in which they run, whole ones and rows between them.

One that runs as a whole stands there with a comment that says what is live:

    /* 3: ADD sum, writes 1024 B; live 3072 B: a (1024 B), b (1024 B), sum (1024 B) */
    in[0] = arena + 16384;
    ...
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from xdsl.ir import Operation

from memopt.backends.c.emit.c_text import plain
from memopt.backends.c.emit.call import KernelCall, Table, refuse
from memopt.backends.c.emit.calls import (
    Source,
    add_parameters,
    add_rows,
    call_text,
    pointer,
    tensor_text,
)
from memopt.backends.c.emit.header import bytes_in
from memopt.backends.c.emit.lowering import lower_by
from memopt.backends.c.emit.registry import matching, own_workspace
from memopt.backends.c.inline.inlined_calls import add_inlined
from memopt.backends.c.inline.inlined_producers import inlining_of
from memopt.backends.c.inline.sums import overwriting, part_of
from memopt.backends.c.rows.loop import add_row_program, run_rows, start_rows
from memopt.backends.c.rows.row_program import (
    Move,
    RowOperator,
    moves_of,
    row_operators,
    rows_of_operators,
)
from memopt.backends.c.rows.row_runs import RowsCalled, in_runs
from memopt.backends.c.stream.streaming import Stream, guarded
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import has_kind
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import reads_virtual
from memopt.dialects.operators.accumulation import sum_of
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp

MOVE, RECEIVE = -1, -2  # what calls[] has besides operators, until it is known how many there are


@dataclass(frozen=True)
class Program:
    """Declarations of all that runs, and the state that a streamed run keeps between rows."""

    declared: str = ""
    stream: Stream | None = None


def add_operators(out: Source) -> Program:
    """Add everything that runs. Raises MemoptError if something has no kernel."""
    has_rows = has_kind(out.layout.operations, RowOp)
    of_operator = rows_of_operators(out.layout) if has_rows else {}
    numbers: dict[RowOp, range] = {}
    operators: list[RowOperator] = []
    profiled: list[int] = []  # the number of each of these
    calls: list[RowsCalled] = []
    moves: list[Move] = []
    stretches: list[tuple[int, int, int]] = []  # where in out.calls, and which calls
    index = 0
    for step, op in enumerate(out.layout.operations):
        if not isinstance(op, RowOp | ReceiveOp | RecallOp | RetainOp | SlideOp):
            add_operator(out, op, index, step)
            index += 1
            continue
        for rows in overwriting(of_operator.pop(op.operator, ())) if isinstance(op, RowOp) else ():
            row_ops = row_operators(out.layout, out.constants, out.isa, rows, f"op{index}")
            profiled += [index] * len(row_ops)
            out.operators.append(rows[0].whole)
            its_numbers = range(len(operators), len(operators) + len(row_ops))
            numbers |= dict.fromkeys(rows, its_numbers)
            operators += row_ops
            index += 1
        first = len(calls)
        entries: Sequence[int] = (RECEIVE,)
        if isinstance(op, RowOp):
            entries = numbers[op]
        elif not isinstance(op, ReceiveOp):
            state_moves = moves_of(out.layout, op)
            moves += state_moves
            entries = [MOVE] * len(state_moves)
        goes_on = bool(stretches) and stretches[-1][::2] == (len(out.calls) - 1, first)
        made_now = (op,) if isinstance(op, RowOp) else ()
        calls += [RowsCalled(number, (step,), made_now) for number in entries]
        if goes_on:
            stretches[-1] = (stretches[-1][0], stretches[-1][1], len(calls))
        else:
            stretches.append((len(out.calls), first, len(calls)))
            out.calls.append("")
    if not calls:
        return Program()
    if not operators:
        raise MemoptError("C backend: rows are received, and no operator runs in rows")
    above = {MOVE: len(operators), RECEIVE: len(operators) + bool(moves)}
    largest, numbered = len(operators) + bool(moves), list[RowsCalled]()
    for k, (at, first, last) in enumerate(stretches):
        runs = in_runs(out.layout, operators, calls[first:last], largest)
        stretches[k] = at, len(numbered), len(numbered) + len(runs)
        numbered += [replace(c, number=above.get(c.number, c.number)) for c in runs]
    widths = add_row_program(out, operators, numbered, moves, profiled)
    for o in operators:
        if o.inlined is not None:
            out.row_kernels += (o.inlined.kernel, *o.inlined.called)
        out.row_kernels.append(o.call.call.kernel)
    if out.layout.received is not None:
        out.calls = guarded(out.calls, stretches)
        return Program(stream=Stream(widths, len(operators) + bool(moves)))
    for at, first, last in stretches:
        out.calls[at] = run_rows(widths, first, last)
    return Program(start_rows(widths, len(operators)))


def add_operator(out: Source, op: Operation, index: int, step: int) -> None:
    """Add operation number `index`, which runs at that step of the plan. Raises MemoptError if
    there is no kernel."""
    inlining = inlining_of(op, partial(own_workspace, isa=out.isa)) if reads_virtual(op) else None
    kernel = matching(op, out.isa)
    calls = lower_by(kernel, op, out.constants)
    own = 0 if kernel.workspace is None else kernel.workspace(op)
    _check_scratch(out, op, own if inlining is None else inlining.scratch)
    text = _comment(out, op, index, step) + f"  PROFILE(0, {index}u);\n"
    for number, call in enumerate(calls):
        prefix = f"op{index}" if len(calls) == 1 else f"op{index}_{number}"
        if inlining is not None and any(m.value in call.operands for m in inlining.made):
            text += add_inlined(out, op, call, inlining, prefix)
        else:
            text += _add_call(out, op, call, prefix)
    text += f"  PROFILE(1, {index}u);\n"
    out.operators.append(part_of(op).whole if sum_of(op) is not None else op)
    out.calls.append(text + _trace(out, op))


def _add_call(out: Source, op: Operation, call: KernelCall, prefix: str) -> str:
    for value in call.operands:
        if not isinstance(value, Table) and value not in out.layout.addresses:
            raise refuse(op, f"the operand {name_of(value)} is no buffer")
    add_parameters(out, call, prefix)
    add_rows(out, call, prefix)
    out.made.append(call)
    out.pointers = max(out.pointers, len(call.operands))
    return call_text(out, call, op, prefix)


def _trace(out: Source, op: Operation) -> str:
    """Sums that are not complete are nobody's result."""
    if sum_of(op) is not None:
        part = part_of(op)
        return _trace(out, part.whole) if part.finishes else ""
    lines: list[str] = []
    for i, value in enumerate(op.results):
        place = pointer(out.layout.addresses[value])
        lines.append(f"  TRACE({tensor_text(op, i)},\n        {place}, {bytes_in(value)}u);\n")
    return "".join(lines)


def _comment(out: Source, op: Operation, index: int, step: int) -> str:
    groups = [out.layout.memory.groups[i] for i in out.layout.live.at((step,))]
    total = sum(g.size for g in groups)
    names = ", ".join(f"{plain(g.name, 32)} ({g.size} B)" for g in groups) or "none"
    written = sum(bytes_in(v) for v in op.results)
    kind = op.name.removeprefix("memgraph.").upper()
    sum_op = sum_of(op)
    name = plain(name_of((sum_op or op).results[0]), 48) if op.results else ""
    how = "adds to" if sum_op is not None and part_of(op).adds else "writes"
    text = f"{index}: {kind} {name}, {how} {written} B; live {total} B: {names}"
    lines: list[str] = []
    line = ""
    for word in text.split(" "):
        if len(line) + len(word) > 92:
            lines.append(line.rstrip())
            line = ""
        line += word + " "
    lines.append(line.rstrip())
    return "  /* " + "\n   * ".join(lines) + " */\n"


def _check_scratch(out: Source, op: Operation, needed: int) -> None:
    """Refuse a plan with other scratch than the bytes that the kernel works in."""
    planned, _ = out.layout.scratch.get(op, (0, None))
    if planned != needed:
        text = f"planned with {planned} B of scratch, its kernel works in {needed} B"
        raise refuse(op, f"{text}; memgraph-model with the target, before the order, says it")
