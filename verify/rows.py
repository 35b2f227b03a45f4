"""The plan verifier on rows: what each row of an operator reads, by windows of its own.

It trusts neither `rows_needed` nor the pass that cut the operator. From the attributes alone it
derives which rows of which tensor row r needs, and looks where the operands of `memgraph.row` come
from. Where rows stay from run to run, what is recalled need not be computed. Rows that are no
buffers are rows of what they are made of as any others are, but no steps, so they have no order.
"""

from bisect import insort
from collections.abc import Iterator
from dataclasses import dataclass, field

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.functions import has_kind
from memopt.dialects.memgraph.names import full_name, name_of, place_of
from memopt.dialects.memgraph.plan import makes_virtual
from memopt.dialects.memgraph.tensors import rows_of
from memopt.dialects.rows.operations import JoinOp, ReceiveOp, RowKernelOp, RowOp, SplitRowsOp
from memopt.dialects.rows.state import RecallOp, StateOp
from memopt.verify.sliding import check_kept
from memopt.verify.windows import Reader, Source, carries_rows, reader_of, rows_read, sums_rows

CUT = (SplitRowsOp, ReceiveOp, JoinOp, RowOp, RowKernelOp, StateOp)
"""Operations of which a block in rows has one at least."""


@dataclass
class Walk:
    """State of a walk over a block of rows.

    `source` is the tensor and the row that a value is; `done` are the rows of each operator that
    have run; `reads` says which operand of it reads which tensor; `readers` are the operators by
    their values; `received` is how many rows have arrived of an input, and `first` the first of
    them. `slides`: rows stay from run to run, so some are not computed.
    """

    source: dict[SSAValue, Source] = field(default_factory=dict[SSAValue, Source])
    done: dict[SSAValue, list[int]] = field(default_factory=dict[SSAValue, list[int]])
    reads: dict[tuple[SSAValue, int], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, int], SSAValue]
    )
    readers: dict[SSAValue, Reader] = field(default_factory=dict[SSAValue, Reader])
    sums: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    received: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    first: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    slides: bool = False


def check_rows(block: Block) -> Walk:
    """Return what was seen of a block. Raises MemoptError unless every row reads exactly the rows
    it needs, each of one tensor, and the rows of every operator run once, ascending, and all;
    likewise those that are received."""
    walk = Walk(slides=has_kind(block.ops, StateOp))
    for op in block.ops:
        if isinstance(op, SplitRowsOp):
            walk.source.update((v, (op.input, r)) for r, v in enumerate(op.parts))
        elif isinstance(op, ReceiveOp):
            _check_received(op, walk)
        elif isinstance(op, RecallOp):
            walk.source[op.result] = op.kept.tensor, op.index.data
        elif isinstance(op, JoinOp):
            _check_join(op, walk)
        elif isinstance(op, RowOp):
            _check_row(op, walk)
    for op in block.ops:
        if isinstance(op, RowKernelOp):
            _check_all(op, walk)
    for argument, end in walk.received.items():
        if end != rows_of(argument):
            text = f"{end} rows of {name_of(argument)} are received, not all {rows_of(argument)}"
            raise MemoptError(text, place_of(next(iter(argument.uses)).operation))
    if walk.slides:
        count = {v: end - walk.first[v] for v, end in walk.received.items()}
        check_kept(block, walk.source, walk.reads, count)
    return walk


def _check_received(op: ReceiveOp, walk: Walk) -> None:
    """The caller hands over rows of an argument from the first on, each once; the last of them
    where a window slides."""
    value, r = op.input, op.index.data
    if not isinstance(value, BlockArgument):
        raise MemoptError(
            f"{name_of(value)} is no argument, so none of it is received", place_of(op)
        )
    expected = walk.received.get(value, r if walk.slides else 0)
    walk.first.setdefault(value, r)
    if r != expected:
        text = f"row {r} of {name_of(value)} is received where row {expected} arrives"
        raise MemoptError(text, place_of(op))
    readers = (use.operation for use in value.uses) if r == walk.first[value] else ()
    if any(not isinstance(o, ReceiveOp | StateOp) for o in readers):
        raise MemoptError(f"{name_of(value)} is received, and read as a whole too", place_of(op))
    walk.received[value] = r + 1
    walk.source[op.result] = value, r


def _check_all(op: RowKernelOp, walk: Walk) -> None:
    done, expected = walk.done.get(op.operator, []), list(_steps(op.operation))
    if walk.slides and not (sums_rows(op.operation) or carries_rows(op.operation)):
        return  # what is recalled is not computed, and else nobody has a row that is not
    if done and done != expected:
        text = f"rows {done[0]} to {done[-1]} of {full_name(op.operation)}, not all {len(expected)}"
        raise MemoptError(text, place_of(op))


