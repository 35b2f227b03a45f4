"""From an executing operation to its kernel calls, whole or row by row."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from xdsl.dialects.func import FuncOp
from xdsl.ir import Operation, SSAValue

from memopt.analysis.function_memory import executing
from memopt.backends.c.emit.call import Constants, KernelCall, Table, refuse, tensor_or_table
from memopt.backends.c.emit.registry import Kernel, matching, own_workspace
from memopt.backends.c.inline.inlined_producers import inlining_of
from memopt.backends.c.inline.sums import computed
from memopt.backends.c.rows.row_calls import RowCall
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of
from memopt.dialects.memgraph.plan import makes_virtual, model_of, reads_virtual
from memopt.dialects.memgraph.tensors import encoding_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import ReceiveOp, RowOp
from memopt.dialects.rows.state import MOVING


def check_kernels(
    func: FuncOp,
    isa: tuple[str, ...],
    constants: Constants | None = None,
    runs_in_rows: Callable[[Operation], bool] | None = None,
) -> None:
    """Raise MemoptError at the first operation that runs and has no kernel; with `constants` also
    at one that its kernel refuses for what it is, unless it `runs_in_rows`."""
    for op in body_of(func).ops:
        if makes_virtual(op):
            matching(op.whole if isinstance(op, RowOp) else op, isa)
        elif reads_virtual(op) and not isinstance(op, RowOp):
            inlining_of(op, partial(own_workspace, isa=isa))
    seen: set[SSAValue] = set()
    for op, _ in executing(body_of(func), model_of(func)):
        if isinstance(op, RowOp):
            if op.operator not in seen:
                matching(computed(op), isa)
            seen.add(op.operator)
        elif not isinstance(op, (ReceiveOp, *MOVING)):
            kernel = matching(op, isa)
            if constants is not None and not reads_virtual(op):
                try:
                    lower_by(kernel, op, constants)
                except MemoptError:
                    if runs_in_rows is None or not runs_in_rows(op):
                        raise


def check_rows(func: FuncOp, isa: tuple[str, ...], constants: Constants) -> None:
    """Raise MemoptError at the first operator in rows that its kernel refuses."""
    rows = [op for op in body_of(func).ops if isinstance(op, RowOp)]
    for row in {row.operator: row for row in rows}.values():
        lower_rows(computed(row), constants, isa)


def lower(op: Operation, constants: Constants, isa: tuple[str, ...]) -> list[KernelCall]:
    """The kernel calls of one executing operation on a core with the instruction sets `isa`.
    Raises MemoptError if there is no kernel."""
    return lower_by(matching(op, isa), op, constants)


def lower_by(kernel: Kernel, op: Operation, constants: Constants) -> list[KernelCall]:
    """The calls of a kernel that matches an operation. Raises MemoptError for what it refuses."""
    return [_reads_flash(call, op, constants) for call in _calls(kernel, op, constants)]


def lower_rows(op: ComputeOp, constants: Constants, isa: tuple[str, ...]) -> list[RowCall]:
    """The kernel calls of each row of an operator. Raises MemoptError if there is no kernel, or
    none that computes rows."""
    kernel = matching(op, isa)
    with _placed(op):
        return _rows(kernel, op, constants)


def _rows(kernel: Kernel, op: ComputeOp, constants: Constants) -> list[RowCall]:
    if kernel.rows is None:
        raise refuse(op, f"the kernel of {op.name} computes no rows, only the whole tensor")
    in_scratch = kernel.workspace is not None and kernel.workspace(op)
    if in_scratch and not kernel.fast and not kernel.by_row:
        raise refuse(op, f"the kernel of {op.name} computes no rows: it works in scratch")
    if kernel.stays is not None and (what := kernel.stays(op)):
        raise refuse(op, what)
    return kernel.rows(op, constants, partial(_calls, kernel))


def _calls(kernel: Kernel, op: Operation, constants: Constants) -> list[KernelCall]:
    with _placed(op):
        calls = kernel.lower(op, constants)
    return calls if isinstance(calls, list) else [calls]


@contextmanager
def _placed(op: Operation) -> Generator[None]:
    """Raise an error of the arithmetic inside as a refusal of `op`, with its scales."""
    try:
        yield
    except MemoptError as error:
        if error.place:
            raise
        values = [v for v in (*op.operands, *op.results) if encoding_of(v).quantized]
        scales = ", ".join(f"{name_of(v)} {encoding_of(v).scales[0]:g}" for v in values)
        raise refuse(op, f"{error.text} (scales: {scales})") from None


def _reads_flash(call: KernelCall, op: Operation, constants: Constants) -> KernelCall:
    """The call with tables for what it reads that is known: no buffer holds it, and hardly a kernel
    expects it, for what follows from constants alone is computed before, unless it is large."""
    operands = (
        v if isinstance(v, Table) else tensor_or_table(op, v, constants) for v in call.operands
    )
    return replace(call, operands=tuple(operands))
