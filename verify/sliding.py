"""The plan verifier on rows that stay from run to run: that they are what they are taken for.

It does not ask which rows a pass thinks are kept. A row that is recalled must be, bit for bit, the
row that was retained for it. So it must be made by the same taps of rows of which the same is true,
down to rows of the input, which slides by as many as are received.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from xdsl.ir import Block, BlockArgument, Operation, OpResult, SSAValue

from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import name_of, place_of
from memopt.dialects.memgraph.tensors import rows_of
from memopt.dialects.operators.base import ComputeOp
from memopt.dialects.rows.operations import JoinOp, RowKernelOp
from memopt.dialects.rows.state import RecallOp, RetainOp, SlideOp, StateOp
from memopt.verify.windows import Source, sums_rows, windows_of

Reads = Mapping[tuple[SSAValue, int], SSAValue]
"""The tensor that an operand of an operator in rows is, by operator and number of the operand."""

Fact = tuple[SSAValue | None, int, int]
"""Row r of a tensor is row r + n of the run before: the tensor, r and n."""


def check_kept(
    block: Block, source: Mapping[SSAValue, Source], reads: Reads, received: Mapping[SSAValue, int]
) -> None:
    """Raise MemoptError unless every state is read, slides and gets its new rows in this order, and
    every row of it is the one that it is recalled as. `received` counts the rows of an argument."""
    place = {op: at for at, op in enumerate(block.ops)}
    for state in block.ops:
        if isinstance(state, StateOp):
            _check_turns(state, place)
            _check_retained(state, source, place)
            for r in state.kept:
                _check_same(state, r, reads, received)


def _check_turns(state: StateOp, place: Mapping[Operation, int]) -> None:
    """Check that a state is read, then slides, then has rows retained. Raises MemoptError."""
    name, slides = name_of(state.result), state.of_kind(SlideOp)
    if len(slides) != 1:
        raise MemoptError(f"{name} slides {len(slides)} times, not once", place_of(state))
    turn = place[slides[0]]
    for op in state.of_kind(RecallOp):
        readers = [use.operation for use in op.result.uses]
        for reader in [op] if any(isinstance(o, JoinOp) for o in readers) else readers:
            if place[reader] > turn:
                text = f"row {op.index.data} of {name} is read after it slides"
                raise MemoptError(text, place_of(reader))
    for op in state.of_kind(RetainOp):
        if place[op] < turn:
            text = f"row {op.index.data} of {name} is retained before it slides"
            raise MemoptError(text, place_of(op))


def _check_retained(
    state: StateOp, source: Mapping[SSAValue, Source], place: Mapping[Operation, int]
) -> None:
    """Every row that the state does not have of itself is retained, once, `shift` rows later."""
    retained = sorted(state.of_kind(RetainOp), key=lambda op: place[op])
    name, tensor, state_rows = name_of(state.result), state.tensor, state.kept
    for r in state_rows:
        retains = [op for op in retained if op.index.data == r]
        expected = 0 if r + state.later in state_rows else 1
        if len(retains) != expected:
            text = f"row {r} of {name} is retained {len(retains)} times, not {expected}"
            raise MemoptError(text, place_of(retains[-1] if retains else state))
        for op in retains:
            if source.get(op.value) != (tensor, r + state.later):
                text = f"{name_of(op.value)} is not row {r + state.later}, which is row {r} next"
                raise MemoptError(text, place_of(op))


def _check_same(state: StateOp, r: int, reads: Reads, received: Mapping[SSAValue, int]) -> None:
    """Row `r` of a run is row `r` + `shift` of the run before, by what it is made of."""
    waiting: list[Fact] = [(state.tensor, r, state.later)]
    seen: set[Fact] = set()
    while waiting:
        fact = waiting.pop()
        if fact in seen:
            continue
        seen.add(fact)
        more = _follows_from(*fact, reads, received)
        if more is None:
            text = f"row {r} of {name_of(state.result)} is not row {r + state.later} of the run"
            raise MemoptError(f"{text} before", place_of(state))
        waiting += more


def _follows_from(
    tensor: SSAValue | None, r: int, by: int, reads: Reads, received: Mapping[SSAValue, int]
) -> Sequence[Fact] | None:
    """Return the rows that must be equal in both runs for row `r` of a tensor to be row `r` + `by`
    of the run before; None if it is not that row."""
    if tensor is None or by < 1 or r + by >= (rows_of(tensor) or 0):
        return None
    if not isinstance(tensor, OpResult):
        return [] if received.get(tensor) == by else None
    operation, kernel = tensor.op, tensor.op.parent_op()
    if not isinstance(operation, ComputeOp) or not isinstance(kernel, RowKernelOp):
        return None
    if not (_has_all_taps(operation, r) and _has_all_taps(operation, r + by)):
        return None
    rows: list[Fact] = []
    for k, value in enumerate(operation.operands):
        now, before = windows_of(operation, k, r), windows_of(operation, k, r + by)
        if not isinstance(value, BlockArgument):  # known before: what it is does not slide
            if now != before:
                return None
            continue
        if now is None or before is None or len(now) != len(before):
            return None
        rows += [
            (reads.get((kernel.operator, k)), n, b - n) for n, b in zip(now, before, strict=True)
        ]
    return rows


def _has_all_taps(whole: ComputeOp, r: int) -> bool:
    """Return whether row `r` of the results is made with every tap, as all other such rows are."""
    window: Any = whole.properties.get("window")
    if sums_rows(whole) or "resize" in whole.name or "depth_to_space" in whole.name:
        return False  # a part of the whole; by where in a row or block it is
    if window is None:
        return True
    taps = windows_of(whole, 0, r)
    return taps is not None and len(taps) == window.sizes[0][0]
