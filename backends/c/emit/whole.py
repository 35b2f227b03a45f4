"""One operator that runs as a whole in the generated file, with the comment that says what is live.

/* 3: ADD sum, writes 1024 B; live 3072 B: a (1024 B), b (1024 B), sum (1024 B) */
in[0] = arena + 16384;
...
"""

from collections.abc import Sequence
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
from memopt.backends.c.inline.sums import part_of
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import reads_virtual
from memopt.dialects.operators.accumulation import sum_of


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


def _comment(out: Source, op: Operation, index: int, live: Sequence[int]) -> str:
    groups = [out.layout.memory.groups[i] for i in live]
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


def add_operator(out: Source, op: Operation, index: int, live: Sequence[int]) -> None:
    """Add operation number `index`, while which the groups `live` are in memory. Raises
    MemoptError if there is no kernel."""
    inlining = inlining_of(op, partial(own_workspace, isa=out.isa)) if reads_virtual(op) else None
    kernel = matching(op, out.isa)
    calls = lower_by(kernel, op, out.constants)
    own = 0 if kernel.workspace is None else kernel.workspace(op)
    _check_scratch(out, op, own if inlining is None else inlining.scratch)
    text = _comment(out, op, index, live)
    for number, call in enumerate(calls):
        prefix = f"op{index}" if len(calls) == 1 else f"op{index}_{number}"
        if inlining is not None and any(m.value in call.operands for m in inlining.made):
            text += add_inlined(out, op, call, inlining, prefix)
        else:
            text += _add_call(out, op, call, prefix)
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
