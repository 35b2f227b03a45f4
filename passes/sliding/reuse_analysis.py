"""Which rows of a window are those of the window before, bit for bit: of whole operators, and of
operators in rows.

The input slides on by some rows in each run. A row of a result is kept if it is made alike of rows
that are kept, each as far on as the others of its tensor.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import body_of
from memopt.dialects.memgraph.names import name_of, operator_name
from memopt.dialects.memgraph.plan import model_of
from memopt.dialects.memgraph.tensors import MOST_ROWS, has_few_rows, rows_of
from memopt.dialects.operators.base import ComputeOp, is_constant_expression
from memopt.dialects.rows.operations import ReceiveOp, RowKernelOp, RowOp
from memopt.dialects.rows.questions import UNKEPT
from memopt.dialects.rows.state import row_of
from memopt.dialects.rows.steps import activations
from memopt.passes.rows.expand import computing


@dataclass(frozen=True)
class Kept:
    """Rows of a tensor that are in the run before, each `shift` rows later."""

    shift: int
    rows: frozenset[int]


def kept_rows(func: FuncOp, rows: int) -> dict[SSAValue, Kept]:
    """Return the rows of each tensor that are in the run before, whose input began `rows` earlier.

    Raises MemoptError, which names the operator in the way, if no operator has any.
    """
    model = model_of(func)
    reads = ((op, {v: v for v in op.operands}) for op in ours(func))
    return _kept_of(func, rows, reads, lambda v: is_constant_expression(v, model))


def ours(func: FuncOp) -> list[ComputeOp]:
    """The operators that run, without those of other dialects: of these nothing is kept."""
    return [op for op in computing(func) if isinstance(op, ComputeOp)]


Row = tuple[SSAValue, int]
"""A tensor, an argument or as a whole operator makes it, and a row of it."""


def rows_in(func: FuncOp) -> dict[SSAValue, Row]:
    """The tensor and row that a value is, of operators in rows and of what is received."""
    producers = [
        op
        for op in body_of(func).ops
        if isinstance(op, ReceiveOp) or (isinstance(op, RowOp) and op.whole.rows_mode != "part")
    ]
    return {v: row for op in producers for v in op.results if (row := row_of(v)) is not None}


def kept_rows_in(func: FuncOp, rows: int) -> dict[SSAValue, Kept]:
    """Return `kept_rows` of a function whose operators are in rows and whose input is received in
    rows."""
    row = rows_in(func)
    reads = ((op.computed, _tensors_read(op, row)) for op in in_order(func, row))
    return _kept_of(func, rows, reads, lambda v: not isinstance(v, BlockArgument))


def in_order(func: FuncOp, row: Mapping[SSAValue, Row]) -> list[RowKernelOp]:
    """The operators in rows, each behind those that make what it reads."""
    kernels = [op for op in body_of(func).ops if isinstance(op, RowKernelOp)]
    waiting = {op: set(_tensors_read(op, row).values()) for op in kernels}
    unmade = {r for op in kernels for r in op.computed.results}
    ordered: list[RowKernelOp] = []
    while waiting:
        ready = [op for op, reads in waiting.items() if not unmade & reads]
        assert ready
        for op in ready:
            del waiting[op]
            unmade.difference_update(op.computed.results)
        ordered += ready
    return ordered


def _tensors_read(op: RowKernelOp, row: Mapping[SSAValue, Row]) -> dict[SSAValue, SSAValue]:
    """The tensor of whose rows an operator in rows reads each of its arguments."""
    tensor_of: dict[SSAValue, SSAValue] = {}
    for reader in (use.operation for use in op.operator.uses):
        if not isinstance(reader, RowOp):
            continue
        inputs = iter(reader.inputs)
        for k, argument in activations(op.computed):
            needed = op.computed.rows_needed(k, reader.index.data)
            for _ in range(1 if needed is None else len(needed)):
                value = next(inputs)
                if needed is not None and value in row:
                    tensor_of[argument] = row[value][0]
    return tensor_of


def _kept_of(
    func: FuncOp,
    rows: int,
    reads: Iterable[tuple[ComputeOp, Mapping[SSAValue, SSAValue]]],
    is_known: Callable[[SSAValue], bool],
) -> dict[SSAValue, Kept]:
    """The kept rows of the input and of what operators make, each behind those that make what it
    `reads`, tensors by operand; `is_known` says which operands are known before run time."""
    by_tensor = _of_input(func, rows)
    first = "no operator"
    for at, (op, tensors) in enumerate(reads):
        first = first if at else operator_name(op)
        known = {v: by_tensor[tensor] for v, tensor in tensors.items() if tensor in by_tensor}
        rows_kept = _most_kept(op, known, [is_known(v) for v in op.operands])
        if rows_kept is not None:
            by_tensor.update(dict.fromkeys(op.results, rows_kept))
    if len(by_tensor) == 1:
        text = f"no row is in the run before: {first} makes other rows of rows that slide by {rows}"
        raise MemoptError(f"memgraph-slide: {text}", f"@{func.sym_name.data}")
    return by_tensor


def _of_input(func: FuncOp, rows: int) -> dict[SSAValue, Kept]:
    block, place = body_of(func), f"@{func.sym_name.data}"
    if len(block.args) != 1:
        names = ", ".join(map(name_of, block.args)) or "none"
        raise MemoptError(f"memgraph-slide: one input slides, the function has {names}", place)
    (value,) = block.args
    height = rows_of(value) or 0
    fault = ""
    if not height:
        fault = "has no rows"
    elif not has_few_rows(value):
        fault = f"has {height:,} rows, more than {MOST_ROWS:,}"
    elif height <= rows:
        fault = f"has {height} rows, so no two runs have one in common"
    if fault:
        raise MemoptError(f"memgraph-slide: {name_of(value)} {fault}", place)
    return {value: Kept(rows, frozenset(range(height - rows)))}


def _most_kept(op: ComputeOp, kept: dict[SSAValue, Kept], known: list[bool]) -> Kept | None:
    """The rows of an operator that are in the run before, at the distance that keeps most."""
    if op.rows_mode in UNKEPT:
        return None
    height = rows_of(op.results[0]) or 0
    best: Kept | None = None
    for shift in range(1, height):
        rows = frozenset(r for r in range(height - shift) if _is_kept(op, r, shift, kept, known))
        if rows and (best is None or len(rows) > len(best.rows)):
            best = Kept(shift, rows)
    return best


def _is_kept(
    op: ComputeOp, r: int, shift: int, kept: dict[SSAValue, Kept], is_known: list[bool]
) -> bool:
    """Return whether row `r` is made of the rows of which row `r` + `shift` was made in the run
    before."""
    if not op.alike(r) or not op.alike(r + shift):
        return False
    for k, value in enumerate(op.operands):
        now, before = op.rows_needed(k, r), op.rows_needed(k, r + shift)
        if is_known[k]:
            if now != before:
                return False
            continue
        if now is None or before is None or len(now) != len(before):
            return False
        known = kept.get(value)
        if known is None and len(now):
            return False
        if known is not None and any(
            n not in known.rows or n + known.shift != b for n, b in zip(now, before, strict=True)
        ):
            return False
    return True