def _check_join(op: JoinOp, walk: Walk) -> None:
    sources = [walk.source.get(v) for v in op.parts]
    first = sources[0]
    if first is None or sources != [(first[0], r) for r in range(len(sources))]:
        raise MemoptError("memgraph.join: not the rows of one tensor, in order", place_of(op))


def _check_row(op: RowOp, walk: Walk) -> None:
    operator, *inputs = op.operands
    reader = walk.readers.get(operator)
    if reader is None:
        reader = walk.readers[operator] = reader_of(op.operation)
    operation, r = reader.whole, op.index.data
    done = walk.done.setdefault(operator, [])
    if makes_virtual(op) or op.shows_sums:  # no step: others make it, whenever they run
        if r in done:
            raise MemoptError(f"{_row_text(op)} is there twice", place_of(op))
    elif done and r <= done[-1]:
        raise MemoptError(f"{_row_text(op)} runs after row {done[-1]}", place_of(op))
    insort(done, r)
    waiting = iter(inputs)
    for k, operand in enumerate(operation.operands):
        if isinstance(operand, OpResult):  # made inside, from constants
            continue
        rows = rows_read(reader, k, r)
        if rows is None:
            _take(op, k, next(waiting, None), walk)
            continue
        for n in rows:
            _take_row(op, (k, n, reader.rows[k] or 0), next(waiting, None), walk)
    if reader.sums:
        _check_sum(op, list(waiting), walk)
        return
    if reader.carries:
        _check_carried(op, list(waiting), walk)
    elif next(waiting, None) is not None:
        raise MemoptError(f"{_row_text(op)} reads more than it needs", place_of(op))
    pairs = zip(op.results, operation.results, strict=True)
    walk.source.update((v, (tensor, r)) for v, tensor in pairs)


def _take_row(op: RowOp, which: tuple[int, int, int], value: SSAValue | None, walk: Walk) -> None:
    """Row `n` of `rows` of operand `k` is this value."""
    k, n, rows = which
    if value is None:
        raise MemoptError(f"{_row_text(op)} lacks row {n}", place_of(op))
    tensor, row = walk.source.get(value, (value, 0) if rows == 1 else (None, -1))
    if tensor is None or row != n:
        text = f"{name_of(value)} is not row {n} of operand {k} of {full_name(op.operation)}"
        raise MemoptError(text, place_of(op))
    if walk.reads.setdefault((op.operands[0], k), tensor) != tensor:
        text = f"{name_of(value)} is a row of another tensor than operand {k} had before"
        raise MemoptError(text, place_of(op))


def _row_text(op: RowOp) -> str:
    return f"row {op.index.data} of {full_name(op.operation)}"


def _take(op: RowOp, k: int, value: SSAValue | None, walk: Walk) -> None:
    if value is None or walk.reads.setdefault((op.operator, k), value) != value:
        text = f"operand {k} of {full_name(op.operation)} is not the tensor that it was before"
        raise MemoptError(text, place_of(op))


def _check_sum(op: RowOp, before: list[SSAValue], walk: Walk) -> None:
    """A sum takes what the row before made, and nobody else does."""
    last = walk.sums.get(op.operator)
    if before != ([last] if last is not None else []):
        text = f"{_row_text(op)} does not take the sum of the rows before"
        raise MemoptError(text, place_of(op))
    if last is not None and not last.has_one_use():
        raise MemoptError(f"the sum {name_of(last)} is read by others", place_of(op))
    walk.sums[op.operator] = op.outputs[0]


def _check_carried(op: RowOp, before: list[SSAValue], walk: Walk) -> None:
    """A row takes the row before it of the same operator; the first takes none."""
    r, last = op.index.data, walk.sums.get(op.operator)
    if before != ([last] if last is not None else []) or (r > 0) != bool(before):
        raise MemoptError(f"{_row_text(op)} does not take the row before it", place_of(op))
    if last is not None and walk.source.get(last, (None, -1))[1] != r - 1:
        raise MemoptError(f"{_row_text(op)} does not follow the row before it", place_of(op))
    walk.sums[op.operator] = op.outputs[0]


def _steps(whole: Operation) -> Iterator[int]:
    reader = reader_of(whole)
    if not reader.sums:
        yield from range(rows_of(whole.results[0]) or 0)
        return
    for r in range(reader.rows[0] or 0):
        if rows_read(reader, 0, r):
            yield r
