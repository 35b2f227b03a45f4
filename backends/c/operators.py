"""The operators of a function in the order in which they run, whole ones and rows between them."""

from collections.abc import Sequence

from xdsl.ir import SSAValue

from memopt.backends.c.calls import Source, add_operator
from memopt.backends.c.row_program import RowOperator, row_operators, rows_of_operators
from memopt.backends.c.rows import add_row_program, run_rows, start_rows
from memopt.dialects.rows import RowOp


def add_operators(out: Source, live: Sequence[Sequence[int]]) -> str:
    """Add everything that runs; returns what has to be declared for it. `live` are the groups that
    are in memory during each operation. Raises MemoptError if something has no kernel."""
    of_operator = rows_of_operators(out.layout)
    numbers: dict[SSAValue, range] = {}
    operators: list[RowOperator] = []
    calls: list[tuple[int, Sequence[int]]] = []
    stretches: list[tuple[int, int, int]] = []  # where in out.calls, and which calls
    index = 0
    for op, groups in zip(out.layout.operations, live, strict=True):
        if not isinstance(op, RowOp):
            add_operator(out, op, index, groups)
            index += 1
            continue
        if op.operator not in numbers:
            rows = of_operator[op.operator]
            made = row_operators(out.layout, out.constants, out.isa, rows, f"op{index}")
            numbers[op.operator] = range(len(operators), len(operators) + len(made))
            operators += made
            index += 1
        first = len(calls)
        calls += [(number, groups) for number in numbers[op.operator]]
        if stretches and stretches[-1][0] == len(out.calls) - 1 and stretches[-1][2] == first:
            stretches[-1] = (stretches[-1][0], stretches[-1][1], len(calls))
        else:
            stretches.append((len(out.calls), first, len(calls)))
            out.calls.append("")
    if not operators:
        return ""
    widths = add_row_program(out, operators, calls)
    for at, first, last in stretches:
        out.calls[at] = run_rows(widths, first, last)
    out.row_kernels += [o.call.call.kernel for o in operators]
    return start_rows(widths, len(operators))
