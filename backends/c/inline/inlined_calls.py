"""An operation that reads virtual tensors, in the generated file: its steps, and one call.

static const memopt_inlined_step op3_steps[] = {
    {memopt_copy, &op3_0_params, op3_0_from, 1, 0, 8, 3, 5, 0, 40},
    ...
memopt_inlined(&op3_params, NULL, in, arena + 1024, arena + 512);
"""

from collections.abc import Mapping

from xdsl.ir import Operation, SSAValue

from memopt.backends.c.emit.call import KernelCall, Rows, Table, refuse
from memopt.backends.c.emit.calls import (
    Source,
    add_parameters,
    operand_text,
    result_text,
    scratch_text,
)
from memopt.backends.c.emit.lowering import lower
from memopt.backends.c.inline.inlined_producers import MOST_OPERANDS, Inlining, Made
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.tensors import bytes_of

KERNEL = "inlined"


def add_inlined(
    out: Source, op: Operation, reader: KernelCall, inlining: Inlining, prefix: str
) -> str:
    """Add what a call of an operation needs that makes what it reads; the lines of it. Raises
    MemoptError where kernels do not."""
    at: dict[SSAValue, int] = {inlined.value: inlined.at for inlined in inlining.made}
    pointers: list[str] = []
    steps = [
        _step(out, inlined.op, call, f"{prefix}_{k}", inlining.rows, at, pointers, inlined)
        for k, (call, inlined) in enumerate(_makers(out, inlining))
    ]
    steps.append(_step(out, op, reader, f"{prefix}_{len(steps)}", inlining.calls, at, pointers))
    lines = "".join(f"    {step},\n" for step in steps)
    out.data.append(f"static const memopt_inlined_step {prefix}_steps[] = {{\n{lines}}};\n")
    window = inlining.window
    fields = (
        ("steps", f"{prefix}_steps"),
        ("makers", len(steps) - 1),
        ("rows", inlining.rows),
        ("calls", inlining.calls),
        ("step", window.step),
        ("before", window.before),
        ("size", window.size),
        ("row_bytes", next(m.row_bytes for m in inlining.made if m.at == 0)),
    )
    call = KernelCall(KERNEL, fields, (), Rows(inlining.calls, 0, 0))
    add_parameters(out, call, prefix)
    out.made.append(call)
    out.pointers = max(out.pointers, len(pointers))
    text = "".join(f"  in[{i}] = {pointer};\n" for i, pointer in enumerate(pointers))
    places = result_text(out, reader, op), scratch_text(out, op)
    return f"{text}  memopt_{KERNEL}(&{prefix}_params, NULL, in, {', '.join(places)});\n"


def _makers(out: Source, inlining: Inlining) -> list[tuple[KernelCall, Made]]:
    return [
        (call, inlined)
        for inlined in inlining.made
        for call in lower(inlined.op, out.constants, out.isa)
        if call.result == inlined.value.index
    ]


def _step(
    out: Source,
    op: Operation,
    call: KernelCall,
    prefix: str,
    rows: int,
    at: Mapping[SSAValue, int],
    pointers: list[str],
    made: Made | None = None,
) -> str:
    """The initialiser of a step that makes `rows` rows, or is called so often; `pointers` get what
    it reads that is a buffer."""
    if call.batches > 1 or call.rows.end % rows or len(call.operands) > MOST_OPERANDS:
        raise refuse(op, f"memopt_{call.kernel} does not make rows of a virtual tensor one by one")
    add_parameters(out, call, prefix)
    out.made.append(call)
    first = len(pointers)
    places: list[str] = []
    for number, value in enumerate(call.operands):
        if isinstance(value, SSAValue) and value in at:
            places.append(str(at[value] + call.in_offset))
            pointers.append("NULL")
            continue
        if isinstance(value, SSAValue) and value not in out.layout.addresses:
            raise refuse(op, f"the operand {name_of(value)} is no buffer")
        places.append(str(-1 - _stride(call, number)))
        pointers.append(operand_text(out, call, number, prefix))
    out.data.append(f"static const int32_t {prefix}_from[] = {{{', '.join(places)}}};\n")
    numbers = (
        len(places),
        first,
        call.rows.end // rows,
        call.rows.in_stride,
        call.rows.out_stride,
        0 if made is None else made.at + call.out_offset,
        0 if made is None or made.at else made.row_bytes,
    )
    text = ", ".join(map(str, numbers))
    return f"{{memopt_{call.kernel}, &{prefix}_params, {prefix}_from, {text}}}"


def _stride(call: KernelCall, number: int) -> int:
    """Bytes from a row of an operand to the next, 0 if one serves all."""
    value = call.operands[number]
    if call.serves_rows(number):
        return _bytes(value) // call.rows.end
    return call.rows.in_stride if _bytes(value) == call.rows.end * call.rows.in_stride else 0


def _bytes(value: SSAValue | Table) -> int:
    return int(value.values.nbytes) if isinstance(value, Table) else bytes_of(value.type) or 0
